// The regulator: exact under concurrency, in one process and between several that share the file.

import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { TestClock } from '../base/test-clock.ts'
import { clockTime } from '../base/time-text.ts'
import type { EnergyBudget } from '../store/energy-level.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { invocation } from '../store/suite-invocations.ts'
import { temporary } from '../store/suite-sqlite.ts'
import { type EnergyChange, Regulator, type Reservation } from './energy.ts'

const DAY = 24 * 60 * 60 * 1000
const STILL: EnergyBudget = { capacity: 100, recovery: 0 }

interface Place {
  readonly clock: TestClock
  readonly changes: EnergyChange[]
  store(): Promise<Store>
  regulator(owner?: string, budget?: EnergyBudget): Promise<Regulator & { store: Store }>
}

/** A file, and as many processes on it as are asked for. */
function place(): Place {
  const file = join(temporary(), 'busbar.db')
  const clock = new TestClock()
  const changes: EnergyChange[] = []
  const store = async () => {
    const opened = await openStore({
      file,
      sealKey: 'k',
      clock,
      onTrouble: (message) => {
        throw new Error(message)
      },
    })
    onTestFinished(() => opened.close())
    return opened
  }
  return {
    clock,
    changes,
    store,
    async regulator(owner = 'p', budget = STILL) {
      const opened = await store()
      const onChange = (change: EnergyChange) => changes.push(change)
      const regulator = Regulator.open({ store: opened, owner, clock, onChange })
      await regulator.configure(new Map([['cto', budget]]))
      onTestFinished(() => regulator.close())
      return Object.assign(regulator, { store: opened })
    },
  }
}

let number = 0
/** The row of a call that is over. */
function row(energy: number) {
  number += 1
  return invocation(`row ${number}`, { energy })
}

test('1,000 calls at once may spend exactly what there is, and one more may not [D7]', async () => {
  const regulator = await place().regulator('p', { capacity: 1000, recovery: 0 })
  const granted = await Promise.all(Array.from({ length: 1000 }, () => regulator.reserve('cto', 1)))
  expect(regulator.state('cto')).toMatchObject({ level: 1000, reserved: 1000 })
  await expect(async () => await regulator.reserve('cto', 0.000001)).rejects.toMatchObject({
    code: 'OUT_OF_ENERGY',
  })
  for (const reservation of granted) regulator.settle(reservation, 1)
  expect(regulator.state('cto')).toMatchObject({ level: 0, reserved: 0, state: 'empty' })
})

test('1,001 calls at once of two processes: 1,000 may, and nothing is left [D7]', async () => {
  const here = place()
  const budget = { capacity: 1000, recovery: 0 }
  const both = [await here.regulator('p1', budget), await here.regulator('p2', budget)]
  const asked = await Promise.allSettled(
    Array.from({ length: 1001 }, async (_, index) => both[index % 2]?.reserve('cto', 1)),
  )
  const granted = asked.filter(({ status }) => status === 'fulfilled')
  // The block that the one took may be what the other lacks; never is more granted than there is.
  expect(granted.length).toBeLessThanOrEqual(1000)
  expect(granted.length).toBeGreaterThan(900)
  expect((await both[0]?.store.energy.account('cto'))?.leased).toBeLessThanOrEqual(1000)
})

test('a call that is covered by the lease waits for nothing [D7]', async () => {
  const regulator = await place().regulator()
  await regulator.reserve('cto', 1)
  const second = regulator.reserve('cto/reviewer', 1)
  expect(second).not.toBeInstanceOf(Promise)
  expect((await second).amount).toBe(1)
  expect(regulator.state('cto/reviewer')?.reserved).toBe(2)
  expect((await regulator.store.energy.account('cto'))?.leased).toBe(5)
})

test('settling tells the cost as it is charged, once, and what was too much can be spent again [D2]', async () => {
  const regulator = await place().regulator()
  const reservation = await regulator.reserve('cto', 100)
  expect(regulator.settle(reservation, 1.23456789)).toBe(1.234568)
  expect(regulator.settle(reservation, 50)).toBe(1.234568)
  expect(regulator.state('cto')?.level).toBe(98.765432)
  const next = await regulator.reserve('cto', 98.765432)
  expect(regulator.settle(next, -3)).toBe(0)
  expect(regulator.settle(await regulator.reserve('cto', 1), Number.NaN)).toBe(0)
})

test('a call that takes longer than thought leaves a debt, which recovers like any level [D7]', async () => {
  const { clock, regulator: open } = place()
  const regulator = await open('p', { capacity: 100, recovery: 60 })
  const cost = regulator.settle(await regulator.reserve('cto', 10), 130)
  expect(regulator.state('cto')).toMatchObject({ level: -30, state: 'empty' })
  // Whether its row is written yet makes no difference.
  const refused = { code: 'OUT_OF_ENERGY', details: { left: -30, needed: 5 } }
  await expect(async () => await regulator.reserve('cto', 5)).rejects.toMatchObject(refused)
  await regulator.store.invocations.append([row(cost)], 'p')
  await expect(async () => await regulator.reserve('cto', 5)).rejects.toMatchObject(refused)
  expect(regulator.untilEnough('cto', 5)).toBe(35_000)
  clock.pass(35_000)
  expect((await regulator.reserve('cto', 5)).amount).toBe(5)
})

test('the refusal says what is left, what is needed and when there is enough [D7]', async () => {
  const { clock, regulator: open } = place()
  const regulator = await open('p', { capacity: 100, recovery: 0.1625 })
  regulator.settle(await regulator.reserve('cto', 99.6), 99.6)
  const time = clockTime(clock.wall() + 16 * 60_000)
  await expect(async () => await regulator.reserve('cto/reviewer', 3)).rejects.toMatchObject({
    code: 'OUT_OF_ENERGY',
    message: `cto/reviewer is out of energy: 0.4 of 100 left, this call needs about 3; enough at ${time} (in 16 min)`,
    hint: 'wait, or have the owner run: busbar energy refill cto',
    details: { agent: 'cto/reviewer', left: 0.4, needed: 3 },
  })
  expect(regulator.untilEnough('cto', 3)).toBeCloseTo(16 * 60_000, 3)
})

test('whoever needs more than it can hold may call when it is full [D7]', async () => {
  const { clock, regulator: open } = place()
  const regulator = await open('p', { capacity: 100, recovery: 100 })
  const reservation = await regulator.reserve('cto', 250)
  expect(reservation.amount).toBe(100)
  regulator.settle(reservation, 250)
  expect(regulator.untilEnough('cto', 250)).toBe(150_000)
  clock.pass(149_000)
  await expect(async () => await regulator.reserve('cto', 250)).rejects.toThrow('out of energy')
})

test('a wall clock that jumps a day forth or back changes nothing [D7]', async () => {
  const { clock, regulator: open } = place()
  const regulator = await open('p', { capacity: 100, recovery: 6 })
  const cost = regulator.settle(await regulator.reserve('cto', 50), 50)
  await regulator.store.invocations.append([row(cost)], 'p')
  for (const jump of [DAY, -2 * DAY, DAY]) {
    clock.jump(jump)
    expect(regulator.state('cto')?.level).toBe(50)
    await regulator.refresh()
    expect(regulator.state('cto')?.level).toBe(50)
    await expect(async () => await regulator.reserve('cto', 51)).rejects.toThrow('(in 10 s)')
  }
  clock.pass(10_000)
  await regulator.reserve('cto', 51)
})

test('agents that are unlimited or unknown, and the owner, may always [D7]', async () => {
  const regulator = await place().regulator()
  await regulator.configure(new Map<string, EnergyBudget | 'unlimited'>([['cto', 'unlimited']]))
  for (const agent of ['cto', 'cto/reviewer', 'nobody', '']) {
    const reservation = regulator.reserve(agent, 1e6)
    expect(reservation).toMatchObject({ amount: 1e6 })
    expect(regulator.settle(reservation as Reservation, 7)).toBe(7)
    expect(regulator.state(agent)).toBeUndefined()
    expect(regulator.untilEnough(agent, 5)).toBe(0)
  }
  expect(await regulator.store.energy.accounts()).toEqual([])
  await expect(regulator.refill('cto')).rejects.toMatchObject({ code: 'USAGE' })
})

test('another capacity keeps the level, up to it; calls under way settle as they began [D7]', async () => {
  const regulator = await place().regulator()
  const under = await regulator.reserve('cto', 30)
  await regulator.configure(new Map([['cto', { capacity: 60, recovery: 0 }]]))
  expect(regulator.state('cto')).toMatchObject({ level: 60, capacity: 60, reserved: 30 })
  await expect(async () => await regulator.reserve('cto', 31)).rejects.toThrow('of 60 left')
  await regulator.configure(new Map([['cto', { capacity: 200, recovery: 0 }]]))
  const cost = regulator.settle(under, 10)
  expect(regulator.state('cto')).toMatchObject({ level: 50, capacity: 200 })
  // Away and back while a call is under way: it is charged, and nothing is spent twice.
  const second = await regulator.reserve('cto', 20)
  await regulator.configure(new Map<string, EnergyBudget | 'unlimited'>([['cto', 'unlimited']]))
  await regulator.configure(new Map([['cto', STILL]]))
  const rows = [row(cost), row(regulator.settle(second, 20))]
  await regulator.store.invocations.append(rows, 'p')
  await regulator.refresh()
  expect(regulator.state('cto')?.level).toBe(70)
  await expect(async () => await regulator.reserve('cto', 70.1)).rejects.toThrow('70 of 100 left')
  await regulator.reserve('cto', 70)
})

test('what is not used for a while is returned, and all of it at the close [D7]', async () => {
  const { clock, regulator: open } = place()
  const first = await open('p1')
  const second = await open('p2')
  const leased = async () => (await second.store.energy.account('cto'))?.leased
  const cost = first.settle(await first.reserve('cto', 1), 2)
  expect(await leased()).toBe(5)
  await first.look()
  expect(await leased()).toBe(5)
  clock.pass(5000)
  await first.look()
  // What is spent and not yet in the record stays leased.
  expect(await leased()).toBe(2)
  await first.store.invocations.append([row(cost)], 'p1')
  expect(await leased()).toBe(0)
  expect((await second.reserve('cto', 98)).amount).toBe(98)
  await second.close()
  expect(await leased()).toBe(98)
  await expect(async () => await second.reserve('cto', 1)).rejects.toMatchObject({ code: 'CLOSED' })
})

test('a change of state is told, also when time alone brings it about [D7]', async () => {
  const { clock, changes, regulator: open } = place()
  const regulator = await open('p', { capacity: 100, recovery: 60 })
  const spend = async (cost: number) => regulator.settle(await regulator.reserve('cto', cost), cost)
  for (const cost of [50, 1, 30, 10, 9]) await spend(cost)
  await expect(async () => await regulator.reserve('cto', 1)).rejects.toThrow('out of energy')
  clock.pass(1000)
  await regulator.look()
  clock.pass(60_000)
  await regulator.look()
  expect(changes.map(({ from, to, level }) => `${from} ${to} ${level}`)).toEqual([
    'plenty low 49',
    'low tired 19',
    'tired critical 9',
    'critical empty 0',
    'empty critical 1',
    'critical plenty 61',
  ])
})

test('the owner refills, and every process has it at its next call [D7]', async () => {
  const here = place()
  const [first, second] = [await here.regulator('p1'), await here.regulator('p2')]
  await first.store.invocations.append([row(first.settle(await first.reserve('cto', 100), 100))], 'p1')
  await expect(async () => await second.reserve('cto', 1)).rejects.toThrow('it does not recover')
  expect(await first.refill('cto', 10)).toMatchObject({ level: 10, state: 'tired' })
  expect((await second.reserve('cto', 10)).amount).toBe(10)
  expect(await first.refill('cto')).toMatchObject({ level: 100 })
})

test('two processes on one file never spend what is not there, and nothing is lost [D2] [D7]', async () => {
  const step = fc.record({
    who: fc.integer({ min: 0, max: 1 }),
    what: fc.constantFrom('reserve', 'reserve', 'reserve', 'settle', 'settle', 'write', 'look', 'refresh'),
    energy: fc.integer({ min: 1, max: 9_000_000 }).map((count) => count / 1e6),
    /** What it took, as a part of what was thought. */
    part: fc.constantFrom(0, 0.3, 1, 1, 1.7),
    wait: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
      const here = place()
      const processes = await Promise.all(
        ['p0', 'p1'].map(async (owner) => ({
          owner,
          regulator: await here.regulator(owner),
          open: [] as Reservation[],
          rows: [] as number[],
        })),
      )
      let spent = 0
      let reserved = 0
      let debts = 0
      const micro = (energy: number) => Math.round(energy * 1e6)
      const working: Promise<unknown>[] = []
      for (const { who, what, energy, part, wait } of steps) {
        const one = processes[who]
        if (one === undefined) continue
        const { regulator, open, rows, owner } = one
        const settle = (reservation: Reservation | undefined) => {
          if (reservation === undefined) return
          const cost = regulator.settle(reservation, reservation.amount * part)
          reserved -= micro(reservation.amount)
          spent += micro(cost)
          debts += Math.max(0, micro(cost) - micro(reservation.amount))
          rows.push(cost)
        }
        const work = async () => {
          if (what === 'reserve') {
            const reservation = await regulator.reserve('cto', energy)
            open.push(reservation)
            reserved += micro(reservation.amount)
            expect(spent + reserved).toBeLessThanOrEqual(100e6 + debts)
          } else if (what === 'settle') settle(open.shift())
          else if (what === 'write') await regulator.store.invocations.append(rows.splice(0).map(row), owner)
          else if (what === 'look') {
            here.clock.pass(3000)
            await regulator.look()
          } else await regulator.refresh()
        }
        const done = work().catch((error: { code?: string }) => {
          if (error.code !== 'OUT_OF_ENERGY') throw error
        })
        working.push(done)
        if (wait) await done
      }
      await Promise.all(working)
      for (const { regulator, open, rows, owner } of processes) {
        for (const reservation of open.splice(0)) {
          const cost = regulator.settle(reservation, reservation.amount)
          spent += micro(cost)
          rows.push(cost)
        }
        await regulator.store.invocations.append(rows.splice(0).map(row), owner)
        await regulator.close()
      }
      const last = await here.regulator('p2')
      const account = await last.store.energy.account('cto')
      expect(micro(account?.level ?? 0)).toBe(100e6 - spent)
      expect(account?.leased).toBe(0)
      if (spent < 100e6) await last.reserve('cto', (100e6 - spent) / 1e6)
    }),
    { numRuns: 40 },
  )
}, 60_000)
