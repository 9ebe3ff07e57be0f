// Takes what rows cost from the accounts of their agents, in the transaction that writes the rows: what is in the record
// is charged, once, and nothing else is.

import type { Clock } from '../base/clock.ts'
import type { ChainRow } from './chain.ts'
import { accountOf, millionths } from './energy-level.ts'
import type { Session } from './sqlite-connection.ts'
import { readLevel, writeLevel } from './sqlite-energy.ts'

/** `owner` is the process whose rows they are: what they cost was part of its lease. */
export function charge(
  session: Session,
  rows: readonly ChainRow[],
  owner: string | undefined,
  clock: Clock,
): void {
  for (const [agent, cost] of costs(rows)) {
    const now = readLevel(session, agent, clock)
    // Unlimited.
    if (now === undefined) continue
    writeLevel(session, agent, { ...now, level: now.level - cost })
    if (owner === undefined) continue
    // Below zero, too: its owner finds out by it what it has overdrawn.
    session.run(
      'INSERT INTO energy_leases (agent, owner, amount) VALUES (?, ?, ?) ' +
        'ON CONFLICT DO UPDATE SET amount = amount + excluded.amount',
      agent,
      owner,
      -cost,
    )
  }
}

// --- internal ---

function costs(rows: readonly ChainRow[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const row of rows) {
    const cost = row.energy === null ? 0 : millionths(row.energy)
    if (cost === 0) continue
    const agent = accountOf(row.agent ?? '')
    if (agent !== '') sums.set(agent, (sums.get(agent) ?? 0) + cost)
  }
  return sums
}
