// What stands between the clients and the server: nothing, Busbar, a plain gateway on the SDK, or a peer.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { HttpClient } from './http-client.mjs'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const ECHO = here('servers/echo.mjs')
export const BUSBAR = here('../dist/bin.js')
const PLAIN = here('servers/plain-gateway.mjs')
const TOKEN = 'bench-token-0123456789abcdef'
const PATIENCE = 30_000

/** The floor: the server answers itself. */
export const direct = {
  name: 'direct',
  backends: ['stdio', 'http'],
  async start(stage, { env }) {
    const { child, port } = await stage.listen(process.execPath, [ECHO, 'http'], { env })
    return { child, client: new HttpClient({ port, path: '/mcp' }) }
  },
}

/** With everything on that it does in real use: tokens, policy, schema checks, energy, record. Only nobody is asked. */
const busbarAt = (name, path) => ({
  name,
  backends: ['stdio', 'http'],
  async start(stage, { entry }) {
    const home = stage.folder()
    const agent = {
      servers: ['*'],
      token: '${BENCH_TOKEN}',
      approval: 'never',
      // The others list everything, too.
      surface: 'full',
      energy: { capacity: 1e9, recovery: 1e6 },
    }
    // One agent stands for all clients here, so it may have the streams of all.
    const gateway = { limits: { streams: 1000 } }
    const config = written(home, { gateway, servers: { echo: entry }, agents: { bench: agent } })
    const { child, port } = await stage.listen(
      process.execPath,
      [BUSBAR, 'up', '--port', '0', '--json', '--trust', '--config', config],
      { env: { BUSBAR_HOME: join(home, 'state'), BENCH_TOKEN: TOKEN } },
    )
    const headers = { authorization: `Bearer ${TOKEN}` }
    return { child, client: new HttpClient({ port, path, headers }) }
  },
})

export const busbar = busbarAt('Busbar', '/mcp/echo')
export const busbarWhole = busbarAt('Busbar, all servers as one', '/mcp')

export const plain = {
  name: 'plain SDK gateway',
  backends: ['stdio', 'http'],
  async start(stage, { entry }) {
    const config = written(stage.folder(), { servers: { echo: entry } })
    const { child, port } = await stage.listen(process.execPath, [PLAIN, config])
    return { child, client: new HttpClient({ port, path: '/mcp' }) }
  },
}

/** Starts a system before a server with `tools` tools more than one, waits until it lists them, and works with it. */
export async function withSystem(stage, system, { backend, tools = 0 }, work) {
  const env = { TOOLS: String(tools) }
  const behind =
    backend === 'http' && system !== direct
      ? await stage.listen(process.execPath, [ECHO, 'http'], { env })
      : undefined
  const entry = behind
    ? { type: 'http', url: `http://127.0.0.1:${behind.port}/mcp` }
    : { command: process.execPath, args: [ECHO], env }
  let running
  try {
    running = await system.start(stage, { entry, env })
    const { child, client } = running
    const { session, listed } = await ready(client, child, tools + 1)
    // Gateways for several servers put the server's name before the tool's.
    const { name } = listed.find((tool) => /(^|_)text$/.test(tool.name))
    const call = (size, by = session) => client.request(by, 'tools/call', { name, arguments: { size } })
    return await work({ pid: child.pid, client, session, call })
  } finally {
    running?.client.close()
    if (running) await stage.stop(running.child)
    if (behind) await stage.stop(behind.child)
  }
}

export function written(folder, config) {
  const file = join(folder, 'config.json')
  writeFileSync(file, JSON.stringify(config))
  return file
}

// --- internal ---

/** Some listen before they have found their servers. */
async function ready(client, child, wanted) {
  const deadline = performance.now() + PATIENCE
  let trouble = 'nothing was listed'
  while (performance.now() < deadline && child.exitCode === null) {
    try {
      const session = await client.open()
      const { tools: listed } = await client.request(session, 'tools/list')
      if (listed.length >= wanted) return { session, listed }
      trouble = `${listed.length} of ${wanted} tools were listed`
    } catch (error) {
      trouble = error.message
    }
    await pause(20)
  }
  throw new Error(`not ready: ${trouble}; ${child.said}`)
}
