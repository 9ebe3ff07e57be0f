// A server over HTTP that pushes its questions on the session's stream instead of the call's, as the official SDK does by
// `server.server.elicitInput`: its calls are made one at a time, and each client hears its own.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { AGENTS, place, up } from './hub.ts'
import { WireClient } from './wire-client.ts'

/** `ask` asks who it is, and says what it heard; `start` answers and asks later; `slow` asks nothing. */
async function pushing(): Promise<string> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const newSession = async () => {
    const server = new McpServer({ name: 'pushing', version: '1' })
    server.registerTool('ask', { inputSchema: { who: z.string() } }, async ({ who }) => {
      const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } }
      const { content } = await server.server.elicitInput({ message: `${who}?`, requestedSchema })
      return { content: [{ type: 'text', text: `${who}: ${content?.['name']}` }] }
    })
    server.registerTool('start', { inputSchema: { who: z.string() } }, ({ who }) => {
      const requestedSchema = { type: 'object' as const, properties: {} }
      const ask = () => server.server.elicitInput({ message: `a secret of ${who}`, requestedSchema })
      setTimeout(() => void ask().catch(() => undefined), 400)
      return { content: [] }
    })
    server.registerTool('slow', {}, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1000))
      return { content: [] }
    })
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await server.connect(transport as never)
    return transport
  }
  const http = createServer(async (request, response) => {
    const session = sessions.get(String(request.headers['mcp-session-id'])) ?? (await newSession())
    await session.handleRequest(request, response)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
}

async function started() {
  const agents = { ...AGENTS, bob: { servers: ['*'], token: 'bobs-token', approval: 'never' } }
  const servers = { push: { type: 'http', url: await pushing() } }
  const gateway = await up(place().sandbox, { servers, agents })
  const capabilities = { elicitation: {} }
  const ada = await WireClient.open(gateway, '/mcp/push', { capabilities })
  const bob = await WireClient.open(gateway, '/mcp/push', { capabilities, token: 'bobs-token' })
  return { ada, bob }
}

test('[C1][C11] two clients call a server at once that pushes its questions outside of their streams, and each hears its own', async () => {
  const { ada, bob } = await started()
  const answered = async (client: WireClient, who: string) => {
    const events = await client.begin('ask', { who })
    const { id, params } = await events.find('elicitation/create')
    expect(params.message).toBe(`${who}?`)
    await client.answer(id, { action: 'accept', content: { name: who } })
    return (await events.find(1)).result.content[0].text
  }
  // That it pushes is seen with the first question.
  expect(await answered(ada, 'Ada')).toBe('Ada: Ada')
  for (let round = 0; round < 2; round++)
    expect(await Promise.all([answered(ada, 'Ada'), answered(bob, 'Bob')])).toEqual(['Ada: Ada', 'Bob: Bob'])
})

test('[C11] what such a server asks after its answer is shown to nobody who calls then', async () => {
  const { ada, bob } = await started()
  await ada.call('start', { who: 'Ada' })
  const events = await (await bob.begin('slow')).end()
  expect(events.of('elicitation/create')).toEqual([])
})

test('[C1] the first question reaches who waits for it, though another client was answered a moment ago', async () => {
  const { ada, bob } = await started()
  await bob.call('slow')
  const events = await ada.begin('ask', { who: 'Ada' })
  const { id, params } = await events.find('elicitation/create')
  expect(params.message).toBe('Ada?')
  await ada.answer(id, { action: 'accept', content: { name: 'Ada' } })
  expect((await events.find(1)).result.content[0].text).toBe('Ada: Ada')
})
