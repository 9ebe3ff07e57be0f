// `busbar add-json NAME JSON`: a server as other tools' documentation prints it.

import { readFileSync } from 'node:fs'
import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import { parseJsonDocument } from '../../config/document-json.ts'
import { FORMATS } from '../../config/formats/detect.ts'
import { readServerEntry } from '../../config/formats/server-entry.ts'
import { Shape } from '../../config/formats/shape.ts'
import { ADD_OPTIONS, addTyped } from '../add-server.ts'
import { command } from '../command.ts'
import { checkNewName } from '../new-server.ts'

export const spec = command({
  summary: 'add a server given as JSON',
  words: '<name> <json>',
  options: ADD_OPTIONS,
  help: `
JSON of - is read from standard input. The keys of any common client are understood (serverUrl, httpUrl, command as a list, transport …).

Examples:
  busbar add-json docs '{"type":"http","url":"https://example.com/mcp"}'
  busbar add-json files '{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","."]}'
  pbpaste | busbar add-json files -`,
  run: async (session, [name = '', text = ''], options) => {
    checkNewName(name, 'server')
    const json = text === '-' ? readFileSync(0, 'utf8') : text
    await addTyped(session, name, entryFrom(name, json), options)
  },
})

// --- internal ---

function entryFrom(name: string, text: string): Record<string, unknown> {
  const reading = parseJsonDocument('JSON', text)
  if (reading.kind !== 'document' || !isRecord(reading.document.value)) {
    const problem = reading.kind === 'broken' ? reading.problems[0] : undefined
    const where = problem?.line === undefined ? '' : ` at line ${problem.line}, column ${problem.column}`
    throw new Fault(
      'USAGE',
      `the JSON for ${name} is not an object${problem ? `: ${problem.message}${where}` : ''}`,
      {
        hint: `write: busbar add-json ${name} '{"command": "npx", "args": ["-y", "package"]}'`,
      },
    )
  }
  const { document } = reading
  const raw = undecorated(inner(document.value, name))
  const shape = new Shape()
  readServerEntry(raw.value, {
    from: raw.path,
    target: ['servers', name],
    shape,
    traits: FORMATS['busbar'],
    document,
  })
  const entry = shape.get(['servers', name])
  return isRecord(entry) ? entry : {}
}

/** Keys of other tools that say nothing about the server itself. */
const DECORATION = ['trust', 'name', 'gallery', 'source', 'version', 'icon', 'iconPath', 'alwaysLoad', 'dev']

function undecorated(raw: { value: unknown; path: string[] }): { value: unknown; path: string[] } {
  if (!isRecord(raw.value)) return raw
  const kept = Object.entries(raw.value).filter(([key]) => !DECORATION.includes(key))
  return { ...raw, value: Object.fromEntries(kept) }
}

/** People paste the whole snippet as well as the entry alone. */
function inner(value: unknown, name: string): { value: unknown; path: string[] } {
  for (const key of ['mcpServers', 'servers']) {
    const servers = isRecord(value) ? value[key] : undefined
    if (!isRecord(servers)) continue
    const names = Object.keys(servers)
    const chosen = names.includes(name) ? name : names.length === 1 ? names[0] : undefined
    if (chosen === undefined)
      throw new Fault('USAGE', `the JSON holds ${names.length} servers`, {
        hint: 'give one, or use: busbar import FILE',
      })
    return { value: servers[chosen], path: [key, chosen] }
  }
  return { value, path: [] }
}
