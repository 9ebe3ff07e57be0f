// `busbar list`: every server, what is known of it, and who may use it. Starts and contacts nothing.

import { command } from '../command.ts'
import { nearPath, type ServerRow, serverRows } from '../describe.ts'
import { failOnErrors } from '../session.ts'

export const spec = command({
  summary: 'list servers',
  help: `
Statuses: pending (ready to start), failed (cannot start as it is), disabled. Nothing is started or contacted.

Examples:
  busbar list
  busbar list --json --config team.yaml
  busbar list --mcp-server "files=npx -y @modelcontextprotocol/server-filesystem ."`,
  run: async (session) => {
    const { out } = session
    const { snapshot, subjects } = await session.load()
    const rows = serverRows(snapshot, subjects)
    out.answer({ enabled: snapshot.config.enabled, servers: rows }, () =>
      rows.length === 0
        ? 'No servers yet. Run: busbar import   or: busbar add NAME -- COMMAND'
        : out.table(
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
    )
    failOnErrors(snapshot)
  },
})

// --- internal ---

function note(row: ServerRow): string {
  if (row.missing) return `needs ${row.missing.join(', ')}`
  if (row.error !== undefined) return 'has problems, see below'
  if (!row.trusted && row.status !== 'disabled') return `not trusted yet: busbar trust ${row.name}`
  if (row.hides) return `hides ${row.hides.join(', ')}`
  return ''
}
