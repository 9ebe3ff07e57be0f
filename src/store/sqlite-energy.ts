// The ledger of energy in SQLite: what each agent has left, and what processes may spend of it without asking.

import type { Clock } from '../base/clock.ts'
import { type EnergyBudget, energyOf, millionths, recovered, type StoredLevel } from './energy-level.ts'
import type { Energy, EnergyAccount, EnergyHour, LeaseView, ToolCost, ToolDuration } from './policy.ts'
import type { Connection, Session } from './sqlite-connection.ts'
import { durationsOf, hoursOf, toolCostsOf } from './sqlite-energy-report.ts'

export class SqliteEnergy implements Energy {
  readonly #ledger: Connection
  readonly #clock: Clock

  constructor(ledger: Connection, clock: Clock) {
    this.#ledger = ledger
    this.#clock = clock
  }

  account(agent: string): Promise<EnergyAccount | undefined> {
    return this.#ledger.read((session) => {
      const level = readLevel(session, agent, this.#clock)
      return level && account(agent, level, leasedBy(session, agent))
    })
  }

  accounts(): Promise<EnergyAccount[]> {
    return this.#ledger.read((session) => {
      const rows = session.all<StoredLevel & { agent: string }>(`SELECT agent, ${LEVEL} ORDER BY agent`)
      return rows.map((row) => account(row.agent, recovered(row, this.#clock), leasedBy(session, row.agent)))
    })
  }

  configure(budgets: ReadonlyMap<string, EnergyBudget | undefined>): Promise<void> {
    return this.#ledger.write((session) => {
      for (const [agent, budget] of budgets) {
        if (budget) this.#setBudget(session, agent, budget)
        else close(session, agent)
      }
    })
  }

  refill(agent: string, amount = Number.POSITIVE_INFINITY): Promise<EnergyAccount | undefined> {
    return this.#ledger.write((session) => {
      const now = readLevel(session, agent, this.#clock)
      if (now === undefined) return undefined
      const level = Math.max(now.level, Math.min(now.capacity, now.level + millionths(amount)))
      writeLevel(session, agent, { ...now, level })
      return account(agent, { ...now, level }, leasedBy(session, agent))
    })
  }

  lease(owner: string, agent: string, change: (view: LeaseView) => number): Promise<LeaseView | undefined> {
    return this.#ledger.write((session) => {
      const level = readLevel(session, agent, this.#clock)
      if (level === undefined) return undefined
      const row = session.get<{ amount: number }>(
        'SELECT amount FROM energy_leases WHERE agent = ? AND owner = ?',
        agent,
        owner,
      )
      const own = row?.amount ?? 0
      const leased = leasedBy(session, agent)
      const view = leaseView(agent, level, leased, own)
      const by = change(view)
      const count = by < 0 ? -millionths(-by) : millionths(by)
      if (count === 0) return view
      session.run(
        'INSERT INTO energy_leases (agent, owner, amount) VALUES (?, ?, ?) ' +
          'ON CONFLICT DO UPDATE SET amount = excluded.amount',
        agent,
        owner,
        own + count,
      )
      return leaseView(agent, level, leased - Math.max(0, own) + Math.max(0, own + count), own + count)
    })
  }

  async owners(): Promise<string[]> {
    const rows = await this.#ledger.all<{ owner: string }>(
      'SELECT DISTINCT owner FROM energy_leases ORDER BY owner',
    )
    return rows.map(({ owner }) => owner)
  }

  async release(owners: readonly string[]): Promise<void> {
    if (owners.length === 0) return
    await this.#ledger.write((session) => {
      for (const owner of owners) session.run('DELETE FROM energy_leases WHERE owner = ?', owner)
    })
  }

  hours(agent: string, since: number): Promise<EnergyHour[]> {
    return hoursOf(this.#ledger, agent, since)
  }

  toolCosts(agent: string, since: number): Promise<ToolCost[]> {
    return toolCostsOf(this.#ledger, agent, since)
  }

  durations(): Promise<ToolDuration[]> {
    return durationsOf(this.#ledger)
  }

  // --- internal ---

  #setBudget(session: Session, agent: string, budget: EnergyBudget): void {
    const clock = this.#clock
    const capacity = millionths(budget.capacity)
    const recovery = Math.max(0, budget.recovery)
    const was = session.get<StoredLevel>(`SELECT ${LEVEL} WHERE agent = ?`, agent)
    // Nearly always the same as at the last start; nothing need reach the disk then. After another boot it counts anew:
    // the wall clock is believed once.
    if (was?.capacity === capacity && was.recovery === recovery && was.boot === clock.boot) return
    const level = Math.min(was ? recovered(was, clock).level : capacity, capacity)
    const moment = { wall: clock.wall(), monotonic: clock.monotonic(), boot: clock.boot }
    writeLevel(session, agent, { level, capacity, recovery, ...moment })
  }
}

/** An account as it is now; undefined for an agent that has none. */
export function readLevel(session: Session, agent: string, clock: Clock): StoredLevel | undefined {
  const row = session.get<StoredLevel>(`SELECT ${LEVEL} WHERE agent = ?`, agent)
  return row && recovered(row, clock)
}

export function writeLevel(session: Session, agent: string, level: StoredLevel): void {
  session.run(
    'INSERT INTO energy (agent, level, capacity, recovery, wall, monotonic, boot) VALUES (?, ?, ?, ?, ?, ?, ?) ' +
      'ON CONFLICT (agent) DO UPDATE SET level = excluded.level, capacity = excluded.capacity, ' +
      'recovery = excluded.recovery, wall = excluded.wall, monotonic = excluded.monotonic, boot = excluded.boot',
    agent,
    level.level,
    level.capacity,
    level.recovery,
    level.wall,
    level.monotonic,
    level.boot,
  )
}

// --- internal ---

const LEVEL = 'level, capacity, recovery, wall, monotonic, boot FROM energy'

function close(session: Session, agent: string): void {
  session.run('DELETE FROM energy WHERE agent = ?', agent)
  session.run('DELETE FROM energy_leases WHERE agent = ?', agent)
}

function leasedBy(session: Session, agent: string): number {
  const row = session.get<{ leased: number }>(
    'SELECT COALESCE(SUM(MAX(amount, 0)), 0) AS leased FROM energy_leases WHERE agent = ?',
    agent,
  )
  return row?.leased ?? 0
}

function account(agent: string, level: StoredLevel, leased: number): EnergyAccount {
  return {
    agent,
    level: energyOf(level.level),
    capacity: energyOf(level.capacity),
    recovery: level.recovery,
    leased: energyOf(leased),
  }
}

function leaseView(agent: string, level: StoredLevel, leased: number, own: number): LeaseView {
  const others = leased - Math.max(0, own)
  return {
    account: account(agent, level, leased),
    own: energyOf(own),
    room: energyOf(level.level - others - own),
  }
}
