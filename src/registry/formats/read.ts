// A server's schema, whatever it is made of, as a shape. Bounded in time and size; never throws.

import { isRecord } from '../../base/record.ts'
import { combineAll, either, oneObject } from './combine.ts'
import { type Copied, copyData, isWellFormed, readableText } from './data.ts'
import { readLimits } from './limits.ts'
import { follow } from './reference.ts'
import { mayBeObject, remarks, type Shape } from './shape.ts'
import { fitsTypes, guessTypes, readTypes } from './types.ts'

export type Read =
  | { readonly ok: true; readonly shape: Shape }
  | { readonly ok: false; readonly reason: string }

/** The arguments a schema describes: always one object without alternatives at its top, as providers want it. */
export function readArguments(schema: unknown): Read {
  if (!isRecord(schema)) return { ok: false, reason: 'has no schema for its arguments' }
  const walk: Walk = { root: schema, nodes: 0, data: 0, around: new Set() }
  const found = read(schema, walk, 0, true)
  if (walk.refusal !== undefined) return { ok: false, reason: walk.refusal }
  const { types, anyOf } = found
  if (!mayBeObject(found))
    return { ok: false, reason: `takes ${types?.join(' or ')} instead of named arguments` }
  if (anyOf !== undefined && !anyOf.some(mayBeObject))
    return { ok: false, reason: 'takes several things of which none has named arguments' }
  const { values: _, ...shape } = oneObject(found)
  return { ok: true, shape: { ...shape, types: ['object'], properties: shape.properties ?? new Map() } }
}

// --- internal ---

const MAX_NODES = 10_000
// Each level is two or three messages for Gemini, which reads at most 100 inside each other.
const MAX_DEPTH = 32

interface Walk extends Copied {
  readonly root: Readonly<Record<string, unknown>>
  nodes: number
  refusal?: string
  /** The schemas around the present one: meeting one of them again would never end. */
  readonly around: Set<unknown>
}

/** `top`: what the arguments as a whole are, also through references. */
function read(schema: unknown, walk: Walk, depth: number, top: boolean): Shape {
  spend(walk, 1)
  if (depth > MAX_DEPTH) walk.refusal ??= `has a schema that is nested deeper than ${MAX_DEPTH} levels`
  if (walk.refusal !== undefined) return {}
  if (schema === false) return { description: 'Leave this out.' }
  if (!isRecord(schema)) return {}
  walk.around.add(schema)
  const parts = [own(schema, walk, depth), ...references(schema, walk, depth, top)]
  for (const part of list(schema['allOf'])) parts.push(inside(part, walk, depth, top))
  for (const key of ['anyOf', 'oneOf']) {
    const branches = list(schema[key]).filter((branch) => branch !== false)
    if (branches.length > 0) parts.push(either(branches.map((branch) => inside(branch, walk, depth, top))))
  }
  const whole = withPossible(combineAll(parts), conditional(schema, walk, depth))
  walk.around.delete(schema)
  return schema['nullable'] === true ? nullable(whole) : whole
}

/** A schema inside another, or a stand-in where it contains itself. */
function inside(schema: unknown, walk: Walk, depth: number, top: boolean, name?: string): Shape {
  if (!walk.around.has(schema)) return read(schema, walk, depth + 1, top)
  const types = isRecord(schema) ? readTypes(schema) : undefined
  const description =
    name === undefined || name === 'whole' || !isWellFormed(name)
      ? 'Of the same shape as the object around it.'
      : `Of the same shape as the ${name} around it.`
  return { ...(types === undefined ? {} : { types }), description }
}

function references(schema: Record<string, unknown>, walk: Walk, depth: number, top: boolean): Shape[] {
  const reference = schema['$ref']
  if (typeof reference !== 'string') return []
  const target = follow(walk.root, reference)
  if (target.kind === 'found') return [inside(target.schema, walk, depth, top, target.name)]
  if (top) walk.refusal ??= 'describes its arguments by a reference that its schema does not contain'
  return [{ description: target.note }]
}

/** What a schema says itself, without what it refers to. */
function own(schema: Record<string, unknown>, walk: Walk, depth: number): Shape {
  const title = readableText(schema['title'])
  const properties = readProperties(schema['properties'], walk, depth)
  const required = [...new Set(list(schema['required']))].filter(
    (name): name is string => typeof name === 'string' && isWellFormed(name),
  )
  spend(walk, required.length)
  const { items, order } = readItems(schema, walk, depth)
  const additional = readAdditional(schema, walk, depth)
  const described = readValues(schema, walk)
  const types = readTypes(schema) ?? guessTypes({ properties, items, values: described })
  const values = described?.filter((value) => fitsTypes(value, types))
  const description = remarks(readableText(schema['description']), order)
  const limits = readLimits(schema)
  const notes = readNotes(schema, walk)
  return {
    ...(types === undefined ? {} : { types }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(properties === undefined ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
    ...(additional === undefined ? {} : { additional }),
    ...(items === undefined ? {} : { items }),
    ...(values === undefined || values.length === 0 ? {} : { values }),
    ...(limits === undefined ? {} : { limits }),
    ...(notes === undefined ? {} : { notes }),
  }
}

function readProperties(value: unknown, walk: Walk, depth: number): Map<string, Shape> | undefined {
  if (!isRecord(value)) return undefined
  const properties = new Map<string, Shape>()
  for (const [name, schema] of Object.entries(value)) {
    if (!isWellFormed(name)) walk.refusal ??= 'has an argument whose name is no text'
    if (walk.refusal !== undefined) break
    properties.set(name, inside(schema, walk, depth, false))
  }
  return properties
}

/** Lists by position become lists of any of these, with the order said in words: few providers know more. */
function readItems(
  schema: Record<string, unknown>,
  walk: Walk,
  depth: number,
): { items?: Shape; order?: string } {
  const { items, prefixItems, additionalItems } = schema
  const positions = Array.isArray(items) ? items : list(prefixItems)
  const rest = Array.isArray(items) ? additionalItems : items
  if (positions.length === 0) return isRecord(rest) ? { items: inside(rest, walk, depth, false) } : {}
  const shapes = positions.map((position) => inside(position, walk, depth, false))
  if (isRecord(rest)) shapes.push(inside(rest, walk, depth, false))
  const kinds = shapes.slice(0, 10).map(({ types }) => types?.join(' or ') ?? 'anything')
  return { items: either(shapes), order: `In this order: ${kinds.join(', ')}.` }
}

function readAdditional(
  schema: Record<string, unknown>,
  walk: Walk,
  depth: number,
): Shape['additional'] | undefined {
  const { additionalProperties, patternProperties } = schema
  if (isRecord(additionalProperties)) return inside(additionalProperties, walk, depth, false)
  if (additionalProperties !== false) return undefined
  if (!isRecord(patternProperties)) return false
  // Names by pattern cannot be said, so any name is let through, with the values these have.
  const shapes = Object.values(patternProperties).map((value) => inside(value, walk, depth, false))
  return shapes.length === 0 ? false : either(shapes)
}

function readValues(schema: Record<string, unknown>, walk: Walk): unknown[] | undefined {
  const given = Object.hasOwn(schema, 'const') ? [schema['const']] : schema['enum']
  if (!Array.isArray(given)) return undefined
  const distinct = new Map<string, unknown>()
  for (const value of given) {
    const copy = copyData(value, walk)
    // Without one of its values a list would forbid it.
    if (copy === undefined) return undefined
    distinct.set(JSON.stringify(copy), copy)
  }
  return [...distinct.values()]
}

function readNotes(schema: Record<string, unknown>, walk: Walk): Record<string, unknown> | undefined {
  const notes: Record<string, unknown> = {}
  if (Object.hasOwn(schema, 'default')) notes['default'] = copyData(schema['default'], walk)
  if (Array.isArray(schema['examples'])) notes['examples'] = copyData(schema['examples'], walk)
  const known = Object.entries(notes).filter(([, value]) => value !== undefined)
  return known.length === 0 ? undefined : Object.fromEntries(known)
}

/** Schemas that hold under a condition; what they name must stay known. */
function conditional(schema: Record<string, unknown>, walk: Walk, depth: number): Shape[] {
  const { dependentSchemas, dependencies } = schema
  const parts = [
    ...['if', 'then', 'else'].map((key) => schema[key]),
    ...[dependentSchemas, dependencies].flatMap((value) => (isRecord(value) ? Object.values(value) : [])),
  ]
  return parts.filter(isRecord).map((part) => inside(part, walk, depth, false))
}

/** A shape that also names what may be there under a condition, without what would bind it where there is none. */
function withPossible(shape: Shape, possible: readonly Shape[]): Shape {
  const properties = new Map(shape.properties)
  for (const part of possible)
    for (const [name, { values: _, limits: __, required: ___, ...rest }] of oneObject(part).properties ?? [])
      if (!properties.has(name)) properties.set(name, rest)
  if (properties.size === (shape.properties?.size ?? 0) || !mayBeObject(shape)) return shape
  const { additional: _, ...open } = shape
  return { ...open, properties }
}

function nullable(shape: Shape): Shape {
  const { types, anyOf } = shape
  return {
    ...shape,
    ...(types === undefined || types.includes('null') ? {} : { types: [...types, 'null'] }),
    ...(anyOf === undefined ? {} : { anyOf: [...anyOf, { types: ['null'] }] }),
  }
}

function spend(walk: Walk, parts: number): void {
  walk.nodes += parts
  if (walk.nodes > MAX_NODES) walk.refusal ??= `has a schema of more than ${MAX_NODES} parts`
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
