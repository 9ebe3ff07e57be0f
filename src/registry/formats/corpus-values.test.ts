import { test } from 'vitest'
import { anything, expectArgument } from './testing.ts'

/** What an argument of this schema becomes as JSON Schema, and for Gemini. */
const corpus: [string, unknown, object, object][] = [
  ['true', true, {}, anything()],
  ['false', false, { description: 'Leave this out.' }, anything('Leave this out.')],
  [
    'text or null by a list of types',
    { type: ['string', 'null'], description: 'Who.' },
    { type: ['string', 'null'], description: 'Who.' },
    { type: 'STRING', description: 'Who.', nullable: true },
  ],
  [
    'text or null by anyOf',
    { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'Who.', default: null },
    { description: 'Who.', anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
    { type: 'STRING', description: 'Who.', nullable: true },
  ],
  [
    'three alternatives, one of them null',
    { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }], title: 'Who', default: 5 },
    { title: 'Who', anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }], default: 5 },
    { anyOf: [{ type: 'STRING', description: 'Who. Default: 5.', nullable: true }, { type: 'INTEGER' }] },
  ],
  [
    'null among the values of a text',
    { type: 'string', enum: ['a', null] },
    { type: 'string', enum: ['a'] },
    { type: 'STRING', format: 'enum', enum: ['a'] },
  ],
  [
    'null among the values of a text or null',
    { type: ['string', 'null'], enum: ['a', null] },
    { type: ['string', 'null'], enum: ['a', null] },
    { type: 'STRING', format: 'enum', enum: ['a'], nullable: true },
  ],
  [
    'values of mixed types',
    { enum: ['a', 1, true, null, 1.5] },
    { type: ['string', 'integer', 'boolean', 'null', 'number'], enum: ['a', 1, true, null, 1.5] },
    {
      anyOf: [
        { type: 'STRING', format: 'enum', enum: ['a'], nullable: true },
        { type: 'BOOLEAN', description: 'One of: true.' },
        { type: 'NUMBER', description: 'One of: 1, 1.5.' },
      ],
    },
  ],
  [
    'numbers as values',
    { type: 'integer', enum: [0, 2, 4] },
    { type: 'integer', enum: [0, 2, 4] },
    { type: 'INTEGER', description: 'One of: 0, 2, 4.' },
  ],
  [
    'an empty text as value',
    { type: 'string', enum: ['', 'a'] },
    { type: 'string', enum: ['', 'a'] },
    { type: 'STRING', description: 'One of: "", "a".' },
  ],
  [
    'a constant text',
    { const: 'fixed' },
    { type: 'string', enum: ['fixed'] },
    { type: 'STRING', format: 'enum', enum: ['fixed'] },
  ],
  [
    'a constant number',
    { const: 5 },
    { type: 'integer', enum: [5] },
    { type: 'INTEGER', description: 'One of: 5.' },
  ],
  [
    'constants by oneOf',
    { oneOf: [{ const: 'a' }, { const: 'b' }] },
    { type: 'string', enum: ['a', 'b'] },
    { type: 'STRING', format: 'enum', enum: ['a', 'b'] },
  ],
  ['not', { not: { type: 'string' } }, {}, anything()],
  [
    'dependentRequired',
    { type: 'object', properties: { b: {}, c: {} }, dependentRequired: { b: ['c'] } },
    { type: 'object', properties: { b: {}, c: {} } },
    { type: 'OBJECT', properties: { b: anything(), c: anything() } },
  ],
  [
    'huge numbers',
    { type: 'integer', minimum: Number('-1e400'), maximum: 1e300, exclusiveMaximum: 9007199254740991 },
    { type: 'integer', exclusiveMaximum: 9007199254740991 },
    { type: 'INTEGER', maximum: 9007199254740990 },
  ],
  [
    'lengths that are none',
    { type: 'string', minLength: -1, maxLength: 1e30 },
    { type: 'string' },
    { type: 'STRING' },
  ],
  [
    'examples',
    { type: 'string', examples: ['x', 'y'] },
    { type: 'string', examples: ['x', 'y'] },
    { type: 'STRING' },
  ],
  ['an unknown format', { type: 'string', format: 'colour' }, { type: 'string' }, { type: 'STRING' }],
  [
    'the format date-time',
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date-time' },
    { type: 'STRING', format: 'date-time' },
  ],
  [
    'the format uuid',
    { type: 'string', format: 'uuid' },
    { type: 'string', format: 'uuid' },
    { type: 'STRING' },
  ],
  [
    'the format int32',
    { type: 'integer', format: 'int32' },
    { type: 'integer', format: 'int32' },
    { type: 'INTEGER', format: 'int32' },
  ],
  [
    'a pattern',
    { type: 'string', pattern: '^[a-z]+$' },
    { type: 'string', pattern: '^[a-z]+$' },
    { type: 'STRING', pattern: '^[a-z]+$' },
  ],
  [
    'a pattern that looks ahead',
    { type: 'string', pattern: '^(?!x)' },
    { type: 'string' },
    { type: 'STRING' },
  ],
  ['a broken pattern', { type: 'string', pattern: '[' }, { type: 'string' }, { type: 'STRING' }],
  [
    'nullable',
    { type: 'string', nullable: true },
    { type: ['string', 'null'] },
    { type: 'STRING', nullable: true },
  ],
  [
    'nullable beside anyOf',
    { anyOf: [{ type: 'string' }, { type: 'number' }], nullable: true },
    { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] },
    { anyOf: [{ type: 'STRING', nullable: true }, { type: 'NUMBER' }] },
  ],
  [
    'excluded bounds by true',
    { type: 'integer', minimum: 1, exclusiveMinimum: true, maximum: 9.5, exclusiveMaximum: true },
    { type: 'integer', exclusiveMinimum: 1, exclusiveMaximum: 9.5 },
    { type: 'INTEGER', minimum: 2, maximum: 9 },
  ],
  [
    'an excluded bound',
    { type: 'number', exclusiveMinimum: 0 },
    { type: 'number', exclusiveMinimum: 0 },
    { type: 'NUMBER', minimum: 0 },
  ],
  ['the empty schema', {}, {}, anything()],
  [
    'a description that is no text',
    { type: 'string', description: 7, title: null },
    { type: 'string' },
    { type: 'STRING' },
  ],
  ['a type in capitals', { type: 'STRING' }, { type: 'string' }, { type: 'STRING' }],
  [
    'an unknown type',
    { type: 'any', description: 'Anything.' },
    { description: 'Anything.' },
    anything('Anything.'),
  ],
  [
    'null alone',
    { type: 'null' },
    { type: 'null' },
    { type: 'STRING', description: 'Give null.', nullable: true },
  ],
]
for (const [title, schema, expected, gemini] of corpus)
  test(`an argument may be ${title}`, () => {
    expectArgument(schema, expected, gemini)
  })
