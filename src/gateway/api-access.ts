// Agents and what each may do, for the owner. Nothing in it lets anybody sign in.

import { Fault } from '../base/fault.ts'
import { verdictOn } from '../call/admit.ts'
import type { Hub } from '../hub.ts'
import type { Step } from '../policy/decide.ts'
import { energyOfAgents } from '../policy/energy-report.ts'
import { explain } from '../policy/explain.ts'
import type { AccessAnswer, AgentView, Answer, ExplainAnswer } from './api-types.ts'

/** `GET /api/agents`; `known` are those that can sign in. */
export async function listAgents(hub: Hub, known: readonly string[]): Promise<Answer<'GET /api/agents'>> {
  await hub.flush()
  const { config, assignments } = hub.snapshot
  const signsIn = new Set(known)
  const energies = new Map((await energyOfAgents(hub.store, hub.snapshot)).map((it) => [it.agent, it]))
  const views = assignments.map(({ id, agent, worker, enabled, servers, from }) => {
    const definition = config.agents[agent]
    const { model = null } = (worker === undefined ? definition : definition?.workers[worker]) ?? {}
    return { agent, worker, view: { name: id, enabled, model, servers, from, hasToken: signsIn.has(id) } }
  })
  const agents = views.flatMap(({ agent, worker, view }): AgentView[] => {
    const definition = config.agents[agent]
    if (worker !== undefined || definition === undefined) return []
    return [
      {
        ...view,
        approval: definition.approval ?? config.defaults.approval,
        naming: definition.naming,
        surface: definition.surface,
        energy: energies.get(agent) ?? { agent, state: 'unlimited' },
        workers: views.filter((it) => it.agent === agent && it.worker !== undefined).map((it) => it.view),
      },
    ]
  })
  return { agents }
}

/** `GET /api/access?agent=&address=`; without an address, all that the agent may use. */
export function access(hub: Hub, query: URLSearchParams): ExplainAnswer | AccessAnswer {
  const agent = query.get('agent')
  if (agent === null || agent === '')
    throw new Fault('USAGE', 'agent is missing', { hint: 'the owner may use everything that is trusted' })
  const address = query.get('address')
  return address === null ? accessOf(hub, agent) : explainAccess(hub, agent, address)
}

/** Goes through the very steps a call goes through. No server is started. */
export function explainAccess(hub: Hub, agent: string, address: string): ExplainAnswer {
  const { server, tool } = partsOf(address)
  const actor = hub.actor(agent)
  const steps: Step[] = []
  const native = tool === undefined && hub.context.registry.native(server) !== undefined
  const target = native ? { server: '', tool: server } : { server, tool }
  const decision = verdictOn(hub.context, actor, target, (step) => steps.push(step))
  const known = hub.context.manager.find(target.server)?.known ?? true
  return { agent, address, ...explain(hub.snapshot, { agent, ...target }, decision, steps), known }
}

// --- internal ---

function accessOf(hub: Hub, agent: string): AccessAnswer {
  const actor = hub.actor(agent)
  const handle = hub.door(agent, 'api')
  const tools = handle.tools().flatMap(({ address, server, name }) => {
    const decision = verdictOn(hub.context, actor, { server, tool: name })
    if (decision.verdict === 'deny') return []
    const { verdict, reason, risk } = decision
    return [{ address, verdict, reason, risk }]
  })
  const reason = handle.whyEmpty()
  return { agent, servers: handle.servers(), tools, ...(reason === undefined ? {} : { reason }) }
}

function partsOf(address: string): { server: string; tool: string | undefined } {
  const cut = address.search(/[/:]/)
  if (cut < 0) return { server: address, tool: undefined }
  const [server, tool] = [address.slice(0, cut), address.slice(cut + 1)]
  if (server !== '' && tool !== '') return { server, tool }
  throw new Fault('USAGE', `"${address}" names no tool`, { hint: 'write server or server/tool' })
}
