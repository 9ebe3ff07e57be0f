import { expect, test } from 'vitest'
import { type ReplyMessage, readMessage } from '../wire/message.ts'
import type { Passage } from './passage.ts'
import { CallResult } from './result.ts'

const reply = (result: string) =>
  readMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`)) as ReplyMessage

for (const text of ['null', '"s"', '5', 'true', '[1]', '[]', ` ["${'x'.repeat(70_000)}",[]]`])
  test(`a result that is ${text.slice(0, 20)} is none, whoever looks at it and however`, () => {
    const result = new CallResult('files', reply(text))
    const passage = { answered: () => expect.fail('it counts as answered') } as unknown as Passage
    for (const look of [
      () => result.recordTo(passage),
      () => result.json(),
      () => result.text,
      () => result.forModel(),
    ])
      expect(look).toThrow(
        expect.objectContaining({
          code: 'MESSAGE_INVALID',
          message: 'files answered with a result that is no object',
          server: 'files',
        }),
      )
  })

for (const [content, text, forModel] of [
  ['[{"type":"text","text":"a"},{"type":"text","text":"b"}]', 'a\nb', 'a\nb'],
  ['[null,5]', '', '[no content that can be shown: null]\n[no content that can be shown: 5]'],
  ['[{"type":"text"}]', '', '[no content that can be shown: {"type":"text"}]'],
  ['[{"type":7}]', '', '[no content that can be shown: {"type":7}]'],
  ['[{"text":"a"}]', '', '[no content that can be shown: {"text":"a"}]'],
  ['"a"', '', '[no content that can be shown: "a"]'],
  ['[{"type":"resource","resource":{"text":{}}}]', '', '[resource]'],
  ['null', '', ''],
] as const)
  test(`of the content ${content} everything is shown as what it is`, () => {
    const result = new CallResult('files', reply(`{"content":${content}}`))
    expect([result.isError, result.text, result.forModel()]).toEqual([false, text, forModel])
  })

for (const [rest, reason] of [
  ['{"content":[]},"error":{}', 'has both a result and an error'],
  ['{"content":[]},"id":{}', 'has id twice'],
  ['{"content":[}', 'is not one JSON object'],
] as const)
  test(`an answer that ${reason} shows when it is looked at, with the name of its server`, () => {
    const result = new CallResult('files', reply(rest))
    for (const look of [() => result.json(), () => result.text, () => result.bytes])
      expect(look).toThrow(
        expect.objectContaining({ message: `files: the answer ${reason}`, server: 'files' }),
      )
  })
