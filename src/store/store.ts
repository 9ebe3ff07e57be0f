// What Busbar keeps in a database, whichever it is. Everything is a promise, also where SQLite would answer at once,
// so that a database across a network can stand in its place.

import type { Clock } from '../base/clock.ts'
import type { Invocations, Servers } from './invocation.ts'
import type { Agents, Approvals, Energy, Pins, Rules } from './policy.ts'
import type { Conversations, Jobs } from './work.ts'

/**
 * Methods reject with a `Fault`: STORE_UNAVAILABLE when it is locked, full or cannot be written, STORE_DAMAGED when
 * it cannot be read. All but `invocations` and `servers` are on the disk when their promise resolves; those two may
 * lose the last moments in a power cut, though not when the process is killed.
 */
export interface Store {
  readonly invocations: Invocations
  readonly servers: Servers
  readonly agents: Agents
  readonly rules: Rules
  readonly approvals: Approvals
  readonly pins: Pins
  readonly energy: Energy
  readonly jobs: Jobs
  readonly conversations: Conversations
  close(): Promise<void>
}

export interface StoreOptions {
  readonly file: string
  /** Seals the record of calls; to be kept where whoever may write the file cannot read it. */
  readonly sealKey: string | Uint8Array
  /** By which agents recover their energy; the machine's own when not given. */
  readonly clock?: Clock | undefined
  /** Told what a person should know and nothing else would say. Must not throw. */
  onTrouble(message: string): void
}
