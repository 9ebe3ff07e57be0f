// The types a schema names, and those that follow from the rest of it where it names none.

import { isRecord } from '../../base/record.ts'
import type { Shape, TypeName } from './shape.ts'

/** The types named by a schema; undefined when there is none that is known. */
export function readTypes(schema: Readonly<Record<string, unknown>>): readonly TypeName[] | undefined {
  const { type } = schema
  const named = Array.isArray(type) ? type : [type]
  const types = new Set<TypeName>()
  for (const name of named) {
    // Some servers write them as OpenAPI for Gemini does, in capitals.
    const known = typeof name === 'string' ? TYPES.get(name.toLowerCase()) : undefined
    // With one of them unknown, the known ones would forbid it.
    if (known === undefined) return undefined
    types.add(known)
  }
  return types.size === 0 ? undefined : [...types]
}

/** The types that a schema without `type` means: Gemini takes no property without. */
export function guessTypes(parts: {
  properties: Shape['properties'] | undefined
  items: Shape | undefined
  values: readonly unknown[] | undefined
}): readonly TypeName[] | undefined {
  if (parts.properties !== undefined) return ['object']
  if (parts.items !== undefined) return ['array']
  if (parts.values === undefined || parts.values.length === 0) return undefined
  return [...new Set(parts.values.map(typeOf))]
}

/** Whether a value is of one of these types. */
export function fitsTypes(value: unknown, types: readonly TypeName[] | undefined): boolean {
  if (types === undefined) return true
  const type = typeOf(value)
  return types.includes(type) || (type === 'integer' && types.includes('number'))
}

// --- internal ---

const TYPES: ReadonlyMap<string, TypeName> = new Map(
  (['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const).map((name) => [
    name,
    name,
  ]),
)

function typeOf(value: unknown): TypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isRecord(value)) return 'object'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'boolean' ? 'boolean' : 'string'
}
