// `busbar get NAME`: one server, with the file and line each value came from. Secrets stay masked.

import { shellWord } from '../../base/shell-word.ts'
import { missingText } from '../../config/missing.ts'
import { configFault, pathText } from '../../config/problem.ts'
import type { ServerEntry } from '../../config/snapshot.ts'
import { leaves, plain } from '../../config/tree.ts'
import { maskSecrets } from '../../config/view.ts'
import { command } from '../command.ts'
import { placeText, serverNamed, serverRow } from '../describe.ts'
import { safe } from '../output.ts'
import { asTheyRun } from '../running-rows.ts'

export const spec = command({
  summary: 'show one server and where each value was set',
  words: '<name>',
  help: `
Its status is that in the gateway, where one runs that follows the same configuration.

Examples:
  busbar get github
  busbar get github --json`,
  run: async (session, [name = '']) => {
    const { out } = session
    const loaded = await session.load({ warnings: false })
    const { snapshot } = loaded
    const entry = serverNamed(snapshot, name)
    const [row = serverRow(entry, loaded)] = await asTheyRun(session, loaded, [serverRow(entry, loaded)])
    const config = maskSecrets(entry.tree ? plain(entry.tree) : entry.definition)
    const origins = originsOf(entry)
    out.answer({ ...row, config, origins }, () => {
      const values = entry.tree ? valueLines(entry) : [JSON.stringify(config, null, 2)]
      return [
        `${out.style('bold', name)}  ${row.status}${row.trusted ? '' : ' (not trusted)'}`,
        `  defined    ${safe(placeText(entry.place))} (${row.scope})`,
        ...(row.hides ?? []).map((place) => `  hides      ${safe(place)}`),
        `  transport  ${row.transport ?? 'unknown'}`,
        `  agents     ${row.agents.join(', ') || 'none'}`,
        ...(row.reason === undefined ? [] : [`  reason     ${safe(row.reason)}`]),
        ...(row.missing ? [`  needs      ${missingText(row.missing)}`] : []),
        '',
        ...values,
        '',
        ...(row.trusted ? [] : [`Trust it:  busbar trust ${shellWord(name)}`]),
        `Remove it: busbar remove ${shellWord(name)}`,
      ]
    })
    if (entry.problems.length > 0) throw configFault(entry.problems)
  },
})

// --- internal ---

function originsOf(entry: ServerEntry): Record<string, string> {
  if (!entry.tree) return {}
  return Object.fromEntries(
    [...leaves(entry.tree)].map(({ path, tree }) => [pathText(path), placeText(tree.place)]),
  )
}

function valueLines(entry: ServerEntry): string[] {
  if (!entry.tree) return []
  const masked = maskSecrets(plain(entry.tree))
  const rows = [...leaves(entry.tree)].map(({ path, tree }) => {
    let value: unknown = masked
    for (const step of path) value = Reflect.get(Object(value), step)
    return { name: pathText(path), value: JSON.stringify(value), place: placeText(tree.place) }
  })
  const name = Math.max(0, ...rows.map((row) => row.name.length))
  const value = Math.min(60, Math.max(0, ...rows.map((row) => row.value.length)))
  return rows.map((row) => `  ${row.name.padEnd(name)}  ${safe(row.value).padEnd(value)}  ${safe(row.place)}`)
}
