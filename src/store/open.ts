// Opens the store: a new file, an older one brought up to date, or a clear refusal.

import { dirname } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { withLock } from '../base/lock.ts'
import { makeFolder, prepareFolder, unsafeReason } from '../base/places.ts'
import { Chain } from './chain.ts'
import { MIGRATIONS } from './migrations.ts'
import { SqliteStore } from './sqlite.ts'
import { Connection } from './sqlite-connection.ts'
import { loadDriver, type OpenDatabase } from './sqlite-driver.ts'
import { storeFault } from './sqlite-fault.ts'
import { backUp, create, judge, keepPrivate, moveAside, suspect } from './sqlite-file.ts'
import { beginChain } from './sqlite-marks.ts'
import type { Store, StoreOptions } from './store.ts'

/**
 * Opens the SQLite store. A file that cannot be used is moved aside and a new one begun, which `onTrouble` is told;
 * one of a newer version is refused and stays as it is.
 */
export async function openStore(
  options: StoreOptions,
  migrations: readonly string[] = MIGRATIONS,
): Promise<Store> {
  const { file } = options
  try {
    const trouble = makeFolder(dirname(file), 0o700)
    if (trouble !== undefined) throw unopened(file, trouble)
    prepareFolder(dirname(file))
    const reason = unsafeReason(file)
    if (reason !== undefined)
      throw new Fault('STATE_REFUSED', `${file} ${reason}`, { hint: 'check who wrote it, then move it away' })
    const open = await loadDriver()
    return await withLock(`${file}.lock`, () => openLocked(open, options, migrations))
  } catch (error) {
    throw systemFault(file, storeFault(file, error))
  }
}

// --- internal ---

async function openLocked(
  open: OpenDatabase,
  options: StoreOptions,
  migrations: readonly string[],
): Promise<Store> {
  const { file, onTrouble } = options
  const chain = new Chain(options.sealKey)
  const judgement = await judge(open, file)
  if (judgement.kind === 'usable') {
    keepPrivate(file)
    await bringUpToDate(open, file, judgement.version, migrations)
  } else {
    if (judgement.kind === 'unusable') {
      const aside = moveAside(file)
      onTrouble(`${file} ${judgement.reason}: it is now ${aside}, and an empty store was begun in its place`)
    }
    await create(open, file, async (connection) => {
      await migrate(connection, 0, migrations)
      await connection.write((session) => beginChain(session, chain))
    })
  }
  const records = await connect(open, file, 'NORMAL')
  try {
    const ledger = await connect(open, file, 'FULL')
    return new SqliteStore({
      file,
      records,
      ledger,
      chain,
      clock: options.clock ?? systemClock(),
      onTrouble,
    })
  } catch (error) {
    records.close()
    throw error
  }
}

async function bringUpToDate(
  open: OpenDatabase,
  file: string,
  version: number,
  migrations: readonly string[],
): Promise<void> {
  if (version > migrations.length)
    throw new Fault(
      'STORE_NEWER',
      `${file} has version ${version}, and this Busbar knows ${migrations.length}`,
      {
        hint: `use the newer Busbar again, or go back to a copy beside it (${file}.backup-v…)`,
      },
    )
  if (version === migrations.length) return
  const connection = new Connection(open(file), { file })
  try {
    await backUp(connection, file, version)
    await migrate(connection, version, migrations)
  } finally {
    connection.close()
  }
}

async function migrate(
  connection: Connection,
  version: number,
  migrations: readonly string[],
): Promise<void> {
  // Rebuilding a table would otherwise delete what refers to it; it is checked at the end of each step instead.
  await connection.exec('PRAGMA foreign_keys = OFF')
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue
    await connection.write((session) => {
      session.exec(sql)
      const broken = session.all('PRAGMA foreign_key_check')
      if (broken.length > 0)
        throw new Error(`migration ${index + 1} leaves ${broken.length} rows that refer to none`)
      session.exec(`PRAGMA user_version = ${index + 1}`)
    })
  }
}

async function connect(
  open: OpenDatabase,
  file: string,
  synchronous: 'NORMAL' | 'FULL',
): Promise<Connection> {
  const connection = new Connection(open(file), { file, onDamage: () => suspect(file) })
  await connection.exec(`
    PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${synchronous};
    PRAGMA foreign_keys = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA wal_autocheckpoint = ${LOG_PAGES};
    PRAGMA journal_size_limit = ${LOG_BYTES};
  `)
  return connection
}

/** How long SQLite itself waits, and blocks this process with it. */
const BUSY_TIMEOUT_MS = 50

/** Pages of the log before it is taken over. A page that is written to again and again is then taken over once. */
const LOG_PAGES = 4000

/** What is left of the log after a burst has been taken over. */
const LOG_BYTES = 8 * 1024 * 1024

/** A folder that cannot be written or a full disk, met outside SQLite. */
function systemFault(file: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error
  return unopened(file, error.message, error)
}

function unopened(file: string, why: string, cause?: unknown): Fault {
  return new Fault('STORE_UNAVAILABLE', `${file} cannot be opened: ${why}`, {
    hint: 'make room on the disk and its folder writable for your user, or set BUSBAR_HOME to another folder',
    cause,
  })
}
