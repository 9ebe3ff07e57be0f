// The MCP server behind the authorization servers, on the official SDK: both eras, the legacy one with sessions.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { type AuthInfo, createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

const MODERN_VERSION = '2026-07-28'

/** The request with what the guard found out about its token. */
export type Authorized = IncomingMessage & { auth?: AuthInfo }

/** A JSON-RPC message as far as a guard wants to know it. */
export interface Asked {
  method?: string | undefined
  params?: { name?: string | undefined; _meta?: Record<string, unknown> | undefined } | undefined
}

export interface McpEndpoint {
  /** Serves a request that may pass. */
  handle(request: Authorized, response: ServerResponse, message: Asked | undefined): Promise<void>
  close(): Promise<void>
}

/** Tools: `whoami` (subject, client and scopes of the token as JSON), `echo{text}`, `admin`. */
export function mcpEndpoint(): McpEndpoint {
  const modern = createMcpHandler(makeServer, { legacy: 'reject' })
  const handleModern = toNodeHandler(modern)
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>()

  async function handleLegacy(
    request: Authorized,
    response: ServerResponse,
    message: unknown,
  ): Promise<void> {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (id !== undefined && known === undefined) {
      response.writeHead(404).end()
      return
    }
    const transport = known ?? (await openSession(sessions))
    await transport.handleRequest(request, response, message)
  }

  return {
    handle: (request, response, message) =>
      isModern(request, message)
        ? // Node always knows the method of a request that arrived; only its type does not say so.
          handleModern(request as Parameters<typeof handleModern>[0], response, message)
        : handleLegacy(request, response, message),
    async close() {
      await modern.close()
      await Promise.all([...sessions.values()].map((transport) => transport.close()))
    },
  }
}

// --- internal ---

function makeServer(): McpServer {
  const server = new McpServer({ name: 'behind-authorization', version: '1.0.0' })
  server.registerTool('whoami', { description: 'Tells whose token it is' }, (context) => {
    const { clientId, scopes = [], extra } = context.http?.authInfo ?? {}
    const subject = extra?.['subject']
    return text(JSON.stringify({ subject, client: clientId, scopes }))
  })
  server.registerTool(
    'echo',
    { description: 'Gives back the text', inputSchema: z.object({ text: z.string() }) },
    (given) => text(given.text),
  )
  server.registerTool('admin', { description: 'Needs a further scope' }, () => text('done'))
  return server
}

function text(value: string): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: value }] }
}

async function openSession(
  sessions: Map<string, NodeStreamableHTTPServerTransport>,
): Promise<NodeStreamableHTTPServerTransport> {
  const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  })
  await makeServer().connect(transport)
  return transport
}

function isModern(request: IncomingMessage, message: Asked | undefined): boolean {
  if (message?.method === 'server/discover') return true
  if (message?.params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined) return true
  return request.headers['mcp-protocol-version'] === MODERN_VERSION
}
