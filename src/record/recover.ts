// Finds out what processes that died were doing, from the journals they left, and records it.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from '../base/lock.ts'
import type { Invocation, Invocations } from '../store/invocation.ts'
import type { Energy } from '../store/policy.ts'
import { isDead, journalOwner, orphans, readJournal } from './journal.ts'
import { type CallStart, toInvocation } from './line.ts'

/** Calls found in journals of dead processes. */
export interface Recovered {
  /** Their end was known. Some may have been in the store already. */
  readonly ended: number
  /** They were sent, or about to be, and nobody will ever know. */
  readonly unknown: number
}

/** Where rows go, and what of the ledger concerns processes that died. */
export interface RecordStore {
  readonly invocations: Invocations
  readonly energy: Pick<Energy, 'owners' | 'release'>
}

/**
 * Records what dead processes left and removes it; then what they had leased and not spent is anybody's again. When the
 * store fails, all stays as it is for the next start.
 */
export async function recoverOrphans(
  { invocations, energy }: RecordStore,
  folder: string,
): Promise<Recovered> {
  // Without the lock two starts would count the same calls, though the store would take each once.
  return withLock(join(folder, 'recovery.lock'), async () => {
    // Before the journals are listed: one that dies in between keeps its lease until its calls are charged.
    const dead = (await energy.owners()).filter(isDead)
    const files = orphans(folder)
    const unknown = new Map<string, { readonly start: CallStart; readonly owner: string }>()
    const ended = new Set<string>()
    for (const file of files) {
      const owner = journalOwner(file)
      for (const start of await appendEnded(invocations, file, (id) => ended.add(id)))
        unknown.set(start.id, { start, owner })
    }
    // A call that was carried over to a second file may have ended in either.
    for (const id of ended) unknown.delete(id)
    const owners = new Set(files.map(journalOwner))
    for (const owner of owners) {
      const own = [...unknown.values()].filter((call) => call.owner === owner)
      const rows = own.map(({ start }) => toInvocation(0, start, { ...CRASHED, energy: start.reserved }))
      await appendInParts(invocations, rows, owner)
    }
    await energy.release([...new Set([...dead, ...owners])])
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
  const owner = journalOwner(file)
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
    await invocations.append(rows, owner)
    rows = []
  }
  await invocations.append(rows, owner)
  return [...open.values()]
}

// --- internal ---

const PART_ROWS = 256

const CRASHED = { duration: 0, outcome: 'unknown', code: 'CRASHED', resultBytes: 0 } as const

async function appendInParts(
  invocations: Invocations,
  rows: readonly Invocation[],
  owner: string,
): Promise<void> {
  for (let at = 0; at < rows.length; at += PART_ROWS)
    await invocations.append(rows.slice(at, at + PART_ROWS), owner)
}
