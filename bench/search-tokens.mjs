// What a model is given of 40, 200 and 1,000 tools: all definitions, or the tools by which it finds the others together
// with two typical rounds of searching and describing. Definitions are those of test/fixtures/tools: names, descriptions
// and arguments of real tools, cut, with a schema in which every argument is a string. "As listed" is the same tools with
// nothing cut. Tokens are estimated as bytes / 4. Run after a build: node bench/search-tokens.mjs

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHub } from '../dist/index.js'

const { tools: corpus } = JSON.parse(readFileSync('test/fixtures/tools/corpus.json', 'utf8'))
const ROUNDS = ['create an issue', 'send a message to a channel']

console.log(
  '| tools | as listed, tokens | all, bytes | all, tokens | search, bytes | search, tokens | two rounds, tokens | saved |',
)
console.log('|---|---|---|---|---|---|---|---|')
for (const count of [40, 200, 1_000]) {
  const { all, listed, rounds } = await measure(count)
  const saved = 1 - (listed + rounds) / all
  const cells = [
    count,
    tokens(some(count).reduce((sum, { bytes }) => sum + bytes, 0)),
    all,
    tokens(all),
    listed,
    tokens(listed),
    tokens(rounds),
    `${Math.round(100 * saved)} %`,
  ]
  console.log(`| ${cells.map((cell) => cell.toLocaleString('en')).join(' | ')} |`)
}

async function measure(count) {
  const home = mkdtempSync(join(tmpdir(), 'busbar-bench-'))
  const agent = (surface) => ({ servers: ['*'], approval: 'never', energy: 'unlimited', surface })
  const hub = await createHub({
    home,
    config: { servers: serversOf(count), agents: { full: agent('full'), search: agent('search') } },
  })
  try {
    await hub.as().ready()
    const shown = (name) => JSON.stringify(hub.as(name).tools({ format: 'anthropic' }))
    const instructions = hub.surfaces.of(hub.actor('search')).instructions() ?? ''
    let rounds = 0
    for (const query of ROUNDS) {
      const found = await exchange(hub, 'search_tools', { query })
      const [, name] = /^- (\S+)/m.exec(found.text) ?? []
      const described = await exchange(hub, 'describe_tool', { name })
      rounds += found.bytes + described.bytes
    }
    return { all: size(shown('full')), listed: size(shown('search')) + size(instructions), rounds }
  } finally {
    await hub.close()
    rmSync(home, { recursive: true })
  }
}

/** A call and its answer, as both stand in a conversation. */
async function exchange(hub, name, args) {
  const { text } = await hub.as('search').call(name, args)
  return { text, bytes: size(JSON.stringify({ name, input: args })) + size(text) }
}

function size(text) {
  return Buffer.byteLength(text)
}

function tokens(bytes) {
  return Math.round(bytes / 4)
}

/** As many tools, every n-th, so that few tools are of as many servers as many. */
function some(count) {
  return Array.from({ length: count }, (_, index) => corpus[Math.floor((index * corpus.length) / count)])
}

function serversOf(count) {
  const servers = new Map()
  for (const { server, name, description, parameters } of some(count)) {
    const properties = Object.fromEntries(
      Object.entries(parameters).map(([parameter, text]) => [
        parameter,
        { type: 'string', ...(text === '' ? {} : { description: text }) },
      ]),
    )
    const inputSchema = { type: 'object', properties, required: Object.keys(parameters).slice(0, 2) }
    servers.set(server, [...(servers.get(server) ?? []), { name, description, inputSchema }])
  }
  return Object.fromEntries([...servers].map(([name, tools]) => [name, entry(tools)]))
}

function entry(tools) {
  const result = (method) =>
    method === 'tools/list'
      ? { tools }
      : {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'bench', version: '1' },
        }
  const connect = async (transport) => {
    transport.onmessage = ({ id, method }) => {
      if (id === undefined) return
      const known = method === 'initialize' || method === 'tools/list'
      const answer = known
        ? { result: result(method) }
        : { error: { code: -32601, message: 'Method not found' } }
      void transport.send({ jsonrpc: '2.0', id, ...answer })
    }
  }
  return { type: 'sdk', instance: { connect, close: async () => undefined } }
}
