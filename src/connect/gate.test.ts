import { expect, test } from 'vitest'
import { Fault } from '../base/fault.ts'
import { Stopper } from '../base/stop.ts'
import { Gate } from './gate.ts'

test('lets in as many as may, and the rest in turn', async () => {
  const gate = new Gate('files', { inFlight: 2, queue: 10 })
  const order: string[] = []
  await gate.enter()
  await gate.enter()
  const third = gate.enter().then(() => order.push('third'))
  const fourth = gate.enter().then(() => order.push('fourth'))
  expect(gate.tryEnter()).toBe(false)
  gate.leave()
  await third
  expect(order).toEqual(['third'])
  gate.leave()
  await fourth
  expect(order).toEqual(['third', 'fourth'])
  expect(gate.inside).toBe(2)
})

test('nobody overtakes those who wait', async () => {
  const gate = new Gate('files', { inFlight: 1, queue: 10 })
  expect(gate.tryEnter()).toBe(true)
  const waiting = gate.enter()
  gate.leave()
  await waiting
  expect(gate.tryEnter()).toBe(false)
  gate.leave()
  expect(gate.tryEnter()).toBe(true)
})

test('a full queue refuses at once and says so', async () => {
  const gate = new Gate('files', { inFlight: 1, queue: 1 })
  await gate.enter()
  const waiting = gate.enter()
  await expect(gate.enter()).rejects.toMatchObject({ code: 'SERVER_BUSY', server: 'files' })
  gate.leave()
  await waiting
})

test('whoever stops waiting gives the place in the queue back', async () => {
  const gate = new Gate('files', { inFlight: 1, queue: 1 })
  const stop = new Stopper()
  await gate.enter()
  const waiting = gate.enter(stop)
  stop.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
  const next = gate.enter()
  gate.leave()
  await next
  expect(gate.inside).toBe(1)
})

test('all who wait can be sent home', async () => {
  const gate = new Gate('files', { inFlight: 1, queue: 2 })
  await gate.enter()
  const waiting = [gate.enter(), gate.enter()]
  gate.clear(new Fault('SERVER_UNAVAILABLE', 'files was removed'))
  for (const one of waiting) await expect(one).rejects.toMatchObject({ code: 'SERVER_UNAVAILABLE' })
})
