import { expect, test } from 'vitest'
import type { ToolResult } from '../call/result.ts'
import { firstBinary, resultLines } from './show-result.ts'

for (const [content, lines] of [
  [[{ type: 'text', text: 'a' }], ['a']],
  [[{ type: 'text' }], ['[no content that can be shown: {"type":"text"}]']],
  [[null], ['[no content that can be shown: null]']],
  [[{}], ['[no content that can be shown: {}]']],
  ['a', ['[no content that can be shown: "a"]']],
  [[{ type: 'image', data: 'AAAA' }], ['[image of no stated type 3 bytes]']],
  [[{ type: 'resource', resource: { uri: null } }], ['[resource  0 bytes]']],
  [[{ type: 'resource_link', uri: 'x://a', name: 5 }], ['[link x://a]']],
  [[{ type: 'hologram' }], ['[hologram of a kind that cannot be shown; see it with --json]']],
  [[], ['(an empty result)']],
  [undefined, ['(an empty result)']],
] as const)
  test(`${JSON.stringify(content)} is shown as what it is`, () => {
    expect(resultLines({ content } as ToolResult)).toEqual(lines)
  })

test('a file whose type nobody stated is one of no stated type', () => {
  expect(firstBinary({ content: [{ type: 'image', data: 'AAAA' }] })?.type).toBe('of no stated type')
})

test('what is no base64 is not kept as something else', () => {
  const parts = [
    { type: 'image', data: 'no base64!' },
    { type: 'resource', resource: { uri: 'a:b', blob: 'AAAAA' } },
  ]
  for (const part of parts) expect(() => firstBinary({ content: [part] })).toThrow(/is no base64/)
})
