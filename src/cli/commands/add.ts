// `busbar add`: a server typed by a person, or one of the catalog by name.

import { Fault } from '../../base/fault.ts'
import { catalogEntry } from '../../config/catalog.ts'
import { addServer, assignServer, serverPath, type Target } from '../../config/plan.ts'
import type { Snapshot } from '../../config/load.ts'
import type { Define } from '../commands.ts'
import { collect, makeEdits, writeScope, type WriteScope, writeTarget } from '../edit.ts'
import { checkNewName, checkNewServer, type NewServer, typedServer, type TypedOptions, warnSecrets } from '../new-server.ts'
import type { Session } from '../session.ts'
import { serverRow } from '../describe.ts'
import { trustSubjects } from '../../config/trust.ts'

interface AddOptions extends TypedOptions {
  readonly scope: WriteScope
  readonly agent?: readonly string[]
  readonly force?: boolean
}

export const define: Define = (command, session) => {
  command
    .argument('<name>', 'what to call it')
    .argument('[commandOrUrl...]', 'a URL, or -- and the command with its arguments')
    .option('-s, --scope <scope>', 'project, user or local', writeScope, 'project')
    .option('-t, --transport <type>', 'stdio, http, sse or websocket (a URL without it is http)')
    .option('-e, --env <NAME=value>', 'environment; NAME alone is taken from yours when it starts (repeatable)', collect)
    .option('-H, --header <header>', '"Name: value" sent with every request (repeatable)', collect)
    .option('--agent <name>', 'give it to this agent (repeatable)', collect)
    .option('--cwd <folder>', 'where the command runs')
    .option('--description <text>', 'what it is for')
    .option('--category <word>', 'a word to group by')
    .option('--force', 'replace a server of that name')
    .addHelpText(
      'after',
      `
Examples:
  busbar add files -- npx -y @modelcontextprotocol/server-filesystem .
  busbar add github -e GITHUB_TOKEN --agent cto -- npx -y @modelcontextprotocol/server-github
  busbar add docs https://example.com/mcp -H 'Authorization: Bearer \${DOCS_TOKEN}'
  busbar add -s user memory -- npx -y @modelcontextprotocol/server-memory
  busbar add stripe                    from the catalog, see: busbar integrations list`,
    )
    .action(async (name: string, words: string[], options: AddOptions) => {
      const current = session()
      checkNewName(name, 'server')
      if (words.length > 0) return await addTyped(current, name, typedServer(words, options), options)
      if (!catalogEntry(name))
        throw new Fault('USAGE', `what is ${name}? Neither a command nor a URL was given`, {
          hint: `write: busbar add ${name} -- COMMAND ARGS…   or: busbar add ${name} URL`,
        })
      const { addFromCatalog } = await import('../add-catalog.ts')
      await addFromCatalog(current, name, options)
    })
}

/** Writes a new server and says where it stands. */
export async function addTyped(
  session: Session,
  name: string,
  entry: NewServer,
  options: Pick<AddOptions, 'scope' | 'agent' | 'force'>,
): Promise<void> {
  checkNewServer(name, entry)
  warnSecrets(entry, session.out)
  const { snapshot } = await loadForEdit(session)
  const target = writeTarget(session, snapshot, options.scope)
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
  const row = added ? serverRow(added, after, trustSubjects(after)) : { name }
  const file = written[0]?.file ?? target.file
  session.out.answer({ added: name, file, server: row }, () => [
    `Added ${name}${agents.length > 0 ? ` for ${agents.join(', ')}` : ''}.`,
    ...('missing' in row && row.missing ? [`Before it can start, set: ${row.missing.join(', ')}`] : []),
    ...('hides' in row && row.hides ? [`It hides the server of that name in ${row.hides.join(', ')}.`] : []),
    `Look at it: busbar get ${name}`,
  ])
}

/** The configuration before an edit. With `--config` of a file that is not there yet, there is none. */
export async function loadForEdit(session: Session): Promise<{ snapshot: Snapshot }> {
  const { loadConfig } = await import('../../config/load.ts')
  return { snapshot: loadConfig(session.loadOptions) }
}

function checkAgent(snapshot: Snapshot, agent: string): void {
  if (snapshot.config.agents[agent]) return
  const names = Object.keys(snapshot.config.agents)
  throw new Fault('AGENT_UNKNOWN', `no agent is called "${agent}"`, {
    hint: names.length > 0 ? `there are: ${names.join(', ')}; or run: busbar agents add ${agent}` : `run: busbar agents add ${agent}`,
  })
}
