// Schemas as functions, through ajv. Loaded when it is needed: ajv and its formats are half as much code as all the rest, and
// re2js, for the few schemas with patterns, is as much again.

import type { SchemaValidateFunction } from 'ajv'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { RE2JS } from 're2js'
import { canonical } from '../config/canonical.ts'
import { readSchema, STEP } from './schema-reading.ts'

export interface Compiled {
  /** What of the schema is not checked, for people. */
  readonly flaw?: string
  /** What is wrong with a value, as ajv says it. Throws when it takes too long to find out. */
  errors(value: unknown): readonly ErrorObject[]
  /** Whether there are none. */
  isValid(value: unknown): boolean
}

/** Compiles a schema that is not too large; a text says why it cannot. `pause` lets others work in between. */
export async function compileSchema(
  source: Readonly<Record<string, unknown>>,
  pause: () => Promise<void>,
): Promise<Compiled | string> {
  const { patterns, checks } = readSchema(source, new Set())
  if (checks > MAX_CHECKS) return TOO_LARGE
  const matchers = patterns.size === 0 ? new Map<string, Matcher>() : await matchersOf(patterns, pause)
  const unknown = new Set([...patterns].filter((pattern) => !matchers.has(pattern)))
  const { schema } = readSchema(source, unknown)
  const limits = { steps: 0, characters: 0 }
  const validate = compiler(matchers, limits).compile(schema)
  const isValid = (value: unknown) => {
    limits.steps = MAX_STEPS
    limits.characters = MAX_MATCHED
    const valid = validate(value)
    // They hold parts of the value.
    if (!valid) validate.errors = null
    return valid
  }
  const errors = (value: unknown) => {
    limits.steps = MAX_STEPS
    limits.characters = MAX_MATCHED
    const list = validate(value) ? [] : (validate.errors ?? [])
    validate.errors = null
    return list
  }
  // A schema that refers to itself and nothing else never ends.
  errors({})
  return unknown.size === 0 ? { errors, isValid } : { errors, isValid, flaw: flawOf([...unknown]) }
}

export const TOO_LARGE = 'the schema is too large to be checked'

// --- internal ---

interface Matcher {
  test(text: string): boolean
}

interface Limits {
  steps: number
  characters: number
}

/** ajv takes about 0.1 ms for each, and cannot be interrupted. */
const MAX_CHECKS = 400
const MAX_PATTERNS = 64
const LONGEST_PATTERN = 1000
/** References followed for one value; an honest schema follows a few for each part of it. */
const MAX_STEPS = 200_000
/** Characters that patterns may read for one value; what comes after counts as matching. */
const MAX_MATCHED = 256 * 1024

async function matchersOf(
  patterns: ReadonlySet<string>,
  pause: () => Promise<void>,
): Promise<ReadonlyMap<string, Matcher>> {
  const matchers = new Map<string, Matcher>()
  if (patterns.size > MAX_PATTERNS) return matchers
  const re2 = await import('re2js')
  for (const pattern of patterns) {
    const matcher = matcherOf(re2.RE2JS, pattern)
    if (matcher !== undefined) matchers.set(pattern, matcher)
    // One may take some milliseconds.
    await pause()
  }
  return matchers
}

function matcherOf(re2: typeof RE2JS, pattern: string): Matcher | undefined {
  if (pattern.length > LONGEST_PATTERN) return undefined
  try {
    return re2.compile(re2.translateRegExp(pattern))
  } catch {
    return undefined
  }
}

/** A new one for each schema: what ajv keeps of one it keeps for good. */
function compiler(matchers: ReadonlyMap<string, Matcher>, limits: Limits): Ajv2020 {
  const regExp = (pattern: string) => ({
    test(text: string): boolean {
      limits.characters -= text.length
      return limits.characters < 0 || (matchers.get(pattern)?.test(text) ?? true)
    },
    // By this ajv knows which ones are the same.
    toString: () => pattern,
  })
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    logger: false,
    // The schema that describes schemas takes 70 ms to compile; what it would find, the compiler stumbles over as well.
    meta: false,
    validateSchema: false,
    messages: false,
    // `{}` has no constructor that anybody wrote.
    ownProperties: true,
    // 19.99 is a multiple of 0.01.
    multipleOfPrecision: 9,
    // A large definition that is used often would be compiled as often.
    inlineRefs: false,
    loopRequired: 20,
    code: { regExp: Object.assign(regExp, { code: 'busbarPattern' }), optimize: false },
  })
  formats.default(ajv, { mode: 'fast' })
  ajv.addKeyword({
    keyword: STEP,
    before: '$ref',
    validate: () => {
      limits.steps -= 1
      if (limits.steps < 0) throw new Error('too many steps')
      return true
    },
    errors: false,
  })
  // Those of ajv compare each with each, and call methods that a value may have brought along (`valueOf`).
  for (const keyword of ['enum', 'const', 'uniqueItems']) ajv.removeKeyword(keyword)
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    compile: (schema: unknown[]) => oneOf('enum', schema),
  })
  ajv.addKeyword({ keyword: 'const', compile: (schema: unknown) => oneOf('const', [schema]) })
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', compile: allDifferent })
  return ajv
}

function oneOf(keyword: string, allowed: readonly unknown[]): SchemaValidateFunction {
  const texts = new Set(allowed.map(canonical))
  const isFlat = !allowed.some(isNested)
  const check: SchemaValidateFunction = (value: unknown) => {
    // A large value need not be written out to see that it is no word.
    if (!(isFlat && isNested(value)) && texts.has(canonical(value))) return true
    check.errors = [{ keyword, params: { allowed } }]
    return false
  }
  return check
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function allDifferent(wanted: boolean): SchemaValidateFunction {
  return (items: readonly unknown[]) => !wanted || new Set(items.map(canonical)).size === items.length
}

function flawOf(unknown: readonly string[]): string {
  const [first = ''] = unknown
  const shown = JSON.stringify(first.length > 60 ? `${first.slice(0, 60)}…` : first)
  const more = unknown.length > 1 ? ` and ${unknown.length - 1} more` : ''
  return `the pattern ${shown}${more} is not checked: it is too long, or has what RE2 does not know`
}
