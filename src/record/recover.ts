// Finds out what processes that died were doing, from the journals they left, and records it.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from '../base/lock.ts'
import type { Invocation, Invocations } from '../store/invocation.ts'
import { orphans, readJournal } from './journal.ts'
import { type CallStart, toInvocation } from './line.ts'

/** Calls found in journals of dead processes. */
export interface Recovered {
  /** Their end was known. Some may have been in the store already. */
  readonly ended: number
  /** They were sent, or about to be, and nobody will ever know. */
  readonly unknown: number
}

/** Records what dead processes left and removes it. When the store fails, all stays as it is for the next start. */
export async function recoverOrphans(invocations: Invocations, folder: string): Promise<Recovered> {
  // Without the lock two starts would count the same calls, though the store would take each once.
  return withLock(join(folder, 'recovery.lock'), async () => {
    const files = orphans(folder)
    const unknown = new Map<string, CallStart>()
    const ended = new Set<string>()
    for (const file of files)
      for (const start of await appendEnded(invocations, file, (id) => ended.add(id)))
        unknown.set(start.id, start)
    // A call that was carried over to a second file may have ended in either.
    for (const id of ended) unknown.delete(id)
    await appendInParts(
      invocations,
      [...unknown.values()].map((start) => toInvocation(0, start, CRASHED)),
    )
    for (const file of files) rmSync(file, { force: true })
    return { ended: ended.size, unknown: unknown.size }
  })
}

/** Records the calls of a journal that have ended; tells those that have not. */
export async function appendEnded(
  invocations: Invocations,
  file: string,
  onEnded?: (id: string) => void,
): Promise<CallStart[]> {
  const open = new Map<number, CallStart>()
  let rows: Invocation[] = []
  for (const line of readJournal(file)) {
    if (line.kind === 'begin') {
      open.set(line.ticket, line.start)
      continue
    }
    const start = open.get(line.ticket)
    if (start === undefined) continue
    open.delete(line.ticket)
    onEnded?.(start.id)
    rows.push(toInvocation(line.ticket, start, line.end))
    if (rows.length < PART_ROWS) continue
    await invocations.append(rows)
    rows = []
  }
  await invocations.append(rows)
  return [...open.values()]
}

// --- internal ---

const PART_ROWS = 256

const CRASHED = { duration: 0, outcome: 'unknown', code: 'CRASHED', resultBytes: 0 } as const

async function appendInParts(invocations: Invocations, rows: readonly Invocation[]): Promise<void> {
  for (let at = 0; at < rows.length; at += PART_ROWS) await invocations.append(rows.slice(at, at + PART_ROWS))
}
