// Starting a server to see whether it starts.

import { Fault } from '../base/fault.ts'
import type { Connection } from './connection.ts'

/** Why it does not start; undefined when it does. */
export async function startFault(connection: Connection, signal?: AbortSignal): Promise<Fault | undefined> {
  try {
    await connection.ready(signal)
    return undefined
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}
