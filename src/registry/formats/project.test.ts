import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tried } from '../../base/thorough.ts'
import { type Projected, projectTool, type ToolFormat } from './project.ts'
import { refusals } from './testing.ts'

const FORMATS: readonly ToolFormat[] = ['anthropic', 'openai', 'gemini', 'ai-sdk']

function project(format: ToolFormat, inputSchema: unknown): Projected {
  // Servers send what they like.
  return projectTool(format, { name: 'tool', inputSchema: inputSchema as Record<string, unknown> })
}

test('arguments may be called like keywords, or __proto__', () => {
  const text =
    '{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"object","properties":' +
    '{"type":{"type":"integer"}}},"enum":{"type":"array","items":{"type":"string"}},"required":{"type":"boolean"},' +
    '"__proto__":{"type":"string"}},"required":["type","__proto__"]}'
  const projected = project('anthropic', JSON.parse(text))
  expect(projected.ok && JSON.stringify(projected.tool['input_schema'])).toBe(text)
  const gemini = project('gemini', JSON.parse(text))
  const upper = text.replace(/"type":"([a-z]+)"/g, (_, name: string) => `"type":"${name.toUpperCase()}"`)
  expect(gemini.ok && JSON.stringify(gemini.tool['parameters'])).toBe(upper)
  expect(gemini.ok && refusals('gemini', gemini.tool)).toEqual([])
})

const names: [string, ToolFormat[]][] = [
  ['a'.repeat(64), [...FORMATS]],
  ['a'.repeat(65), []],
  ['', []],
  ['a.b', []],
  ['7zip', ['anthropic', 'openai', 'ai-sdk']],
]
for (const [name, takers] of names)
  test(`the name ${JSON.stringify(name)} is for ${takers.join(', ') || 'none'}`, () => {
    const tool = { name, inputSchema: {} }
    expect(FORMATS.filter((format) => projectTool(format, tool).ok)).toEqual(
      FORMATS.filter((format) => takers.includes(format)),
    )
  })

for (const name of ['filter[id]', '$top', 'with space', 'größe', 'a'.repeat(65), ''])
  test(`an argument called ${JSON.stringify(name)} leaves a tool out for Anthropic alone`, () => {
    const inputSchema = { type: 'object', properties: { [name]: { type: 'string' } } }
    expect(FORMATS.map((format) => project(format, inputSchema).ok)).toEqual([false, true, true, false])
    // Deeper down it is not looked at.
    const deeper = { type: 'object', properties: { a: inputSchema } }
    expect(FORMATS.map((format) => project(format, deeper).ok)).toEqual([true, true, true, true])
  })

test('text that is no UTF-8 is mended where it is read by people and leaves a tool out where it is a name', () => {
  const tool = {
    name: 'tool',
    description: 'a\ud800b',
    inputSchema: {
      properties: {
        a: { description: '\udc00', enum: ['x', '\ud800'] },
        b: { default: '\ud800', pattern: '\ud800' },
      },
    },
  }
  for (const format of FORMATS) {
    const projected = projectTool(format, tool)
    expect(projected.ok && refusals(format, projected.tool)).toEqual([])
  }
  expect(project('openai', { properties: { '\ud800': {} } })).toEqual({
    ok: false,
    reason: 'has an argument whose name is no text',
  })
})

test('a description that is no text is none', () => {
  const tool = { name: 'tool', description: 7 as unknown as string, inputSchema: {} }
  expect(projectTool('anthropic', tool)).toEqual({
    ok: true,
    tool: { name: 'tool', input_schema: { type: 'object', properties: {} } },
  })
})

function nested(levels: number): object {
  let schema: object = { type: 'string' }
  for (let level = 0; level < levels; level++) schema = { type: 'object', properties: { a: schema } }
  return schema
}

function wide(count: number): object {
  return {
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string' }]),
    ),
  }
}

/** Twice as many at each step: 2^15 of them, were they written out. */
const doubling = {
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: 16 }, (_, index) => [
      `d${index}`,
      index === 15
        ? { type: 'string' }
        : {
            type: 'object',
            properties: { a: { $ref: `#/$defs/d${index + 1}` }, b: { $ref: `#/$defs/d${index + 1}` } },
          },
    ]),
  ),
}
const chain = {
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: 5000 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
  ),
}
const TOO_MANY = 'has a schema of more than 10000 parts'
const TOO_DEEP = 'has a schema that is nested deeper than 32 levels'

const large: [string, unknown, true | string][] = [
  ['30 levels', nested(30), true],
  ['200 levels', nested(200), TOO_DEEP],
  ['100,000 levels', nested(100_000), TOO_DEEP],
  ['5,000 properties', wide(5000), true],
  ['10,000 properties', wide(10_000), TOO_MANY],
  ['references that double at each step', doubling, TOO_MANY],
  ['a chain of 5,000 references', chain, TOO_DEEP],
  [
    '4,000 parts of allOf',
    { allOf: Array.from({ length: 4000 }, (_, index) => ({ properties: { [`p${index}`]: {} } })) },
    true,
  ],
  [
    '3,000 alternatives',
    {
      anyOf: Array.from({ length: 3000 }, (_, index) => ({
        properties: { [`p${index}`]: { const: index }, kind: { const: index } },
      })),
    },
    true,
  ],
  [
    '100,000 values',
    { properties: { a: { enum: Array.from({ length: 100_000 }, (_, index) => `v${index}`) } } },
    true,
  ],
  [
    '100,000 required names',
    { required: Array.from({ length: 100_000 }, (_, index) => `r${index}`) },
    TOO_MANY,
  ],
]
for (const [title, schema, expected] of large)
  test(`${title}: ${expected === true ? 'taken' : 'left out with a reason'}`, () => {
    for (const format of ['openai', 'gemini'] as const) {
      const start = performance.now()
      const projected = project(format, schema)
      expect(projected.ok ? true : projected.reason).toBe(expected)
      // Not a measurement: what is not linear takes minutes here.
      expect(performance.now() - start).toBeLessThan(5000)
    }
  })

test('data that contains itself ends', () => {
  const loop: Record<string, unknown> = { type: 'object', default: {} }
  loop['properties'] = { again: loop, list: { type: 'array', items: loop } }
  loop['default'] = loop
  for (const format of FORMATS) {
    const projected = project(format, loop)
    expect(projected.ok && refusals(format, projected.tool)).toEqual([])
  }
})

const keywords = fc.constantFrom(
  ...[
    'type',
    'properties',
    'items',
    'anyOf',
    'oneOf',
    'allOf',
    'not',
    'enum',
    'const',
    'required',
    '$ref',
    '$defs',
  ],
  ...[
    'additionalProperties',
    'patternProperties',
    'prefixItems',
    'if',
    'then',
    'else',
    'dependentSchemas',
    'default',
  ],
  ...[
    'nullable',
    'minimum',
    'exclusiveMinimum',
    'maxLength',
    'pattern',
    'format',
    'description',
    'title',
    'a',
    'b',
  ],
)
const junk = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom(
      true,
      false,
      null,
      1,
      -1,
      1.5,
      'a',
      '',
      '#',
      '#/$defs/a',
      '#/properties/a',
      'http://x.example',
    ),
    fc.constantFrom('string', 'object', 'array', 'null', 'integer', 'number', 'boolean', '[', '\ud800'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(keywords, tie('value'), { maxKeys: 4 }),
    fc.dictionary(keywords, tie('value'), { maxKeys: 4 }),
  ),
})).value

test('whatever a schema is made of, what comes out is taken by its provider', () => {
  let taken = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...FORMATS),
      fc.dictionary(keywords, junk, { maxKeys: 6 }),
      (format, schema) => {
        const before = JSON.stringify(schema)
        const projected = project(format, schema)
        if (projected.ok) {
          taken++
          expect(refusals(format, projected.tool)).toEqual([])
        } else expect(projected.reason).toMatch(/^(has|takes|describes) /)
        expect(JSON.stringify(schema)).toBe(before)
      },
    ),
    { numRuns: tried(1000) },
  )
  expect(taken).toBeGreaterThan(tried(600) / 6)
})

const scalar = fc.oneof(
  fc.record({ type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'null') }),
  fc.record({ type: fc.constant('integer'), minimum: fc.integer({ min: -2, max: 2 }) }),
  fc.record({
    type: fc.constant('string'),
    minLength: fc.nat(2),
    enum: fc.uniqueArray(fc.constantFrom('', 'a', 'bb', 1), { minLength: 1 }),
  }),
  fc.record({ const: fc.constantFrom('a', 1, true, null) }),
  fc.constant({}),
)
const sound = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.record({ anyOf: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema')),
        required: fc.subarray(['a', 'b']),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      },
      { requiredKeys: ['type'] },
    ),
  ),
}))

test('what a server takes is never refused by what the model is told', () => {
  let valid = 0
  const checker = new Ajv2020({ strict: false, logger: false })
  const values = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  const few = fc.dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.constantFrom<unknown>('a', 'bb', 1, true, null, [], ['a'], {}),
  )
  fc.assert(
    fc.property(
      sound.schema,
      fc.array(fc.oneof(few, values), { minLength: 20, maxLength: 20 }),
      (part, args) => {
        const schema = { type: 'object', allOf: [part, { properties: { c: {} } }] }
        const projected = project('openai', schema)
        if (!projected.ok) return
        const { parameters } = projected.tool['function'] as { parameters: object }
        if ('properties' in part && 'properties' in parameters)
          expect(Object.keys(parameters.properties ?? {})).toEqual(
            expect.arrayContaining(Object.keys(part.properties ?? {})),
          )
        const original = checker.compile(schema)
        const told = checker.compile(parameters)
        for (const value of args)
          if (original(value)) {
            valid++
            if (!told(value))
              expect.fail(
                `${JSON.stringify(value)} fits ${JSON.stringify(schema)} but not ${JSON.stringify(parameters)}`,
              )
          }
      },
    ),
    { numRuns: tried(150) },
  )
  expect(valid).toBeGreaterThan(tried(600) / 6)
})
