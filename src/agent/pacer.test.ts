import { setImmediate as breathe } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Asker, Pacer, type Seat } from './pacer.ts'
import type { Level } from './regulator.ts'

function rig(level: number, recovery = 0) {
  const energy: { -readonly [K in keyof Level]: Level[K] } = { level, capacity: 100, recovery }
  const pauses: [string, number][] = []
  const pacer = new Pacer({
    energy: () => energy,
    refresh: async () => undefined,
    onPause: (id, milliseconds) => pauses.push([id, milliseconds]),
  })
  const seats: [string, Seat][] = []
  const never = new AbortController().signal
  const take = (id: string, more: Partial<Asker> = {}, signal = never) =>
    pacer.take({ id, urgency: 'asked', snoozedUntil: undefined, ...more }, signal).then((seat) => {
      seats.push([id, seat])
    })
  return { energy, pauses, pacer, seats, take, never }
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
