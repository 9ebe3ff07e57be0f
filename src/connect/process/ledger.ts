// Remembers which servers run, so that the next start can end what a killed Busbar left behind.
//
// One small file for each server, named by its mark, which names its owner: records of living owners are told
// apart without opening them, and no process ever changes another's. The first line is written before the
// server starts and the second after, each in one call, so a kill at any instant leaves a record that says
// enough. Nothing is synced: after a power cut there is nothing to end.

import { appendFileSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../base/fault.ts'
import { type Places, prepareFolder } from '../../base/places.ts'
import { type Owner, ownerOf } from './marker.ts'
import { type Leader, type Root, Snapshot } from './sweep.ts'
import { findProcess } from './table.ts'
import { ProcessTree } from './tree.ts'

/** Where servers are recorded while they run. */
export interface Ledger {
  /** To be called before the process is started. */
  begin(marker: string, server: string): LedgerEntry
}

interface LedgerEntry {
  started(leader: Leader): void
  /** To be called when nothing of the server is alive. */
  remove(): void
}

/** Processes that outlived their owner and were ended. */
export interface Reaped {
  readonly server: string
  readonly pids: readonly number[]
}

export function openLedger(places: Places): Ledger {
  const folder = safeFolder(places)
  return {
    begin(marker, server) {
      const file = join(folder, marker)
      try {
        append(file, { server, origin: origin() })
      } catch (error) {
        const hint = 'make room on the disk, or set BUSBAR_HOME to another folder'
        const message = `${file} cannot be written; the server might outlive Busbar unnoticed`
        throw new Fault('STATE_REFUSED', message, { hint, server, cause: error })
      }
      return {
        started({ pid, started }) {
          try {
            append(file, { pid, started })
          } catch {
            // The disk has just filled up. The mark, which is the file's name, will do.
          }
        },
        remove: () => remove(file),
      }
    },
  }
}

/**
 * Ends what is alive of servers whose owner is dead, and tells what it was. Their input ended with their
 * owner, which was the polite request; so they are killed at once and the start does not wait for them.
 */
export async function reapDeadOwners(places: Places): Promise<Reaped[]> {
  const records = deadRecords(safeFolder(places))
  if (records.length === 0) return []
  const snapshot = new Snapshot()
  const reaped = await Promise.all(
    records.map(async ({ file, server, marker, owner, leader }) => {
      // The leader's number counts only while the leader has it; after that only the mark proves whose a
      // process is.
      const present = leader !== undefined && snapshot.table.get(leader.pid)?.started === leader.started
      const root: Root = { leader: present ? leader : undefined, marker, since: owner.started }
      const tree = new ProcessTree(root)
      const pids = tree.look(snapshot).map(({ pid }) => pid)
      const stuck = pids.length > 0 && (await tree.kill(REAP_MS)).length > 0
      if (!stuck) remove(file)
      return { server, pids }
    }),
  )
  return reaped.filter(({ pids }) => pids.length > 0)
}

// --- internal ---

const REAP_MS = 2500
const FOREIGN_MS = 7 * 24 * 3600 * 1000

interface LedgerRecord {
  readonly file: string
  readonly marker: string
  readonly owner: Owner
  readonly server: string
  readonly leader: Leader | undefined
}

/** Refused when others could write records there: they would choose what is killed. */
function safeFolder(places: Places): string {
  prepareFolder(places.state)
  const folder = join(places.state, 'processes')
  prepareFolder(folder)
  return folder
}

/** The records of owners that are dead for certain. Those that nothing can be done with are cleared away. */
function deadRecords(folder: string): LedgerRecord[] {
  const here = origin()
  const records: LedgerRecord[] = []
  for (const marker of readdirSync(folder)) {
    const owner = ownerOf(marker)
    if (owner === undefined || findProcess(owner.pid)?.started === owner.started) continue
    const file = join(folder, marker)
    const [first, second] = readLines(file)
    // Without a whole first line the owner died before it started anything.
    if (typeof first?.['server'] !== 'string') remove(file)
    else if (first['origin'] !== here) removeWhenOld(file)
    else records.push({ file, marker, owner, server: first['server'], leader: leaderOf(second) })
  }
  return records
}

function leaderOf(line: Record<string, unknown> | undefined): Leader | undefined {
  const { pid, started } = line ?? {}
  return typeof pid === 'number' && typeof started === 'number' ? { pid, started } : undefined
}

/**
 * In which numbering of processes a record was written: the boot, and the container. Numbers of another one
 * mean nothing here: its owner may live on, unseen, in a container or on a machine that shares the folder.
 */
function origin(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    // Elsewhere the start time, which is a date there, tells boots apart.
    return process.platform
  }
}

function removeWhenOld(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats !== undefined && Date.now() - stats.mtimeMs > FOREIGN_MS) remove(file)
}

function append(file: string, line: Record<string, unknown>): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 })
}

/** The whole lines of a record; none when it was taken away just now or is no record. */
function readLines(file: string): Record<string, unknown>[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  } catch (error) {
    if (error instanceof SyntaxError) return []
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** Another Busbar may be at the same work and have been faster. */
function remove(file: string): void {
  rmSync(file, { force: true })
}
