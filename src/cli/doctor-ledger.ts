// What is kept of agents: asked of the running gateway, else read from the store.

import type { Snapshot } from '../config/snapshot.ts'
import { type ShownToken, shownTokens } from '../gateway/tokens.ts'
import { isUnknownAgent } from '../policy/access.ts'
import { type AgentEnergy, energyOfAgents } from '../policy/energy-report.ts'
import type { ShownPin } from '../policy/pin-shown.ts'
import { askGateway } from './gateway-client.ts'
import { withStore } from './recorded.ts'
import type { Session } from './session.ts'

export interface Ledger {
  tokens(agent: string): Promise<readonly ShownToken[]>
  /** How many calls wait for an answer. */
  pending(): Promise<number>
  /** Agents without energy. */
  empty(): Promise<string[]>
  /** Addresses of tools whose definition changed. */
  changed(): Promise<string[]>
}

export async function withLedger<T>(
  session: Session,
  active: Snapshot,
  runs: boolean,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  if (runs) return await work(remote(session, active))
  let result: T | undefined
  await withStore(session, active, async (store) => {
    result = await work({
      tokens: (agent) => shownTokens(store.agents, agent),
      pending: async () => {
        const waiting = await store.approvals.list({ status: 'pending' })
        return waiting.filter(({ expiresAt }) => expiresAt > Date.now()).length
      },
      empty: async () => emptyOf(await energyOfAgents(store, active)),
      changed: async () =>
        (await store.pins.list())
          .filter(({ pending, removedAt }) => pending !== undefined && removedAt === undefined)
          .map(({ server, tool }) => `${server}/${tool}`),
    })
  })
  return result as T
}

// --- internal ---

function remote({ signal }: Session, { places }: Snapshot): Ledger {
  const ask = <T extends object>(path: string) => askGateway<T>(places, { method: 'GET', path, signal })
  return {
    tokens: async (agent) => {
      try {
        const path = `/api/agents/${encodeURIComponent(agent)}/token`
        return (await ask<{ tokens: ShownToken[] }>(path)).tokens
      } catch (error) {
        // It follows another configuration, in which there is no such agent.
        if (isUnknownAgent(error)) return []
        throw error
      }
    },
    pending: async () =>
      (await ask<{ approvals: unknown[] }>('/api/approvals?status=pending')).approvals.length,
    empty: async () => emptyOf((await ask<{ agents: AgentEnergy[] }>('/api/energy')).agents),
    changed: async () =>
      (await ask<{ pins: ShownPin[] }>('/api/pins')).pins
        .filter(({ state }) => state === 'changed')
        .map(({ address }) => address),
  }
}

function emptyOf(agents: readonly AgentEnergy[]): string[] {
  return agents.filter(({ state }) => state === 'empty').map(({ agent }) => agent)
}
