// What single messages of a legacy session carry to a server and back.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, type Answer, type Gateway, ownServer, place, until, up } from './hub.ts'
import { greeting, WireClient } from './wire-client.ts'

const plain = serverCommand('plain', { era: 'legacy' })

const started = (servers: object, agents: object = AGENTS): Promise<Gateway> =>
  up(place().sandbox, { servers, agents })

test('[B6][C1] several messages in one request, as 2025-03-26 had it, are answered together', async () => {
  const gateway = await started({ plain })
  const client = await WireClient.open(gateway, '/mcp/plain', { version: '2025-03-26' })
  const call = (id: unknown, name: string, given: object, meta?: object) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: given, ...(meta && { _meta: meta }) },
  })
  const answers = (await (
    await client.post([
      call('one', 'echo', { text: 'a [text], with "brackets" ]' }),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      call(2, 'add', { a: 1, b: 2 }),
      { jsonrpc: '2.0', id: 3, method: 'ping' },
      { jsonrpc: '2.0', id: 4, method: 'no/such' },
    ])
  ).json()) as Answer[]
  const by = new Map(answers.map((one) => [one.id, one]))
  expect([...by.keys()].sort()).toEqual([2, 3, 4, 'one'])
  expect(by.get('one').result.content[0].text).toBe('a [text], with "brackets" ]')
  expect([by.get(2).result.structuredContent, by.get(3).result]).toEqual([{ sum: 3 }, {}])
  expect(by.get(4).error.code).toBe(-32601)
  const notes = [1, 2].map(() => ({ jsonrpc: '2.0', method: 'notifications/initialized' }))
  expect((await client.post(notes)).status).toBe(202)
  // Progress comes before all answers.
  const streamed = await client.post([
    call(1, 'progress', { steps: 2 }, { progressToken: 'p' }),
    call(2, 'echo', { text: 'x' }),
  ])
  const events = [...(await streamed.text()).matchAll(/^data: (.+)$/gm)].map(([, data]) =>
    JSON.parse(data ?? ''),
  )
  expect(events.slice(0, 2).map(({ params }) => [params.progressToken, params.progress])).toEqual([
    ['p', 1],
    ['p', 2],
  ])
  expect(events[2].map(({ id }: Answer) => id).sort()).toEqual([1, 2])
  for (const body of [[], Array.from({ length: 101 }, () => notes[0])])
    expect((await client.post(body)).status).toBe(400)
})

test('[B6] ids come back as they were sent, whatever they are', async () => {
  const gateway = await started({ plain })
  const client = await WireClient.open(gateway, '/mcp/plain')
  for (const id of ['0', '""', '"a\\u0000b"', '-1', '9007199254740991', `"${'x'.repeat(5000)}"`]) {
    const body = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`
    const answer = (await (await client.post(body)).json()) as Answer
    expect([answer.id, answer.result.content[0].text]).toEqual([JSON.parse(id), 'x'])
  }
})

test('[B9] what a request says beside its arguments reaches the server, and what it answers comes back', async () => {
  const { sandbox } = place()
  const own = ownServer(
    sandbox,
    '{ last: () => 0 }',
    `globalThis.methods = { 'tools/call': (params) => ({
  content: [{ type: 'text', text: JSON.stringify(params) }],
  odd: { kept: [1, null] },
  _meta: { trace: 'back' },
}) }`,
  )
  const gateway = await up(sandbox, { servers: { own }, agents: AGENTS })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  for (const path of ['/mcp/own', '/mcp']) {
    const client = await WireClient.open(gateway, path)
    const { result } = await client.ask('tools/call', {
      name: path === '/mcp' ? 'mcp__own__last' : 'last',
      arguments: { é: 'ü' },
      _meta: { traceparent, tracestate: 'a=b', 'example.com/own': { deep: [1] } },
      unknown: { kept: true },
    })
    expect(JSON.parse(result.content[0].text)).toEqual({
      name: 'last',
      arguments: { é: 'ü' },
      _meta: { traceparent, tracestate: 'a=b', 'example.com/own': { deep: [1] } },
      unknown: { kept: true },
    })
    expect([result.odd, result._meta]).toEqual([{ kept: [1, null] }, { trace: 'back' }])
  }
})

test('[B9] headers that mean nothing here are refused', async () => {
  const gateway = await started({ plain })
  const client = await WireClient.open(gateway, '/mcp/plain')
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const status = async (headers: Record<string, string>, body: unknown = ping) =>
    (await client.post(body, headers)).status
  for (const version of ['2025-11-25', '2025-06-18', '2025-03-26'])
    expect(await status({ 'mcp-protocol-version': version })).toBe(200)
  for (const version of ['1999-01-01', '2031-01-01', 'nonsense'])
    expect([version, await status({ 'mcp-protocol-version': version })]).toEqual([version, 400])
  const unknown = await client.post(ping, { 'mcp-protocol-version': '1999-01-01' })
  expect(((await unknown.json()) as Answer).error).toMatchObject({
    code: -32022,
    message: expect.stringContaining('1999-01-01'),
  })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])
    expect([type, await status({ 'content-type': type })]).toEqual([type, 415])
  expect(await status({ 'content-type': 'application/json; charset=utf-8' })).toBe(200)
  // A client that reads no streams gets its answer all the same.
  const params = { name: 'progress', arguments: { steps: 2 }, _meta: { progressToken: 1 } }
  const answer = await client.post(
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params },
    { accept: 'application/json' },
  )
  expect(((await answer.json()) as Answer).result.content[0].text).toBe('2 steps')
})

test('[B9] an unknown method is asked a person for, and carried untouched once it is allowed', async () => {
  const { sandbox } = place()
  const own = ownServer(
    sandbox,
    '{}',
    `globalThis.methods = { 'vendor/thing': (params) => ({ got: params, n: 1.5 }) }`,
  )
  const agents = { ada: { ...AGENTS.ada, approval: 'always' } }
  const gateway = await up(sandbox, { servers: { own }, agents, approvals: { wait: 0 } })
  const client = await WireClient.open(gateway, '/mcp/own')
  const ask = () => client.ask('vendor/thing', { deep: { é: [1, 2.5] }, _meta: { own: 1 } })
  const { error } = await ask()
  expect(error.data.code).toBe('APPROVAL_PENDING')
  expect((await sandbox.run(['approve', 'allow', error.data.approval])).code).toBe(0)
  expect((await ask()).result).toEqual({ got: { deep: { é: [1, 2.5] }, _meta: { own: 1 } }, n: 1.5 })
  const { calls } = (await sandbox.run(['usage', '--calls', '--json'])).json
  expect(calls?.map(({ tool, outcome }: Answer) => [tool, outcome])).toEqual([
    ['#vendor/thing', 'ok'],
    ['#vendor/thing', 'denied'],
  ])
  const other = await client.ask('no/such', {})
  expect(other.error.data.code).toBe('APPROVAL_PENDING')
})

const TASKS = `
const tasks = []
globalThis.capabilities = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
globalThis.methods = {
  'tools/call': () => {
    const task = { taskId: 't' + (tasks.length + 1), status: 'working', createdAt: 'now', ttl: null }
    tasks.push(task)
    if (tasks.length === 2) globalThis.say({ method: 'notifications/tasks/status', params: tasks[0] })
    return { task }
  },
  'tasks/get': ({ taskId }) => tasks.find((one) => one.taskId === taskId),
  'tasks/result': ({ taskId }) => ({ content: [{ type: 'text', text: taskId }] }),
  'tasks/cancel': ({ taskId }) => {
    globalThis.say({ method: 'notifications/tasks/status', params: { taskId, status: 'cancelled' } })
    return { taskId, status: 'cancelled' }
  },
  'tasks/list': () => ({ tasks }),
}
`

test('[C11] a task is known to who started it alone, at both endpoints', async () => {
  const { sandbox } = place()
  const own = ownServer(sandbox, '{ start: () => 0 }', TASKS)
  const bob = { servers: ['*'], token: 'bobs-token', approval: 'never' }
  const gateway = await up(sandbox, { servers: { own }, agents: { ...AGENTS, bob } })
  const ada = await WireClient.open(gateway, '/mcp/own')
  const other = await WireClient.open(gateway, '/mcp/own', { token: 'bobs-token' })
  const heard = { ada: await ada.listen(), bob: await other.listen() }
  const start = (client: WireClient, name = 'start') =>
    client.ask('tools/call', { name, arguments: {}, task: { ttl: 1000 } })
  expect((await start(ada)).result.task.taskId).toBe('t1')
  // In the middle of this call the server speaks of the other's task.
  const events = await other.begin('start', {}, 1)
  expect((await events.end()).messages.every(({ method }) => method === undefined)).toBe(true)
  await heard.ada.find('notifications/tasks/status')
  expect((await ada.ask('tasks/get', { taskId: 't1' })).result.status).toBe('working')
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
    expect((await ada.ask(method, { taskId: 't2' })).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('t2'),
    })
  const ids = async (client: WireClient) =>
    (await client.ask('tasks/list')).result.tasks.map(({ taskId }: Answer) => taskId)
  expect([await ids(ada), await ids(other)]).toEqual([['t1'], ['t2']])
  const whole = await WireClient.open(gateway)
  expect((await start(whole, 'mcp__own__start')).result.task.taskId).toBe('t3')
  expect((await whole.ask('tasks/result', { taskId: 't3' })).result.content[0].text).toBe('t3')
  expect((await whole.ask('tasks/get', { taskId: 't2' })).error.code).toBe(-32602)
  expect((await ada.ask('tasks/cancel', { taskId: 't1' })).result.status).toBe('cancelled')
  await until(() => heard.ada.of('notifications/tasks/status').length === 2)
  expect((await other.ask('ping')).result).toEqual({})
  expect(heard.bob.of('notifications/tasks/status')).toEqual([])
})

test('[C1] initialize in the middle of a session begins another', async () => {
  const gateway = await started({ plain })
  const client = await WireClient.open(gateway, '/mcp/plain')
  const answer = await client.post(greeting())
  expect(answer.headers.get('mcp-session-id')).not.toBe(client.id)
  expect((await client.ask('ping')).result).toEqual({})
})

test('[C10] an agent has so many sessions: the idle give way, and when all are in use there is a reason', async () => {
  const gateway = await up(place().sandbox, {
    servers: { plain },
    agents: { ...AGENTS, bob: { servers: ['*'], token: 'bobs-token', approval: 'never' } },
    gateway: { limits: { sessions: 2 } },
  })
  const oldest = await WireClient.open(gateway)
  const older = await WireClient.open(gateway)
  const newest = await WireClient.open(gateway)
  for (const client of [older, newest]) await client.listen()
  const full = await gateway.post('/mcp', greeting())
  expect([full.status, full.headers.get('mcp-session-id')]).toEqual([429, null])
  const { id, error } = (await full.json()) as Answer
  expect([id, error.data.code]).toEqual([0, 'GATEWAY_LIMIT'])
  expect(error.message).toContain('ada has 2 sessions in use')
  // The one that gave way has no place to come back to.
  expect((await oldest.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(429)
  expect(await oldest.tell('notifications/initialized')).toBe(429)
  expect((await oldest.get()).status).toBe(429)
  expect((await WireClient.open(gateway, '/mcp', { token: 'bobs-token' })).id).not.toBe('')
  expect(await older.delete()).toBe(204)
  expect((await oldest.ask('ping')).result).toEqual({})
})

test('[C10] a session that nobody used for long is over, unless its id says all of it', async () => {
  const gateway = await up(place().sandbox, {
    servers: { plain },
    agents: AGENTS,
    gateway: { limits: { sessionIdle: 1 } },
  })
  const bare = await WireClient.open(gateway)
  const client = await WireClient.open(gateway)
  const stream = await client.listen()
  expect((await client.ask('logging/setLevel', { level: 'error' })).result).toEqual({})
  // While it reads it is in use.
  expect((await client.ask('ping')).result).toEqual({})
  stream.leave()
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  await until(async () => (await client.post(ping)).status === 404)
  expect((await bare.ask('ping')).result).toEqual({})
})
