// Starting servers and waiting until it is known of each what became of it.

import { Fault } from '../base/fault.ts'
import { reach } from '../call/admit.ts'
import { errorsOf } from '../config/load.ts'
import { configFault } from '../config/problem.ts'
import type { Connection } from '../connect/connection.ts'
import { startFault } from '../connect/start-fault.ts'
import type { ServerStatus } from '../connect/status.ts'
import type { Hub } from '../hub.ts'
import { interrupted } from './private-hub.ts'
import type { Loaded } from './session.ts'
import type { StatusLine } from './status-line.ts'

export interface Settled {
  readonly connection: Connection
  readonly status: ServerStatus
  /** Why it is not up. */
  readonly fault: Fault | undefined
  readonly ms: number
}

/** Starts them together; one that hangs holds up nobody else's start. In the order they were given. */
export async function settle(
  connections: readonly Connection[],
  signal: AbortSignal,
  line: StatusLine,
): Promise<Settled[]> {
  const waiting = new Set(connections.map(({ name }) => name))
  const tell = () => {
    if (waiting.size > 0) line.show(`starting ${[...waiting].join(', ')}`)
    else line.end()
  }
  tell()
  const settled = await Promise.all(
    connections.map(async (connection): Promise<Settled> => {
      const began = performance.now()
      const fault = await startFault(connection, signal)
      waiting.delete(connection.name)
      tell()
      // Looked at now: a server that failed is tried again in the background.
      return { connection, status: connection.status(), fault, ms: Math.round(performance.now() - began) }
    }),
  )
  if (signal.aborted) throw interrupted()
  return settled
}

/** The server a person named, as the agent (or the owner) may use it. */
export function namedServer(
  hub: Hub,
  { snapshot }: Loaded,
  agent: string | undefined,
  name: string,
): Connection {
  try {
    return reach(hub.context, hub.actor(agent), name)
  } catch (error) {
    const errors = errorsOf(snapshot)
    // It may stand in the file that could not be read.
    if (error instanceof Fault && error.code === 'SERVER_UNKNOWN' && errors.length > 0)
      throw configFault(errors)
    throw error
  }
}

/** Whether it can be started at all: switched on, trusted, with all its variables. */
export function isStartable({ plan }: Connection): boolean {
  return plan.disabled === undefined && plan.unusable === undefined
}
