// `busbar integrations status`: every server with how it was used.

import type { ServerTotals } from '../store/invocation.ts'
import { serverRows } from './describe.ts'
import { askGateway, gatewayRuns } from './gateway-client.ts'
import { recorded } from './recorded.ts'
import { failOnErrors, type Session } from './session.ts'

export async function integrationsStatus(session: Session): Promise<void> {
  const { out } = session
  const loaded = await session.load({ warnings: false })
  const running = await runningStatus(session, loaded.active.places)
  await recorded(session, loaded.active, async (asked) => {
    const { servers } = await asked.totals()
    const totals = new Map(servers.map((row) => [row.server, row]))
    const rows = serverRows(loaded).map((row) => {
      const used = totals.get(row.name)
      return {
        server_name: row.name,
        status: running.get(row.name) ?? (row.status === 'pending' ? 'configured' : row.status),
        last_used: moment(used?.lastUsed),
        use_count: used?.useCount ?? 0,
        error_count: used?.errorCount ?? 0,
        last_error: used?.lastError ?? null,
        added_at: moment(used?.addedAt),
      }
    })
    out.answer(
      { enabled: loaded.active.config.enabled, integrations: rows, removed: goneOf(servers, rows) },
      () =>
        rows.length === 0
          ? 'No servers yet. Run: busbar integrations add NAME'
          : out.table(
              ['SERVER', 'STATUS', 'USED', 'LAST USED', 'ERRORS', 'LAST ERROR', 'ADDED'],
              rows.map((row) => [
                row.server_name,
                row.status,
                String(row.use_count),
                row.last_used ?? 'never',
                String(row.error_count),
                (row.last_error ?? '').slice(0, 60),
                row.added_at ?? '-',
              ]),
            ),
    )
  })
  failOnErrors(loaded.snapshot)
}

// --- internal ---

/** Servers that were used and are not configured any more. */
function goneOf(servers: readonly ServerTotals[], rows: readonly { server_name: string }[]): string[] {
  const known = new Set(rows.map((row) => row.server_name))
  return servers
    .filter(({ server, useCount }) => useCount > 0 && !known.has(server))
    .map(({ server }) => server)
}

async function runningStatus(
  session: Session,
  places: Parameters<typeof gatewayRuns>[0],
): Promise<ReadonlyMap<string, string>> {
  const { signal } = session
  if (!(await gatewayRuns(places, signal))) return new Map()
  const { servers } = await askGateway(places, { method: 'GET', path: '/api/servers', signal })
  const rows = Array.isArray(servers) ? (servers as { name: string; status: string }[]) : []
  return new Map(rows.map(({ name, status }) => [name, status]))
}

function moment(epoch: number | undefined): string | null {
  return epoch === undefined ? null : new Date(epoch).toISOString()
}
