import { expect, test } from 'vitest'
import { gatewaySchema } from '../config/schema-gateway.ts'
import { type Actor, OWNER } from '../policy/access.ts'
import { Limits, Share, type TooMuch } from './limits.ts'
import { FailedSignIns } from './sign-ins.ts'

const ada: Actor = { kind: 'agent', id: 'ada' }
const bob: Actor = { kind: 'agent', id: 'bob' }
const isTooMuch = (entered: Share | TooMuch): boolean => !(entered instanceof Share)
const limitsOf = (limits: object) => gatewaySchema.parse({ limits }).limits

test('an agent has so many requests under way; another agent and the owner are not held up', () => {
  const limits = new Limits(limitsOf({ concurrent: 2 }))
  const first = limits.enter(ada, false)
  limits.enter(ada, false)
  expect(limits.enter(ada, false)).toEqual({ reason: 'ada has 2 requests under way', retryAfter: 1 })
  expect([bob, OWNER].map((actor) => isTooMuch(limits.enter(actor, false)))).toEqual([false, false])
  if (first instanceof Share) first.leave(false)
  expect(isTooMuch(limits.enter(ada, false))).toBe(false)
  for (let round = 0; round < 5; round++) expect(isTooMuch(limits.enter(OWNER, false))).toBe(false)
})

test('a rate lets all of it come at once and then refills evenly; who is turned away is told when', () => {
  let now = 1_000_000
  const limits = new Limits(limitsOf({ rate: '10/s' }), () => now)
  const tries = (count: number) =>
    Array.from({ length: count }, () => limits.enter(ada, false)).filter((it) => !isTooMuch(it)).length
  expect(tries(15)).toBe(10)
  now += 300
  expect(tries(15)).toBe(3)
  now += 3_600_000
  expect(tries(15)).toBe(10)
  const slow = new Limits(limitsOf({ rate: '2/min' }), () => now)
  slow.enter(ada, false)
  slow.enter(ada, false)
  expect(slow.enter(ada, false)).toEqual({ reason: 'ada asks too often', retryAfter: 30 })
  now += 10_500
  expect(slow.enter(ada, false)).toMatchObject({ retryAfter: 20 })
  expect(isTooMuch(slow.enter(bob, false))).toBe(false)
})

test('limits change while requests are under way', () => {
  const limits = new Limits(limitsOf({ concurrent: 3 }))
  const shares = [limits.enter(ada, false), limits.enter(ada, false)]
  limits.update(limitsOf({ concurrent: 1 }))
  expect(isTooMuch(limits.enter(ada, false))).toBe(true)
  for (const share of shares) if (share instanceof Share) share.leave(false)
  expect([limits.enter(ada, false), limits.enter(ada, false)].map(isTooMuch)).toEqual([false, true])
})

test('streams are counted for themselves, by agent', () => {
  const limits = new Limits(limitsOf({ streams: 2, concurrent: 1 }))
  const [stream] = [limits.enter(ada, true), limits.enter(ada, true), limits.enter(ada, false)]
  expect(limits.enter(ada, true)).toEqual({ reason: 'ada has 2 streams open', retryAfter: 1 })
  expect(isTooMuch(limits.enter(bob, true))).toBe(false)
  for (let round = 0; round < 5; round++) expect(isTooMuch(limits.enter(OWNER, true))).toBe(false)
  if (stream instanceof Share) stream.leave(true)
  expect(isTooMuch(limits.enter(ada, true))).toBe(false)
})

test('several messages in one request are as many', () => {
  const limits = new Limits(limitsOf({ rate: '10/s' }), () => 0)
  const share = limits.enter(ada, false)
  if (!(share instanceof Share)) throw new Error('turned away')
  expect(share.take(20)).toEqual({ reason: 'ada asks too often', retryAfter: 2 })
  expect([share.take(9), share.take(1)]).toEqual([undefined, { reason: 'ada asks too often', retryAfter: 1 }])
})

test('a rate is written with its unit and is more than none', () => {
  expect(limitsOf({ rate: '90/min' }).rate).toEqual({ perSecond: 1.5, burst: 90 })
  expect(limitsOf({ rate: '0.5/s' }).rate).toEqual({ perSecond: 0.5, burst: 1 })
  expect(limitsOf({}).rate).toBeUndefined()
  for (const rate of [100, '100', '0/s', '-1/s', '1/day'])
    expect([rate, gatewaySchema.safeParse({ limits: { rate } }).success]).toEqual([rate, false])
})

test('wrong tokens are counted by address for a minute, and a flood of addresses stays small', () => {
  let now = 0
  const failed = new FailedSignIns(() => now)
  for (let round = 0; round < 20; round++) expect(failed.add('10.0.0.1', 20)).toBeUndefined()
  expect(failed.add('10.0.0.1', 20)).toEqual({
    reason: 'too many wrong tokens from this address',
    retryAfter: 60,
  })
  expect(failed.add('10.0.0.2', 20)).toBeUndefined()
  now += 45_500
  expect(failed.add('10.0.0.1', 20)).toMatchObject({ retryAfter: 15 })
  now += 15_000
  expect(failed.add('10.0.0.1', 20)).toBeUndefined()
  // The first of more addresses than are remembered is forgotten, and only that.
  for (let index = 0; index < 20; index++) failed.add('first', 20)
  for (let index = 0; index < 4_096; index++) failed.add(`address ${index}`, 20)
  expect(failed.add('first', 20)).toBeUndefined()
})
