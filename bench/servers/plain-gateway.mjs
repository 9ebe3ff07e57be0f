// The gateway that one would write on the official SDK in an afternoon: a client for each server, a server for each
// session, every message through both. No tokens, no policy, no record. Prints {"port":…}.
//   node plain-gateway.mjs CONFIG    {"servers":{"name":{"command":…,"args":…,"env":…}|{"url":…}}}
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { Server } from '@modelcontextprotocol/server'

const INFO = { name: 'plain-gateway', version: '1.0.0' }
const { servers } = JSON.parse(readFileSync(process.argv[2], 'utf8'))

/** Tools by the name that clients see, with the connection that has them. */
const tools = new Map()
for (const [name, entry] of Object.entries(servers)) {
  const client = new Client(INFO)
  await client.connect(transportTo(entry))
  for (const tool of (await client.listTools()).tools)
    tools.set(`${name}__${tool.name}`, {
      client,
      tool: { ...tool, name: `${name}__${tool.name}` },
      inner: tool.name,
    })
}

const sessions = new Map()
const listener = createServer((request, response) => {
  void transportOf(request.headers['mcp-session-id']).then((transport) =>
    transport.handleRequest(request, response),
  )
})
listener.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: listener.address().port })))

function transportTo({ url, command, args, env }) {
  if (url !== undefined) return new StreamableHTTPClientTransport(new URL(url))
  // 4 MiB of text is more than that once it is JSON.
  return new StdioClientTransport({ command, args, env, maxBufferSize: 64 * 1024 * 1024 })
}

async function transportOf(id) {
  const known = sessions.get(id)
  if (known) return known
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (session) => void sessions.set(session, transport),
  })
  const server = new Server(INFO, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools: [...tools.values()].map(({ tool }) => tool) }))
  server.setRequestHandler('tools/call', ({ params }) => {
    const { client, inner } = tools.get(params.name)
    return client.callTool({ name: inner, arguments: params.arguments })
  })
  await server.connect(transport)
  return transport
}
