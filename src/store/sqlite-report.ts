// Questions about many calls at once.

import type {
  ErrorPattern,
  InvocationFilter,
  PatternFilter,
  RecordedInvocation,
  Usage,
  UsageFilter,
} from './invocation.ts'
import type { Connection } from './sqlite-connection.ts'
import { fromRow, SELECT_ROWS, type StoredRow } from './sqlite-row.ts'
import { where } from './sqlite-where.ts'

export async function listRows(records: Connection, filter: InvocationFilter): Promise<RecordedInvocation[]> {
  const { clause, values } = where([
    ['i.started_at >= ?', filter.since],
    ['n.agent = ?', filter.agent],
    ['n.server = ?', filter.server],
    ['n.tool = ?', filter.tool],
    ['i.outcome = ?', filter.outcome],
    ['i.conversation = ?', filter.conversation],
    ['i.seq < ?', filter.before],
  ])
  const sql = `${SELECT_ROWS} ${clause} ORDER BY i.seq DESC LIMIT ?`
  const rows = await records.all<StoredRow>(sql, ...values, filter.limit ?? DEFAULT_LIMIT)
  return rows.map(fromRow)
}

/** Percentiles by nearest rank: the duration that so many of a hundred calls did not exceed. */
export async function usageBy(records: Connection, { since, by }: UsageFilter): Promise<Usage[]> {
  const { clause, values } = where([['i.started_at >= ?', since]])
  const rows = await records.all<Usage>(
    `WITH ranked AS (
      SELECT ${KEYS[by]} AS key, i.duration, i.outcome, i.energy, i.started_at,
        ROW_NUMBER() OVER (PARTITION BY ${KEYS[by]} ORDER BY i.duration) AS place,
        COUNT(*) OVER (PARTITION BY ${KEYS[by]}) AS calls
      FROM invocations i JOIN names n ON n.id = i.name ${clause}
    )
    SELECT key, COUNT(*) AS calls, SUM(CASE WHEN outcome = 'ok' THEN 0 ELSE 1 END) AS errors,
      ROUND(SUM(COALESCE(energy, 0)), 6) AS energy, MAX(started_at) AS lastUsed,
      MAX(CASE WHEN place = (calls * 50 + 99) / 100 THEN duration END) AS p50,
      MAX(CASE WHEN place = (calls * 95 + 99) / 100 THEN duration END) AS p95
    FROM ranked GROUP BY key ORDER BY calls DESC, key`,
    ...values,
  )
  return rows.map((row) => ({ ...row }))
}

export async function errorPatterns(records: Connection, filter: PatternFilter): Promise<ErrorPattern[]> {
  const { clause, values } = where([
    ['i.pattern IS NOT NULL AND i.started_at >= ?', filter.since ?? 0],
    ['n.server = ?', filter.server],
  ])
  const rows = await records.all<ErrorPattern>(
    `SELECT g.server, g.tool, g.pattern, g.count, g.lastSeen, COALESCE(latest.error, '') AS example
    FROM (
      SELECT n.server, n.tool, i.pattern, COUNT(*) AS count, MAX(i.started_at) AS lastSeen, MAX(i.seq) AS latest
      FROM invocations i JOIN names n ON n.id = i.name ${clause} GROUP BY n.server, n.tool, i.pattern
    ) g JOIN invocations latest ON latest.seq = g.latest
    ORDER BY g.count DESC, g.lastSeen DESC, g.server, g.tool, g.pattern`,
    ...values,
  )
  return rows.map((row) => ({ ...row }))
}

// --- internal ---

const DEFAULT_LIMIT = 100

const KEYS = { agent: 'n.agent', server: 'n.server', tool: "n.server || '/' || n.tool" } as const
