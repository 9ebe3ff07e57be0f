// Where a request goes: to the server that is one for all, or to the instance of whoever makes it.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Asker } from '../connect/asker.ts'
import type { Connection } from '../connect/connection.ts'
import type { Held, Holder } from '../connect/instance-pool.ts'
import { inTime } from '../connect/pause.ts'
import { type Actor, agentOf } from '../policy/access.ts'

/** Who makes a request. */
export interface Caller {
  readonly actor: Actor
  /** Of the client, where it has one. */
  readonly session?: string | undefined
}

interface Waiting {
  readonly method: string
  readonly signal?: Stop | undefined
  /** The client, where it has a session and can be asked. */
  readonly client?: Asker | undefined
  /** Milliseconds; default: as long as a call may take without progress. */
  readonly timeout?: number | undefined
}

export function holderOf({ actor, session }: Caller): Holder {
  return { agent: agentOf(actor), session }
}

/** The key of the instance that somebody's requests go to; undefined where one is for all. */
export function instanceKey({ instances }: Connection, caller: Caller): string | undefined {
  return instances?.keyOf(holderOf(caller))
}

/** The one that somebody's requests go to, if it is there. */
export function instanceOf(connection: Connection | undefined, caller: Caller): Connection | undefined {
  const { instances } = connection ?? {}
  return instances ? instances.find(instances.keyOf(holderOf(caller))) : connection
}

/** The instance for a request of somebody, to be released after it; undefined where it goes to the one for all. */
export function ownInstance(
  connection: Connection,
  caller: Caller,
  { method, signal, timeout, client }: Waiting,
): Promise<Held> | undefined {
  const { instances, plan } = connection
  if (instances === undefined || FOR_ALL.has(method)) return undefined
  const holder = holderOf(caller)
  const key = instances.keyOf(holder)
  if (key === undefined) return undefined
  const limit = timeout ?? Math.max(plan.timeouts.call, plan.firstDeadline)
  const late = () =>
    new Fault('CALL_TIMEOUT', `all ${plan.limits.instances} instances of ${plan.name} stayed in use`, {
      hint: `try again, or raise limits.instances of ${plan.name}`,
      server: plan.name,
    })
  return inTime(limit, signal, (stop) => instances.hold(key, holder, stop, client), late)
}

/** Does something with the server as it is for somebody. */
export function withInstance<T>(
  connection: Connection,
  caller: Caller,
  waiting: Waiting,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const holding = ownInstance(connection, caller, waiting)
  if (holding === undefined) return work(connection)
  return holding.then(async (own) => {
    try {
      return await work(own.connection)
    } finally {
      own.release()
    }
  })
}

// --- internal ---

/** What is about the server itself, and not about what it keeps for somebody. */
const FOR_ALL: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
])
