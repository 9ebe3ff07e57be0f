import { expect, test } from 'vitest'
import { believable, longestAnswer } from './bounds.ts'

const ASKED = { characters: 4000, maxTokens: 1000 }

test('[D7] what is counted is believed as far as it can be so', () => {
  expect(believable({ input: 1000, output: 900 }, ASKED)).toEqual({ input: 1000, output: 900 })
  const most = believable({ input: 1e15, output: Number.POSITIVE_INFINITY }, ASKED)
  expect(most.output).toBe(2000)
  expect(most.input).toBeLessThan(100_000)
  expect(believable({ input: -5, output: Number.NaN }, ASKED)).toEqual({ input: 0, output: 0 })
})

test('[D7] an answer may be far longer than its tokens usually are', () => {
  expect(longestAnswer(1000)).toBeGreaterThan(4 * 1000)
})
