// A reference server on the official SDK v2 (both eras): node sdk2.mjs [--transport stdio|http] [--port 0]
// [--era both|legacy|modern] [--name NAME]. Its legacy side over HTTP has sessions only with --era legacy.
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import { announce, logSpawn, readOptions } from './options.mjs'
import { endPolitely, fill, listen, sessionHandler } from './sdk-parts.mjs'

const options = readOptions(['--name', 'sdk2', ...process.argv.slice(2)])

function makeServer() {
  const server = new McpServer(
    { name: options.name, version: '1.0.0' },
    { instructions: 'A server on SDK v2.' },
  )
  const requestOf = ({ mcpReq }) => ({
    signal: mcpReq.signal,
    progressToken: mcpReq._meta?.progressToken,
    notify: mcpReq.notify,
  })
  return fill(server, requestOf, (shape) => z.object(shape))
}

async function openStdio() {
  if (options.era === 'legacy') await makeServer().connect(new StdioServerTransport())
  else serveStdio(makeServer, { legacy: options.era === 'modern' ? 'reject' : 'serve' })
  process.stdin.on('end', () => process.exit(0))
}

function httpHandler() {
  if (options.era === 'legacy') return sessionHandler(makeServer, NodeStreamableHTTPServerTransport)
  return toNodeHandler(
    createMcpHandler(makeServer, { legacy: options.era === 'modern' ? 'reject' : 'stateless' }),
  )
}

logSpawn()
endPolitely()
if (options.transport === 'stdio') await openStdio()
else if (options.transport === 'http') announce(await listen(httpHandler(), options.port))
else throw new Error(`sdk2 has no transport ${options.transport}`)
