import { expect, test } from 'vitest'
import { headerLine, headerLines, requestLine } from './http-request.ts'

test('a head is the lines it says', () => {
  expect(requestLine('POST', '/mcp?a=%20') + headerLines(['a', 'b', 'c', '\xe9'])).toBe(
    'POST /mcp?a=%20 HTTP/1.1\r\na: b\r\nc: \xe9\r\n',
  )
})

for (const value of ['a\r\nb: c', 'a\nb', 'a\rb', 'a\0', 'a\x7f', 'é…'])
  test(`${JSON.stringify(value)} is no value, and is not shown`, () => {
    expect(() => headerLine('x', value)).toThrow(/^x has characters that none can have$/)
  })

for (const name of ['', 'a b', 'a:', 'a\r\n', 'é'])
  test(`${JSON.stringify(name)} is no name`, () => {
    expect(() => headerLine(name, 'x')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_CHAR' }))
  })

for (const path of ['/a b', '/a\r\nx: y', '/é'])
  test(`${JSON.stringify(path)} is no path`, () => {
    expect(() => requestLine('GET', path)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_CHAR' }))
  })
