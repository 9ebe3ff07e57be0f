// A shape as JSON Schema, with nothing that one of the providers of JSON Schema refuses.

import { propertiesOf, type Shape } from './shape.ts'

/** The JSON Schema of a shape. */
export function writeShape(shape: Shape): Record<string, unknown> {
  const { types, title, description, required, additional, items, anyOf, values } = shape
  const object = types?.includes('object') ?? false
  const properties = object ? propertiesOf(shape) : shape.properties
  return {
    ...(types === undefined ? {} : { type: types.length === 1 ? types[0] : [...types] }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(values === undefined ? {} : { enum: [...values] }),
    ...(properties === undefined ? {} : { properties: writeAll(properties) }),
    ...(required === undefined || required.length === 0 ? {} : { required: [...required] }),
    ...(additional === undefined
      ? {}
      : { additionalProperties: additional === false ? false : writeShape(additional) }),
    // OpenAI refuses a list of which nothing is said, but not one of anything.
    ...(items !== undefined || types?.includes('array') ? { items: writeShape(items ?? {}) } : {}),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(writeShape) }),
    ...shape.limits,
    ...shape.notes,
  }
}

// --- internal ---

function writeAll(properties: ReadonlyMap<string, Shape>): Record<string, unknown> {
  return Object.fromEntries([...properties].map(([name, shape]) => [name, writeShape(shape)]))
}
