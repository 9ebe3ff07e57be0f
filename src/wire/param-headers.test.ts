import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeHeader, encodeHeader, paramHeaders, paramHeaderValues } from './param-headers.ts'

const NO_HEADER = 'has an x-mcp-header that is no header'
const NO_ARGUMENT = 'has x-mcp-header where no single argument stands'
const NO_TYPE = 'has x-mcp-header on what is no text, integer or boolean'
const TWICE = 'names a header twice in x-mcp-header'

const marked = { type: 'string', 'x-mcp-header': 'Region' }

function schemaOf(properties: Record<string, unknown>): object {
  return { type: 'object', properties }
}

const accepted: [string, unknown, [string, string[]][]][] = [
  [
    'text, integers and booleans',
    schemaOf({
      a: { type: 'string', 'x-mcp-header': 'A' },
      b: { type: 'integer', 'x-mcp-header': 'B-2' },
      c: { type: 'boolean', 'x-mcp-header': "!#$%&'*+.^_`|~" },
    }),
    [
      ['A', ['a']],
      ['B-2', ['b']],
      ["!#$%&'*+.^_`|~", ['c']],
    ],
  ],
  [
    'an argument inside another',
    schemaOf({ where: schemaOf({ place: marked }) }),
    [['Region', ['where', 'place']]],
  ],
  ['an argument called properties', schemaOf({ properties: marked }), [['Region', ['properties']]]],
  ['an argument called default', schemaOf({ default: marked }), [['Region', ['default']]]],
  ['an argument called x-mcp-header', schemaOf({ 'x-mcp-header': { type: 'string' } }), []],
  [
    'an annotation in data',
    schemaOf({
      a: { type: 'object', default: marked, enum: [marked], examples: [marked] },
      b: { const: marked },
    }),
    [],
  ],
  ['no annotation', schemaOf({ a: { type: 'number' } }), []],
  ['true', true, []],
  ['nothing', undefined, []],
]
for (const [title, schema, expected] of accepted)
  test(`a schema may have ${title}`, () => {
    expect(paramHeaders(schema)).toEqual(expected.map(([header, path]) => ({ header, path })))
  })

const refused: [string, unknown, string][] = [
  ['an empty name', schemaOf({ a: { ...marked, 'x-mcp-header': '' } }), NO_HEADER],
  ['a space in the name', schemaOf({ a: { ...marked, 'x-mcp-header': 'My Region' } }), NO_HEADER],
  ['a colon in the name', schemaOf({ a: { ...marked, 'x-mcp-header': 'Region:' } }), NO_HEADER],
  ['a line end in the name', schemaOf({ a: { ...marked, 'x-mcp-header': 'Region\n' } }), NO_HEADER],
  ['a letter beyond ASCII in the name', schemaOf({ a: { ...marked, 'x-mcp-header': 'Région' } }), NO_HEADER],
  ['a name that is no text', schemaOf({ a: { ...marked, 'x-mcp-header': 7 } }), NO_HEADER],
  ['null as name', schemaOf({ a: { ...marked, 'x-mcp-header': null } }), NO_HEADER],
  ['one name twice', schemaOf({ a: marked, b: marked }), TWICE],
  [
    'one name twice but for capitals',
    schemaOf({ a: marked, b: schemaOf({ c: { ...marked, 'x-mcp-header': 'REGION' } }) }),
    TWICE,
  ],
  ...['number', 'object', 'array', 'null', undefined, ['string'], ['string', 'null']].map(
    (type): [string, unknown, string] => [
      `the type ${JSON.stringify(type)}`,
      schemaOf({ a: { ...marked, type } }),
      NO_TYPE,
    ],
  ),
  ['the annotation on all arguments', { ...marked, properties: {} }, NO_ARGUMENT],
  ...['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else'].map(
    (key): [string, unknown, string] => [
      `the annotation in ${key}`,
      schemaOf({ a: { [key]: marked } }),
      NO_ARGUMENT,
    ],
  ),
  ...['anyOf', 'oneOf', 'allOf', 'prefixItems'].map((key): [string, unknown, string] => [
    `the annotation in ${key}`,
    { [key]: [{}, schemaOf({ a: marked })] },
    NO_ARGUMENT,
  ]),
  ...['$defs', 'definitions', 'patternProperties', 'dependentSchemas'].map(
    (key): [string, unknown, string] => [
      `the annotation in ${key}`,
      { [key]: { place: marked } },
      NO_ARGUMENT,
    ],
  ),
  [
    'an argument of a list’s items',
    schemaOf({ a: { type: 'array', items: schemaOf({ b: marked }) } }),
    NO_ARGUMENT,
  ],
]
for (const [title, schema, reason] of refused)
  test(`a schema may not have ${title}`, () => {
    expect(paramHeaders(schema)).toBe(reason)
  })

function valuesOf(args: unknown, path: string[] = ['a']): Record<string, string> | undefined {
  return paramHeaderValues([{ header: 'A', path }], args)
}

const values: [string, unknown, string | undefined][] = [
  ['plain text', 'us-west 1', 'us-west 1'],
  ['text that a header would trim', ' x', '=?base64?IHg=?='],
  ['text with a space at its end', 'x ', '=?base64?eCA=?='],
  ['text beyond ASCII', 'Zürich', '=?base64?WsO8cmljaA==?='],
  ['a line end', 'a\r\nb', '=?base64?YQ0KYg==?='],
  ['a tab', 'a\tb', '=?base64?YQli?='],
  ['a control character', '\u007f', '=?base64?fw==?='],
  ['text that looks wrapped', '=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  ['empty text', '', ''],
  ['an integer', 42, '42'],
  ['zero', 0, '0'],
  ['a negative integer', -7, '-7'],
  ['true', true, 'true'],
  ['false', false, 'false'],
  ['null', null, undefined],
  ['an object', { b: 1 }, undefined],
  ['a list', ['x'], undefined],
  ['an integer whose digits are lost', Number('12345678901234567891'), undefined],
  ['a number without end', Number('1e400'), undefined],
]
for (const [title, value, expected] of values)
  test(`the header of ${title} is ${expected ?? 'absent'}`, () => {
    expect(valuesOf({ a: value })).toEqual(expected === undefined ? {} : { 'Mcp-Param-A': expected })
  })

test('finds an argument where the schema has it, and none that is only inherited', () => {
  expect(valuesOf({ a: { b: 'x' } }, ['a', 'b'])).toEqual({ 'Mcp-Param-A': 'x' })
  for (const args of [undefined, null, 'text', [], {}, { a: null }, { a: 'text' }, { a: ['x'] }])
    expect(valuesOf(args, ['a', 'length'])).toEqual({})
  expect(valuesOf({}, ['constructor'])).toEqual({})
  expect(valuesOf({}, ['__proto__', 'toString'])).toEqual({})
  expect(paramHeaderValues([], { a: 1 })).toBeUndefined()
})

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.string({ unit: fc.constantFrom('=', '?', 'base64', '=?base64?', '?=', ' ', 'a', '\n') }),
)

test('what a header is given it gives back, and it can carry it', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const header = encodeHeader(text)
      expect(header).toMatch(/^(?:[!-~](?:[ -~]*[!-~])?)?$/)
      expect(decodeHeader(header)).toBe(text)
    }),
    { numRuns: 1000 },
  )
})

test('a header with broken base64 means nothing', () => {
  for (const inner of ['a', 'a=', 'ab=c', 'a-b_', 'YQ===', '====', 'YQ= ', 'é==='])
    expect(decodeHeader(`=?base64?${inner}?=`), inner).toBeUndefined()
  expect(decodeHeader('=?base64??=')).toBe('')
  expect(decodeHeader('=?BASE64?YQ==?=')).toBe('=?BASE64?YQ==?=')
  expect(decodeHeader('=?base64?=')).toBe('=?base64?=')
})
