// A shape in the part of OpenAPI 3.0 that Gemini's function declarations know. Beyond its documentation it refuses a
// schema without type, anything beside `anyOf`, a list without items, and permitted values that are no texts.

import { combine, either, oneObject } from './combine.ts'
import { mayBeObject, propertiesOf, remarks, type Shape, type TypeName } from './shape.ts'
import { fitsTypes } from './types.ts'

/** The schema of a shape, or why there is none. */
export function writeGemini(
  shape: Shape,
): { ok: true; schema: Record<string, unknown> } | { ok: false; reason: string } {
  const count: Count = { nodes: 0 }
  const schema = write(shape, count)
  if (count.nodes > MAX_NODES) return { ok: false, reason: 'has a schema that is too large for Gemini' }
  return { ok: true, schema }
}

// --- internal ---

const MAX_NODES = 10_000
const MAX_HINT = 300

interface Count {
  nodes: number
}

type Written = Record<string, unknown>

const OTHERS: readonly TypeName[] = ['string', 'number', 'boolean', 'object']
/** Null alone, which the older versions have no type for. */
const NOTHING: Written = { type: 'STRING', description: 'Give null.' }
/** In place of "anything", which cannot be said. */
const ANYTHING: Shape = {
  anyOf: [...OTHERS.map((type) => ({ types: [type] })), { types: ['array'], items: { types: OTHERS } }],
}

function write(shape: Shape, count: Count): Written {
  if (++count.nodes > MAX_NODES) return {}
  const { types, anyOf } = shape
  if (anyOf !== undefined) return writeAlternatives(shape, anyOf, count)
  if (types === undefined) return writeAnything(shape)
  const kinds = types.filter((type) => type !== 'null')
  // An integer is a number already.
  const distinct = kinds.filter((type) => type !== 'integer' || !kinds.includes('number'))
  const nullable = types.includes('null')
  const [only, ...others] = distinct
  if (only === undefined) return union([NOTHING], saidOf(shape), true)
  if (others.length === 0) {
    const written = writeKind(shape, only, count)
    return nullable ? { ...written, nullable } : written
  }
  const { description, title, notes, ...rest } = shape
  const branches = distinct.map((type) => writeKind(rest, type, count))
  return union(branches, saidOf(shape), nullable)
}

function writeAlternatives(shape: Shape, anyOf: readonly Shape[], count: Count): Written {
  // Objects that differ in a few properties: one object says the same without repeating all of it.
  const object = shape.properties !== undefined || shape.types?.includes('object') === true
  if (object && anyOf.some(mayBeObject)) return write(oneObject(shape), count)
  const { anyOf: _, description, title, values, types, notes, ...rest } = shape
  const nullable = anyOf.some(isNull) && (types === undefined || types.includes('null'))
  const kinds = types?.filter((type) => type !== 'null')
  const base: Shape = kinds === undefined || kinds.length === 0 ? rest : { ...rest, types: kinds }
  const branches = anyOf.filter((branch) => !isNull(branch)).map((branch) => combine(branch, base))
  const said = saidOf(shape)
  if (branches.length === 0) return union([NOTHING], said, true)
  const merged = either(branches)
  // `either` gives several as alternatives and nothing else, one as it is.
  const several = branches.includes(merged) ? undefined : merged.anyOf
  if (several === undefined) return withNote(write(merged, count), said, nullable)
  const written = several.map((branch) => write(branch, count))
  return union(written, said, nullable)
}

function writeAnything(shape: Shape): Written {
  const free: Count = { nodes: 0 }
  return union(
    (ANYTHING.anyOf ?? []).map((branch) => write(branch, free)),
    saidOf(shape),
    false,
  )
}

/** Alternatives; as nothing may stand beside them, what is said of all is said in the first. */
function union(branches: readonly Written[], description: string | undefined, nullable: boolean): Written {
  const [first = {}, ...others] = branches
  const told = withNote(first, description, nullable)
  return others.length === 0 ? told : { anyOf: [told, ...others] }
}

function withNote(schema: Written, description: string | undefined, nullable: boolean): Written {
  const { anyOf } = schema
  if (Array.isArray(anyOf)) return union(anyOf, description, nullable)
  const own = schema['description']
  const all = remarks(description, typeof own === 'string' ? own : undefined)
  return {
    ...schema,
    ...(all === undefined ? {} : { description: all }),
    ...(nullable ? { nullable } : {}),
  }
}

function writeKind(shape: Shape, type: TypeName, count: Count): Written {
  const limits = shape.limits ?? {}
  const values = shape.values?.filter((value) => fitsTypes(value, [type]))
  const texts = type === 'string' ? values?.filter(isFullText) : undefined
  // An empty text among the values is refused too.
  const listed = texts !== undefined && texts.length > 0 && texts.length === values?.length
  const hint = listed ? undefined : valuesHint(values)
  const description = remarks(saidOf(shape), hint)
  const head = { type: type.toUpperCase(), ...(description === undefined ? {} : { description }) }
  switch (type) {
    case 'object':
      return { ...head, ...writeObject(shape, count), ...pick(limits, 'minProperties', 'maxProperties') }
    case 'array':
      return { ...head, items: write(shape.items ?? {}, count), ...pick(limits, 'minItems', 'maxItems') }
    case 'string':
      return {
        ...head,
        ...(listed ? { format: 'enum', enum: texts } : pickFormat(limits, 'date-time')),
        ...pick(limits, 'minLength', 'maxLength', 'pattern'),
      }
    case 'integer':
      return { ...head, ...pickFormat(limits, 'int32', 'int64'), ...bounds(limits, true) }
    case 'number':
      return { ...head, ...pickFormat(limits, 'float', 'double'), ...bounds(limits, false) }
    case 'boolean':
    case 'null':
      return head
  }
}

function writeObject(shape: Shape, count: Count): Written {
  const properties = propertiesOf(shape)
  // An empty list of properties is refused, no list is not.
  if (properties.size === 0) return {}
  const { required = [] } = shape
  return {
    properties: Object.fromEntries([...properties].map(([name, property]) => [name, write(property, count)])),
    ...(required.length === 0 ? {} : { required: [...required] }),
  }
}

/** An excluded bound cannot be said: the nearest whole number stands for it, or the bound itself. */
function bounds(limits: Readonly<Record<string, unknown>>, whole: boolean): Written {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = limits
  const from = typeof above === 'number' && whole ? Math.floor(above) + 1 : above
  const to = typeof below === 'number' && whole ? Math.ceil(below) - 1 : below
  return {
    ...(minimum === undefined && from === undefined ? {} : { minimum: minimum ?? from }),
    ...(maximum === undefined && to === undefined ? {} : { maximum: maximum ?? to }),
  }
}

function pick(limits: Readonly<Record<string, unknown>>, ...names: readonly string[]): Written {
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(limits, name) ? [[name, limits[name]]] : [])),
  )
}

function pickFormat(limits: Readonly<Record<string, unknown>>, ...formats: readonly string[]): Written {
  const { format } = limits
  return typeof format === 'string' && formats.includes(format) ? { format } : {}
}

function valuesHint(values: readonly unknown[] | undefined): string | undefined {
  if (values === undefined || values.length === 0) return undefined
  const text = values.map((value) => JSON.stringify(value)).join(', ')
  return `One of: ${text.length > MAX_HINT ? `${text.slice(0, MAX_HINT)}…` : text}.`
}

/** What is said of a value in words, with its default, which is not read from elsewhere. */
function saidOf({ description, title, notes }: Shape): string | undefined {
  const value = notes?.['default']
  const text = value === undefined || value === null ? '' : JSON.stringify(value)
  const hint = text === '' || text.length > MAX_HINT ? undefined : `Default: ${text}.`
  return remarks(description ?? title, hint)
}

function isFullText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isNull({ types }: Shape): boolean {
  return types?.length === 1 && types[0] === 'null'
}
