// Tasks that servers keep for who started them, in both eras.

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { AGENTS, type Answer, type Gateway, place, up } from './hub.ts'
import { modern } from './wire-client.ts'

const TASKS = 'io.modelcontextprotocol/tasks'
const CLIENT = { extensions: { [TASKS]: {} } }

/** An HTTP server on the official SDK, which refuses a request about a task whose header does not say which. */
async function official(): Promise<{ url: string; seen: IncomingHttpHeaders[] }> {
  const tasks = new Map<string, object>()
  const seen: IncomingHttpHeaders[] = []
  const about = { params: z.looseObject({ taskId: z.string() }) }
  const handle = createMcpHandler(
    () => {
      const capabilities = { tools: {}, extensions: { [TASKS]: {} } }
      const server = new Server({ name: 'tasks', version: '1' }, { capabilities })
      server.setRequestHandler('tools/list', () => ({
        tools: [{ name: 'start', inputSchema: { type: 'object' } }],
      }))
      server.setRequestHandler('tools/call', () => {
        const taskId = `task ${tasks.size + 1} ä`
        tasks.set(taskId, { taskId, status: 'working', createdAt: new Date().toISOString(), ttlMs: null })
        return { resultType: 'task', ...tasks.get(taskId) } as never
      })
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        server.setRequestHandler(method, about, ({ taskId }) => ({ ...tasks.get(taskId), method }))
      return server
    },
    { legacy: 'reject' },
  )
  const answer = toNodeHandler(handle)
  const listener = createServer((request, response) => {
    seen.push(request.headers)
    // Node always knows the method of a request that arrived; only its type does not say so.
    void answer(request as Parameters<typeof answer>[0], response)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  onTestFinished(() => {
    listener.closeAllConnections()
    listener.close()
  })
  return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`, seen }
}

/** What a modern client that knows tasks is answered. */
async function ask(
  gateway: Gateway,
  path: string,
  method: string,
  params: Answer,
  more: { name?: string } = {},
): Promise<Answer> {
  const name = params.name ?? params.taskId
  const asked = await modern(gateway, path, method, params, { name, capabilities: CLIENT, ...more })
  return { status: asked.status, ...(await asked.answer()) }
}

test('[C1] a modern server over HTTP is told in the header which task a request is about, and so is the gateway', async () => {
  const { url, seen } = await official()
  const gateway = await up(place().sandbox, { servers: { far: { url } }, agents: AGENTS })
  for (const [path, name] of [
    ['/mcp', 'mcp__far__start'],
    ['/mcp/far', 'start'],
  ] as const) {
    const { taskId } = (await ask(gateway, path, 'tools/call', { name, arguments: {} })).result
    const header = `=?base64?${Buffer.from(taskId).toString('base64')}?=`
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const params = { taskId, inputResponses: {} }
      expect((await ask(gateway, path, method, params, { name: header })).result).toMatchObject({
        taskId,
        method,
      })
      expect(seen.at(-1)).toMatchObject({ 'mcp-method': method, 'mcp-name': header })
      const before = seen.length
      for (const wrong of ['another', '']) {
        const refused = await ask(gateway, path, method, params, { name: wrong })
        expect([refused.status, refused.error?.code]).toEqual([400, -32020])
      }
      expect(seen.length).toBe(before)
    }
  }
})
