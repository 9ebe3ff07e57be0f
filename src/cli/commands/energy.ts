// `busbar energy`: what agents have left, what they spent it on, and the owner's refill.

import { Fault } from '../../base/fault.ts'
import type { Snapshot } from '../../config/snapshot.ts'
import { actorOf } from '../../policy/access.ts'
import {
  type AgentEnergy,
  type AgentHistory,
  energyOfAgent,
  energyOfAgents,
  refillAgent,
} from '../../policy/energy-report.ts'
import { amount } from '../../policy/energy-state.ts'
import { command } from '../command.ts'
import { askGateway, gatewayRuns } from '../gateway-client.ts'
import { gaugeBar } from '../gauge.ts'
import type { Output } from '../output.ts'
import { withStore } from '../recorded.ts'
import type { Session } from '../session.ts'

export const spec = command({
  summary: 'what agents have left, and what they spent',
  words: '[agent|refill] [agent] [amount]',
  help: `
Calls spend energy: two for each second, and the price of the tool. It comes back by itself.

Examples:
  busbar energy
  busbar energy cto                # also its last day, hour by hour, and what its tools take
  busbar energy refill cto         # full again
  busbar energy refill cto 20`,
  run: async (session, [first, agent, text]) => {
    const { active } = await session.load({ warnings: false })
    if (first === 'refill') await refill(session, active, agent, text)
    else if (agent !== undefined)
      throw new Fault('USAGE', `busbar energy takes no "${agent}"`, { hint: 'busbar energy [agent]' })
    else if (first === undefined) await showAll(session, active)
    else await showOne(session, active, first)
  },
})

// --- internal ---

async function showAll(session: Session, active: Snapshot): Promise<void> {
  const { out } = session
  const { agents } = await ask<AgentEnergy>(session, active, 'GET', '/api/energy', {
    instead: ({ energy }) => energyOfAgents({ energy }, active),
  })
  out.answer({ agents }, () =>
    agents.length === 0 ? 'No agents are configured.' : out.table(HEADINGS, agents.map(gauge)),
  )
}

async function showOne(session: Session, active: Snapshot, id: string): Promise<void> {
  const { out } = session
  actorOf(id, active)
  const { agents } = await ask<AgentHistory>(session, active, 'GET', pathOf(id), {
    instead: async ({ energy }) => [await energyOfAgent({ energy }, active, id, Date.now())],
  })
  out.answer({ agents }, () => agents.flatMap((agent) => detail(out, agent)))
}

async function refill(session: Session, active: Snapshot, id = '', text?: string): Promise<void> {
  const { out } = session
  if (id === '') throw new Fault('USAGE', 'whose energy?', { hint: 'busbar energy refill AGENT [AMOUNT]' })
  actorOf(id, active)
  const wanted = text === undefined ? undefined : Number(text)
  if (wanted !== undefined && !(wanted > 0 && Number.isFinite(wanted)))
    throw new Fault('USAGE', `"${text}" is no amount above zero`, { hint: `busbar energy refill ${id} 20` })
  const { agents } = await ask<AgentEnergy>(session, active, 'POST', `${pathOf(id)}/refill`, {
    body: wanted === undefined ? '' : JSON.stringify({ amount: wanted }),
    instead: async ({ energy }) => [await refillAgent({ energy }, active, id, wanted)],
  })
  out.answer({ agents }, () => out.table(HEADINGS, agents.map(gauge)))
}

function pathOf(id: string): string {
  return `/api/energy/${encodeURIComponent(id)}`
}

interface Asking<T> {
  readonly body?: string
  /** Where no gateway runs. */
  readonly instead: (store: Parameters<Parameters<typeof withStore>[2]>[0]) => Promise<T[]>
}

/** Asked of the running gateway, which knows what is being spent right now, else of the store. */
async function ask<T>(
  session: Session,
  active: Snapshot,
  method: 'GET' | 'POST',
  path: string,
  { body = '', instead }: Asking<T>,
): Promise<{ agents: T[] }> {
  const { signal } = session
  if (await gatewayRuns(active.places, signal))
    return await askGateway<{ agents: T[] }>(active.places, { method, path, signal, body })
  let agents: T[] = []
  await withStore(session, active, async (store) => {
    agents = await instead(store)
  })
  return { agents }
}

const HEADINGS = ['AGENT', '', 'ENERGY', 'STATE', 'RECOVERY']
const SEGMENTS = 10

function gauge(energy: AgentEnergy): string[] {
  const { agent } = energy
  if (energy.state === 'unlimited') return [agent, '', '', 'unlimited', '']
  const { level, capacity, recovery, state } = energy
  return [
    agent,
    gaugeBar(level, capacity),
    `${amount(level, Math.floor)} / ${amount(capacity)}`,
    state,
    `+${Number(recovery.toFixed(3))}/min`,
  ]
}

function detail(out: Output, energy: AgentHistory): string[] {
  const { history, tools } = energy
  const dearest = Math.max(...history.map((hour) => hour.energy))
  return [
    ...out.table(HEADINGS, [gauge(energy)]),
    '',
    ...(history.length === 0
      ? ['Nothing was called in the last day.']
      : out.table(
          ['HOUR', 'CALLS', 'ENERGY', ''],
          history.map(({ hour, calls, energy: spent }) => [
            hourText(hour),
            String(calls),
            amount(spent),
            '▪'.repeat(dearest > 0 ? Math.round((spent / dearest) * SEGMENTS) : 0),
          ]),
        )),
    ...(tools.length === 0
      ? []
      : [
          '',
          ...out.table(
            ['TOOL', 'CALLS', 'ENERGY', 'NEXT CALL', 'CONFIDENCE'],
            tools.map(({ server, tool, calls, energy: spent, estimate }) => [
              server === '' ? tool : `${server}/${tool}`,
              String(calls),
              amount(spent),
              `about ${amount(estimate.energy, Math.ceil)}`,
              estimate.calls === 0 ? estimate.confidence : `${estimate.confidence} (${estimate.calls} calls)`,
            ]),
          ),
        ]),
  ]
}

/** As the clocks around here show it, as in refusals. */
function hourText(epoch: number): string {
  const date = new Date(epoch)
  const [month, day, hour] = [date.getMonth() + 1, date.getDate(), date.getHours()].map((part) =>
    String(part).padStart(2, '0'),
  )
  return `${date.getFullYear()}-${month}-${day} ${hour}:00`
}
