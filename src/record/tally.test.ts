// Counting calls.

import { expect, test } from 'vitest'
import { BUCKETS, Tally } from './tally.ts'

test('calls are counted by server and outcome, and by how long they took', () => {
  const tally = new Tally()
  tally.know(['github'])
  tally.add('github', 'ok', 1)
  tally.add('github', 'ok', 1.001)
  tally.add('github', 'error', 400_000)
  tally.add('', 'ok', 0)
  const all = new Map(tally.all())
  expect(all.get('github')).toMatchObject({ outcomes: { ok: 2, error: 1, denied: 0 }, count: 3 })
  expect(all.get('github')?.seconds).toBeCloseTo(400.002001)
  const { buckets = [] } = all.get('github') ?? {}
  expect([buckets[0], buckets[1], buckets[BUCKETS.length]]).toEqual([1, 1, 1])
  expect(all.get('')?.buckets[0]).toBe(1)
  expect(all.has(undefined)).toBe(false)
})

test('what was denied took no time, and names that nobody has are counted as one', () => {
  const tally = new Tally()
  tally.know(['github'])
  for (let index = 0; index < 1000; index++) tally.add(`made-up-${index}`, 'denied', 5)
  tally.add('github', 'denied', 5)
  const all = [...tally.all()]
  expect(all.map(([server]) => server)).toEqual(['github', undefined])
  expect(all.map(([, { outcomes, count }]) => [outcomes.denied, count])).toEqual([
    [1, 0],
    [1000, 0],
  ])
})
