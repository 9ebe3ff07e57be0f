// How agents are and what they spent, from the ledger and the record: the same for the gateway and the command line.

import { Fault } from '../base/fault.ts'
import type { Config } from '../config/schema.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { accountOf, type EnergyBudget } from '../store/energy-level.ts'
import type { EnergyAccount, EnergyHour, ToolCost } from '../store/policy.ts'
import type { Store } from '../store/store.ts'
import { actorOf } from './access.ts'
import { type EnergyState, energyState } from './energy-state.ts'
import { type Estimate, Estimates, priceOf } from './estimate.ts'

export type AgentEnergy =
  | { readonly agent: string; readonly state: 'unlimited' }
  | (EnergyBudget & {
      readonly agent: string
      readonly level: number
      readonly state: EnergyState
      /** What processes have taken for calls that are under way or to come. */
      readonly reserved: number
    })

/** A tool that an agent called, what that took, and what the next call will. */
interface ToolEnergy extends ToolCost {
  readonly estimate: Estimate
}

export type AgentHistory = AgentEnergy & {
  readonly history: readonly EnergyHour[]
  readonly tools: readonly ToolEnergy[]
}

type Energies = Pick<Store, 'energy'>

/** The budget of every agent; workers have their agent's. */
export function budgetsOf(config: Pick<Config, 'agents'>): Map<string, EnergyBudget | 'unlimited'> {
  return new Map(Object.entries(config.agents).map(([agent, { energy }]) => [agent, energy]))
}

export async function energyOfAgents({ energy }: Energies, { config }: Snapshot): Promise<AgentEnergy[]> {
  const accounts = new Map((await energy.accounts()).map((account) => [account.agent, account]))
  return [...budgetsOf(config)].map(([agent, budget]) => statusOf(agent, budget, accounts.get(agent)))
}

/** One agent with its last day; `now` is epoch milliseconds. */
export async function energyOfAgent(
  { energy }: Energies,
  active: Snapshot,
  id: string,
  now: number,
): Promise<AgentHistory> {
  const { agent, budget } = budgetOf(active, id)
  const since = now - DAY
  const [account, history, spent] = await Promise.all([
    energy.account(agent),
    energy.hours(agent, since),
    energy.toolCosts(agent, since),
  ])
  const estimates = new Estimates(energy)
  await estimates.ready()
  const tools = spent.slice(0, MOST_TOOLS).map((cost): ToolEnergy => {
    const { server, tool } = cost
    const price = priceOf(active.servers.get(server)?.definition?.price, tool)
    return { ...cost, estimate: estimates.of(server, tool, undefined, price) }
  })
  return { ...statusOf(agent, budget, account), history, tools }
}

/** Puts energy back into an agent's account, which is opened if no call has opened it. */
export async function refillAgent(
  { energy }: Energies,
  active: Snapshot,
  id: string,
  amount?: number,
): Promise<AgentEnergy> {
  const { agent, budget } = budgetOf(active, id)
  if (budget === 'unlimited')
    throw new Fault('USAGE', `${agent} has unlimited energy`, { hint: 'there is nothing to refill' })
  if (amount !== undefined && !(amount > 0 && Number.isFinite(amount)))
    throw new Fault('USAGE', 'the amount is no number above zero', {
      hint: `busbar energy refill ${agent} 50`,
    })
  await energy.configure(new Map([[agent, budget]]))
  return statusOf(agent, budget, await energy.refill(agent, amount))
}

// --- internal ---

const DAY = 24 * 60 * 60 * 1000
/** Of the dearest. */
const MOST_TOOLS = 20

function budgetOf(
  snapshot: Snapshot,
  id: string,
): { readonly agent: string; readonly budget: EnergyBudget | 'unlimited' } {
  actorOf(id, snapshot)
  const agent = accountOf(id)
  return { agent, budget: snapshot.config.agents[agent]?.energy ?? 'unlimited' }
}

/** An account that does not exist yet is full; one that was opened with another budget follows this one when it is used. */
function statusOf(
  agent: string,
  budget: EnergyBudget | 'unlimited',
  account: EnergyAccount | undefined,
): AgentEnergy {
  if (budget === 'unlimited') return { agent, state: 'unlimited' }
  const { capacity, recovery } = budget
  const level = Math.min(account?.level ?? capacity, capacity)
  return {
    agent,
    level,
    capacity,
    recovery,
    state: energyState(level, capacity),
    reserved: account?.leased ?? 0,
  }
}
