// The servers that a listing is about: the one that was named, or all that start by themselves. What is left out is said.

import { Fault } from '../base/fault.ts'
import { shellWord } from '../base/shell-word.ts'
import type { Connection } from '../connect/connection.ts'
import type { Hub } from '../hub.ts'

import { failureLine } from './private-hub.ts'
import type { Loaded, Session } from './session.ts'
import { isStartable, namedServer, type Settled, settle } from './settle.ts'
import type { StatusLine } from './status-line.ts'

interface Wanted {
  readonly server: string | undefined
  readonly agent: string | undefined
  readonly line: StatusLine
}

export interface Gathered {
  /** Started, and up. */
  readonly up: readonly Connection[]
  /** Not started, because they start only when they are needed. */
  readonly idle: readonly Connection[]
  /** Why there is nothing at all. */
  readonly reason: string | undefined
}

/** Throws what keeps the named one, or all of them, from being up. */
export async function gather(
  session: Session,
  loaded: Loaded,
  hub: Hub,
  { server, agent, line }: Wanted,
): Promise<Gathered> {
  if (server !== undefined) {
    const connection = namedServer(hub, loaded, agent, server)
    line.show(`starting ${server}`)
    await connection.ready(session.signal)
    line.end()
    return { up: [connection], idle: [], reason: undefined }
  }
  const own = ownServers(hub, agent)
  for (const { plan } of own)
    if (plan.unusable?.code === 'NOT_TRUSTED')
      session.out.warn(failureLine(plan.name, plan.unusable.message, plan.unusable.hint))
  const able = own.filter(isStartable)
  const settled = await settle(
    able.filter(({ plan }) => plan.eager),
    session.signal,
    line,
  )
  const up = settled.filter(({ fault }) => fault === undefined).map(({ connection }) => connection)
  if (settled.length > 0 && up.length === 0) throw allFailed(settled)
  const idle = able.filter(({ plan }) => !plan.eager)
  const reason = up.length + idle.length > 0 ? undefined : nothing(loaded, own, agent)
  return { up, idle, reason }
}

/** `not started: a, b`, for those that were left out because nobody needs them yet. */
export function notStarted(idle: readonly Connection[], command: string): string {
  const names = idle.map(({ name }) => shellWord(name))
  return `not started, because nothing needs ${names.length === 1 ? 'it' : 'them'} yet: ${names.join(', ')} (start one: busbar ${command} ${names[0]})`
}

// --- internal ---

function ownServers(hub: Hub, agent: string | undefined): Connection[] {
  return hub
    .as(agent)
    .servers()
    .map((name) => hub.context.manager.get(name))
}

function allFailed(settled: readonly Settled[]): Fault {
  const signIn = settled.every(({ fault }) => fault?.code === 'AUTH_REQUIRED')
  const [only] = settled
  const message =
    settled.length === 1 && only
      ? `${only.connection.name} is not up`
      : `none of ${settled.length} servers is up`
  return new Fault(signIn ? 'AUTH_REQUIRED' : 'SERVER_UNREACHABLE', message, { hint: 'run: busbar doctor' })
}

function nothing(loaded: Loaded, own: readonly Connection[], agent: string | undefined): string {
  if (loaded.snapshot.servers.size === 0)
    return 'No servers yet. Run: busbar import   or: busbar add NAME -- COMMAND'
  if (own.length === 0) return `${agent ?? 'the owner'} may use no server. See: busbar agents list`
  if (!loaded.active.config.enabled) return 'Integrations are off, so no server starts.'
  return `No server can start: ${own.map(({ plan }) => `${plan.name} ${why(plan)}`).join(', ')}. See: busbar list`
}

function why({ disabled, unusable }: Connection['plan']): string {
  if (disabled !== undefined) return 'is disabled'
  return unusable?.code === 'NOT_TRUSTED' ? 'is not trusted' : 'lacks something'
}
