// What every store must do with energy: rows are charged once, and nobody can lease what somebody else has.

import { expect, test } from 'vitest'
import { TestClock } from '../base/test-clock.ts'
import type { EnergyBudget } from './energy-level.ts'
import type { Store } from './store.ts'
import type { NewPlace } from './suite.ts'
import { invocation } from './suite-invocations.ts'

const DAY = 24 * 60 * 60 * 1000

export function energySuite(name: string, place: NewPlace): void {
  const STILL: EnergyBudget = { capacity: 100, recovery: 0 }
  const open = (store: Store, budget = STILL) => store.energy.configure(new Map([['cto', budget]]))
  const level = async (store: Store) => (await store.energy.account('cto'))?.level
  const take = (store: Store, owner: string, amount: number) =>
    store.energy.lease(owner, 'cto', ({ room }) => (room >= amount ? amount : 0))

  test(`${name}: rows are charged to their agent’s account, once, its workers’ too [D2]`, async () => {
    const { store, another } = await place()
    const other = await another()
    const rows = [
      invocation('a', { energy: 0.1 }),
      invocation('b', { energy: 0.2, agent: 'cto/reviewer' }),
      invocation('c', { energy: 7, agent: 'cfo' }),
      invocation('d', { energy: 7, agent: '' }),
      invocation('e'),
      invocation('f', { energy: -5 }),
    ]
    await store.invocations.append([invocation('before', { energy: 50 })])
    await open(store)
    expect(await level(store)).toBe(100)
    await store.invocations.append(rows)
    await other.invocations.append([...rows, invocation('g', { energy: 0.3, outcome: 'error' })], 'p')
    expect(await level(other)).toBe(99.4)
    await store.invocations.append([invocation('h', { energy: 1 }), invocation('h', { energy: 1 })])
    expect(await store.energy.accounts()).toEqual([{ agent: 'cto', level: 98.4, ...STILL, leased: 0 }])
  })

  test(`${name}: sums of fractions are exact, and a debt is a level below zero [D2]`, async () => {
    const { store } = await place()
    await open(store)
    for (let part = 0; part < 10; part++)
      await store.invocations.append(
        Array.from({ length: 100 }, (_, index) => invocation(`${part}-${index}`, { energy: 0.100001 })),
      )
    expect(await level(store)).toBe(-0.001)
  })

  test(`${name}: an account recovers by the machine’s own clock, whatever the wall clock says [D7]`, async () => {
    const { another } = await place()
    const clock = new TestClock()
    const store = await another(clock)
    await open(store, { capacity: 100, recovery: 6 })
    await store.invocations.append([invocation('a', { energy: 50 })])
    clock.pass(60_000)
    clock.jump(DAY)
    expect(await level(store)).toBe(56)
    clock.jump(-2 * DAY)
    clock.pass(60_000)
    expect(await level(store)).toBe(62)
    await store.invocations.append([invocation('b', { energy: 1 })])
    expect(await level(store)).toBe(61)
    clock.reboot(120_000)
    expect(await level(store)).toBe(73)
    await store.invocations.append([invocation('c', { energy: 1 })])
    clock.reboot(-DAY)
    expect(await level(store)).toBe(72)
    // Every start says the budget, and the account then counts by this boot.
    await open(store, { capacity: 100, recovery: 6 })
    clock.pass(60_000)
    expect(await level(store)).toBe(78)
  })

  test(`${name}: recovery loses nothing, however often an account is charged [D7]`, async () => {
    const { another } = await place()
    const clock = new TestClock()
    const store = await another(clock)
    await open(store, { capacity: 100, recovery: 0.0007 })
    await store.invocations.append([invocation('first', { energy: 60 })])
    for (let index = 0; index < 300; index++) {
      clock.pass(7)
      await store.invocations.append([invocation(`i${index}`, { energy: 0.000001 })])
    }
    const gained = (0.0007 / 60_000) * 7 * 300
    expect(Math.abs((await level(store)) ?? 0) - (40 - 0.0003 + gained)).toBeLessThan(2e-6)
  })

  test(`${name}: a lease is one process’s alone, and its rows use it up [D2]`, async () => {
    const { store, another } = await place()
    const other = await another()
    await open(store)
    expect(await take(store, 'p1', 1)).toMatchObject({ own: 1, room: 99, account: { leased: 1 } })
    const taken = await Promise.all(
      Array.from({ length: 50 }, (_, index) => take(index % 2 ? store : other, `p${index % 3}`, 3)),
    )
    expect(taken.at(-1)).toMatchObject({ room: 0, account: { level: 100, leased: 100 } })
    expect(await take(other, 'p9', 0.000001)).toMatchObject({ own: 0, room: 0 })
    await other.invocations.append([invocation('a', { energy: 10 })], 'p1')
    expect(await store.energy.account('cto')).toMatchObject({ level: 90, leased: 90 })
    // A debt: the level goes down by it, and what others have leased stays theirs.
    await other.invocations.append([invocation('b', { energy: 50 })], 'p1')
    const after = await store.energy.lease('p1', 'cto', () => 0)
    // It could take nothing even if it paid the debt of 26: 40 are left, and others have 66.
    expect(after).toMatchObject({ own: -26, room: 0, account: { level: 40, leased: 66 } })
    expect(await store.energy.lease('p0', 'cto', ({ own }) => -own)).toMatchObject({ own: 0 })
  })

  test(`${name}: leases are returned for whom they are released, and for nobody else [D16]`, async () => {
    const { store } = await place()
    await open(store)
    for (const owner of ['dead', 'alive', 'dead too']) await take(store, owner, 10)
    expect(await store.energy.owners()).toEqual(['alive', 'dead', 'dead too'])
    await store.energy.release(['dead', 'dead too'])
    expect(await store.energy.owners()).toEqual(['alive'])
    expect(await store.energy.account('cto')).toMatchObject({ level: 100, leased: 10 })
  })

  test(`${name}: another budget keeps the level, up to the capacity; without one there is no account [D7]`, async () => {
    const { another } = await place()
    const clock = new TestClock()
    const store = await another(clock)
    await open(store)
    await store.invocations.append([invocation('a', { energy: 40 })])
    clock.pass(DAY)
    await open(store, { capacity: 200, recovery: 6 })
    expect(await level(store)).toBe(60)
    clock.pass(60_000)
    await open(store, { capacity: 50, recovery: 0 })
    expect(await store.energy.account('cto')).toMatchObject({ level: 50, capacity: 50 })
    await store.invocations.append([invocation('b', { energy: 45 })])
    expect(await store.energy.refill('cto', 10)).toMatchObject({ level: 15 })
    expect(await store.energy.refill('cto')).toMatchObject({ level: 50 })
    expect(await store.energy.refill('cto', 1e9)).toMatchObject({ level: 50 })
    expect(await store.energy.refill('nobody')).toBeUndefined()
    await take(store, 'p', 1)
    await store.energy.configure(new Map([['cto', undefined]]))
    expect(await store.energy.accounts()).toEqual([])
    expect(await store.energy.owners()).toEqual([])
    expect(await take(store, 'p', 1)).toBeUndefined()
  })

  test(`${name}: tells what was spent by hour and by tool, and how long calls took [D2]`, async () => {
    const { store } = await place()
    const hour = 3_600_000
    await store.invocations.append([
      invocation('a', { startedAt: hour - 1, energy: 1, duration: 1 }),
      invocation('b', { startedAt: hour, energy: 2, duration: 2 }),
      invocation('c', { startedAt: hour + 9, energy: 4, duration: 3, agent: 'cto/reviewer', tool: 'put' }),
      invocation('d', { startedAt: hour + 9, energy: 4, duration: 4, agent: 'ctoo' }),
      invocation('e', { startedAt: hour + 9, outcome: 'denied' }),
    ])
    expect(await store.energy.hours('cto', 0)).toEqual([
      { hour: 0, calls: 1, energy: 1 },
      { hour, calls: 3, energy: 6 },
    ])
    expect(await store.energy.toolCosts('cto', hour)).toEqual([
      { server: 'github', tool: 'put', calls: 1, energy: 4 },
      { server: 'github', tool: 'get_issue', calls: 1, energy: 2 },
    ])
    expect(await store.energy.durations()).toEqual([
      { server: 'github', tool: 'get_issue', duration: 1, energy: 1 },
      { server: 'github', tool: 'get_issue', duration: 2, energy: 2 },
      { server: 'github', tool: 'put', duration: 3, energy: 4 },
      { server: 'github', tool: 'get_issue', duration: 4, energy: 4 },
    ])
  })

  test(`${name}: sums are exact to a millionth, as amounts are [D2]`, async () => {
    const { store } = await place()
    const rows = ['a', 'b', 'c'].map((id, index) => invocation(id, { startedAt: index, energy: 0.1 }))
    await store.invocations.append(rows)
    expect(await store.energy.hours('cto', 0)).toEqual([{ hour: 0, calls: 3, energy: 0.3 }])
    expect(await store.energy.toolCosts('cto', 0)).toMatchObject([{ energy: 0.3 }])
    expect(await store.invocations.usage({ by: 'agent' })).toMatchObject([{ energy: 0.3 }])
  })
}
