// Places and calls for tests of the recorder.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Invocations } from '../store/invocation.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import type { CallEnd, CallStart } from './line.ts'
import { Names } from './names.ts'
import { Recorder, type RecorderOptions } from './recorder.ts'

export const OK: CallEnd = { duration: 1.5, outcome: 'ok', resultBytes: 3 }

export function call(id: string, more: Partial<CallStart> = {}): CallStart {
  return {
    id,
    names: new Names('cto', 'github', 'get', 'cli'),
    startedAt: 5,
    requestBytes: 2,
    ...more,
  }
}

interface Place {
  readonly folder: string
  readonly store: Store
  readonly invocations: Invocations
  readonly trouble: string[]
  open(more?: Partial<RecorderOptions>): Promise<Recorder>
  ids(): Promise<string[]>
}

export async function place(): Promise<Place> {
  const root = mkdtempSync(join(tmpdir(), 'busbar-record-'))
  const trouble: string[] = []
  const onTrouble = (message: string) => trouble.push(message)
  const store = await openStore({ file: join(root, 'busbar.db'), sealKey: 'k', onTrouble })
  const opened: Recorder[] = []
  onTestFinished(async () => {
    for (const recorder of opened) await recorder.close()
    await store.close()
    rmSync(root, { recursive: true, force: true })
  })
  const folder = join(root, 'journals')
  return {
    folder,
    store,
    invocations: store.invocations,
    trouble,
    async open(more = {}) {
      const recorder = await Recorder.open({ store, folder, onTrouble, ...more })
      opened.push(recorder)
      return recorder
    },
    async ids() {
      return (await store.invocations.list({ limit: 100_000 })).map(({ id, outcome }) => `${id} ${outcome}`)
    },
  }
}

export function journals(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.journal'))
}

/** The number of a process that has ended, whose journals are therefore nobody's. */
export function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid
}
