import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Deadlines } from './deadlines.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function staged() {
  const due = new Set<number>()
  const ended: number[] = []
  const deadlines = new Deadlines((now) => {
    for (const at of due)
      if (at <= now) {
        due.delete(at)
        ended.push(at)
      }
    return Math.min(Number.POSITIVE_INFINITY, ...due)
  })
  const expectAt = (at: number) => {
    due.add(at)
    deadlines.expect(at)
  }
  return { deadlines, due, ended, expectAt }
}

test('each deadline is kept, in whatever order they were set', () => {
  const { ended, expectAt } = staged()
  const now = performance.now()
  for (const after of [300, 100, 200]) expectAt(now + after)
  vi.advanceTimersByTime(99)
  expect(ended).toEqual([])
  vi.advanceTimersByTime(2)
  expect(ended).toEqual([now + 100])
  vi.advanceTimersByTime(300)
  expect(ended).toEqual([now + 100, now + 200, now + 300])
})

test('one timer serves a thousand deadlines of the same length', () => {
  const { expectAt } = staged()
  for (let count = 0; count < 1000; count++) expectAt(performance.now() + 60_000 + count)
  expect(vi.getTimerCount()).toBe(1)
})

test('after the last one no timer is left, and a new one starts again', () => {
  const { due, ended, expectAt } = staged()
  expectAt(performance.now() + 10)
  due.clear()
  vi.advanceTimersByTime(20)
  expect(vi.getTimerCount()).toBe(0)
  expectAt(performance.now() + 10)
  vi.advanceTimersByTime(20)
  expect(ended).toHaveLength(1)
})
