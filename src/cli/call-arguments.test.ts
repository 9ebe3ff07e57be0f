import { expect, test } from 'vitest'
import { checkArguments, readArguments } from './call-arguments.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    text: { type: 'string', description: 'what to say' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    on: { type: 'boolean' },
    list: { type: 'array' },
    map: { $ref: '#/$defs/map' },
    maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    either: { type: ['number', 'string'] },
    level: { enum: [1, 2, 3] },
    any: {},
  },
  required: ['text'],
  $defs: { map: { type: 'object' } },
}
const read = (...words: string[]) =>
  readArguments(words, SCHEMA, {
    file: (path) => `content of ${path}`,
    input: async () => '{"text":"piped"}',
  })

const typed: [string, unknown][] = [
  ['text=1', { text: '1' }],
  ['text=', { text: '' }],
  ['text= a b ', { text: ' a b ' }],
  ['text=a=b:=c', { text: 'a=b:=c' }],
  ['count=-3', { count: -3 }],
  ['ratio=1e3', { ratio: 1000 }],
  ['on=false', { on: false }],
  ['list=[1,"2"]', { list: [1, '2'] }],
  ['map={"a":{}}', { map: { a: {} } }],
  ['maybe=null', { maybe: null }],
  ['maybe=4', { maybe: 4 }],
  ['either=4', { either: '4' }],
  ['level=2', { level: 2 }],
  ['any=4', { any: '4' }],
  ['any:=4', { any: 4 }],
  ['not.special=4', { 'not.special': '4' }],
  ['text=@note.txt', { text: 'content of note.txt' }],
  ['__proto__=x', JSON.parse('{"__proto__":"x"}')],
  ['-', { text: 'piped' }],
  [' {"text": "json"}', { text: 'json' }],
]
for (const [word, expected] of typed)
  test(`${word} is read as ${JSON.stringify(expected)}`, async () => {
    const { values, text } = await read(word)
    expect(values).toEqual(expected)
    expect(JSON.parse(text)).toEqual(expected)
  })

const wrong: [string, RegExp][] = [
  ['count=1.5', /count is "1.5"; expected integer/],
  ['count=01', /expected integer/],
  ['on=yes', /expected boolean/],
  ['list=a,b', /expected array/],
  ['map=[]', /expected object/],
  ['maybe=x', /expected integer$/],
  ['any:={', /any: not JSON/],
  ['=x', /is no argument/],
  ['[1]', /is no argument/],
]
for (const [word, message] of wrong)
  test(`${word} is refused`, async () => {
    await expect(read(word)).rejects.toThrow(message)
  })

test('numbers are sent with the digits they were typed with', async () => {
  for (const word of ['12345678901234567891', '0.1000000000000000055511151231257827', '1e999', '1.0', '-0'])
    expect((await read(`ratio=${word}`)).text).toBe(`{"ratio":${word}}`)
  expect((await read('any:={"deep":[12345678901234567891]}')).text).toBe(
    '{"any":{"deep":[12345678901234567891]}}',
  )
})

test('what is missing is named with what the schema says of it', () => {
  expect(checkArguments({}, SCHEMA)).toEqual({
    errors: ['"text" is missing: string, what to say'],
    warnings: [],
  })
})

test('an unknown argument is an error where the schema is closed, a warning where it is nearly a known one', () => {
  const given = { text: 'a', cuont: 1, other: 1 }
  expect(checkArguments(given, SCHEMA)).toEqual({
    errors: [],
    warnings: ['there is no argument "cuont"; did you mean "count"?'],
  })
  const { errors } = checkArguments(given, { ...SCHEMA, additionalProperties: false })
  expect(errors).toHaveLength(2)
  expect(errors[1]).toContain('there are: text, count')
})
