// `busbar list`: every server, what is known of it, and who may use it. Starts and contacts nothing.

import type { Define } from '../commands.ts'
import { nearPath, serverRows, type ServerRow } from '../describe.ts'
import { failOnErrors } from '../session.ts'

export const define: Define = (command, session) => {
  command
    .addHelpText(
      'after',
      `
Statuses: pending (ready to start), failed (cannot start as it is), disabled.

Examples:
  busbar list
  busbar list --json --config team.yaml
  busbar list --mcp-server "files=npx -y @modelcontextprotocol/server-filesystem ."`,
    )
    .action(async () => {
      const { out, load } = bind(session())
      const { snapshot, subjects } = await load()
      const rows = serverRows(snapshot, subjects)
      out.answer({ enabled: snapshot.config.enabled, servers: rows }, () =>
        rows.length === 0
          ? 'No servers yet. Run: busbar import   or: busbar add NAME -- COMMAND'
          : [
              ...out.table(
                ['NAME', 'TRANSPORT', 'STATUS', 'AGENTS', 'SOURCE', 'NOTE'],
                rows.map((row) => [
                  row.name,
                  row.transport ?? '-',
                  row.status,
                  row.agents.join(', ') || '-',
                  row.line === undefined ? nearPath(row.source) : `${nearPath(row.source)}:${row.line}`,
                  note(row),
                ]),
              ),
            ],
      )
      failOnErrors(snapshot)
    })
}

// --- internal ---

function bind(session: ReturnType<Parameters<Define>[1]>) {
  return { out: session.out, load: () => session.load() }
}

function note(row: ServerRow): string {
  if (row.missing) return `needs ${row.missing.join(', ')}`
  if (row.error !== undefined) return 'has problems, see below'
  if (!row.trusted && row.status !== 'disabled') return `not trusted yet: busbar trust ${row.name}`
  if (row.hides) return `hides ${row.hides.join(', ')}`
  return ''
}
