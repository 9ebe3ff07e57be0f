// What calls are thought to take.

import { expect, test } from 'vitest'
import type { Tool } from '../connect/definitions.ts'
import { Costs, Estimates, estimateOf, priceOf, timeCost } from './estimate.ts'

const tool = (properties: Record<string, unknown>, annotations = {}): Tool => ({
  name: 't',
  inputSchema: { type: 'object', properties },
  annotations,
})

test('an unseen tool is guessed from its definition, between a tenth and five [D2]', () => {
  const guess = (one: Tool) => estimateOf(one, 0, undefined).energy
  const small = guess(tool({}))
  const larger = guess(tool({ a: {}, b: {} }))
  const nested = guess(tool({ a: { type: 'object', properties: { b: {} } } }))
  const open = guess(tool({}, { openWorldHint: true }))
  expect(small).toBe(0.1)
  expect(larger).toBeGreaterThan(small)
  expect(nested).toBeGreaterThan(larger)
  expect(open).toBeGreaterThan(small)
  const deep = Array.from({ length: 1000 }).reduce<unknown>((inner) => ({ properties: { a: inner } }), {})
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, deep]))
  expect(guess(tool(many, { openWorldHint: true }))).toBe(5)
  expect(estimateOf(tool({}), 3, undefined)).toEqual({ energy: 3.1, confidence: 'guess', calls: 0 })
  expect(estimateOf({ ...tool({}), inputSchema: { properties: 7 } }, 0, undefined).energy).toBe(0.1)
})

test('a tool that was called takes what three of four calls took, and its price [D2]', () => {
  expect(estimateOf(tool({}), 1, new Costs([4, 1, 3, 2]))).toEqual({ energy: 4, confidence: 'low', calls: 4 })
  expect(estimateOf(tool({}), 0, new Costs([5, 4, 3, 2, 1]))).toEqual({
    energy: 4,
    confidence: 'good',
    calls: 5,
  })
  const costs = new Costs(Array.from({ length: 1000 }, () => 50))
  for (let index = 0; index < 64; index++) costs.add(index % 4)
  expect([costs.count, costs.usual]).toEqual([64, 2])
  // One more says little about what is usual; when every eighth is another one, it is found out again.
  const seen = Array.from({ length: 64 }, () => {
    costs.add(9)
    return costs.usual
  })
  expect([seen[0], seen[63]]).toEqual([2, 9])
  expect(new Set(seen)).toEqual(new Set([2, 3, 9]))
})

test('the highest price that fits counts, and time costs two a second [D2]', () => {
  const prices = { '*': 1, 'get_*': 3, get_issue: 2 }
  expect(['get_issue', 'get', 'put'].map((name) => priceOf(prices, name))).toEqual([3, 1, 1])
  expect([priceOf({}, 'a'), priceOf(undefined, 'a'), priceOf({ b: 5 }, 'a')]).toEqual([0, 0, 0])
  expect([timeCost(1500), timeCost(-1)]).toEqual([3, 0])
})

test('what earlier runs took is read once, in nobody’s way, and counts as earlier [D2]', async () => {
  let asked = 0
  const estimates = new Estimates({
    durations: async () => {
      asked += 1
      return [1000, 2000, 3000, 4000].map((duration) => ({ server: 's', tool: 't', duration, energy: 100 }))
    },
  })
  expect(estimates.of('s', 't', tool({}), 1)).toEqual({ energy: 1.1, confidence: 'guess', calls: 0 })
  const tariff = estimates.tariff('s', 't', tool({}), 1)
  expect(tariff.energy).toBe(1.1)
  expect(tariff.spent(50_000)).toBe(101)
  tariff.spent(Number.NaN)
  await estimates.ready()
  expect(estimates.of('s', 't', undefined, 0)).toEqual({ energy: 8, confidence: 'good', calls: 5 })
  // Whoever began before they were read learns of them, and teaches others.
  expect(tariff.energy).toBe(9)
  estimates.tariff('s', 't', undefined, 0).spent(50_000)
  expect([tariff.energy, estimates.of('s', 't', undefined, 0).calls]).toEqual([101, 6])
  expect(estimates.of('s', 'new', undefined, 0).confidence).toBe('guess')
  expect(asked).toBe(1)
})

test('of earlier calls that waited for somebody only what was charged is learned [D2]', async () => {
  const waited = { server: 's', tool: 't', duration: 50_000, energy: 0.5 }
  const estimates = new Estimates({ durations: async () => [waited] })
  await estimates.ready()
  expect(estimates.of('s', 't', undefined, 0).energy).toBe(0.5)
})

test('without a store it is guessed, and learned from then on [D2]', async () => {
  const estimates = new Estimates({ durations: () => Promise.reject(new Error('no store')) })
  await estimates.ready()
  estimates.tariff('s', 't', undefined, 0).spent(1500)
  expect(estimates.of('s', 't', undefined, 0)).toEqual({ energy: 3, confidence: 'low', calls: 1 })
})
