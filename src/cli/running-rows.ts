// How servers are in the gateway that runs, for commands that otherwise only read files.

import { existsSync } from 'node:fs'
import { Fault } from '../base/fault.ts'
import { gatewaySocket } from '../base/places.ts'
import { maskText } from '../base/redact.ts'
import type { ServerStatus } from '../connect/status.ts'
import type { ServerRow } from './describe.ts'
import type { Loaded, Session } from './session.ts'

/** The rows as the running gateway has them, where it follows the same configuration; else as they are. */
export async function asTheyRun(
  session: Session,
  { active }: Loaded,
  rows: readonly ServerRow[],
): Promise<readonly ServerRow[]> {
  const { places } = active
  if (!existsSync(gatewaySocket(places))) return rows
  const { askGateway, gatewayFollows } = await import('./gateway-client.ts')
  const { signal } = session
  try {
    if (!(await gatewayFollows(active, signal))) return rows
    const asking = { method: 'GET', path: '/api/servers', signal } as const
    const { servers } = await askGateway<{ servers: ServerStatus[] }>(places, asking)
    const found = new Map(servers.map((it) => [it.name, it]))
    return rows.map((row) => {
      const it = found.get(row.name)
      return it && row.trusted && row.error === undefined ? { ...row, ...shown(it) } : row
    })
  } catch (error) {
    // One that hangs, or has just ended: what the files say is still worth showing.
    if (!(error instanceof Fault) || signal.aborted) throw error
    session.out.warn(`the gateway does not say how its servers are: ${error.message}`)
    return rows
  }
}

// --- internal ---

function shown({ status, error, tools }: ServerStatus): Partial<ServerRow> {
  if (status === 'connected') return { status, tools }
  const failed = status === 'failed' || status === 'needs-auth'
  return { status, ...(failed && error !== undefined ? { reason: maskText(error) } : {}) }
}
