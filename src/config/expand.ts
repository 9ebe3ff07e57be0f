// Variables in configuration values: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `{env:VAR}`, `${secret:NAME}`,
// `${input:id}`, `${workspaceFolder}`. One pass: what a variable holds is never looked into again. An empty variable counts as
// missing, so that no server is ever given an empty token; shell text such as `${x%/}` is left alone.

import { basename, sep } from 'node:path'
import type { Environment } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { SECRET_NAME, type SecretReader } from './secret-reader.ts'

/** What variables can be taken from. */
export interface Scope {
  readonly env: Environment
  /** The project folder, for `${workspaceFolder}`. */
  readonly root: string
  readonly home: string
  /** Kept secrets; without them, each counts as missing. */
  readonly secrets?: SecretReader | undefined
}

export type Expanded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly missing: string[] }

/** Expands one text. All missing variables are found before anything is filled in. */
export function expandText(text: string, scope: Scope): Expanded<string> {
  const parts = parse(text)
  const missing = [...new Set(parts.flatMap((part) => missingIn(part, scope)))]
  if (missing.length > 0) return { ok: false, missing }
  return { ok: true, value: parts.map((part) => fill(part, scope)).join('') }
}

/** Expands every text inside a value; keys stay as they are. */
export function expandValue<T>(value: T, scope: Scope): Expanded<T> {
  const missing = missingVariables(value, scope)
  // The shape is kept, so the result has the type of the input.
  return missing.length > 0 ? { ok: false, missing } : { ok: true, value: map(value, scope) as T }
}

/** The variables a value needs and does not get. Looks only; nothing is warned about, filled in or started. */
export function missingVariables(value: unknown, scope: Scope): string[] {
  return [...new Set(texts(value).flatMap((text) => parse(text).flatMap((part) => missingIn(part, scope))))]
}

/** The names of all variables a value refers to, for showing what it would read. */
export function variablesOf(value: unknown): string[] {
  return [...new Set(texts(value).flatMap((text) => parse(text).flatMap(names)))]
}

/** Whether a text is nothing but references, so that it holds no secret itself. */
export function isReference(text: string): boolean {
  const parts = parse(text)
  return parts.length > 0 && parts.every((part) => typeof part !== 'string' && part.fallback === undefined)
}

/** The environment variable that answers `${input:id}`. */
export function inputVariable(id: string): string {
  return `BUSBAR_INPUT_${id.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()}`
}

// --- internal ---

interface Variable {
  readonly kind: 'env' | 'input' | 'secret' | 'place' | 'unsupported'
  readonly name: string
  readonly fallback?: readonly Part[]
}
type Part = string | Variable

const PLACES = new Set([
  'workspaceFolder',
  'workspaceRoot',
  'workspaceFolderBasename',
  'userHome',
  'pathSeparator',
  '/',
])
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** A reference longer than this is text; the bound keeps a hostile file from costing more than its length. */
const MAX_REFERENCE = 1024

function parse(text: string): Part[] {
  if (!text.includes('{')) return text === '' ? [] : [text]
  const parts: Part[] = []
  let literal = ''
  let index = 0
  while (index < text.length) {
    const found = variableAt(text, index)
    if (found === undefined) {
      literal += text[index++]
      continue
    }
    if (literal !== '') parts.push(literal)
    literal = ''
    parts.push(found.variable)
    index = found.end
  }
  if (literal !== '') parts.push(literal)
  return parts
}

/** The variable that begins at `start`, with the index after it. */
function variableAt(text: string, start: number): { variable: Variable; end: number } | undefined {
  const dollar = text.startsWith('${', start)
  if (!dollar && !text.startsWith('{env:', start) && !text.startsWith('{file:', start)) return undefined
  const from = start + (dollar ? 2 : 1)
  const end = closing(text, from)
  if (end === undefined) return undefined
  const variable = variableOf(text.slice(from, end))
  return variable && { variable, end: end + 1 }
}

/** The index of the brace that closes the one before `from`; defaults may hold variables themselves. */
function closing(text: string, from: number): number | undefined {
  let depth = 1
  const limit = Math.min(text.length, from + MAX_REFERENCE)
  for (let index = from; index < limit; index++) {
    if (text[index] === '{') depth++
    else if (text[index] === '}' && --depth === 0) return index
  }
  return undefined
}

function variableOf(inside: string): Variable | undefined {
  if (PLACES.has(inside)) return { kind: 'place', name: inside }
  const [, prefix, rest] = /^(env|input|secret|command|config|file):([\s\S]*)$/.exec(inside) ?? []
  if (prefix !== undefined && prefix !== 'env' && prefix !== 'input' && prefix !== 'secret')
    return { kind: 'unsupported', name: inside }
  const kind = prefix ?? 'env'
  const body = rest ?? inside
  const cut = body.indexOf(':-')
  const name = cut < 0 ? body : body.slice(0, cut)
  if (kind === 'secret' && !SECRET_NAME.test(name)) return { kind: 'unsupported', name: inside }
  if (kind === 'env' ? !NAME.test(name) : name === '') return undefined
  return cut < 0 ? { kind, name } : { kind, name, fallback: parse(body.slice(cut + 2)) }
}

function lookUp(variable: Variable, scope: Scope): string | undefined {
  switch (variable.kind) {
    case 'env':
      return variableOfEnvironment(variable.name, scope)
    case 'input':
      return variableOfEnvironment(inputVariable(variable.name), scope)
    case 'secret': {
      const reading = scope.secrets?.read(variable.name)
      return reading?.kind === 'held' ? reading.value : undefined
    }
    case 'unsupported':
      return undefined
    case 'place':
      return placeValue(variable.name, scope)
  }
}

/** An own, non-empty variable: `process.env` inherits `toString` and the like. */
function variableOfEnvironment(name: string, { env }: Scope): string | undefined {
  return Object.hasOwn(env, name) ? env[name] || undefined : undefined
}

function placeValue(name: string, { root, home }: Scope): string {
  switch (name) {
    case 'userHome':
      return home
    case 'workspaceFolderBasename':
      return basename(root)
    case 'pathSeparator':
    case '/':
      return sep
    default:
      return root
  }
}

function missingIn(part: Part, scope: Scope): string[] {
  if (typeof part === 'string' || lookUp(part, scope) !== undefined) return []
  // A default is for what nobody has set, not for what was damaged.
  const unusable = part.kind === 'secret' && scope.secrets?.read(part.name).kind === 'unusable'
  if (part.fallback !== undefined && !unusable)
    return part.fallback.flatMap((inner) => missingIn(inner, scope))
  return names(part)
}

function fill(part: Part, scope: Scope): string {
  if (typeof part === 'string') return part
  return lookUp(part, scope) ?? (part.fallback ?? []).map((inner) => fill(inner, scope)).join('')
}

function names(part: Part): string[] {
  if (typeof part === 'string' || part.kind === 'place') return []
  const own = part.kind === 'input' || part.kind === 'secret' ? `${part.kind}:${part.name}` : part.name
  return [own, ...(part.fallback ?? []).flatMap(names)]
}

function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(texts)
  return isRecord(value) ? Object.values(value).flatMap(texts) : []
}

function map(value: unknown, scope: Scope): unknown {
  if (typeof value === 'string')
    return parse(value)
      .map((part) => fill(part, scope))
      .join('')
  if (Array.isArray(value)) return value.map((item) => map(item, scope))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(item, scope)]))
}
