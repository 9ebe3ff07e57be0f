// Every call has one row, whatever becomes of the store and the disk.

import { existsSync, readFileSync, renameSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { Fault } from '../base/fault.ts'
import type { Invocation, Invocations } from '../store/invocation.ts'
import type { Store } from '../store/store.ts'
import { beginLine, endLine } from './line.ts'
import { call, deadPid, journals, OK, place } from './testing.ts'

/** A store of calls that fails until it is told not to. */
function failing({ invocations, energy }: Store): {
  readonly invocations: Invocations
  readonly energy: Store['energy']
  failing: boolean
  tries: number
} {
  const state = {
    failing: true,
    tries: 0,
    energy,
    invocations: {
      ...invocations,
      append: async (rows: readonly Invocation[], owner?: string) => {
        state.tries += 1
        if (state.failing) throw new Fault('STORE_UNAVAILABLE', 'the disk is full')
        await invocations.append(rows, owner)
      },
    },
  }
  return state
}

test('a store that fails when it is opened keeps nothing from being recorded later', async () => {
  const { open, folder, store, ids, trouble } = await place()
  await (await open()).close()
  const file = join(folder, `${deadPid()}.1.${'a'.repeat(16)}.journal`)
  writeFileSync(file, beginLine(1, call('a')) + endLine(1, OK))
  const recorder = await open({ store: failing(store) })
  expect(trouble).toHaveLength(1)
  expect(recorder.begin(call('b')).ticket).toBe(1)
  expect(existsSync(file)).toBe(true)
  await open()
  expect(await ids()).toEqual(['a ok'])
})

test('while the store fails rows stay, one is told once, and later all are there', async () => {
  const { open, store: real, ids, trouble } = await place()
  const store = failing(real)
  const recorder = await open({ store, batch: { rows: 4, milliseconds: 1 } })
  store.tries = 0
  for (let index = 0; index < 10; index++) recorder.end(recorder.begin(call(`a${index}`)), OK)
  await vi.waitUntil(() => store.tries > 3, { timeout: 20_000 })
  expect(trouble.filter((message) => message.includes('the disk is full'))).toHaveLength(1)
  expect(await ids()).toEqual([])
  store.failing = false
  await vi.waitUntil(async () => (await ids()).length === 10, { timeout: 20_000 })
  await recorder.close()
  expect(new Set(await ids()).size).toBe(10)
})

test('memory is bounded while the store fails: the journal has the rest, and brings it in', async () => {
  const { open, folder, invocations, store: real, ids } = await place()
  const store = failing(real)
  const recorder = await open({ store, batch: { rows: 100, milliseconds: 1e6 } })
  recorder.end(recorder.begin(call('first')), OK)
  await recorder.flush()
  for (let index = 0; index < 10_100; index++) recorder.end(recorder.begin(call(`a${index}`)), OK)
  await recorder.flush()
  store.failing = false
  await recorder.flush()
  expect(await ids()).toHaveLength(10_101)
  expect(await invocations.verify()).toEqual({ ok: true, rows: 10_101 })
  const [name = ''] = journals(folder)
  expect(statSync(join(folder, name)).size).toBe(0)
})

test('a recorder that is closed while the store fails leaves its journal to the next start', async () => {
  const { open, folder, store, ids } = await place()
  const recorder = await open({ store: failing(store) })
  recorder.end(recorder.begin(call('a')), OK)
  recorder.begin(call('b'))
  await recorder.close()
  const [name = ''] = journals(folder)
  // As if this process had ended since.
  renameSync(join(folder, name), join(folder, name.replace(/^\d+/, String(deadPid()))))
  const next = await open()
  expect(next.recovered).toEqual({ ended: 2, unknown: 0 })
  expect(await ids()).toEqual(['b cancelled', 'a ok'])
})

test('a full disk is told to what begins, what ends is kept, and nothing is spoiled', async () => {
  const { open, folder, ids, trouble } = await place()
  let room = Number.POSITIVE_INFINITY
  const write = (file: number, text: string) => {
    if (room === 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    return writeSync(file, text.slice(0, room))
  }
  const recorder = await open({ write })
  const first = recorder.begin(call('a'))
  expect(await recorder.written()).toBeUndefined()
  room = 5
  const refused = [recorder.begin(call('b')), recorder.begin(call('c'))]
  expect(await recorder.written()).toMatchObject({ code: 'STORE_UNAVAILABLE' })
  room = 0
  const other = recorder.begin(call('d'))
  expect(await recorder.written()).toMatchObject({ code: 'STORE_UNAVAILABLE' })
  expect(trouble).toEqual([])
  for (const one of refused) recorder.end(one, { ...OK, outcome: 'error' })
  recorder.end(first, OK)
  expect(await recorder.written()).toMatchObject({ code: 'STORE_UNAVAILABLE' })
  expect(trouble).toHaveLength(1)
  room = Number.POSITIVE_INFINITY
  const last = recorder.begin(call('e'))
  expect(await recorder.written()).toBeUndefined()
  const [name = ''] = journals(folder)
  const lines = readFileSync(join(folder, name), 'utf8').split('\n')
  expect(lines).toEqual([beginLine(1, call('a')).trim(), '["b",', beginLine(5, call('e')).trim(), ''])
  recorder.end(other, OK)
  recorder.end(last, OK)
  await recorder.flush()
  expect(await ids()).toEqual(['e ok', 'd ok', 'a ok', 'c error', 'b error'])
})

test('what is said in one turn is one write, and is waited for by all who said it', async () => {
  const { open } = await place()
  const writes: string[] = []
  const write = (file: number, text: string) => {
    writes.push(text)
    return writeSync(file, text)
  }
  const recorder = await open({ write })
  const calls = ['a', 'b', 'c'].map((id) => recorder.begin(call(id)))
  expect(writes).toEqual([])
  await Promise.all(calls.map(() => recorder.written()))
  expect(writes).toHaveLength(1)
  for (const one of calls) recorder.end(one, OK)
  await recorder.written()
  expect(writes.map((text) => text.split('\n').length - 1)).toEqual([3, 3])
  expect(await recorder.written()).toBeUndefined()
})

test('whoever waits is told when all is written, in the order of asking, or why it is not', async () => {
  const { open } = await place()
  let full = false
  const recorder = await open({
    write: (file, text) => {
      if (full) throw new Error('no space left')
      return writeSync(file, text)
    },
  })
  const told: string[] = []
  const waiting = (name: string) => ({
    written: (fault: Fault | undefined) => void told.push(`${name} ${fault?.code ?? 'written'}`),
  })
  const first = recorder.begin(call('a'), waiting('a'))
  const second = recorder.begin(call('b'), waiting('b'))
  expect(told).toEqual([])
  // Behind whoever waits for the promise, and came before.
  void recorder.written().then(() => told.push('promise'))
  recorder.begin(call('later'), waiting('later'))
  await recorder.written()
  recorder.end(second, OK, waiting('b again'))
  recorder.end(first, OK, waiting('a again'))
  await recorder.written()
  expect(told.splice(0)).toEqual([
    ...['a written', 'b written', 'promise', 'later written'],
    ...['b again written', 'a again written'],
  ])
  full = true
  const third = recorder.begin(call('c'), waiting('c'))
  await recorder.written()
  full = false
  recorder.end(third, OK, waiting('c again'))
  await recorder.written()
  const fourth = recorder.begin(call('d'), waiting('d'))
  await recorder.close()
  // It was ended as cancelled, and there is nothing left to wait for.
  recorder.end(fourth, OK, waiting('d again'))
  await recorder.written()
  expect(told).toEqual(['c STORE_UNAVAILABLE', 'c again written', 'd written', 'd again written'])
})
