// A tool's schema made ready to be compiled: measured, in one dialect, with what cannot be checked left out and named.

import { isRecord } from '../base/record.ts'

/** Properties of a schema that are schemas themselves, lists of them or maps of them. */
const ONE: ReadonlySet<string> = new Set([
  ...['additionalItems', 'additionalProperties', 'contains', 'else', 'if', 'items', 'not', 'propertyNames'],
  ...['then', 'unevaluatedItems', 'unevaluatedProperties'],
])
const LIST: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const MAP: ReadonlySet<string> = new Set([
  ...['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'],
])

/** Keywords that draft-07 does not know and therefore ignores. */
const NEWER: ReadonlySet<string> = new Set([
  ...['prefixItems', 'unevaluatedItems', 'unevaluatedProperties', 'dependentRequired', 'dependentSchemas'],
  ...['minContains', 'maxContains', '$dynamicRef', '$dynamicAnchor'],
])

/** Keywords that say something about a schema and need no code to be checked. */
const SILENT: ReadonlySet<string> = new Set([
  ...['$defs', 'definitions', 'title', 'description', 'default', 'examples', '$id', '$anchor', 'deprecated'],
  ...['readOnly', 'writeOnly', 'then', 'else', 'minContains', 'maxContains', 'additionalItems'],
])

/** A schema is a set of these; `null` as prototype, so that `constructor` is not in it unless it was written. */
type Schema = Record<string, unknown>

export interface ReadSchema {
  readonly schema: Schema | boolean
  /** How many keywords have to be compiled. */
  readonly checks: number
  /** Every pattern in it. */
  readonly patterns: ReadonlySet<string>
}

/** Whether a schema is small enough to be looked at: nodes, levels and characters as JSON has them. */
export function isTooLarge(schema: unknown): boolean {
  let nodes = MAX_NODES
  let characters = MAX_CHARACTERS
  const fits = (value: unknown, levels: number): boolean => {
    nodes -= 1
    characters -= typeof value === 'string' ? value.length + 3 : 6
    if (nodes < 0 || characters < 0 || levels < 0) return false
    if (Array.isArray(value)) return value.every((item) => fits(item, levels - 1))
    if (!isRecord(value)) return true
    return Object.keys(value).every((key) => {
      characters -= key.length
      return fits(value[key], levels - 1)
    })
  }
  return !fits(schema, MAX_LEVELS)
}

/**
 * A copy that says the same to a compiler for draft 2020-12. Patterns in `unknown` count as satisfied; where that could
 * turn into a refusal (`not`, `if`, `oneOf`), the keyword around them is left out as well.
 */
export function readSchema(source: Readonly<Schema>, unknown: ReadonlySet<string>): ReadSchema {
  const dialect = source['$schema']
  const reader = new Reader(typeof dialect === 'string' && /draft-0[3-7]/.test(dialect), unknown)
  return { schema: reader.schema(source), checks: reader.checks, patterns: reader.patterns }
}

// --- internal ---

const MAX_NODES = 20_000
const MAX_LEVELS = 64
const MAX_CHARACTERS = 256 * 1024

class Reader {
  readonly patterns = new Set<string>()
  checks = 0
  readonly #old: boolean
  readonly #unknown: ReadonlySet<string>

  constructor(old: boolean, unknown: ReadonlySet<string>) {
    this.#old = old
    this.#unknown = unknown
  }

  schema(source: unknown): Schema | boolean {
    if (!isRecord(source)) return source as boolean
    const copy: Schema = Object.create(null)
    for (const [key, value] of Object.entries(source)) {
      if (key === '__proto__' || (this.#old && NEWER.has(key)) || isMisplaced(key, value, source)) continue
      if (this.#isUnsure(key, value)) continue
      if (!SILENT.has(key)) this.checks += 1
      copy[key] = this.#value(key, value)
    }
    if (typeof source['pattern'] === 'string') {
      this.patterns.add(source['pattern'])
      if (this.#unknown.has(source['pattern'])) delete copy['pattern']
    }
    // A branch without its condition would apply always.
    if (copy['if'] === undefined) {
      delete copy['then']
      delete copy['else']
    }
    // Every reference counts as a step, so that those which multiply come to an end.
    if ('$ref' in copy || '$dynamicRef' in copy || '$recursiveRef' in copy) copy[STEP] = true
    return asTuple(copy)
  }

  #value(key: string, value: unknown): unknown {
    if (ONE.has(key))
      return Array.isArray(value) ? value.map((item) => this.schema(item)) : this.schema(value)
    if (LIST.has(key) && Array.isArray(value)) return value.map((item) => this.schema(item))
    if (!MAP.has(key) || !isRecord(value)) return value
    const copy: Schema = Object.create(null)
    for (const [name, item] of Object.entries(value)) {
      if (name === '__proto__') continue
      if (key === 'patternProperties') this.patterns.add(name)
      if (key === 'dependencies') this.checks += 1
      const isUnknown = key === 'patternProperties' && this.#unknown.has(name)
      // Lists stand in `dependencies`: names, not schemas.
      copy[name] = isUnknown || (Array.isArray(item) ? item : this.schema(item))
    }
    return copy
  }

  #isUnsure(key: string, value: unknown): boolean {
    if (this.#unknown.size === 0 || !(key === 'not' || key === 'if' || key === 'oneOf')) return false
    const text = JSON.stringify(value)
    if (/"\$(?:ref|dynamicRef|recursiveRef)"/.test(text)) return true
    return [...this.#unknown].some((pattern) => text.includes(JSON.stringify(pattern)))
  }
}

/** The keyword that counts steps; see schema-compile.ts. */
export const STEP = 'x-busbar-step'

/** What the compiler takes for something else, or refuses although old schemas have it. */
function isMisplaced(key: string, value: unknown, source: Readonly<Schema>): boolean {
  switch (key) {
    case '$schema':
    case '$async':
    case STEP:
      return true
    case 'id':
      return typeof value === 'string'
    case 'nullable':
      return source['type'] === undefined
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return typeof value === 'boolean'
    default:
      return false
  }
}

/** A list of schemas in `items` became `prefixItems`, and what followed it `items`. */
function asTuple(copy: Schema): Schema {
  if (!Array.isArray(copy['items'])) {
    delete copy['additionalItems']
    return copy
  }
  copy['prefixItems'] = copy['items']
  delete copy['items']
  if (copy['additionalItems'] !== undefined) copy['items'] = copy['additionalItems']
  delete copy['additionalItems']
  return copy
}
