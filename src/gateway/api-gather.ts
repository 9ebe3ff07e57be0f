// The servers that a list is about: the one that was named, or all of an agent's. What keeps one from being asked is told
// with it. Used by `/api/*`, and by commands where no gateway runs.

import { Fault } from '../base/fault.ts'
import { reach } from '../call/admit.ts'
import type { Surface } from '../call/context.ts'
import type { Connection } from '../connect/connection.ts'
import { startFault } from '../connect/start-fault.ts'
import type { Hub } from '../hub.ts'
import { apiFault, faultFrom } from './api-fault.ts'
import type { CheckedServer, ListedServer } from './api-types.ts'

export interface Waiting {
  readonly signal?: AbortSignal | undefined
  /** Told whenever fewer are waited for. */
  readonly onWait?: ((servers: readonly string[]) => void) | undefined
}

export interface Wanted extends Waiting {
  readonly agent?: string | undefined
  readonly server?: string | undefined
  /** Whether the named one, or those that start by themselves, are waited for until they are up or have failed. */
  readonly wait: boolean
  readonly surface: Surface
}

/** Throws what keeps a named one from being up, when it is waited for. */
export async function gather(
  hub: Hub,
  { agent, server, wait, surface, ...waiting }: Wanted,
): Promise<ListedServer[]> {
  const { manager } = hub.context
  if (server !== undefined) {
    const connection = reach(hub.context, hub.actor(agent), server)
    if (wait) await inTurn([connection], waiting, () => connection.ready(waiting.signal))
    return [shown(connection)]
  }
  const own = hub
    .door(agent, surface)
    .servers()
    .map((name) => manager.get(name))
  if (!wait) return own.map(shown)
  const isAwaited = (connection: Connection) => {
    const { state } = shown(connection)
    return state === 'starting' || (state === 'idle' && connection.plan.eager)
  }
  const looked = new Map<Connection, ListedServer>()
  await inTurn(own.filter(isAwaited), waiting, async (connection) => {
    const fault = await startFault(connection, waiting.signal)
    // Looked at now: a server that failed is tried again in the background.
    looked.set(connection, fault === undefined ? shown(connection) : failed(connection, fault))
  })
  return own.map((connection) => looked.get(connection) ?? shown(connection))
}

/**
 * Whether servers answer: those that are named, each started if it is not up, or all. Of all, those that start only when
 * they are needed are left alone unless `idle` is set.
 */
export async function checkServers(
  hub: Hub,
  { names, idle, ...waiting }: Waiting & { readonly names: readonly string[]; readonly idle: boolean },
): Promise<CheckedServer[]> {
  const { manager } = hub.context
  const wanted = names.length > 0 ? names.map((name) => manager.get(name)) : manager.connections
  const checked = new Map<Connection, CheckedServer>()
  await inTurn(wanted, waiting, async (connection) => {
    checked.set(connection, await check(connection, names.length > 0, idle, waiting.signal))
  })
  return wanted.flatMap((connection) => checked.get(connection) ?? [])
}

// --- internal ---

/** All at once; one that hangs holds up nobody else. */
async function inTurn(
  connections: readonly Connection[],
  { signal, onWait }: Waiting,
  work: (connection: Connection) => Promise<unknown>,
): Promise<void> {
  const waiting = new Set(connections.map(({ name }) => name))
  onWait?.([...waiting])
  await Promise.all(
    connections.map(async (connection) => {
      await work(connection)
      waiting.delete(connection.name)
      onWait?.([...waiting])
    }),
  )
  if (signal?.aborted) throw new Fault('CALL_CANCELLED', 'interrupted')
}

async function check(
  connection: Connection,
  named: boolean,
  idle: boolean,
  signal: AbortSignal | undefined,
): Promise<CheckedServer> {
  const { name, plan } = connection
  const before = shown(connection)
  const result = (more: Partial<CheckedServer>): CheckedServer => {
    return { name, tried: true, status: connection.status(), ...more }
  }
  if (before.state === 'off') return result({ tried: false, fault: before.fault })
  if (before.state === 'up') return result({})
  if (before.state === 'failed' && !named) return result({ fault: before.fault })
  if (before.state === 'idle' && !named && !idle && !plan.eager) return result({ tried: false })
  const began = performance.now()
  const fault = await startFault(connection, signal)
  return result({
    ...(fault === undefined ? {} : { fault: apiFault(fault) }),
    ms: Math.round(performance.now() - began),
  })
}

/** How a server is now. */
function shown(connection: Connection): ListedServer {
  const { name, plan, off, known, agreement } = connection
  if (off) return { name, state: 'off', why: 'disabled', fault: apiFault(off) }
  if (plan.unusable) {
    const why = plan.unusable.code === 'NOT_TRUSTED' ? 'untrusted' : 'incomplete'
    return { name, state: 'off', why, fault: apiFault(plan.unusable) }
  }
  const { status, state, error, errors, hint, fault } = connection.status()
  if (status === 'failed' || status === 'needs-auth')
    return failed(connection, faultFrom({ code: fault, message: error, hint, server: name }, status))
  if (status !== 'connected') return { name, state: state === 'starting' ? 'starting' : 'idle', known }
  return {
    name,
    state: 'up',
    tools: connection.tools.length,
    filtered: plan.filters,
    offers: Object.keys(agreement?.capabilities ?? {}),
    errors: errors.map(({ message }) => message),
  }
}

function failed({ name }: Connection, fault: Fault): ListedServer {
  return { name, state: 'failed', fault: apiFault(fault) }
}
