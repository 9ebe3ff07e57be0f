// `busbar integrations list|add|remove`: the same servers, seen from the catalog.

import { CATALOG } from '../../config/catalog.ts'
import { addFromCatalog } from '../add-catalog.ts'
import type { Define } from '../commands.ts'
import { serverRows } from '../describe.ts'
import { collect, writeScope, type WriteScope } from '../edit.ts'
import { removeNamed } from '../remove-server.ts'
import { failOnErrors, type Session } from '../session.ts'

export const define: Define = (command, session) => {
  command
    .command('list', { isDefault: true })
    .description('Configured servers with their agents and workers, and what the catalog offers.')
    .addHelpText('after', '\nExample:\n  busbar integrations list --json')
    .action(async () => await list(session()))
  command
    .command('add')
    .description('Add a server of the catalog, pinned to an exact version.')
    .argument('<server>', 'its name in the catalog')
    .option('-s, --scope <scope>', 'project, user or local', writeScope, 'project')
    .option('--agent <name>', 'give it to this agent (repeatable)', collect)
    .option('--force', 'replace a server of that name')
    .addHelpText('after', '\nExamples:\n  busbar integrations add github\n  busbar integrations add stripe --agent cfo')
    .action(async (name: string, options: { scope: WriteScope; agent?: string[]; force?: boolean }) => {
      await addFromCatalog(session(), name, options)
    })
  command
    .command('remove')
    .description('Remove a server and every mention of it.')
    .argument('<server>', 'the server')
    .option('-s, --scope <scope>', 'project, user or local, where several define it', writeScope)
    .addHelpText('after', '\nExample:\n  busbar integrations remove github')
    .action(async (name: string, options: { scope?: WriteScope }) => {
      await removeNamed(session(), name, options.scope)
    })
}

// --- internal ---

async function list(session: Session): Promise<void> {
  const { out } = session
  const { snapshot, subjects } = await session.load()
  const servers = serverRows(snapshot, subjects)
  const catalog = CATALOG.map((entry) => ({
    name: entry.name,
    category: entry.category,
    description: entry.description,
    variables: entry.variables,
    package: entry.package.name,
    version: entry.package.version,
    configured: snapshot.servers.has(entry.name),
    homepage: entry.homepage,
  }))
  out.answer({ enabled: snapshot.config.enabled, servers, catalog }, () => [
    out.style('bold', 'Configured'),
    ...(servers.length === 0
      ? ['  none']
      : out.table(
          ['NAME', 'STATUS', 'CATEGORY', 'AGENTS', 'NOTE'],
          servers.map((row) => [
            row.name,
            row.status,
            row.category ?? '-',
            row.agents.join(', ') || '-',
            row.missing ? `needs ${row.missing.join(', ')}` : '',
          ]),
        )),
    '',
    out.style('bold', 'Catalog'),
    ...out.table(
      ['NAME', 'CATEGORY', 'NEEDS', 'DESCRIPTION'],
      catalog
        .filter((entry) => !entry.configured)
        .map((entry) => [entry.name, entry.category, entry.variables.join(', ') || '-', entry.description]),
    ),
    '',
    'Add one: busbar integrations add NAME',
  ])
  failOnErrors(snapshot)
}
