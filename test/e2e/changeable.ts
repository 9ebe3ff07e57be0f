// A real server whose tools a test can change under it.

import type { Sandbox } from './cli.ts'
import { userFile } from './hub.ts'

/** A server that lists whatever stands in a file, as it is when it is asked. Whoever calls `die` ends it. */
const LISTS_A_FILE = `
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
// A key that begins with = is written without it: so it can be there twice.
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }).replaceAll('"=', '"') + '\\n')
const given = () => JSON.parse(readFileSync(process.argv[2], 'utf8'))
const methods = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'file', version: '1' }, instructions: given().instructions }),
  'tools/list': () => ({ tools: given().tools }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'called' }] }),
  ping: () => ({}),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  if (params?.name === 'die') process.exit(1)
  if (methods[method]) say({ id, result: methods[method]() })
  else say({ id, error: { code: -32601, message: 'Method not found' } })
}).on('close', () => process.exit(0))
`

export const tool = (name: string, description: string) => ({
  name,
  description,
  inputSchema: { type: 'object' },
})

/** A server in the person's own file, and a way to change what it lists. */
export function changeable(sandbox: Sandbox, entry: object = {}) {
  const list = sandbox.path('tools.json')
  const offer = (tools: object[], instructions?: string) =>
    sandbox.write(list, JSON.stringify({ tools, instructions }))
  const script = sandbox.write('lists-a-file.mjs', LISTS_A_FILE)
  const servers = { docs: { command: process.execPath, args: [script, list], ...entry } }
  sandbox.write(userFile(sandbox), JSON.stringify({ servers }))
  return { offer, servers }
}
