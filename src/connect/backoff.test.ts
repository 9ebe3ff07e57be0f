import { expect, test } from 'vitest'
import { isOpen, pauseAfter } from './backoff.ts'

const soft = (count: number) => ({ count, hopeless: false })

test('the longest possible pause doubles with each failure and is bounded', () => {
  expect([1, 2, 3, 4].map((count) => pauseAfter(soft(count), 1))).toEqual([500, 1000, 2000, 4000])
})

test('any part of the pause is possible, so that many servers do not come back together', () => {
  expect(pauseAfter(soft(3), 0)).toBe(0)
  expect(pauseAfter(soft(3), 0.25)).toBe(500)
})

test('after five failures in a row the server is left alone for about a minute', () => {
  expect(isOpen(soft(4))).toBe(false)
  expect(isOpen(soft(5))).toBe(true)
  expect(pauseAfter(soft(5), 0)).toBe(45_000)
  expect(pauseAfter(soft(5), 1)).toBe(75_000)
})

test('what cannot mend itself is not tried again at once', () => {
  expect(isOpen({ count: 1, hopeless: true })).toBe(true)
  expect(pauseAfter({ count: 1, hopeless: true }, 0.5)).toBe(60_000)
})
