// Tasks that servers keep for who started them, in both eras.

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { Sandbox } from './cli.ts'
import { AGENTS, type Answer, type Gateway, ownServer, place, up } from './hub.ts'
import { modern, WireClient } from './wire-client.ts'

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

/** Over stdio: it numbers its tasks, and begins from one in each run. */
const COUNTING = `
const tasks = [], asked = []
globalThis.capabilities = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
globalThis.seen = (method, params) => { if (method?.startsWith('tasks/')) asked.push(method) }
globalThis.methods = {
  'tools/call': ({ name, arguments: { value } }) => {
    if (name === 'asked') return { content: [{ type: 'text', text: JSON.stringify(asked) }] }
    const task = { taskId: 't' + (tasks.length + 1), status: 'working', statusMessage: value, createdAt: 'now', ttl: null }
    tasks.push(task)
    return { task }
  },
  'tasks/get': ({ taskId }) => tasks.find((one) => one.taskId === taskId),
  'tasks/result': ({ taskId }) => ({ content: [{ type: 'text', text: tasks.find((one) => one.taskId === taskId).statusMessage }] }),
  'tasks/cancel': ({ taskId }) => ({ ...tasks.find((one) => one.taskId === taskId), status: 'cancelled' }),
  'tasks/list': () => ({ tasks }),
}
`
const counting = (sandbox: Sandbox) => ownServer(sandbox, '{ start: 0, asked: 0 }', COUNTING)

/** The same in the modern era; it tells who listens of each task that they may hear of, and notes what they wanted. */
const TELLING = `
const wanted = [], streams = new Map()
let last = 0
const tell = (id, method, params) => globalThis.say({ method, params: { ...params, _meta: { 'io.modelcontextprotocol/subscriptionId': id } } })
const told = (taskId, status) => {
  for (const [id, tasks] of streams) if (tasks.includes(taskId)) tell(id, 'notifications/tasks', { taskId, status })
}
globalThis.seen = (method, params, line) => {
  if (method === 'notifications/cancelled') streams.delete(params.requestId)
  if (method !== 'subscriptions/listen' || !params.notifications.taskIds) return
  const { id } = JSON.parse(line)
  const { taskIds } = params.notifications
  wanted.push({ taskIds, client: params._meta['io.modelcontextprotocol/clientCapabilities'] })
  if (process.env.SILENT) return
  streams.set(id, taskIds)
  tell(id, 'notifications/subscriptions/acknowledged', { notifications: { taskIds } })
}
globalThis.methods = {
  'server/discover': () => ({
    resultType: 'complete', supportedVersions: ['2026-07-28'], ttlMs: 0, cacheScope: 'private',
    capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } }, extensions: { '${TASKS}': {}, 'com.example/own': {} } },
  }),
  'subscriptions/listen': () => new Promise(() => {}),
  'tools/call': ({ name, arguments: { taskId, status } }) => {
    const text = (value) => ({ resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(value) }] })
    if (name === 'wanted') return text(wanted)
    if (name === 'tell') return text(told(taskId, status) ?? null)
    return { resultType: 'task', taskId: 't' + ++last, status: 'working', createdAt: new Date().toISOString(), ttlMs: null }
  },
  'tasks/get': ({ taskId }) => ({ resultType: 'complete', taskId, status: 'working' }),
}
`
const telling = (sandbox: Sandbox, env: Record<string, string> = {}) => ({
  ...ownServer(sandbox, '{ start: 0, tell: 0, wanted: 0 }', TELLING),
  env,
})

/** What a modern client that knows tasks is answered. */
async function ask(
  gateway: Gateway,
  path: string,
  method: string,
  params: Answer,
  more: { token?: string; name?: string } = {},
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

test('[C1] clients of all servers as one are told of tasks in the words of their era, as far as their servers have them', async () => {
  const { sandbox } = place()
  const servers = { old: counting(sandbox), young: telling(sandbox) }
  const agents = {
    ...AGENTS,
    elder: { servers: ['old'], token: 'elders-token' },
    youth: { servers: ['young'], token: 'youths-token' },
  }
  const gateway = await up(sandbox, { servers, agents })
  const legacy = { requests: { tools: { call: {} } }, cancel: {} }
  for (const [token, tasks, extensions] of [
    [AGENTS.ada.token, legacy, { [TASKS]: {} }],
    ['elders-token', legacy, undefined],
    ['youths-token', undefined, { [TASKS]: {} }],
  ] as const) {
    const discovered = (await ask(gateway, '/mcp', 'server/discover', {}, { token })).result.capabilities
    expect([discovered.tasks, discovered.extensions]).toEqual([undefined, extensions])
    const { welcome } = await WireClient.open(gateway, '/mcp', { token })
    expect([welcome.capabilities.tasks, welcome.capabilities.extensions]).toEqual([tasks, undefined])
    const unknown = await ask(gateway, '/mcp', 'tasks/get', { taskId: 'none' }, { token })
    expect(unknown.error.code).toBe(extensions ? -32602 : -32601)
  }
})
