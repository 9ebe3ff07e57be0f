// What the two reference servers on the official SDKs share: their content, and HTTP with sessions.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { z } from 'zod'
import { wait } from './modes/parts.mjs'
import { text } from './protocol.mjs'

const HOST = '127.0.0.1'

/**
 * @typedef {object} Request What differs between the SDKs about one request.
 * @property {AbortSignal} signal
 * @property {string | number} [progressToken]
 * @property {(notification: object) => Promise<void>} notify
 *
 * Puts the tools, the resource and the prompt on a server of either SDK.
 * @param {any} server An McpServer.
 * @param {(extra: any) => Request} requestOf
 * @param {(shape: object) => unknown} shaped v1 takes raw shapes, v2 whole schemas.
 */
export function fill(server, requestOf, shaped) {
  server.registerTool(
    'echo',
    { description: 'Gives back the text', inputSchema: shaped({ text: z.string() }) },
    async (given) => text(given.text),
  )
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers',
      inputSchema: shaped({ a: z.number(), b: z.number() }),
      outputSchema: shaped({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    async ({ a, b }) => text(JSON.stringify({ sum: a + b }), { structuredContent: { sum: a + b } }),
  )
  server.registerTool(
    'sleep',
    { description: 'Answers after some milliseconds', inputSchema: shaped({ ms: z.number() }) },
    async ({ ms }, extra) => {
      await wait(ms, requestOf(extra).signal)
      return text(`slept ${ms} ms`)
    },
  )
  server.registerTool(
    'progress',
    { description: 'Reports progress in steps', inputSchema: shaped({ steps: z.number().int().default(3) }) },
    async ({ steps }, extra) => {
      const { progressToken, notify } = requestOf(extra)
      for (let progress = 1; progress <= steps && progressToken !== undefined; progress++) {
        await notify({ method: 'notifications/progress', params: { progressToken, progress, total: steps } })
      }
      return text(`${steps} steps`)
    },
  )
  server.registerResource('text', 'test://text', { mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'A text' }],
  }))
  server.registerPrompt(
    'greet',
    { description: 'Greets somebody', argsSchema: shaped({ name: z.string() }) },
    async ({ name }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Say hello to ${name}` } }],
    }),
  )
  return server
}

/**
 * Streamable HTTP with one transport and one server per session.
 * @param {() => any} makeServer @param {new (options: object) => any} Transport
 */
export function sessionHandler(makeServer, Transport) {
  const sessions = new Map()
  return async (request, response) => {
    const id = request.headers['mcp-session-id']
    if (id !== undefined && !sessions.has(id)) return response.writeHead(404).end()
    let transport = sessions.get(id)
    if (!transport) {
      transport = new Transport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (created) => void sessions.set(created, transport),
        onsessionclosed: (closed) => void sessions.delete(closed),
      })
      await makeServer().connect(transport)
    }
    await transport.handleRequest(request, response)
  }
}

/** Listens and gives the url. @param {(request: any, response: any) => unknown} handle @param {number} port */
export async function listen(handle, port) {
  const listener = createServer((request, response) => {
    if (new URL(request.url, `http://${HOST}`).pathname === '/mcp') return handle(request, response)
    response.writeHead(404).end()
  })
  await new Promise((resolve) => listener.listen(port, HOST, resolve))
  return `http://${HOST}:${listener.address().port}/mcp`
}

/** Ends the process as a server should. */
export function endPolitely() {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0))
}
