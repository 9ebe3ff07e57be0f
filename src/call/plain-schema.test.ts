// What says yes without the compiler never says it where the compiler says no; and what it knows, it knows as well.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tried } from '../base/thorough.ts'
import { plainCheck } from './plain-schema.ts'
import { Validators } from './validate.ts'

type Schema = Record<string, unknown>

const validators = new Validators()
let count = 0

async function compilerSays(schema: Schema, value: unknown): Promise<boolean> {
  count += 1
  return (await validators.get(`schema-${count}`, schema)).check(value).ok
}

const NAMES = ['a', 'b', '__proto__', 'constructor', 'toString', '']
const name = fc.constantFrom(...NAMES)
const scalar = fc.constantFrom(null, true, false, 0, -0, 1, 1.5, 2, 1e21, 'a', 'b', '')
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    // As JSON.parse makes them: every name is the object's own.
    fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map(ownEntries),
  ),
}))

/** 1e999, as JSON.parse reads it. */
const odd = fc.oneof(value, fc.constantFrom(Number.POSITIVE_INFINITY, { a: Number.NEGATIVE_INFINITY }))

function ownEntries(entries: readonly (readonly [string, unknown])[]): Schema {
  const made: Schema = {}
  for (const [key, item] of entries)
    Object.defineProperty(made, key, { value: item, enumerable: true, configurable: true, writable: true })
  return made
}

const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object')
const limit = fc.constantFrom(0, 1, 2, 1.5)
/** More than what is known: it must be left to the compiler. */
const more = fc.constantFrom<Schema>(
  { minLength: 1 },
  { format: 'date' },
  { not: { type: 'string' } },
  { pattern: '^a' },
  { nullable: true },
  { required: true },
  { exclusiveMinimum: true, minimum: 1 },
  { enum: [{}] },
  { const: [] },
  { items: [{ type: 'string' }] },
  { $ref: '#/properties/a' },
  { patternProperties: { '^a': false } },
  { properties: { a: false } },
  { type: 'text' },
  // The compiler passes over it, and so it is one name too many.
  JSON.parse('{ "properties": { "__proto__": { "type": "string" } }, "additionalProperties": false }'),
)

const { schema } = fc.letrec<{ schema: Schema }>((tie) => {
  const below = fc.oneof({ arbitrary: tie('schema'), weight: 3 }, fc.constant(true))
  return {
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.record({ type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })) }),
      fc.record(
        {
          type,
          description: fc.constant('says nothing'),
          enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }),
          minimum: limit,
          maximum: limit,
          exclusiveMinimum: limit,
          exclusiveMaximum: limit,
          minItems: limit.map(Math.floor),
          maxItems: limit.map(Math.floor),
          items: below,
          const: scalar,
          anyOf: fc.array(below, { minLength: 1, maxLength: 2 }),
          required: fc.uniqueArray(name, { maxLength: 2 }),
          properties: fc
            .uniqueArray(fc.tuple(name, below), { maxLength: 3, selector: ([key]) => key })
            .map(ownEntries),
          additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
          'x-mcp-header': fc.constant('A'),
        },
        { requiredKeys: [] },
      ) as fc.Arbitrary<Schema>,
    ),
  }
})

test('it says yes where the compiler does, and nowhere else', async () => {
  let known = 0
  await fc.assert(
    fc.asyncProperty(schema, value, async (schema, value) => {
      const check = plainCheck(schema)
      if (check === undefined) return
      known += 1
      const isFine = await compilerSays(schema, value)
      expect(check(value)).toBe(isFine)
    }),
    { numRuns: tried(1500) },
  )
  expect(known).toBeGreaterThan(tried(600))
})

test('it never says yes where the compiler says no, whatever else a schema says', async () => {
  await fc.assert(
    fc.asyncProperty(schema, more, fc.boolean(), odd, async (some, more, inside, value) => {
      const schema = inside ? { properties: { a: { ...some, ...more } } } : { ...some, ...more }
      if (plainCheck(schema)?.(value)) expect(await compilerSays(schema, value)).toBe(true)
    }),
    { numRuns: tried(600) },
  )
})

test('a schema that says more than it knows is left alone, however deep that stands', () => {
  fc.assert(
    fc.property(more, (more) => {
      expect(plainCheck(more)).toBeUndefined()
      expect(
        plainCheck({ properties: { a: { items: { anyOf: [{ type: 'null' }, more] } } } }),
      ).toBeUndefined()
    }),
  )
  let deep: Schema = { type: 'string' }
  for (let level = 0; level < 30; level += 1) deep = { items: deep }
  expect(plainCheck(deep)).toBeUndefined()
})

test('a schema of very many checks is left alone, as by the compiler', () => {
  const words = (count: number) => ({
    items: { anyOf: Array.from({ length: count }, (_, at) => ({ const: at })) },
  })
  expect(plainCheck(words(300))?.([299])).toBe(true)
  expect(plainCheck(words(500))).toBeUndefined()
})
