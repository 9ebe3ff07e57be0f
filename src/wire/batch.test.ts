import { expect, test } from 'vitest'
import { eachMessage, messagesIn } from './batch.ts'

test('a list of messages is cut into them without a change', () => {
  const parts = ['{"a":"],[\\"}{","n":1.0e2}', ' {"b":[1,{"c":2}]}', '7']
  expect(messagesIn(Buffer.from(` [${parts.join(',')}] `)).map(String)).toEqual(parts)
  expect(messagesIn(Buffer.from('[]')).map(String)).toEqual([])
  expect(messagesIn(Buffer.from('[{"cut":')).map(String)).toEqual([])
  expect(messagesIn(Buffer.from('{"a":[1]}')).map(String)).toEqual(['{"a":[1]}'])
  expect(messagesIn(Buffer.from('  \r\n')).map(String)).toEqual([])
})

test('nesting without end is no messages, and costs no stack', () => {
  expect(messagesIn(Buffer.from('['.repeat(200_000) + ']'.repeat(200_000)))).toHaveLength(1)
})

test('each message is handed over, and what holds none is, too', () => {
  for (const [text, expected] of [
    ['[{"a":1},{"b":2}]', ['{"a":1}', '{"b":2}']],
    ['{"a":1}', ['{"a":1}']],
    ['[', ['[']],
    ['word', ['word']],
  ] as const) {
    const taken: string[] = []
    eachMessage(Buffer.from(text), (message) => taken.push(String(message)))
    expect(taken).toEqual(expected)
  }
})
