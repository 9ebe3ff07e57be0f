// The schema's complaints, in words a person can act on.

import type * as z from 'zod/mini'
import { isRecord } from '../base/record.ts'
import { nearest } from '../base/suggest.ts'
import type { Path } from './edit/change.ts'
import { type Problem, pathText, valueText } from './problem.ts'
import { placeOf, plain, subtree, type Tree } from './tree.ts'

/** Turns the issues of a schema, checked on the part of `tree` at `prefix`, into problems at their places. */
export function problemsOf(
  error: z.core.$ZodError,
  schema: z.core.$ZodType,
  tree: Tree,
  prefix: Path,
): Problem[] {
  return error.issues.flatMap((issue) => describe(issue, schema, tree, prefix))
}

/** A problem at a native path, with the file, line and path the person wrote. */
export function problemAt(tree: Tree, path: Path, message: string, extra: Partial<Problem> = {}): Problem {
  const place = placeOf(tree, path)
  return {
    severity: 'error',
    file: place.origin.file,
    ...place.origin.position(place.path),
    path: pathText(place.path),
    message,
    ...extra,
  }
}

// --- internal ---

type Issue = z.core.$ZodIssue

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'a list',
  record: 'a map',
  object: 'a map',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
}

const COLLECTIONS: ReadonlySet<string> = new Set(['array', 'record', 'object', 'map'])

/** Values under these keys may be secrets, so messages name their type only. */
const SECRET_KEYS = new Set(['env', 'headers', 'auth', 'token', 'key', 'apiKey', 'api_key'])

function describe(issue: Issue, schema: z.core.$ZodType, tree: Tree, prefix: Path): Problem[] {
  const path = [...prefix, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))]
  const at = subtree(tree, path)
  const value = at && plain(at)
  // Text where a map or list belongs may be a whole command line with a secret in it.
  const misplaced =
    typeof value === 'string' && issue.code === 'invalid_type' && COLLECTIONS.has(issue.expected)
  const shown =
    misplaced || path.some((step) => SECRET_KEYS.has(String(step))) ? kindOf(value) : valueText(value)
  const say = (message: string, hint?: string): Problem[] => [
    problemAt(tree, path, message, hint === undefined ? {} : { hint }),
  ]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const near = nearest(key, keysAt(schema, issue.path))
        const hint = near ? `did you mean "${near}"?` : `known keys: ${keysAt(schema, issue.path).join(', ')}`
        return problemAt(tree, [...path, key], 'is not a known key', { hint })
      })
    case 'invalid_type':
      return say(`is ${shown}; expected ${EXPECTED[issue.expected] ?? issue.expected}`)
    case 'invalid_value': {
      const words = issue.values.map(String)
      const near = typeof value === 'string' ? nearest(value, words) : undefined
      const list = words.length === 1 ? words[0] : `one of ${words.join(', ')}`
      return say(`is ${shown}; expected ${list}`, near && `did you mean "${near}"?`)
    }
    case 'invalid_union':
      if (isAuthType(issue)) return describeAuthType(tree, path)
      return describeUnion(issue, schema, tree, prefix) ?? say(`is ${shown}; ${issue.message}`)
    case 'invalid_key': {
      const said = issue.issues[0]?.message ?? issue.message
      return say(`has a wrong name; ${said.charAt(0).toLowerCase()}${said.slice(1)}`)
    }
    case 'too_small':
      if (issue.origin === 'string') return say(`is ${shown}; expected some text`)
      return say(
        `is ${shown}; expected ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`,
      )
    case 'too_big':
      return say(
        `is ${shown}; expected ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`,
      )
    default:
      return say(`is ${shown}; ${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}`)
  }
}

/** Auth picks its branch by `type`; for an unknown one zod says only that none fits. */
function isAuthType(issue: Issue & { code: 'invalid_union' }): boolean {
  return 'discriminator' in issue && issue.discriminator === 'type'
}

const AUTH_TYPES = ['none', 'api_key', 'oauth', 'token_file']

function describeAuthType(tree: Tree, path: Path): Problem[] {
  const at = path.at(-1) === 'type' ? path : [...path, 'type']
  const found = subtree(tree, at)
  const value = found && plain(found)
  const near = typeof value === 'string' ? nearest(value, AUTH_TYPES) : undefined
  const message = `is ${valueText(value)}; expected one of ${AUTH_TYPES.join(', ')}`
  return [problemAt(tree, at, message, near ? { hint: `did you mean "${near}"?` } : {})]
}

/** Of a map that fits no branch, the complaints of the branch that wanted a map are the useful ones. */
function describeUnion(
  issue: Issue & { code: 'invalid_union' },
  schema: z.core.$ZodType,
  tree: Tree,
  prefix: Path,
): Problem[] | undefined {
  const inner = issue.errors.find((branch) =>
    branch.every((item) => item.path.length > 0 || item.code === 'unrecognized_keys'),
  )
  const at = subtree(tree, [...prefix, ...issue.path.map(String)])
  if (inner === undefined || inner.length === 0 || at?.kind !== 'map') return undefined
  return inner.flatMap((item) =>
    describe({ ...item, path: [...issue.path, ...item.path] }, schema, tree, prefix),
  )
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null || value === '') return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'text'
  return isRecord(value) ? 'a map' : `a ${typeof value}`
}

/** The keys the schema knows at a path. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.core.$ZodType[] = [schema]
  for (const step of path) at = at.flatMap(branches).flatMap((branch) => member(branch, step))
  return [...new Set(at.flatMap(branches).flatMap((branch) => Object.keys(shapeOf(branch))))]
}

/** What is inside defaults, options and conversions; of a union, every way it can be. */
function branches(schema: z.core.$ZodType): z.core.$ZodType[] {
  const def = (schema as z.core.$ZodTypes)._zod.def
  switch (def.type) {
    case 'optional':
    case 'default':
    case 'prefault':
      return branches(def.innerType)
    case 'pipe':
      return branches(def.in)
    case 'union':
      return def.options.flatMap(branches)
    default:
      return [schema]
  }
}

function member(schema: z.core.$ZodType, step: PropertyKey): z.core.$ZodType[] {
  const def = (schema as z.core.$ZodTypes)._zod.def
  if (def.type === 'record') return [def.valueType]
  if (def.type === 'array') return [def.element]
  const found = shapeOf(schema)[String(step)]
  return found ? [found] : []
}

function shapeOf(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> {
  const def = (schema as z.core.$ZodTypes)._zod.def
  return def.type === 'object' ? def.shape : {}
}
