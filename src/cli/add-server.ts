// Writing a new server: where it goes, whether the name is free, and what to say afterwards.

import { Fault } from '../base/fault.ts'
import { effective } from '../config/effective.ts'
import type { Layer } from '../config/layer.ts'
import { missingText } from '../config/missing.ts'
import { addServer, assignServer, serverPath, type Target } from '../config/plan.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { realPath } from '../config/sources.ts'
import { subtree } from '../config/tree.ts'
import { trustSubjects } from '../config/trust.ts'
import { nearPath, type ServerRow, serverRow } from './describe.ts'
import { type Edit, layerTarget, makeEdits, SCOPE_OPTION, writeScope, writeTarget } from './edit.ts'
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
    return addServer(file, name, entry)
  }
  const assigned = agents.map((agent) => assignment(snapshot, agent, name))
  const edits = together([{ target, plan, meant: { servers: [name] } }, ...assigned])
  const { written, after } = await makeEdits(session, snapshot, edits, [name])
  const added = after.servers.get(name)
  const subjects = trustSubjects(after)
  const row = added
    ? serverRow(added, { snapshot: after, subjects, active: effective(after, subjects) })
    : { name }
  const file = written[0]?.file ?? target.file
  session.out.answer({ added: name, file, server: row }, () => [
    `Added ${name}${agents.length > 0 ? ` for ${agents.join(', ')}` : ''}.`,
    ...('missing' in row && row.missing ? [`Before it can start, set: ${missingText(row.missing)}`] : []),
    ...('hides' in row && row.hides && row.source === file
      ? [`It hides the server of that name in ${row.hides.join(', ')}.`]
      : []),
    ...('enabled' in row && !row.enabled ? [`It is switched off; run: busbar enable ${name}`] : []),
    ...shadow(row, file),
    `Look at it: busbar get ${name}${session.options.config === undefined ? '' : ` --config ${session.options.config}`}`,
  ])
}

// --- internal ---

/** Edits of one file become one edit, so that all of it is written or none. */
function together(edits: readonly Edit[]): Edit[] {
  const files = [...new Set(edits.map((edit) => realPath(edit.target.file)))]
  return files.flatMap((file) => {
    const [first, ...rest] = edits.filter((edit) => realPath(edit.target.file) === file)
    if (!first) return []
    const all = [first, ...rest]
    const agents = all.flatMap(({ meant }) => (Array.isArray(meant.agents) ? meant.agents : []))
    const servers = all.flatMap(({ meant }) => meant.servers ?? [])
    return [
      {
        target: first.target,
        plan: (it: Target) => all.flatMap(({ plan }) => plan(it)),
        meant: { servers, agents },
      },
    ]
  })
}

/** Gives an agent the server in the file that holds its list: elsewhere a new list would replace the one it has. */
function assignment(snapshot: Snapshot, agent: string, name: string): Edit {
  const holds = (path: string[]) => (layer: Layer) =>
    subtree(layer.tree, ['agents', agent, ...path]) !== undefined
  const ours = snapshot.layers.filter((layer) => layer.source.format.ours && layer.source.scope !== 'managed')
  const layer = ours.findLast(holds(['servers'])) ?? ours.findLast(holds([]))
  if (!layer)
    throw new Fault('CONFIG_EDIT', `no file of ours holds the agent "${agent}"`, {
      hint: `run: busbar agents add ${agent}`,
    })
  return {
    target: layerTarget(snapshot, layer.source.file),
    plan: (file) => assignServer(file, agent, name),
    meant: { agents: [agent] },
  }
}

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

/** Another file may go before the one that was written, or have a say in it. */
function shadow(row: { name: string } | ServerRow, file: string): string[] {
  if (!('source' in row) || (row.source === file && row.trusted)) return []
  const what =
    row.source === file
      ? 'Another file has a part in it'
      : `The one in ${nearPath(row.source)} goes before it`
  return [`${what}${row.trusted ? '.' : `, which is not trusted yet: busbar trust ${row.name}`}`]
}
