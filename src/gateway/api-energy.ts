// `/api/energy`: how agents are, what they spent, and the owner's refill.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Hub } from '../hub.ts'
import { energyOfAgent, energyOfAgents, refillAgent } from '../policy/energy-report.ts'
import type { Answer } from './api-types.ts'

/** `GET /api/energy` */
export async function energy(hub: Hub): Promise<Answer<'GET /api/energy'>> {
  await hub.flush()
  return { agents: await energyOfAgents(hub.store, hub.snapshot) }
}

/** `GET /api/energy/AGENT` */
export async function agentEnergy(hub: Hub, agent: string): Promise<Answer<'GET /api/energy/AGENT'>> {
  await hub.flush()
  return { agents: [await energyOfAgent(hub.store, hub.snapshot, agent, Date.now())] }
}

/** `POST /api/energy/AGENT/refill` with `{"amount": 10}`, or nothing for all of it. */
export async function refill(
  hub: Hub,
  agent: string,
  body: Buffer,
): Promise<Answer<'POST /api/energy/AGENT/refill'>> {
  const amount = amountIn(body)
  await hub.flush()
  const filled = await refillAgent(hub.store, hub.snapshot, agent, amount)
  // What is told of the agent from now on begins with this.
  await hub.energy?.refresh(agent)
  return { agents: [filled] }
}

// --- internal ---

function amountIn(body: Buffer): number | undefined {
  if (body.length === 0) return undefined
  try {
    const data: unknown = JSON.parse(String(body))
    if (isRecord(data) && (data['amount'] === undefined || typeof data['amount'] === 'number'))
      return data['amount']
  } catch {
    // Told below.
  }
  throw new Fault('USAGE', 'the body is not understood', { hint: 'send {"amount": 10}, or nothing' })
}
