// The file before it is used: made whole in one step, judged, moved aside when it cannot be used.

import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { Fault } from '../base/fault.ts'
import { syncFolder } from '../base/write-file.ts'
import { Connection } from './sqlite-connection.ts'
import type { OpenDatabase } from './sqlite-driver.ts'
import { isDamage } from './sqlite-fault.ts'

/** In the header of every store, so that another program's database is not taken for one: "BUSB". */
const APPLICATION_ID = 0x42555342

export type Judgement =
  | { readonly kind: 'absent' }
  | { readonly kind: 'usable'; readonly version: number }
  | { readonly kind: 'unusable'; readonly reason: string }

/** What is there. Changes nothing; rejects with a fault when another process keeps it locked. */
export async function judge(open: OpenDatabase, file: string): Promise<Judgement> {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) {
    // SQLite would replay the log of the lost file into the new one.
    const left = COMPANIONS.some((suffix) => existsSync(file + suffix))
    return left ? { kind: 'unusable', reason: 'is missing, and only its log is there' } : { kind: 'absent' }
  }
  // A file takes its name only when it is whole, so an empty one lost what it held.
  if (stats.size === 0) return { kind: 'unusable', reason: 'is empty' }
  try {
    return await look(open, file)
  } catch (error) {
    if (error instanceof Fault && error.code === 'STORE_DAMAGED')
      return { kind: 'unusable', reason: 'is damaged or no database' }
    throw error
  }
}

/** Makes a file whole under another name before it takes the real one. */
export async function create(
  open: OpenDatabase,
  file: string,
  fill: (connection: Connection) => Promise<void>,
): Promise<void> {
  const draft = `${file}.new`
  for (const suffix of ['', '-journal', ...COMPANIONS]) rmSync(draft + suffix, { force: true })
  makePrivate(draft)
  const connection = new Connection(open(draft), { file: draft })
  try {
    await connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    await fill(connection)
    await connection.exec('PRAGMA journal_mode = WAL')
  } finally {
    connection.close()
  }
  renameSync(draft, file)
  syncFolder(dirname(file))
}

/** Gives a file that cannot be used another name, its log with it, and tells that name. */
export function moveAside(file: string): string {
  const stamp = new Date().toISOString().replaceAll(':', '-')
  const free = (n: number): string => {
    const name = `${file}.damaged-${stamp}${n === 0 ? '' : `-${n}`}`
    return ['', ...COMPANIONS].some((suffix) => existsSync(name + suffix)) ? free(n + 1) : name
  }
  const aside = free(0)
  // The file first: when a kill comes in between, the log that is left alone is moved at the next start.
  for (const suffix of ['', ...COMPANIONS])
    if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix)
  rmSync(suspicion(file), { force: true })
  return aside
}

/** A consistent copy beside the file, for going back to the version that wrote it. */
export async function backUp(connection: Connection, file: string, version: number): Promise<string> {
  const copy = `${file}.backup-v${version}`
  const draft = `${copy}.new`
  rmSync(draft, { force: true })
  makePrivate(draft)
  await connection.exec(`VACUUM INTO '${draft.replaceAll("'", "''")}'`)
  renameSync(draft, copy)
  syncFolder(dirname(file))
  return copy
}

/** Leaves word that damage was met, so that the next start reads the whole file before it relies on it. */
export function suspect(file: string): void {
  try {
    writeFileSync(suspicion(file), '', { mode: 0o600 })
  } catch {
    // The disk has other troubles too; the fault that is on its way says enough.
  }
}

/** Files of a store are their owner's alone, also those a person restored from a copy. */
export function keepPrivate(file: string): void {
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
}

// --- internal ---

const COMPANIONS = ['-wal', '-shm']

async function look(open: OpenDatabase, file: string): Promise<Judgement> {
  const connection = new Connection(open(file), { file })
  try {
    const header = await connection.get<{ application_id: number }>('PRAGMA application_id')
    if (header?.application_id !== APPLICATION_ID)
      return { kind: 'unusable', reason: 'is a database of another program' }
    const version = (await connection.get<{ user_version: number }>('PRAGMA user_version'))?.user_version ?? 0
    if (existsSync(suspicion(file))) {
      const [first] = await connection.all<{ quick_check: string }>('PRAGMA quick_check(1)')
      if (first?.quick_check !== 'ok') return { kind: 'unusable', reason: 'is damaged' }
      rmSync(suspicion(file), { force: true })
    }
    // The first page of each table; all of them would take seconds for a large file.
    const tables = await connection.all<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table'",
    )
    for (const { name } of tables)
      await connection.get(`SELECT 1 FROM "${name.replaceAll('"', '""')}" NOT INDEXED LIMIT 1`)
    return { kind: 'usable', version }
  } finally {
    closeQuietly(connection)
  }
}

function closeQuietly(connection: Connection): void {
  try {
    connection.close()
  } catch (error) {
    if (!isDamage(error)) throw error
  }
}

function suspicion(file: string): string {
  return `${file}.suspect`
}

/** SQLite gives its log the permissions of the file, so they are right from the start. */
function makePrivate(file: string): void {
  closeSync(openSync(file, 'wx', 0o600))
}
