// Agents' energy in SQLite: how much is left, and an entry for every change.

import type { Energy, EnergyAccount, EnergyChange, EnergyEntry, EnergyNote } from './policy.ts'
import type { Connection, Session } from './sqlite-connection.ts'
import { type Nullable, withoutNulls } from './sqlite-nulls.ts'

export class SqliteEnergy implements Energy {
  readonly #ledger: Connection

  constructor(ledger: Connection) {
    this.#ledger = ledger
  }

  async account(agent: string): Promise<EnergyAccount | undefined> {
    const row = await this.#ledger.get<EnergyAccount>(`${SELECT} WHERE agent = ?`, agent)
    return row && { ...row }
  }

  async accounts(): Promise<EnergyAccount[]> {
    const rows = await this.#ledger.all<EnergyAccount>(`${SELECT} ORDER BY agent`)
    return rows.map((row) => ({ ...row }))
  }

  change(
    agent: string,
    next: (account: EnergyAccount | undefined) => EnergyChange | undefined,
  ): Promise<EnergyAccount | undefined> {
    return this.#ledger.write((session) => {
      const row = session.get<EnergyAccount>(`${SELECT} WHERE agent = ?`, agent)
      const before = row && { ...row }
      const change = next(before)
      if (change === undefined) return before
      const { level, at, lease } = change.account
      session.run(
        'INSERT INTO energy (agent, level, at, lease) VALUES (?, ?, ?, ?) ON CONFLICT (agent) ' +
          'DO UPDATE SET level = excluded.level, at = excluded.at, lease = excluded.lease',
        agent,
        level,
        at,
        lease,
      )
      if (change.entry !== undefined) addEntry(session, { agent, ...change.entry })
      return { agent, level, at, lease }
    })
  }

  spend(agent: string, amount: number, { reason, at, call }: EnergyNote): Promise<boolean> {
    // Nobody gains by spending, and NaN compares with nothing.
    if (!(amount >= 0)) return Promise.resolve(false)
    return this.#ledger.write((session) => {
      const changed = session.run(
        'UPDATE energy SET level = level - ? WHERE agent = ? AND level >= ?',
        amount,
        agent,
        amount,
      )
      if (changed > 0) addEntry(session, { agent, delta: -amount, reason, at, call })
      return changed > 0
    })
  }

  async entries(agent: string, since = 0): Promise<EnergyEntry[]> {
    const rows = await this.#ledger.all<Nullable<EnergyEntry>>(
      'SELECT agent, delta, reason, at, call FROM energy_entries WHERE agent = ? AND at >= ? ORDER BY seq',
      agent,
      since,
    )
    return rows.map((row) => withoutNulls<EnergyEntry>(row))
  }
}

// --- internal ---

const SELECT = 'SELECT agent, level, at, lease FROM energy'

function addEntry(session: Session, { agent, delta, reason, at, call }: EnergyEntry): void {
  session.run(
    'INSERT INTO energy_entries (agent, delta, reason, at, call) VALUES (?, ?, ?, ?, ?)',
    agent,
    delta,
    reason,
    at,
    call ?? null,
  )
}
