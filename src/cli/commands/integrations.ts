// `busbar integrations list|add|remove|status`: the same servers, seen from the catalog.

import { CATALOG } from '../../config/catalog.ts'
import { missingText } from '../../config/missing.ts'
import { addFromCatalog } from '../add-catalog.ts'
import { ADD_OPTIONS } from '../add-server.ts'
import { command, type Group } from '../command.ts'
import { serverRows } from '../describe.ts'
import { SCOPE_OPTION, writeScope } from '../edit.ts'
import { integrationsStatus } from '../integrations-status.ts'
import { removeNamed } from '../remove-server.ts'
import { failOnErrors, type Session } from '../session.ts'

export const spec: Group = {
  fallback: 'list',
  commands: {
    list: command({
      summary: 'configured servers with their agents and workers, and what the catalog offers',
      help: `
Example:
  busbar integrations list --json`,
      run: list,
    }),
    add: command({
      summary: 'add a server of the catalog, pinned to an exact version',
      words: '<server>',
      options: ADD_OPTIONS,
      help: `
Examples:
  busbar integrations add github
  busbar integrations add stripe --agent cfo`,
      run: async (session, [name = ''], options) => await addFromCatalog(session, name, options),
    }),
    remove: command({
      summary: 'remove a server and every mention of it',
      words: '<server>',
      options: { scope: { ...SCOPE_OPTION, about: 'project, user or local, where several define it' } },
      help: `
Example:
  busbar integrations remove github`,
      run: async (session, [name = ''], { scope }) =>
        await removeNamed(session, name, scope === undefined ? undefined : writeScope(scope)),
    }),
    status: command({
      summary: 'how each server was used: calls, errors, when last',
      help: `
The status is that of the running gateway's connection, else what the configuration says (configured, disabled, failed).

Example:
  busbar integrations status --json`,
      run: async (session) => await integrationsStatus(session),
    }),
  },
}

// --- internal ---

async function list(session: Session): Promise<void> {
  const { out } = session
  const loaded = await session.load()
  const { snapshot, active } = loaded
  const servers = serverRows(loaded)
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
  out.answer({ enabled: active.config.enabled, servers, catalog }, () => [
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
            row.missing ? `needs ${missingText(row.missing)}` : '',
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
