// `busbar list`: every server, what is known of it, and who may use it. Starts nothing without --check.

import { Fault } from '../../base/fault.ts'
import { shellWord } from '../../base/shell-word.ts'
import { errorsOf } from '../../config/load.ts'
import { missingText } from '../../config/missing.ts'
import type { Snapshot } from '../../config/snapshot.ts'
import { command } from '../command.ts'
import { nearPath, type ServerRow, serverRows } from '../describe.ts'
import { asTheyRun } from '../running-rows.ts'
import { failOnErrors } from '../session.ts'

export const spec = command({
  summary: 'list servers',
  words: '[name...]',
  options: { check: { about: 'see whether they answer, starting those that do not run' } },
  help: `
Statuses: pending (ready to start), failed (cannot start as it is), disabled; where a gateway runs that follows the same
configuration, those of its servers. Nothing is started, unless --check is given: then every server that is on and trusted is started, together, or only those that are named. What
comes of it is connected, failed or needs-auth; exit 4 when one failed, 3 when one only needs a sign-in.
Where a gateway runs that follows the same configuration, --check tells how its servers are and starts no second ones: it
starts what is named and not up. To try one that failed again at once: busbar restart NAME

Examples:
  busbar list
  busbar list --check
  busbar list --check github files
  busbar list --json --config team.yaml
  busbar list --mcp-server "files=npx -y @modelcontextprotocol/server-filesystem ."`,
  run: async (session, names, options) => {
    const { out } = session
    if (options.check) {
      // Loaded only now: a list without it pays nothing for connections.
      const { checkServers } = await import('../check-servers.ts')
      await checkServers(session, names)
      return
    }
    if (names[0] !== undefined)
      throw new Fault('USAGE', `busbar list takes no "${names[0]}"`, {
        hint: `busbar list --check ${shellWord(names[0])}; or what is known of one: busbar get ${shellWord(names[0])}`,
      })
    const loaded = await session.load()
    const { snapshot, active } = loaded
    const rows = await asTheyRun(session, loaded, serverRows(loaded))
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
  if (row.missing) return `needs ${missingText(row.missing)}`
  if (row.error !== undefined) return 'has problems, see below'
  if (row.reason !== undefined) return row.reason
  const hides = row.hides ? [`hides ${row.hides.join(', ')}`] : []
  const trust =
    row.trusted || row.status === 'disabled' ? [] : [`not trusted yet: busbar trust ${shellWord(row.name)}`]
  return [...trust, ...hides].join('; ')
}
