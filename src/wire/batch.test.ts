import { expect, test } from 'vitest'
import { messagesIn } from './batch.ts'

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
