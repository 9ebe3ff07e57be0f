// A reference server on the official SDK v1 (legacy era): node sdk1.mjs [--transport stdio|http] [--port 0] [--name NAME]
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { announce, logSpawn, readOptions } from './options.mjs'
import { endPolitely, fill, listen, sessionHandler } from './sdk-parts.mjs'

const options = readOptions(['--name', 'sdk1', ...process.argv.slice(2)])

function makeServer() {
  const server = new McpServer(
    { name: options.name, version: '1.0.0' },
    { instructions: 'A server on SDK v1.' },
  )
  const requestOf = (extra) => ({
    signal: extra.signal,
    progressToken: extra._meta?.progressToken,
    notify: extra.sendNotification,
  })
  return fill(server, requestOf, (shape) => shape)
}

logSpawn()
endPolitely()
if (options.transport === 'stdio') {
  await makeServer().connect(new StdioServerTransport())
  process.stdin.on('end', () => process.exit(0))
} else if (options.transport === 'http') {
  announce(await listen(sessionHandler(makeServer, StreamableHTTPServerTransport), options.port))
} else {
  throw new Error(`sdk1 has no transport ${options.transport}`)
}
