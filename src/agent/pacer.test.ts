import { setImmediate as breathe } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Asker, Pacer, type Seat } from './pacer.ts'
import type { Level } from './regulator.ts'

function rig(level: number, recovery = 0) {
  const energy: { -readonly [K in keyof Level]: Level[K] } = { level, capacity: 100, recovery }
  const pauses: [string, number][] = []
  /** What others have set aside. */
  const held = { amount: 0 }
  const refreshed = { count: 0 }
  const pacer = new Pacer({
    energy: () => energy,
    enoughIn: (amount) => (energy.level - held.amount >= amount ? 0 : Number.POSITIVE_INFINITY),
    refresh: async () => {
      refreshed.count += 1
    },
    onPause: (id, milliseconds) => pauses.push([id, milliseconds]),
  })
  const seats: [string, Seat][] = []
  const never = new AbortController().signal
  const take = (id: string, more: Partial<Asker> = {}, signal = never) =>
    pacer.take({ id, urgency: 'asked', snoozedUntil: undefined, ...more }, signal).then((seat) => {
      seats.push([id, seat])
    })
  return { energy, held, refreshed, pauses, pacer, seats, take, never }
}

test('[D7] seats are as many as the energy allows, and free ones go on', async () => {
  const { pacer, seats, take, energy } = rig(15)
  for (const id of ['a', 'b', 'c']) void take(id)
  await breathe()
  expect(seats.map(([id]) => id)).toEqual(['a', 'b'])
  seats[0]?.[1].leave()
  seats[0]?.[1].leave()
  await breathe()
  expect(seats.map(([id]) => id)).toEqual(['a', 'b', 'c'])
  expect(seats[2]?.[1].pace).toMatchObject({ model: 'cheap', maxTokens: 2048 })
  energy.level = 100
  pacer.close(new Error('over'))
})

test('[D7] who cannot go on is told once for how long, and goes when energy is there', async () => {
  const { pacer, seats, take, energy, pauses } = rig(5)
  void take('a')
  void take('b', { urgency: 'urgent' })
  await breathe()
  expect(seats.map(([id]) => id)).toEqual(['b'])
  pacer.look()
  expect(pauses).toEqual([['a', Number.POSITIVE_INFINITY]])
  energy.level = 12
  pacer.look()
  await breathe()
  expect(seats).toHaveLength(1)
  energy.level = 16
  pacer.look()
  await breathe()
  expect(seats).toHaveLength(2)
  pacer.close(new Error('over'))
})

test('[D7] who rests is woken at the level it wanted, by time alone', async () => {
  const { pacer, energy, never } = rig(0, 60_000)
  const started = performance.now()
  const rested = pacer.rest(50, never)
  Object.defineProperty(energy, 'level', { get: () => performance.now() - started })
  await rested
  expect(energy.level).toBeGreaterThanOrEqual(50)
})

test('[D7] who stops waiting, or is told to, is let go', async () => {
  const { pacer, take } = rig(5)
  const stop = new AbortController()
  const stopped = take('a', {}, stop.signal)
  const left = take('b')
  stop.abort(new Error('stopped'))
  await expect(stopped).rejects.toThrow('stopped')
  pacer.close(new Error('over'))
  await expect(left).rejects.toThrow('over')
  await expect(take('c')).rejects.toThrow('over')
})

test('[D7] who was refused rests until what it needs can be set aside, and never goes on within the same step', async () => {
  const { pacer, held, never } = rig(55)
  held.amount = 30
  let rested = false
  const resting = pacer.restForRoom(30, 20, never).then(() => {
    rested = true
  })
  for (let step = 0; step < 20; step++) await breathe()
  pacer.look()
  await breathe()
  expect(rested).toBe(false)
  held.amount = 0
  pacer.look()
  await resting
  // There is enough, and still it is no loop of promises.
  const again = pacer.restForRoom(30, 20, never)
  const first = await Promise.race([again.then(() => 'at once'), breathe().then(() => 'later')])
  expect(first).toBe('later')
  await again
})

test('[D7] a conversation that is put aside for a month is not looked at all the time', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { pacer, take, refreshed } = rig(100)
  const left = take('a', { snoozedUntil: Date.now() + 30 * 24 * 3_600_000 })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(refreshed.count).toBe(0)
  pacer.close(new Error('over'))
  await expect(left).rejects.toThrow('over')
})
