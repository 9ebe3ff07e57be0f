// The MCP server that the suite's server scenarios are run against, directly or behind the gateway:
//   node fixture-server.mjs --transport http --port 0    prints {"url":…} when it listens
//   node fixture-server.mjs --transport stdio
import { parseArgs } from 'node:util'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { serveHttp } from './fixture/http.mjs'
import { fixtureServer, fixtureState } from './fixture/server.mjs'

const { values } = parseArgs({
  options: { transport: { type: 'string', default: 'http' }, port: { type: 'string', default: '0' } },
})

if (values.transport === 'stdio') {
  const state = fixtureState()
  serveStdio(() => fixtureServer(state, { lasting: true }))
} else {
  const { url, close } = await serveHttp(Number(values.port))
  console.log(JSON.stringify({ url }))
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => void close().then(() => process.exit(0)))
}
