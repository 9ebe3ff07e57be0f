import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Candidate, LONGEST_LEAD, nextOf } from './scheduler.ts'

const one = (id: string, more: Partial<Candidate> = {}): Candidate => ({
  id,
  urgency: 'asked',
  since: 0,
  selected: false,
  affordable: true,
  ...more,
})

test.each([
  ['who waits longer', one('a', { since: 10 }), one('b', { since: 5 }), 'b'],
  ['what is urgent', one('a'), one('b', { since: 50, urgency: 'urgent' }), 'b'],
  [
    'what was asked, before the background',
    one('a', { urgency: 'background' }),
    one('b', { since: 90 }),
    'b',
  ],
  ['the selected one', one('a'), one('b', { since: 90, selected: true }), 'b'],
  ['who can be afforded', one('a', { affordable: false }), one('b', { since: 90 }), 'b'],
  ['who is not snoozed', one('a', { snoozedUntil: 200 }), one('b', { since: 90 }), 'b'],
  ['a snoozed one when its time has come', one('a', { snoozedUntil: 100 }), one('b', { since: 90 }), 'a'],
])('[D5] goes next: %s', (_, a, b, expected) => {
  expect(nextOf([a, b], 100)?.id).toBe(expected)
  expect(nextOf([b, a], 100)?.id).toBe(expected)
})

test('[D5] nobody goes when nobody can', () => {
  expect(nextOf([], 1)).toBeUndefined()
  expect(nextOf([one('a', { affordable: false })], 1)).toBeUndefined()
})

const anyNewcomer = fc.record({
  urgency: fc.constantFrom('urgent' as const, 'asked' as const, 'background' as const),
  selected: fc.boolean(),
  gap: fc.integer({ min: 0, max: 5_000 }),
})

test('[D5] nobody starves: whoever waits goes within a bound, however many more urgent ones come', () => {
  fc.assert(
    fc.property(fc.array(anyNewcomer, { minLength: 1, maxLength: 300 }), (newcomers) => {
      let waiting = [one('poor', { urgency: 'background', since: 0 })]
      let now = 0
      // Two come for each that goes, so that there is always somebody else.
      for (const [index, { gap, ...more }] of newcomers.entries()) {
        now += gap
        waiting.push(one(`${index}`, { ...more, since: now }))
        if (index % 2 === 0) continue
        const next = nextOf(waiting, now)
        if (next === undefined) throw new Error('nobody goes')
        // Whoever goes before one that waits began at most so much later.
        const oldest = Math.min(...waiting.map(({ since }) => since))
        expect(next.since - oldest).toBeLessThanOrEqual(LONGEST_LEAD)
        waiting = waiting.filter((it) => it !== next)
      }
    }),
  )
})
