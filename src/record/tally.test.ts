// Counting calls.

import { expect, test } from 'vitest'
import type { Outcome } from '../store/invocation.ts'
import { BUCKETS, Tally } from './tally.ts'

const call = (server: string, outcome: Outcome, duration: number) => ({ server, outcome, duration })

test('calls are counted by server and outcome, and by how long they took', () => {
  const tally = new Tally()
  tally.know(['github'])
  tally.add(call('github', 'ok', 1))
  tally.add(call('github', 'ok', 1.001))
  tally.add(call('github', 'error', 400_000))
  tally.add(call('', 'ok', 0))
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
  for (let index = 0; index < 1000; index++) tally.add(call(`made-up-${index}`, 'denied', 5))
  tally.add(call('github', 'denied', 5))
  const all = [...tally.all()]
  expect(all.map(([server]) => server)).toEqual(['github', undefined])
  expect(all.map(([, { outcomes, count }]) => [outcomes.denied, count])).toEqual([
    [1, 0],
    [1000, 0],
  ])
})
