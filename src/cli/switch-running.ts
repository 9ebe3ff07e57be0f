// A server of the running gateway may be switched by itself, through the API, for as long as the gateway runs. Whoever
// switches it on or off in a file means it there, too.

import { existsSync } from 'node:fs'
import { Fault } from '../base/fault.ts'
import { gatewaySocket } from '../base/places.ts'
import { effective } from '../config/effective.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { reportServer } from '../config/status.ts'
import type { ServerStatus } from '../connect/status.ts'
import type { Session } from './session.ts'

/**
 * Has the running gateway do what the files say already, where it follows them; the status of the server then. Undefined where
 * there is nothing to switch.
 */
export async function switchRunning(
  session: Session,
  snapshot: Snapshot,
  name: string,
  on: boolean,
): Promise<string | undefined> {
  const { places } = snapshot
  const { signal } = session
  const entry = snapshot.servers.get(name)
  if (entry === undefined || !existsSync(gatewaySocket(places))) return undefined
  const active = effective(snapshot, session.subjects(snapshot))
  // Everything may be switched off at once, which this is no word against.
  if (on && reportServer(entry, snapshot, active).status === 'disabled') return undefined
  try {
    return await switched(active, name, on, signal)
  } catch (error) {
    // The files say it either way.
    if (!(error instanceof Fault) || signal.aborted) throw error
    session.out.warn(`in the running gateway ${name} is not switched: ${error.message}`)
    return undefined
  }
}

// --- internal ---

async function switched(
  active: Snapshot,
  name: string,
  on: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { askGateway, gatewayFollows } = await import('./gateway-client.ts')
  if (!(await gatewayFollows(active, signal))) return undefined
  const { places } = active
  const asking = { method: 'GET', path: '/api/servers', signal } as const
  const { servers } = await askGateway<{ servers: ServerStatus[] }>(places, asking)
  const state = servers.find((it) => it.name === name)?.state
  const isOff = state === 'disabled' || (on && state === 'hidden')
  if (state === undefined || isOff !== on) return undefined
  const path = `/api/servers/${encodeURIComponent(name)}/${on ? 'enable' : 'disable'}`
  const { server } = await askGateway<{ server: ServerStatus }>(places, { method: 'POST', path, signal })
  return server.status
}
