import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FRESH, type Level, regulate, type Urgency } from './regulator.ts'

const at = (level: number, recovery = 10): Level => ({ level, capacity: 100, recovery })

test.each([
  [100, 'normal', 8192, 8],
  [50, 'normal', 8192, 8],
  [49.9, 'cheap', 4096, 4],
  [20, 'cheap', 4096, 4],
  [19.9, 'cheap', 2048, 2],
  [10, 'cheap', 2048, 2],
] as const)('[D7] at %d of 100 the model is the %s one', (level, model, maxTokens, parallel) => {
  expect(regulate(at(level), 'asked')).toMatchObject({ model, maxTokens, parallel, pause: 0 })
})

test('[D7] below ten, what was asked waits until it can go on, and what is urgent goes on', () => {
  expect(regulate(at(9), 'asked')).toMatchObject({ pause: 6_000, parallel: 1 })
  expect(regulate(at(9), 'asked', { model: 'cheap', pausing: true }).pause).toBe(36_000)
  expect(regulate(at(9), 'urgent')).toMatchObject({ pause: 0, model: 'cheap', maxTokens: 1024 })
  expect(regulate(at(0), 'urgent').pause).toBe(60_000)
  expect(regulate(at(5, 0), 'asked').pause).toBe(Number.POSITIVE_INFINITY)
})

test('[D7] below twenty nothing in the background is started', () => {
  expect(regulate(at(20), 'background').pause).toBe(0)
  expect(regulate(at(19), 'background').pause).toBeGreaterThan(0)
  expect(regulate(at(19), 'asked').pause).toBe(0)
})

test('[D7] an agent near a threshold does not go to and fro', () => {
  expect(regulate(at(52), 'asked', { model: 'cheap', pausing: false }).model).toBe('cheap')
  expect(regulate(at(55), 'asked', { model: 'cheap', pausing: false }).model).toBe('normal')
  expect(regulate(at(12), 'asked', { model: 'cheap', pausing: true }).pause).toBeGreaterThan(0)
  expect(regulate(at(15), 'asked', { model: 'cheap', pausing: true }).pause).toBe(0)
})

test('[D7] who is unlimited makes every effort', () => {
  expect(regulate(undefined, 'background')).toMatchObject({ model: 'normal', pause: 0, parallel: 8 })
})

const anyLevel = fc.record({
  level: fc.double({ min: -200, max: 200, noNaN: true }),
  capacity: fc.double({ min: 0.1, max: 200, noNaN: true }),
  recovery: fc.double({ min: 0, max: 100, noNaN: true }),
})
const anyUrgency = fc.constantFrom<Urgency>('urgent', 'asked', 'background')
const anyBefore = fc.record({
  model: fc.constantFrom('normal' as const, 'cheap' as const),
  pausing: fc.boolean(),
})

test('[D7] more energy never means less effort', () => {
  fc.assert(
    fc.property(
      anyLevel,
      fc.double({ min: 0, max: 100, noNaN: true }),
      anyUrgency,
      anyBefore,
      (one, more, urgency, before) => {
        const less = regulate(one, urgency, before)
        const richer = regulate({ ...one, level: one.level + more }, urgency, before)
        expect(richer.maxTokens).toBeGreaterThanOrEqual(less.maxTokens)
        expect(richer.resultBytes).toBeGreaterThanOrEqual(less.resultBytes)
        expect(richer.parallel).toBeGreaterThanOrEqual(less.parallel)
        expect(richer.pause).toBeLessThanOrEqual(less.pause)
        if (less.model === 'normal') expect(richer.model).toBe('normal')
      },
    ),
  )
})

test('[D7] a pause is over when the time that was told is over, and not at once again', () => {
  fc.assert(
    fc.property(anyLevel, anyUrgency, anyBefore, (one, urgency, before) => {
      const { pause, parallel } = regulate(one, urgency, before)
      expect(parallel).toBeGreaterThan(0)
      if (pause === 0 || pause === Number.POSITIVE_INFINITY) return
      const level = Math.min(one.capacity, one.level + (pause / 60_000) * one.recovery + 1e-9)
      expect(regulate({ ...one, level }, urgency, before).pause).toBe(0)
      expect(regulate({ ...one, level }, urgency, FRESH).pause).toBe(0)
    }),
  )
})

test('[D7] what is urgent waits only for nothing left, and never longer than anything else', () => {
  fc.assert(
    fc.property(anyLevel, anyBefore, (one, before) => {
      const urgent = regulate(one, 'urgent', before)
      if (!before.pausing) expect(urgent.pause === 0).toBe(one.level > 0)
      expect(urgent.pause).toBeLessThanOrEqual(regulate(one, 'asked', before).pause)
      expect(regulate(one, 'asked', before).pause).toBeLessThanOrEqual(
        regulate(one, 'background', before).pause,
      )
    }),
  )
})
