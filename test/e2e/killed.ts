// Processes that are killed at any moment while they write to the same files.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import type { RecordedInvocation } from '../../src/store/invocation.ts'
import type { Store } from '../../src/store/store.ts'
import { buildChild } from './child.ts'

const LANES = 2
const KEY = 'a key outside the folder'

export interface Killed {
  /** Ours to seal the record with. */
  readonly key: string
  readonly file: string
  readonly journals: string
}

export function placesIn(root: string): Killed {
  return { key: KEY, file: join(root, 'busbar.db'), journals: join(root, 'journals') }
}

/** Starts so many processes of a program of ours, and kills each; tells the files with what they said. */
export async function killMany(root: string, program: string, count: number): Promise<string[]> {
  const child = await buildChild(root, program)
  const lanes = Array.from({ length: LANES }, (_, lane) => join(root, `said-${lane}`))
  await Promise.all(
    lanes.map(async (path, lane) => {
      const said = openSync(path, 'a')
      try {
        for (let index = lane; index < count; index += LANES) await kill(root, child, said, index % 3 !== 0)
      } finally {
        closeSync(said)
      }
    }),
  )
  return lanes
}

export async function allRows(store: Store): Promise<RecordedInvocation[]> {
  const rows: RecordedInvocation[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = await store.invocations.list({ before, limit: 5000 })
    rows.push(...page)
    const last = page.at(-1)
    if (last === undefined) return rows
    before = last.seq
  }
}

// --- internal ---

/** Starts a child and kills it: some while they start and recover, some while they record. */
async function kill(root: string, child: string, said: number, settled: boolean): Promise<void> {
  const { file, journals, key } = placesIn(root)
  const running = spawn(process.execPath, [child, file, journals, key], {
    stdio: ['ignore', 'pipe', 'inherit', said],
  })
  const ended = once(running, 'exit')
  onTestFinished(() => void running.kill('SIGKILL'))
  if (settled && running.stdout !== null) await Promise.race([once(running.stdout, 'data'), ended])
  await sleep(Math.random() * (settled ? 120 : 300))
  running.kill('SIGKILL')
  // One that ended by itself would have failed.
  expect((await ended)[1]).toBe('SIGKILL')
}
