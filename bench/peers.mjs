// Other gateways, where they are installed: on the PATH, or in the folder that BUSBAR_BENCH_PEERS names (each in a
// folder of its own, or all in one). Nothing is downloaded.
import { accessSync, constants } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { HttpClient } from './http-client.mjs'
import { SseClient } from './sse-client.mjs'
import { written } from './systems.mjs'

/** How each is told to listen and to run the server; `serverForEach`: it starts the server anew for each session. */
const KNOWN = {
  'mcp-hub': {
    backends: ['stdio', 'http'],
    words: (port, entry, stage) => [
      '--port',
      port,
      '--config',
      written(stage.folder(), { mcpServers: { echo: entry } }),
    ],
    client: (port) => new SseClient({ port, path: '/mcp' }),
  },
  'mcp-proxy': {
    backends: ['stdio'],
    words: (port, { command, args }) => [
      ...['--host', '127.0.0.1', '--port', port, '--server', 'stream', '--'],
      command,
      ...args,
    ],
  },
  supergateway: {
    backends: ['stdio'],
    serverForEach: true,
    words: (port, { command, args }) => [
      ...['--stdio', [command, ...args].join(' '), '--outputTransport', 'streamableHttp', '--stateful'],
      ...['--port', port, '--logLevel', 'none'],
    ],
  },
}

/** Those that are there, and a line about those that are not. */
export function findPeers() {
  const found = Object.entries(KNOWN).map(([name, known]) => ({ name, known, program: programOf(name) }))
  const missing = found.filter(({ program }) => program === undefined).map(({ name }) => name)
  return {
    peers: found.filter(({ program }) => program !== undefined).map(peer),
    note:
      missing.length === 0
        ? undefined
        : `not installed, so not measured: ${missing.join(', ')} (BUSBAR_BENCH_PEERS=FOLDER says where to look)`,
  }
}

// --- internal ---

function peer({ name, program, known: { backends, serverForEach = false, words, client } }) {
  return {
    name,
    backends,
    serverForEach,
    async start(stage, { entry, env }) {
      const port = String(await freePort())
      const child = stage.start(program, words(port, entry, stage), {
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      return { child, client: client?.(port) ?? new HttpClient({ port, path: '/mcp' }) }
    },
  }
}

function programOf(name) {
  const folder = process.env.BUSBAR_BENCH_PEERS
  const places = folder
    ? [join(folder, name, 'node_modules/.bin'), join(folder, 'node_modules/.bin'), folder]
    : []
  return [...places, ...(process.env.PATH ?? '').split(delimiter)]
    .map((place) => join(place, name))
    .find(isExecutable)
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** These cannot be asked to choose one themselves. */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
