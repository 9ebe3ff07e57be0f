// Shapes put together: of several that all hold, and of several of which one does.

import { isOpen, mayBeObject, remarks, type Shape, type TypeName } from './shape.ts'
import { writeShape } from './write.ts'

/** A shape of which both hold. Where they contradict each other the first one counts. */
export function combine(first: Shape, second: Shape): Shape {
  // Two lists of alternatives cannot both be said, so the second becomes one object with the properties of all.
  const other = first.anyOf !== undefined && second.anyOf !== undefined ? oneObject(second) : second
  const properties = new Map(first.properties)
  for (const [name, shape] of other.properties ?? []) {
    const same = properties.get(name)
    properties.set(name, same === undefined ? shape : combine(same, shape))
  }
  const required = [...new Set([...(first.required ?? []), ...(other.required ?? [])])]
  const types = narrow(first.types, other.types)
  const values = common(first.values, other.values)
  const items =
    first.items !== undefined && other.items !== undefined
      ? combine(first.items, other.items)
      : (first.items ?? other.items)
  const additional = commonAdditional(first, other)
  return {
    ...withoutAdditional(other),
    ...withoutAdditional(first),
    ...(types === undefined ? {} : { types }),
    ...(first.properties === undefined && other.properties === undefined ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
    ...(items === undefined ? {} : { items }),
    ...(values === undefined ? {} : { values }),
    ...(additional === undefined ? {} : { additional }),
    limits: { ...other.limits, ...first.limits },
    notes: { ...other.notes, ...first.notes },
  }
}

/** A shape of which all hold, in halves so that many parts take no longer than their size. */
export function combineAll(shapes: readonly Shape[]): Shape {
  const [first = {}] = shapes
  if (shapes.length < 2) return first
  const half = shapes.length >> 1
  return combine(combineAll(shapes.slice(0, half)), combineAll(shapes.slice(half)))
}

/** One object in place of alternatives: with the properties of all, and required what all of them require. */
export function oneObject(shape: Shape): Shape {
  const { anyOf = [], additional, ...base } = shape
  const branches = anyOf.filter(mayBeObject).map(oneObject)
  const versions = new Map<string, Shape[]>()
  for (const branch of branches)
    for (const [name, property] of branch.properties ?? []) {
      const known = versions.get(name)
      if (known === undefined) versions.set(name, [property])
      else known.push(property)
    }
  const properties = new Map(base.properties)
  for (const [name, found] of versions) {
    const own = properties.get(name)
    if (own === undefined) properties.set(name, either(found))
    // Where an alternative does not name it, it is as open there as it was.
    else if (isOpen(own) && found.length === branches.length)
      properties.set(name, combine(own, either(found)))
  }
  const shared = sharedNames(branches.map(({ required = [] }) => required))
  const required = [...new Set([...(base.required ?? []), ...shared])]
  const grown = properties.size > (base.properties?.size ?? 0)
  const description = remarks(base.description, groupsRemark(branches, shared))
  return {
    ...base,
    ...(properties.size === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
    // It forbade what the alternatives name.
    ...(grown || additional === undefined ? {} : { additional }),
    ...(description === undefined ? {} : { description }),
  }
}

/** A shape of which one holds; at least one must be given. */
export function either(shapes: readonly Shape[]): Shape {
  const distinct = new Map<string, Shape>()
  const texts: (readonly string[] | undefined)[] = []
  for (const shape of shapes) {
    const written = writeShape(shape)
    const text = JSON.stringify(written)
    if (distinct.has(text)) continue
    distinct.set(text, shape)
    texts.push(onlyTexts(written))
  }
  const [only, ...others] = distinct.values()
  if (only === undefined) return {}
  if (others.length === 0) return only
  // What tells the kinds of an object apart ("action": one of …) reads better as one list of values.
  if (texts.every((found) => found !== undefined))
    return { types: ['string'], values: [...new Set(texts.flat())] }
  return { anyOf: [only, ...others] }
}

// --- internal ---

const MAX_GROUPS = 8

/** The values of a schema that is nothing but a list of texts. */
function onlyTexts({ type, enum: values, ...rest }: Record<string, unknown>): readonly string[] | undefined {
  if (type !== 'string' || !Array.isArray(values) || Object.keys(rest).length > 0) return undefined
  return values.filter((value) => typeof value === 'string')
}

function withoutAdditional({ additional: _, ...rest }: Shape): Shape {
  return rest
}

function narrow(
  first: readonly TypeName[] | undefined,
  second: readonly TypeName[] | undefined,
): readonly TypeName[] | undefined {
  if (first === undefined || second === undefined) return first ?? second
  const both = first.filter((type) => second.includes(type))
  const whole = first.includes('number') && second.includes('integer') && !both.includes('integer')
  const wholeToo = second.includes('number') && first.includes('integer') && !both.includes('integer')
  if (whole || wholeToo) both.push('integer')
  return both.length === 0 ? first : both
}

function common(
  first: readonly unknown[] | undefined,
  second: readonly unknown[] | undefined,
): readonly unknown[] | undefined {
  if (first === undefined || second === undefined) return first ?? second
  const texts = new Set(second.map((value) => JSON.stringify(value)))
  const both = first.filter((value) => texts.has(JSON.stringify(value)))
  return both.length === 0 ? first : both
}

/** Each side alone may forbid what the other one names, so only what needs no such reading is kept. */
function commonAdditional(first: Shape, second: Shape): Shape['additional'] {
  if (second.properties === undefined && second.additional === undefined) return first.additional
  if (first.properties === undefined && first.additional === undefined) return second.additional
  return undefined
}

function sharedNames(lists: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = lists
  const sets = others.map((names) => new Set(names))
  return first.filter((name) => sets.every((names) => names.has(name)))
}

/** Which arguments belong together, where the alternatives differ in that. */
function groupsRemark(branches: readonly Shape[], shared: readonly string[]): string | undefined {
  const always = new Set(shared)
  const groups = branches.map(({ required = [] }) => required.filter((name) => !always.has(name)).join(', '))
  const distinct = [...new Set(groups)]
  if (distinct.length < 2 || distinct.includes('') || distinct.length > MAX_GROUPS) return undefined
  return `Give one of: ${distinct.join('; or ')}.`
}
