// The store in one SQLite file, through two connections: calls, and what agents do in conversations, are many and may be
// lost in a power cut; everything else is acknowledged and may not.

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { Chain } from './chain.ts'
import { SqliteAgents } from './sqlite-agents.ts'
import { SqliteApprovals } from './sqlite-approvals.ts'
import type { Connection } from './sqlite-connection.ts'
import { SqliteConversations } from './sqlite-conversations.ts'
import { SqliteEnergy } from './sqlite-energy.ts'
import { SqliteInvocations } from './sqlite-invocations.ts'
import { SqliteJobs } from './sqlite-jobs.ts'
import { SqlitePins } from './sqlite-pins.ts'
import { SqliteRules } from './sqlite-rules.ts'
import { SqliteServers } from './sqlite-servers.ts'
import type { Store } from './store.ts'

interface SqliteParts {
  readonly file: string
  /** synchronous = NORMAL */
  readonly records: Connection
  /** synchronous = FULL */
  readonly ledger: Connection
  readonly chain: Chain
  readonly clock: Clock
  readonly onTrouble: (message: string) => void
}

export class SqliteStore implements Store {
  readonly invocations: SqliteInvocations
  readonly servers: SqliteServers
  readonly agents: SqliteAgents
  readonly rules: SqliteRules
  readonly approvals: SqliteApprovals
  readonly pins: SqlitePins
  readonly energy: SqliteEnergy
  readonly jobs: SqliteJobs
  readonly conversations: SqliteConversations
  readonly #connections: readonly Connection[]
  #closed = false

  constructor({ file, records, ledger, chain, clock, onTrouble }: SqliteParts) {
    this.invocations = new SqliteInvocations(records, chain, clock, () =>
      onTrouble(
        `${file}: the record of calls was changed by somebody, or its key is another; new calls are recorded behind the break`,
      ),
    )
    this.servers = new SqliteServers(records)
    this.agents = new SqliteAgents(ledger)
    this.rules = new SqliteRules(ledger)
    this.approvals = new SqliteApprovals(ledger)
    this.pins = new SqlitePins(ledger)
    this.energy = new SqliteEnergy(ledger, clock)
    this.jobs = new SqliteJobs(ledger)
    this.conversations = new SqliteConversations(ledger, records)
    this.#connections = [records, ledger]
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    try {
      // The package's driver lets go of a file only when its statements are collected as garbage, so the log is taken
      // over here: whoever copies the file then has everything.
      await this.#connections[0]?.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (error) {
      // The log stays, and the next to open the file reads it.
      if (!(error instanceof Fault)) throw error
    } finally {
      for (const connection of this.#connections) connection.close()
    }
  }
}
