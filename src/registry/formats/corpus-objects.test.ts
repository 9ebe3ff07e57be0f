import { test } from 'vitest'
import { anything, expectArgument } from './testing.ts'

/** What an argument of this schema becomes as JSON Schema, and for Gemini. */
const corpus: [string, unknown, object, object][] = [
  [
    'text or a list without items',
    { type: ['string', 'array'] },
    { type: ['string', 'array'], items: {} },
    { anyOf: [{ type: 'STRING' }, { type: 'ARRAY', items: anything() }] },
  ],
  [
    'a list by position, as of old',
    { type: 'array', items: [{ type: 'number' }, { type: 'string' }] },
    {
      type: 'array',
      description: 'In this order: number, string.',
      items: { anyOf: [{ type: 'number' }, { type: 'string' }] },
    },
    {
      type: 'ARRAY',
      description: 'In this order: number, string.',
      items: { anyOf: [{ type: 'NUMBER' }, { type: 'STRING' }] },
    },
  ],
  [
    'a list by position',
    {
      type: 'array',
      prefixItems: [{ type: 'number' }, { type: 'number' }],
      items: false,
      minItems: 2,
      maxItems: 2,
    },
    {
      type: 'array',
      description: 'In this order: number, number.',
      items: { type: 'number' },
      minItems: 2,
      maxItems: 2,
    },
    {
      type: 'ARRAY',
      description: 'In this order: number, number.',
      items: { type: 'NUMBER' },
      minItems: 2,
      maxItems: 2,
    },
  ],
  [
    'a list without items',
    { type: 'array' },
    { type: 'array', items: {} },
    { type: 'ARRAY', items: anything() },
  ],
  [
    'an object without properties',
    { type: 'object' },
    { type: 'object', properties: {} },
    { type: 'OBJECT' },
  ],
  [
    'properties by pattern',
    { type: 'object', patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false },
    { type: 'object', properties: {}, additionalProperties: { type: 'string' } },
    { type: 'OBJECT' },
  ],
  [
    'no further properties',
    { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: false },
    { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: false },
    { type: 'OBJECT', properties: { b: { type: 'STRING' } } },
  ],
  [
    'further properties of one shape',
    { type: 'object', additionalProperties: { type: 'number' } },
    { type: 'object', properties: {}, additionalProperties: { type: 'number' } },
    { type: 'OBJECT' },
  ],
  [
    'if, then, else',
    {
      type: 'object',
      properties: { kind: { type: 'string' } },
      if: { properties: { kind: { const: 'x' } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { size: { type: 'integer', minimum: 3 } }, required: ['size'] },
      else: { properties: { colour: { enum: ['red'] } } },
    },
    {
      type: 'object',
      properties: { kind: { type: 'string' }, size: { type: 'integer' }, colour: { type: 'string' } },
    },
    {
      type: 'OBJECT',
      properties: { kind: { type: 'STRING' }, size: { type: 'INTEGER' }, colour: { type: 'STRING' } },
    },
  ],
  [
    'an object as default',
    { type: 'object', default: { b: [1] } },
    { type: 'object', properties: {}, default: { b: [1] } },
    { type: 'OBJECT', description: 'Default: {"b":[1]}.' },
  ],
  ['required as true', { type: 'string', required: true }, { type: 'string' }, { type: 'STRING' }],
  [
    'properties as a list',
    { type: 'object', properties: ['a'] },
    { type: 'object', properties: {} },
    { type: 'OBJECT' },
  ],
  [
    'required names that are not described, twice, or no text',
    { type: 'object', properties: { b: { type: 'string' } }, required: ['b', 'c', 'c', 4] },
    { type: 'object', properties: { b: { type: 'string' }, c: {} }, required: ['b', 'c'] },
    { type: 'OBJECT', properties: { b: { type: 'STRING' }, c: anything() }, required: ['b', 'c'] },
  ],
  [
    'alternatives in what is required',
    {
      type: 'object',
      properties: { b: { type: 'string' }, c: { type: 'string' } },
      anyOf: [{ required: ['b'] }, { required: ['c'] }],
    },
    {
      type: 'object',
      properties: { b: { type: 'string' }, c: { type: 'string' } },
      anyOf: [{ required: ['b'] }, { required: ['c'] }],
    },
    {
      type: 'OBJECT',
      description: 'Give one of: b; or c.',
      properties: { b: { type: 'STRING' }, c: { type: 'STRING' } },
    },
  ],
  [
    'alternative objects',
    {
      anyOf: [
        { type: 'object', properties: { b: { type: 'string' } } },
        { type: 'object', properties: { c: { type: 'string' } } },
      ],
      description: 'D',
    },
    {
      description: 'D',
      anyOf: [
        { type: 'object', properties: { b: { type: 'string' } } },
        { type: 'object', properties: { c: { type: 'string' } } },
      ],
    },
    {
      anyOf: [
        { type: 'OBJECT', properties: { b: { type: 'STRING' } }, description: 'D' },
        { type: 'OBJECT', properties: { c: { type: 'STRING' } } },
      ],
    },
  ],
  [
    'allOf',
    {
      allOf: [
        {
          type: 'object',
          properties: { b: { type: 'string' } },
          required: ['b'],
          additionalProperties: false,
        },
        { properties: { c: { type: 'number' }, b: { minLength: 1 } } },
      ],
    },
    {
      type: 'object',
      properties: { b: { type: 'string', minLength: 1 }, c: { type: 'number' } },
      required: ['b'],
    },
    {
      type: 'OBJECT',
      properties: { b: { type: 'STRING', minLength: 1 }, c: { type: 'NUMBER' } },
      required: ['b'],
    },
  ],
  [
    'a reference elsewhere, described',
    { $ref: 'https://example.com/x.json', description: 'Mine.' },
    { description: 'Mine.' },
    anything('Mine.'),
  ],
  [
    'a reference elsewhere',
    { $ref: 'https://example.com/x.json' },
    { description: 'Described elsewhere.' },
    anything('Described elsewhere.'),
  ],
  [
    'a reference to nothing',
    { $ref: '#/$defs/nope' },
    { description: 'Not described.' },
    anything('Not described.'),
  ],
]
for (const [title, schema, expected, gemini] of corpus)
  test(`an argument may be ${title}`, () => {
    expectArgument(schema, expected, gemini)
  })
