// What every store must do, whichever database it is in. For tests: each implementation runs all of it.

import { expect, onTestFinished, test } from 'vitest'
import type { Clock } from '../base/clock.ts'
import type { Store } from './store.ts'
import { energySuite } from './suite-energy.ts'
import { invocationSuite } from './suite-invocations.ts'
import { policySuite } from './suite-policy.ts'
import { workSuite } from './suite-work.ts'

/** An empty store, and ways to reach the same data as another process would. */
export interface StorePlace {
  readonly store: Store
  another(clock?: Clock): Promise<Store>
  remove(): Promise<void>
}

/** A place for one test; it is removed with the test. */
export type NewPlace = () => Promise<StorePlace>

export function storeSuite(name: string, open: () => Promise<StorePlace>): void {
  const place: NewPlace = async () => {
    const opened = await open()
    onTestFinished(() => opened.remove())
    return opened
  }
  invocationSuite(name, place)
  policySuite(name, place)
  energySuite(name, place)
  workSuite(name, place)

  test(`${name}: what was written is there for the next to open it`, async () => {
    const { store, another } = await place()
    await store.rules.add({ id: 'r', server: 'github', decision: 'ask', createdAt: 1 })
    await store.close()
    const next = await another()
    expect(await next.rules.list()).toHaveLength(1)
  })

  test(`${name}: a closed store refuses with a fault, and may be closed again`, async () => {
    const { store } = await place()
    await store.close()
    await store.close()
    await expect(store.rules.list()).rejects.toMatchObject({ code: 'CLOSED' })
  })
}
