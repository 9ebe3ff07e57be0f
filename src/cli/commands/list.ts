// `busbar list`: every server, what is known of it, and who may use it. Starts and contacts nothing.

import { errorsOf } from '../../config/load.ts'
import type { Snapshot } from '../../config/snapshot.ts'
import { command } from '../command.ts'
import { nearPath, type ServerRow, serverRows, shellWord } from '../describe.ts'
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
    const loaded = await session.load()
    const { snapshot, active } = loaded
    const rows = serverRows(loaded)
    out.answer({ enabled: active.config.enabled, servers: rows }, () =>
      rows.length === 0
        ? nothing(snapshot)
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

function nothing(snapshot: Snapshot): string {
  return errorsOf(snapshot).length > 0
    ? 'No servers could be read.'
    : 'No servers yet. Run: busbar import   or: busbar add NAME -- COMMAND'
}

function note(row: ServerRow): string {
  if (row.missing) return `needs ${row.missing.join(', ')}`
  if (row.error !== undefined) return 'has problems, see below'
  const hides = row.hides ? [`hides ${row.hides.join(', ')}`] : []
  const trust =
    row.trusted || row.status === 'disabled' ? [] : [`not trusted yet: busbar trust ${shellWord(row.name)}`]
  return [...trust, ...hides].join('; ')
}
