// Places for tests of the SQLite store, each in a folder of its own.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Clock } from '../base/clock.ts'
import { openStore } from './open.ts'
import { type Database, loadDriver } from './sqlite-driver.ts'
import type { Store } from './store.ts'
import type { StorePlace } from './suite.ts'

export const KEY = 'a key for tests'

export function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'busbar-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function sqlitePlace(): Promise<StorePlace> {
  const file = join(mkdtempSync(join(tmpdir(), 'busbar-store-')), 'busbar.db')
  const stores: Store[] = []
  const another = async (clock?: Clock) => {
    const store = await openStore({
      file,
      sealKey: KEY,
      clock,
      onTrouble: (message) => {
        throw new Error(message)
      },
    })
    stores.push(store)
    return store
  }
  return {
    store: await another(),
    another,
    async remove() {
      for (const store of stores) await store.close()
      rmSync(join(file, '..'), { recursive: true, force: true })
    },
  }
}

/** The file as somebody else would open it. */
export async function raw<T>(file: string, work: (database: Database) => T): Promise<T> {
  const database = (await loadDriver())(file)
  try {
    return work(database)
  } finally {
    database.close()
  }
}
