// What energy was spent on, from the record of calls.

import type { EnergyHour, ToolCost, ToolDuration } from './policy.ts'
import type { Connection } from './sqlite-connection.ts'

export async function hoursOf(records: Connection, agent: string, since: number): Promise<EnergyHour[]> {
  const rows = await records.all<EnergyHour>(
    `SELECT i.started_at / ${HOUR} * ${HOUR} AS hour, COUNT(*) AS calls, ROUND(SUM(COALESCE(i.energy, 0)), 6) AS energy
    ${OF_AGENT} GROUP BY 1 ORDER BY 1`,
    since,
    ...whose(agent),
  )
  return rows.map((row) => ({ ...row }))
}

export async function toolCostsOf(records: Connection, agent: string, since: number): Promise<ToolCost[]> {
  const rows = await records.all<ToolCost>(
    `SELECT n.server, n.tool, COUNT(*) AS calls, ROUND(SUM(i.energy), 6) AS energy
    ${OF_AGENT} AND i.energy > 0 GROUP BY 1, 2 ORDER BY 4 DESC, 1, 2`,
    since,
    ...whose(agent),
  )
  return rows.map((row) => ({ ...row }))
}

export async function durationsOf(records: Connection): Promise<ToolDuration[]> {
  // Rows have no index by tool, which every call would pay for; so only the newest are looked through.
  const rows = await records.all<ToolDuration>(
    `SELECT n.server, n.tool, i.duration, i.energy FROM invocations i JOIN names n ON n.id = i.name
    WHERE i.seq > (SELECT COALESCE(MAX(seq), 0) FROM invocations) - ${ROWS_READ}
      AND i.energy IS NOT NULL AND i.outcome <> 'unknown' ORDER BY i.seq`,
  )
  return rows.map((row) => ({ ...row }))
}

// --- internal ---

const HOUR = 60 * 60 * 1000
const ROWS_READ = 5000

const OF_AGENT =
  'FROM invocations i JOIN names n ON n.id = i.name WHERE i.started_at >= ? ' +
  'AND (n.agent = ? OR SUBSTR(n.agent, 1, ?) = ?)'

/** An agent and its workers. */
function whose(agent: string): [string, number, string] {
  const workers = `${agent}/`
  return [agent, workers.length, workers]
}
