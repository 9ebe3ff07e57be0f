// What each server has done in all, kept beside the rows so that it outlives their pruning.

import type { ChainRow } from './chain.ts'
import type { Servers, ServerTotals } from './invocation.ts'
import type { Connection, Session } from './sqlite-connection.ts'
import { type Nullable, withoutNulls } from './sqlite-nulls.ts'

export class SqliteServers implements Servers {
  readonly #records: Connection

  constructor(records: Connection) {
    this.#records = records
  }

  noteServers(names: readonly string[], now: number): Promise<void> {
    return this.#records.write((session) => {
      for (const name of names)
        session.run('INSERT INTO servers (server, added_at) VALUES (?, ?) ON CONFLICT DO NOTHING', name, now)
    })
  }

  async totals(): Promise<ServerTotals[]> {
    const rows = await this.#records.all<Nullable<ServerTotals>>(
      'SELECT server, added_at AS addedAt, use_count AS useCount, error_count AS errorCount, ' +
        'last_used AS lastUsed, last_error AS lastError, last_error_at AS lastErrorAt, energy, duration ' +
        'FROM servers ORDER BY server',
    )
    return rows.map((row) => withoutNulls<ServerTotals>(row))
  }
}

/** Counts rows that are being written, once for each server. */
export function addToTotals(session: Session, rows: readonly ChainRow[]): void {
  const sums = new Map<string, Sum>()
  for (const row of rows) {
    const server = row.server ?? ''
    let sum = sums.get(server)
    if (sum === undefined) {
      sum = { uses: 0, errors: 0, first: row.startedAt, last: 0, energy: 0, duration: 0, failed: undefined }
      sums.set(server, sum)
    }
    sum.uses += 1
    sum.first = Math.min(sum.first, row.startedAt)
    sum.last = Math.max(sum.last, row.startedAt)
    sum.energy += row.energy ?? 0
    sum.duration += row.duration
    if (row.outcome === 'ok') continue
    sum.errors += 1
    if (sum.failed === undefined || row.startedAt >= sum.failed.startedAt) sum.failed = row
  }
  for (const [server, sum] of sums) {
    const { failed } = sum
    session.run(
      ADD,
      server,
      sum.first,
      sum.uses,
      sum.errors,
      sum.last,
      failed === undefined ? null : (failed.error ?? failed.code ?? failed.outcome),
      failed?.startedAt ?? null,
      sum.energy,
      sum.duration,
    )
  }
}

// --- internal ---

interface Sum {
  uses: number
  errors: number
  first: number
  last: number
  energy: number
  duration: number
  failed: ChainRow | undefined
}

// Rows of a process that died come late, so the newest error is the one that happened last.
const ADD =
  'INSERT INTO servers (server, added_at, use_count, error_count, last_used, last_error, last_error_at, energy, ' +
  'duration) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (server) DO UPDATE SET ' +
  'use_count = servers.use_count + excluded.use_count, error_count = servers.error_count + excluded.error_count, ' +
  'last_used = MAX(COALESCE(servers.last_used, 0), excluded.last_used), ' +
  'last_error = CASE WHEN excluded.last_error_at >= COALESCE(servers.last_error_at, 0) ' +
  'THEN excluded.last_error ELSE servers.last_error END, ' +
  'last_error_at = MAX(COALESCE(servers.last_error_at, excluded.last_error_at), ' +
  'COALESCE(excluded.last_error_at, servers.last_error_at)), ' +
  'energy = servers.energy + excluded.energy, duration = servers.duration + excluded.duration'
