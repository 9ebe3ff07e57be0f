// Clients on the official SDKs behind one small face, so that the same test runs over each of them.
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  SSEClientTransport as SseV2,
  type Transport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'
import { type ServerOptions, serverCommand, startServer } from './start.ts'
import { WebSocketTransport } from './websocket-client.ts'

export type Kind = 'v1' | 'v2 legacy' | 'v2 modern'
export type Wire = 'stdio' | 'http' | 'http event streams' | 'sse' | 'websocket'

/** Every pair that can work: v1 has no modern era, and the old transport has no modern era either. */
export const PAIRS: [Kind, Wire][] = [
  ['v1', 'stdio'],
  ['v1', 'http'],
  ['v1', 'http event streams'],
  ['v1', 'sse'],
  ['v2 legacy', 'stdio'],
  ['v2 legacy', 'http'],
  ['v2 legacy', 'sse'],
  ['v2 legacy', 'websocket'],
  ['v2 modern', 'stdio'],
  ['v2 modern', 'http'],
  ['v2 modern', 'http event streams'],
  ['v2 modern', 'websocket'],
]

export interface Progress {
  progress: number
  total?: number | undefined
}

export interface Session {
  client: ClientV1 | ClientV2
  /** The result as it came. */
  call(name: string, given?: Record<string, unknown>, onprogress?: (one: Progress) => void): Promise<unknown>
  toolNames(): Promise<string[]>
  /** Resolves with the next list_changed of tools. Await the outer promise first: then the server knows. */
  watchTools(): Promise<{ changed: Promise<void> }>
}

const INFO = { name: 'test-client', version: '1.0.0' }
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const SAMPLE = {
  model: 'test-model',
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'Paris' },
}
const ROOTS = { roots: [{ uri: 'file:///work', name: 'work' }] }

/** Starts a server and connects to it; both end with the test. */
export async function open(
  kind: Kind,
  wire: Wire,
  mode: string,
  options: ServerOptions & { env?: Record<string, string> } = {},
): Promise<Session> {
  const target = await place(wire, mode, options)
  const session =
    kind === 'v1' ? await openV1(wire, target) : await openV2(wire, target, kind === 'v2 modern')
  onTestFinished(() => session.client.close())
  return session
}

// --- internal ---

type Target = { command: string; args: string[]; env: Record<string, string> } | URL

async function place(
  wire: Wire,
  mode: string,
  options: ServerOptions & { env?: Record<string, string> },
): Promise<Target> {
  const { env = {}, ...rest } = options
  if (wire === 'stdio') return { ...serverCommand(mode, rest), env }
  const streams = wire === 'http event streams'
  const transport = streams ? 'http' : wire
  const { url } = await startServer(mode, { ...rest, env, transport, ...(streams && { sse: true }) })
  return new URL(url)
}

function answerForm(params: { mode?: string | undefined }) {
  const accept = 'accept' as const
  return params.mode === 'url' ? { action: accept } : { action: accept, content: { name: 'Ada', age: 36 } }
}

async function openV1(wire: Wire, target: Target): Promise<Session> {
  const client = new ClientV1(INFO, { capabilities: CAPABILITIES })
  client.setRequestHandler(ElicitRequestSchema, (request) => answerForm(request.params))
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLE)
  client.setRequestHandler(ListRootsRequestSchema, () => ROOTS)
  const transport =
    target instanceof URL
      ? new (wire === 'sse' ? SseV1 : HttpV1)(target)
      : new StdioV1({ ...target, stderr: 'inherit' })
  // The v1 types were not written for exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<ClientV1['connect']>[0])
  return {
    client,
    call: (name, given = {}, onprogress) =>
      client.callTool({ name, arguments: given }, undefined, onprogress && { onprogress }),
    async toolNames() {
      const names: string[] = []
      let cursor: string | undefined
      do {
        const page = await client.listTools(cursor === undefined ? {} : { cursor })
        names.push(...page.tools.map((tool) => tool.name))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return names
    },
    async watchTools() {
      const changed = new Promise<void>((resolve) => {
        client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve())
      })
      return { changed }
    },
  }
}

// The SDK probes a second process for its own class; a subclass is probed in place.
class InPlace extends StdioV2 {}

function transportV2(wire: Wire, target: Target): Transport {
  if (!(target instanceof URL)) return new InPlace({ ...target, stderr: 'inherit' })
  if (wire === 'websocket') return new WebSocketTransport(target)
  return wire === 'sse' ? new SseV2(target) : new HttpV2(target)
}

async function openV2(wire: Wire, target: Target, modern: boolean): Promise<Session> {
  const client = new ClientV2(INFO, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: modern ? { pin: '2026-07-28' } : 'legacy' },
  })
  client.setRequestHandler('elicitation/create', (request) => answerForm(request.params))
  client.setRequestHandler('sampling/createMessage', () => SAMPLE)
  client.setRequestHandler('roots/list', () => ROOTS)
  await client.connect(transportV2(wire, target))
  return {
    client,
    call: (name, given = {}, onprogress) =>
      client.callTool({ name, arguments: given }, onprogress && { onprogress }),
    toolNames: async () =>
      (await client.listTools({}, { cacheMode: 'refresh' })).tools.map((tool) => tool.name),
    async watchTools() {
      const changed = new Promise<void>((resolve) => {
        client.setNotificationHandler('notifications/tools/list_changed', () => resolve())
      })
      if (modern) await client.listen({ toolsListChanged: true })
      return { changed }
    },
  }
}
