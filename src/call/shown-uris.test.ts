import { expect, test } from 'vitest'
import { type ReplyMessage, readMessage } from '../wire/message.ts'
import { mentionsUri, withShownUris } from './shown-uris.ts'

const replyOf = (result: string) =>
  readMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`)) as ReplyMessage

const naming = async () => (uri: string) => (uri === 'a:1' ? 'busbar:one:a:1' : uri)

async function shown(result: string): Promise<string> {
  const { bytes } = await withShownUris(replyOf(result), naming)
  return bytes.toString().slice('{"jsonrpc":"2.0","id":1,"result":'.length, -1)
}

test('[B7] addresses are put in where they stand, and no other byte changes', async () => {
  for (const [given, expected] of [
    [
      '{"content":[{"type":"text","text":"a:1","n":1.00},{"type":"resource_link", "uri" : "a:1" ,"name":"x"}]}',
      '{"content":[{"type":"text","text":"a:1","n":1.00},{"type":"resource_link", "uri" : "busbar:one:a:1" ,"name":"x"}]}',
    ],
    [
      '{"content":[{"type":"resource","resource":{"text":"[{,","uri":"a:1"}}],"x":12345678901234567890}',
      '{"content":[{"type":"resource","resource":{"text":"[{,","uri":"busbar:one:a:1"}}],"x":12345678901234567890}',
    ],
    [
      '{"contents":[{"uri":"a:1","text":""}, {"uri":"a:2"},{"uri":"a:\\u0031"}]}',
      '{"contents":[{"uri":"busbar:one:a:1","text":""}, {"uri":"a:2"},{"uri":"busbar:one:a:1"}]}',
    ],
    [
      '{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:1"}}}]}',
      '{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"busbar:one:a:1"}}}]}',
    ],
  ] as const)
    expect(await shown(given)).toBe(expected)
})

test('what is not an address of a resource stays, whatever it is called', async () => {
  for (const given of [
    '{"structuredContent":{"uri":"a:1"},"content":[]}',
    '{"content":[{"type":"text","text":"","uri":"a:1"}]}',
    '{"content":{"uri":"a:1"}}',
    '{"content":"a:1","contents":3,"messages":[[]]}',
    '{"contents":[{"uri":3},{"uri":null},null,3]}',
    '{"contents":[{"uri":"a:2"}]}',
  ]) {
    const reply = replyOf(given)
    expect(await withShownUris(reply, naming)).toBe(reply)
  }
  expect(mentionsUri(replyOf('{"content":[]}'))).toBe(false)
})
