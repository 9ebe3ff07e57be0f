import { expect, test } from 'vitest'
import { scrubber } from '../../base/redact.ts'
import { maskWith } from './dial.ts'
import { refusalFault, retryAfter } from './refusal.ts'

const SECRET = 'S3CRET-abc def/+=%&<x>'

const now = Date.parse('2026-11-15T12:00:00Z')
const waits: [string | undefined, number | undefined][] = [
  ['0', 0],
  ['5', 5_000],
  [' 7 ', 7_000],
  ['999999999', 60_000],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
  ['Sun, 15 Nov 2026 12:00:10 GMT', 10_000],
  ['Sun, 15 Nov 2099 12:00:10 GMT', 60_000],
  ['Sun, 15 Nov 1999 12:00:10 GMT', undefined],
]
for (const [value, expected] of waits)
  test(`Retry-After: ${value} means ${expected}`, () => {
    expect(retryAfter(value, now)).toBe(expected)
  })

const fault = (status: number, body = '', headers: Record<string, string> = {}) =>
  refusalFault(
    { status, headers, body: Buffer.from(body) },
    { place: 'x.example:443', mask: maskWith(scrubber([SECRET])) },
    now,
  )

test('a page of html is told by its first words', () => {
  const page = `<html><head><title>t</title><style>b{}</style></head><body><h1>502 Bad
    Gateway</h1>${'long '.repeat(100)}`
  const { code, message, details } = fault(502, page, { 'content-type': 'text/html' })
  expect(code).toBe('SERVER_UNREACHABLE')
  expect(message).toMatch(/^x\.example:443 answered 502: 502 Bad Gateway long long/)
  expect(message.length).toBeLessThan(160)
  expect(details).toEqual({ status: 502 })
})

test('statuses have the codes that callers decide by', () => {
  expect(fault(401, '', { 'www-authenticate': 'Bearer x="y"' })).toMatchObject({
    code: 'AUTH_REQUIRED',
    details: { status: 401, wwwAuthenticate: 'Bearer x="y"' },
  })
  expect(fault(403, '', { 'www-authenticate': 'Bearer error="insufficient_scope"' }).code).toBe(
    'AUTH_REQUIRED',
  )
  expect(fault(403).code).toBe('SERVER_UNREACHABLE')
  expect(fault(429)).toMatchObject({ code: 'SERVER_BUSY', details: { status: 429 } })
  expect(fault(503, '', { 'retry-after': '3' })).toMatchObject({
    code: 'SERVER_BUSY',
    details: { status: 503, retryAfter: 3_000 },
  })
  expect(fault(503).code).toBe('SERVER_UNREACHABLE')
})

test('neither keys nor control characters of a page reach a screen', () => {
  const { message } = fault(500, '\x1b[31mAuthorization: Bearer ghp_0123456789abcdefghij\x07')
  expect(message).not.toMatch(/ghp_0123456789abcdefghij/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
  expect(message).not.toMatch(/[\x00-\x1f]/)
})

test('a secret in what is quoted is masked before it is cut, however the server writes it [C11]', () => {
  const forms = [
    SECRET,
    encodeURIComponent(SECRET),
    Buffer.from(SECRET).toString('base64'),
    JSON.stringify(SECRET).slice(1, -1),
    SECRET.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    `ghp_${'aB3'.repeat(12)}`,
  ]
  for (const form of forms)
    for (let before = 60; before < 130; before++) {
      const { message } = fault(500, `${'x'.repeat(before)} ${form} end`)
      expect(message).not.toContain(form.slice(0, 4))
    }
})

test('the first words of a long page are told, however much of nothing follows', () => {
  for (const rest of [`<!-- ${'x'.repeat(140_000)} -->`, ' '.repeat(140_000)])
    expect(fault(500, `<p>Upstream is down</p>${rest}`).message).toBe(
      'x.example:443 answered 500: Upstream is down',
    )
  const near = fault(500, `${' '.repeat(128 * 1024 - 10)}${SECRET}`).message
  expect(near).not.toContain('S3CRET')
})
