// A new agent in the configuration: what `busbar agents add` and `busbar connect` write.

import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import { addAgent, type Target } from '../config/plan.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { makeEdits, writeScope, writeTarget } from './edit.ts'
import { checkNewName } from './new-server.ts'
import type { Session } from './session.ts'

export interface NewAgent {
  readonly servers?: readonly string[] | undefined
  readonly model?: string | undefined
  readonly approval?: string | undefined
  readonly scope?: string | undefined
  /** Replaces one of that name. */
  readonly force?: boolean | undefined
}

/** Writes the agent to the file of its scope and tells which that is. */
export async function addNewAgent(
  session: Session,
  name: string,
  options: NewAgent,
): Promise<{ file: string }> {
  const { servers = [], model, approval } = options
  const snapshot = await session.snapshot()
  await checkNewAgent(snapshot, name, servers)
  const target = writeTarget(session, snapshot, writeScope(options.scope ?? 'project'))
  const plan = (file: Target) => {
    const agents = Object(file.value ?? {}).agents
    if (!options.force && agents && Object.hasOwn(agents, name))
      throw new Fault('AGENT_EXISTS', `${target.file} has an agent called "${name}" already`, {
        hint: 'use another name, or replace it with --force',
      })
    return addAgent(file, name, { enabled: true, model, approval, servers })
  }
  await makeEdits(session, snapshot, [{ target, plan, meant: { agents: [name] } }])
  return { file: target.file }
}

/** Refuses a name that is none, and servers that nobody knows. */
export async function checkNewAgent(
  snapshot: Snapshot,
  name: string,
  servers: readonly string[],
): Promise<void> {
  checkNewName(name, 'agent')
  const known = new Set([...snapshot.servers.keys(), '*'])
  const { CATALOG } = await import('../config/catalog.ts')
  for (const entry of CATALOG) known.add(entry.name)
  for (const server of servers)
    if (!known.has(server) && !/[*?]/.test(server)) {
      const near = nearest(server, known)
      throw new Fault('SERVER_UNKNOWN', `no server is called "${server}"`, {
        server,
        hint: near ? `did you mean "${near}"?` : 'run: busbar list',
      })
    }
}
