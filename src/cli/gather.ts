// What a list says of the servers it is about, besides what they have: which failed, which were not started, and why there
// is nothing at all.

import { Fault } from '../base/fault.ts'
import { shellWord } from '../base/shell-word.ts'
import type { ListedServer } from '../gateway/api-types.ts'
import { failureLine } from './private-hub.ts'
import type { Loaded, Session } from './session.ts'

export type UpServer = Extract<ListedServer, { state: 'up' }>
type IdleServer = Extract<ListedServer, { state: 'idle' | 'starting' }>

export interface Told {
  readonly up: readonly UpServer[]
  /** Not started, because they start only when they are needed. */
  readonly idle: readonly IdleServer[]
  /** Why there is nothing at all. */
  readonly reason: string | undefined
}

/** Warns of what does not work; throws when all that was tried failed. */
export function tellServers(
  { out }: Session,
  loaded: Loaded,
  agent: string | undefined,
  servers: readonly ListedServer[],
): Told {
  for (const server of servers)
    if (server.state === 'failed' || (server.state === 'off' && server.why === 'untrusted'))
      out.warn(failureLine(server.name, server.fault.message, server.fault.hint))
  const up = servers.filter((server) => server.state === 'up')
  const failed = servers.filter((server) => server.state === 'failed')
  if (failed.length > 0 && up.length === 0) throw allFailed(failed)
  const idle = servers.filter(
    (server): server is IdleServer => server.state === 'idle' || server.state === 'starting',
  )
  const reason = up.length + idle.length > 0 ? undefined : nothing(loaded, servers, agent)
  return { up, idle, reason }
}

/** `not started: a, b`, for those that were left out because nobody needs them yet. */
export function notStarted(idle: readonly IdleServer[], command: string): string {
  const names = idle.map(({ name }) => shellWord(name))
  return `not started, because nothing needs ${names.length === 1 ? 'it' : 'them'} yet: ${names.join(', ')} (start one: busbar ${command} ${names[0]})`
}

// --- internal ---

function allFailed(failed: readonly Extract<ListedServer, { state: 'failed' }>[]): Fault {
  const signIn = failed.every(({ fault }) => fault.code === 'AUTH_REQUIRED')
  const [only] = failed
  const message =
    failed.length === 1 && only ? `${only.name} is not up` : `none of ${failed.length} servers is up`
  return new Fault(signIn ? 'AUTH_REQUIRED' : 'SERVER_UNREACHABLE', message, { hint: 'run: busbar doctor' })
}

function nothing(loaded: Loaded, servers: readonly ListedServer[], agent: string | undefined): string {
  if (loaded.snapshot.servers.size === 0)
    return 'No servers yet. Run: busbar import   or: busbar add NAME -- COMMAND'
  if (servers.length === 0) return `${agent ?? 'the owner'} may use no server. See: busbar agents list`
  if (!loaded.active.config.enabled) return 'Integrations are off, so no server starts.'
  return `No server can start: ${servers.map((server) => `${server.name} ${why(server)}`).join(', ')}. See: busbar list`
}

function why(server: ListedServer): string {
  if (server.state !== 'off' || server.why === 'incomplete') return 'lacks something'
  return server.why === 'disabled' ? 'is disabled' : 'is not trusted'
}
