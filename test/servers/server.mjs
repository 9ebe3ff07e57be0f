// A small real MCP server for tests: node server.mjs --mode MODE [--transport stdio|http|websocket|sse] [--port 0]
// [--era both|legacy|modern] [--name NAME]. README.md lists the modes and the other options.
import { Server } from './core.mjs'
import { loadMode } from './modes/index.mjs'
import { announce, logSpawn, readOptions } from './options.mjs'

const TRANSPORTS = {
  http: async (server, options) => (await import('./http.mjs')).serveHttp(server, options),
  sse: async (server, options) => (await import('./http.mjs')).serveHttp(server, options),
  websocket: async (server, options) => (await import('./websocket.mjs')).serveWebsocket(server, options),
}

const options = readOptions(process.argv.slice(2))
const mode = (await loadMode(options.mode))(options)

if (mode.replace) {
  mode.replace()
} else {
  logSpawn()
  handleSignals()
  // The old transport ended before the modern era began.
  const era = options.transport === 'sse' ? 'legacy' : options.era
  const server = new Server(mode, { ...options, era })
  if (options.transport === 'stdio') (await import('./stdio.mjs')).serveStdio(server)
  else if (TRANSPORTS[options.transport]) announce(await TRANSPORTS[options.transport](server, options))
  else throw new Error(`unknown transport: ${options.transport}`)
  mode.start?.(server)
}

function handleSignals() {
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => mode.survives || process.exit(0))
  }
  if (!mode.survives) return
  // Nothing gentle ends such a process, so a failed test would leave it for ever.
  setTimeout(() => process.exit(70), options.lifetime)
}
