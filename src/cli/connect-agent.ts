// The agent that a client acts as: there already, or made for it with servers that a person chose.

import { Fault } from '../base/fault.ts'
import type { ClientScope } from '../config/clients/known.ts'
import type { Snapshot } from '../config/snapshot.ts'
import type { Scope } from '../config/tree.ts'
import { addNewAgent, checkNewAgent } from './add-agent.ts'
import { ask, canAsk } from './prompt.ts'
import { oneLine } from './review.ts'
import type { Loaded, Session } from './session.ts'

export interface AgentChoice {
  readonly name: string
  /** Servers of an agent that is yet to be made; absent when it is there. */
  readonly servers?: readonly string[]
}

/** Who the client will be. Writes nothing. */
export async function chooseAgent(
  session: Session,
  loaded: Loaded,
  name: string,
  given: string | undefined,
): Promise<AgentChoice> {
  const { snapshot, active } = loaded
  if (Object.hasOwn(snapshot.config.agents, name)) {
    if (given !== undefined)
      throw new Fault('USAGE', `there is an agent called "${name}" already; --servers is for a new one`, {
        hint: `give it more: busbar agents grant ${name} SERVER`,
      })
    if (!Object.hasOwn(active.config.agents, name))
      throw new Fault('NOT_TRUSTED', `the agent ${name} stands in a file that is not trusted yet`, {
        hint: 'run: busbar trust',
      })
    return { name }
  }
  const usable = trustedServers(loaded)
  const servers = given === undefined ? await chosenServers(session, name, usable) : namesIn(given)
  await checkNewAgent(snapshot, name, servers)
  return { name, servers }
}

/**
 * Adds it where its client's file is read: for a client of the whole user in the user's configuration. There only servers
 * can be named that are known everywhere; those of the project are added to it in the project's own.
 */
export async function makeAgent(
  session: Session,
  { snapshot }: Loaded,
  { name, servers = [] }: AgentChoice,
  scope: ClientScope,
): Promise<Loaded> {
  const everywhere = servers.filter((server) => !isServerOfProject(snapshot, server))
  const isSplit = scope === 'user' && session.options.config === undefined
  await addNewAgent(session, name, { servers: isSplit ? everywhere : servers, scope })
  if (isSplit && everywhere.length < servers.length)
    await addNewAgent(session, name, { servers, scope: 'project' })
  return await session.load({ warnings: false })
}

/** Whether nothing but the project's files speaks of it. */
export function isOfProjectAlone({ layers }: Snapshot, agent: string): boolean {
  const speaking = layers.filter(({ source }) =>
    Object.hasOwn(Object(Object(source.document.value).agents ?? {}), agent),
  )
  return speaking.length > 0 && speaking.every(({ source }) => isOfProject(source.scope))
}

// --- internal ---

function isOfProject(scope: Scope): boolean {
  return scope === 'project' || scope === 'local'
}

function isServerOfProject({ servers }: Snapshot, name: string): boolean {
  const { scope, sources = [], hides = [] } = servers.get(name) ?? {}
  const scopes = [...sources.map((it) => it.scope), ...hides.map(({ origin }) => origin.scope)]
  return scope !== undefined && isOfProject(scope) && scopes.every(isOfProject)
}

async function chosenServers(session: Session, name: string, usable: readonly string[]): Promise<string[]> {
  const { out, signal } = session
  if (usable.length === 0) {
    out.warn(`there is no server yet that ${name} could use; later: busbar agents grant ${name} SERVER`)
    return []
  }
  if (!canAsk() || out.json)
    throw new Fault(
      'USAGE',
      `there is no agent called "${name}" yet, and nobody can be asked what it may use`,
      {
        hint: `say it: --servers ${usable.join(',')}; or use another agent: --agent NAME`,
      },
    )
  const all = usable.map(oneLine).join(', ')
  out.note(`There is no agent called ${name} yet; it is added to the configuration.`)
  const answer = await ask(`Which servers may it use? Empty is all of them (${all}): `, signal)
  // Who went away has not agreed to all of them.
  if (answer === undefined)
    throw new Fault('NOT_TRUSTED', `what ${name} may use was not answered, so nothing is connected`, {
      hint: `say it: --servers ${usable.join(',')}; or use another agent: --agent NAME`,
    })
  return answer.trim() === '' ? [...usable] : namesIn(answer)
}

function trustedServers({ active }: Loaded): string[] {
  return [...active.servers.values()].filter((it) => it.definition?.enabled).map((it) => it.name)
}

function namesIn(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((it) => it.trim())
    .filter((it) => it !== '')
}
