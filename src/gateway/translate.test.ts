import { expect, test } from 'vitest'
import type { Era } from '../wire/era.ts'
import { type ReplyMessage, readMessage } from '../wire/message.ts'
import { answerFor } from './translate.ts'

/** What a client reads, in the bytes in which it gets it. */
function given(client: Era, server: Era, method: string, result: string): string {
  const reply = readMessage(Buffer.from(`{"jsonrpc":"2.0","id":7,"result":${result}}`)) as ReplyMessage
  const text = Buffer.concat(answerFor(client, server, method, 'mine', reply)).toString()
  expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', id: 'mine' })
  return text
}

const LISTS = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/read',
  'acme/list',
]

test('what a server says to everybody is one agent’s alone, whatever the method and the spelling', () => {
  for (const method of LISTS)
    for (const said of [
      '"cacheScope":"public"',
      ' "cacheScope" :\n"public" ',
      '"cache\\u0053cope":"public"',
      '"cacheScope":"p\\u0075blic"',
      '"\\u0063\\u0061cheScope":"\\u0070\\u0075\\u0062\\u006C\\u0069\\u0063"',
      '"cacheScope":"public","cacheScope":"private"',
      '"cacheScope":"private","cacheScope":"public"',
    ]) {
      const text = given('modern', 'modern', method, `{"ttlMs":60000,${said},"tools":[{"n":1.0}],"x":1e3}`)
      expect([method, said, JSON.parse(text).result]).toEqual([
        method,
        said,
        { ttlMs: 60000, cacheScope: 'private', tools: [{ n: 1 }], x: 1000 },
      ])
      expect(text.match(/cacheScope/g)).toHaveLength(1)
      // Every other byte is as it was.
      expect(text).toContain('"tools":[{"n":1.0}],"x":1e3')
    }
})

test('what is private already, or only looks as if it was not, stays as it is', () => {
  for (const result of [
    '{"cacheScope":"private","ttlMs":5,"tools":[{"cacheScope":"public"}]}',
    '{"ttlMs":5,"contents":[{"text":"\\"cacheScope\\":\\"public\\""}],"cacheScope":"private"}',
    '{"a":"public","b":"cacheScope","c":"\\u0041"}',
  ]) {
    const text = given('modern', 'modern', 'resources/read', result)
    expect(text).toContain(result.slice(1, -1))
  }
  const called = '{"content":[],"cacheScope":"public"}'
  expect(given('modern', 'modern', 'tools/call', called)).toContain(called.slice(1, -1))
})

test('a large answer is said to be private without being copied', () => {
  const contents = `"contents":[{"uri":"x:y","text":${JSON.stringify('a"b'.repeat(100_000))}}]`
  const bytes = Buffer.from(`{"jsonrpc":"2.0","id":7,"result":{"cacheScope":"public",${contents}}}`)
  const pieces = answerFor('modern', 'modern', 'resources/read', 1, readMessage(bytes) as ReplyMessage)
  expect(JSON.parse(Buffer.concat(pieces).toString()).result.cacheScope).toBe('private')
  const large = pieces.filter(({ length }) => length > 1000)
  expect(large.map(({ buffer }) => buffer)).toEqual([bytes.buffer])
})

test('a legacy answer has what the modern era wants once, whatever it said itself', () => {
  for (const said of [
    '"resultType":"complete","resultType":"bogus"',
    '"resultType":"bogus"',
    '"result\\u0054ype":"input_required"',
  ]) {
    const text = given('modern', 'legacy', 'tools/call', `{${said},"content":[]}`)
    expect(text).toBe('{"jsonrpc":"2.0","id":"mine","result":{"resultType":"complete","content":[]}}')
  }
  // What says all of it already stays as it came.
  const complete = '{"n":1.0,"resultType":"complete"}'
  expect(given('modern', 'legacy', 'tools/call', complete)).toContain(`"result":${complete}`)
  expect(given('modern', 'legacy', 'tools/list', complete)).toContain(
    '"result":{"ttlMs":0,"cacheScope":"private","n":1.0,"resultType":"complete"}',
  )
  const listed = given('modern', 'legacy', 'tools/list', '{"tools":[],"cacheScope":"public","ttlMs":9,"x":1}')
  expect(listed).toBe(
    '{"jsonrpc":"2.0","id":"mine","result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[],"x":1}}',
  )
  expect(given('modern', 'legacy', 'prompts/get', '{}')).toContain('"result":{"resultType":"complete"}')
  const own = '{"resultType":"mine","cacheScope":"public"}'
  expect(given('legacy', 'legacy', 'tools/list', own)).toContain(own.slice(1, -1))
})
