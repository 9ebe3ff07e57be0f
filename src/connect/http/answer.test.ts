import { expect, test } from 'vitest'
import { isSameId, replyIdOf } from './answer.ts'

const big = 'x'.repeat(2000)
const replies: [string, unknown][] = [
  ['{"jsonrpc":"2.0","id":5,"result":{}}', 5],
  ['{"result":{"a":[1]},"jsonrpc":"2.0","id":5}', 5],
  [`{"result":{"a":"${big}"},"jsonrpc":"2.0","id":5}`, 5],
  [`{"jsonrpc":"2.0","id":"5","result":{"a":"${big}"}}`, '5'],
  [`{"result":{"a":"${big}"},"id":5,"jsonrpc":"2.0"}`, 5],
  ['{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}', null],
  ['{"jsonrpc":"2.0","method":"m","params":{"id":5}}', undefined],
  ['{"jsonrpc":"2.0","id":5,"method":"m"}', undefined],
  ['{"params":{},"jsonrpc":"2.0","id":5,"method":"m"}', undefined],
  ['{"jsonrpc":"2.0","id":5,"params":{"result":1},"method":"m"}', undefined],
  ['{"jsonrpc":"2.0","id":{},"result":{}}', undefined],
  ['nonsense', undefined],
  ['', undefined],
]
for (const [text, expected] of replies)
  test(`${text.slice(0, 60)} answers to ${expected}`, () => {
    expect(replyIdOf(Buffer.from(text))).toBe(expected)
  })

test('ids that come back as text are the same', () => {
  expect(isSameId('5', 5)).toBe(true)
  expect(isSameId('05', 5)).toBe(false)
  expect(isSameId(null, 5)).toBe(false)
})
