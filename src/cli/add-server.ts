// Writing a new server: where it goes, whether the name is free, and what to say afterwards.

import { Fault } from '../base/fault.ts'
import { effective } from '../config/effective.ts'
import { addServer, assignServer, serverPath, type Target } from '../config/plan.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { trustSubjects } from '../config/trust.ts'
import { serverRow } from './describe.ts'
import { makeEdits, SCOPE_OPTION, writeScope, writeTarget } from './edit.ts'
import { checkNewServer, type NewServer, warnSecrets } from './new-server.ts'
import type { Session } from './session.ts'

export interface AddOptions {
  readonly scope?: string
  readonly agent?: readonly string[]
  readonly force?: boolean
}

/** Options of every command that adds a server. */
export const ADD_OPTIONS = {
  scope: SCOPE_OPTION,
  agent: { value: 'name', many: true, about: 'give it to this agent (repeatable)' },
  force: { about: 'replace a server of that name' },
} as const

/** Writes a new server and says where it stands. */
export async function addTyped(
  session: Session,
  name: string,
  entry: NewServer,
  options: AddOptions,
): Promise<void> {
  checkNewServer(name, entry)
  warnSecrets(entry, session.out)
  const snapshot = await session.snapshot()
  const target = writeTarget(session, snapshot, writeScope(options.scope ?? 'project'))
  const agents = options.agent ?? []
  for (const agent of agents) checkAgent(snapshot, agent)
  const plan = (file: Target) => {
    if (!options.force && serverPath(file, name))
      throw new Fault('SERVER_EXISTS', `${target.file} has a server called "${name}" already`, {
        server: name,
        hint: `use another name, or replace it with --force`,
      })
    return [...addServer(file, name, entry), ...agents.flatMap((agent) => assignServer(file, agent, name))]
  }
  const { written, after } = await makeEdits(session, snapshot, [{ target, plan }], [name])
  const added = after.servers.get(name)
  const subjects = trustSubjects(after)
  const row = added
    ? serverRow(added, { snapshot: after, subjects, active: effective(after, subjects) })
    : { name }
  const file = written[0]?.file ?? target.file
  session.out.answer({ added: name, file, server: row }, () => [
    `Added ${name}${agents.length > 0 ? ` for ${agents.join(', ')}` : ''}.`,
    ...('missing' in row && row.missing ? [`Before it can start, set: ${row.missing.join(', ')}`] : []),
    ...('hides' in row && row.hides ? [`It hides the server of that name in ${row.hides.join(', ')}.`] : []),
    `Look at it: busbar get ${name}${session.options.config === undefined ? '' : ` --config ${session.options.config}`}`,
  ])
}

// --- internal ---

function checkAgent(snapshot: Snapshot, agent: string): void {
  if (snapshot.config.agents[agent]) return
  const names = Object.keys(snapshot.config.agents)
  throw new Fault('AGENT_UNKNOWN', `no agent is called "${agent}"`, {
    hint:
      names.length > 0
        ? `there are: ${names.join(', ')}; or run: busbar agents add ${agent}`
        : `run: busbar agents add ${agent}`,
  })
}
