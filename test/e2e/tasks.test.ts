// Tasks that servers keep for who started them, in both eras: found again, told of, and nobody else's.

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { Sandbox } from './cli.ts'
import { AGENTS, type Answer, type Gateway, ownServer, place, until, up } from './hub.ts'
import { owner } from './owner.ts'
import { modern, WireClient } from './wire-client.ts'

const TASKS = 'io.modelcontextprotocol/tasks'
const CLIENT = { extensions: { [TASKS]: {} } }
const BOB = 'bobs-token'
const TEAM = { ...AGENTS, bob: { servers: ['*'], token: BOB, approval: 'never' } }

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
let last = 0, asks
const tell = (id, method, params) => globalThis.say({ method, params: { ...params, _meta: { 'io.modelcontextprotocol/subscriptionId': id } } })
const told = (taskId, status) => {
  for (const [id, tasks] of streams) if (tasks.includes(taskId)) tell(id, 'notifications/tasks', { taskId, status, ...asks })
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
    if (name === 'sample') return text((asks = { inputRequests: { s1: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5, systemPrompt: status } } } }) && null)
    if (name === 'tell') return text(told(taskId, status) ?? null)
    return { resultType: 'task', taskId: 't' + ++last, status: 'working', createdAt: new Date().toISOString(), ttlMs: null }
  },
  'tasks/get': ({ taskId }) => ({ resultType: 'complete', taskId, status: asks ? 'input_required' : 'working', ...asks }),
}
`
const telling = (sandbox: Sandbox, env: Record<string, string> = {}) => ({
  ...ownServer(sandbox, '{ start: 0, tell: 0, wanted: 0, sample: 0 }', TELLING),
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

const listen = (gateway: Gateway, path: string, taskIds: unknown, token?: string) =>
  modern(
    gateway,
    path,
    'subscriptions/listen',
    { notifications: { taskIds } },
    { capabilities: CLIENT, ...(token && { token }) },
  )

const start = (client: WireClient, name: string, value: string) =>
  client.ask('tools/call', { name, arguments: { value }, task: { ttl: 1000 } })

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

test('[C11] an id that a server gives out again after it was started anew is nobody else’s', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { one: counting(sandbox) }, agents: TEAM })
  const ada = await WireClient.open(gateway)
  const bob = await WireClient.open(gateway, '/mcp', { token: BOB })
  expect((await start(ada, 'mcp__one__start', 'of ada')).result.task.taskId).toBe('t1')
  const asOwner = owner(sandbox, gateway)
  expect((await asOwner('POST /api/servers/one/restart')).status).toBe(200)
  expect((await start(bob, 'mcp__one__start', 'of bob')).result.task.taskId).toBe('t1')
  const there = {
    ada: await WireClient.open(gateway, '/mcp/one'),
    bob: await WireClient.open(gateway, '/mcp/one', { token: BOB }),
  }
  for (const client of [bob, there.bob]) {
    expect((await client.ask('tasks/get', { taskId: 't1' })).result.statusMessage).toBe('of bob')
    expect((await client.ask('tasks/result', { taskId: 't1' })).result.content[0].text).toBe('of bob')
  }
  for (const client of [ada, there.ada])
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      expect((await client.ask(method, { taskId: 't1' })).error?.code).toBe(-32602)
  const listed = async (client: WireClient) => (await client.ask('tasks/list')).result.tasks.length
  expect([await listed(there.ada), await listed(there.bob)]).toEqual([0, 1])
})

test('[C11] where two servers gave the same id, neither is told what may be meant for the other', async () => {
  const { sandbox } = place()
  const servers = { one: counting(sandbox), two: counting(sandbox) }
  const gateway = await up(sandbox, { servers, agents: TEAM })
  const ada = await WireClient.open(gateway)
  for (const server of ['one', 'two'])
    expect((await start(ada, `mcp__${server}__start`, server)).result.task.taskId).toBe('t1')
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
    expect((await ada.ask(method, { taskId: 't1' })).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/one and two both have a task "t1".*\/mcp\/one or \/mcp\/two/),
    })
  for (const server of ['one', 'two']) {
    const there = await WireClient.open(gateway, `/mcp/${server}`)
    expect(JSON.parse((await there.call('asked')).content[0].text)).toEqual([])
    expect((await there.ask('tasks/get', { taskId: 't1' })).result.statusMessage).toBe(server)
  }
  // Who still asks about one that is gone is not given the other.
  await owner(sandbox, gateway)('POST /api/servers/one/restart')
  const bob = await WireClient.open(gateway, '/mcp', { token: BOB })
  expect((await start(bob, 'mcp__one__start', 'of bob')).result.task.taskId).toBe('t1')
  expect((await ada.ask('tasks/get', { taskId: 't1' })).error.message).toContain('both have')
  expect((await bob.ask('tasks/get', { taskId: 't1' })).result.statusMessage).toBe('of bob')
})

test('[C11] how a task gets on is told to whose it is, at both endpoints, and to nobody else who asks for it', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { one: telling(sandbox) }, agents: TEAM })
  const call = async (name: string, given: object = {}, token?: string) =>
    (await ask(gateway, '/mcp/one', 'tools/call', { name, arguments: given }, token ? { token } : {})).result
  expect((await call('start')).taskId).toBe('t1')
  const acknowledged = async (stream: Awaited<ReturnType<typeof listen>>) =>
    (await stream.find('notifications/subscriptions/acknowledged')).params.notifications
  const ada = [await listen(gateway, '/mcp', ['t1', 't9']), await listen(gateway, '/mcp/one', ['t1'])]
  for (const stream of ada) expect(await acknowledged(stream)).toEqual({ taskIds: ['t1'] })
  const bob = [
    await listen(gateway, '/mcp', ['t1', 't2'], BOB),
    await listen(gateway, '/mcp/one', ['t1', 't2', ['t1']], BOB),
  ]
  expect(await acknowledged(bob[0] as never)).toEqual({})
  // What there is not yet may be asked for; once it is somebody else's it is not told of.
  expect(await acknowledged(bob[1] as never)).toEqual({ taskIds: ['t2'] })
  expect(JSON.parse((await call('wanted')).content[0].text)).toEqual(
    [['t1'], ['t1'], ['t2']].map((taskIds) => ({ taskIds, client: CLIENT })),
  )
  expect((await call('start')).taskId).toBe('t2')
  for (const taskId of ['t1', 't2']) await call('tell', { taskId, status: 'completed' })
  for (const stream of ada) {
    const { params } = await stream.find('notifications/tasks')
    expect(params).toMatchObject({ taskId: 't1', status: 'completed' })
    expect(params._meta['io.modelcontextprotocol/subscriptionId']).toBe('m1')
  }
  // A task of his own, told after all of that.
  expect((await call('start', {}, BOB)).taskId).toBe('t3')
  const own = await listen(gateway, '/mcp', ['t3'], BOB)
  expect(await acknowledged(own)).toEqual({ taskIds: ['t3'] })
  await call('tell', { taskId: 't3', status: 'failed' })
  expect((await own.find('notifications/tasks')).params).toMatchObject({ taskId: 't3', status: 'failed' })
  for (const stream of bob) expect(stream.of('notifications/tasks')).toEqual([])
  for (const stream of ada) expect(stream.of('notifications/tasks')).toHaveLength(1)
})

test('[C10] a server that does not say whether it tells of a task holds up nobody, and nothing is promised for it', async () => {
  const { sandbox } = place()
  const servers = { mute: telling(sandbox, { SILENT: 'yes' }), one: telling(sandbox) }
  const gateway = await up(sandbox, { servers, agents: AGENTS })
  const begin = async (server: string) => {
    const call = { name: `mcp__${server}__start`, arguments: {} }
    return (await ask(gateway, '/mcp', 'tools/call', call)).result.taskId
  }
  expect([await begin('mute'), await begin('one'), await begin('one')]).toEqual(['t1', 't1', 't2'])
  // The first may be of either server.
  const both = await listen(gateway, '/mcp', ['t1', 't2'])
  const { params } = await both.find('notifications/subscriptions/acknowledged')
  expect(params.notifications).toEqual({ taskIds: ['t2'] })
  expect(await begin('mute')).toBe('t2')
  expect(await begin('mute')).toBe('t3')
  const silent = await listen(gateway, '/mcp', ['t3'])
  expect((await silent.find('notifications/subscriptions/acknowledged')).params.notifications).toEqual({})
  both.leave()
  await until(() => both.ended)
})

test('[C13][D11] the use of a model that a task asks for is agreed to by a person before the client hears of it, once', async () => {
  const { sandbox } = place()
  const one = { ...telling(sandbox), approval: { start: 'allow', tell: 'allow', sample: 'allow' } }
  const agents = { ada: { ...AGENTS.ada, approval: 'always' } }
  const gateway = await up(sandbox, { servers: { one }, agents, approvals: { wait: 0 } }, { user: true })
  const call = async (name: string, given: object = {}) =>
    (await ask(gateway, '/mcp/one', 'tools/call', { name, arguments: given })).result
  const look = async () => {
    const { result, error } = await ask(gateway, '/mcp/one', 'tasks/get', { taskId: 't1' })
    return error?.data.code ?? result.inputRequests?.s1.params.systemPrompt ?? result.status
  }
  expect([(await call('start')).taskId, await look()]).toEqual(['t1', 'working'])
  const heard = [await listen(gateway, '/mcp', ['t1']), await listen(gateway, '/mcp/one', ['t1'])]
  for (const stream of heard) await stream.find('notifications/subscriptions/acknowledged')
  await call('sample', { status: 'first' })
  await call('tell', { taskId: 't1', status: 'input_required' })
  expect([await look(), await look()]).toEqual(['APPROVAL_PENDING', 'APPROVAL_PENDING'])
  const { approvals } = (await sandbox.run(['approve', 'list', '--json'])).json
  expect(approvals).toMatchObject([{ address: 'one/#sampling/createMessage', status: 'pending' }])
  expect((await sandbox.run(['approve', 'allow', approvals[0].id])).code).toBe(0)
  expect([await look(), await look()]).toEqual(['first', 'first'])
  await call('tell', { taskId: 't1', status: 'agreed' })
  for (const stream of heard) {
    expect((await stream.find('notifications/tasks')).params.status).toBe('agreed')
    expect(stream.of('notifications/tasks')).toHaveLength(1)
  }
  await call('sample', { status: 'second' })
  expect(await look()).toBe('APPROVAL_PENDING')
})
