// What the endpoint says to requests that are not right, code by code.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, type Answer, type Gateway, ownServer, place, TOKEN, up } from './hub.ts'
import { greeting, modern, WireClient } from './wire-client.ts'

const plain = serverCommand('plain')

const started = (servers: object = { plain }, more: object = {}): Promise<Gateway> =>
  up(place().sandbox, { servers, agents: AGENTS, ...more })

test('[C1] methods by names that every object has are unknown, in both eras', async () => {
  const gateway = await started()
  const client = await WireClient.open(gateway)
  for (const method of ['constructor', 'toString', '__proto__', 'valueOf', 'hasOwnProperty']) {
    expect([method, (await client.ask(method)).error.code]).toEqual([method, -32601])
    const given = await modern(gateway, '/mcp', method)
    expect([method, (await given.answer()).error.code]).toEqual([method, -32601])
  }
  expect(gateway.stderr()).not.toContain('internal error')
})

test('[B6][C1] an id is given back digit by digit, by whomever the request is answered', async () => {
  const gateway = await started()
  const client = await WireClient.open(gateway)
  const id = '12345678901234567891'
  const call = '"params":{"name":"mcp__plain__echo","arguments":{"text":"x"}}'
  for (const rest of [
    '"method":"ping"',
    '"method":"tools/list"',
    `"method":"tools/call",${call}`,
    '"method":"none"',
  ])
    expect(await (await client.post(`{"jsonrpc":"2.0","id":${id},${rest}}`)).text()).toContain(`"id":${id}`)
  const leave = new AbortController()
  const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
  const listening = await gateway.post(
    '/mcp',
    `{"jsonrpc":"2.0","id":${id},"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},${meta}}}`,
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    leave.signal,
  )
  const { value } = (await listening.body?.getReader().read()) ?? {}
  expect(Buffer.from(value ?? []).toString()).toContain(`subscriptionId":${id}`)
  leave.abort()
})

test('[C1] what is JSON and no request is told apart from what is no JSON, in a list, too', async () => {
  const gateway = await started()
  for (const [body, code, isInList] of [
    ['3', -32600, false],
    ['"text"', -32600, false],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, false],
    ['[3]', -32600, true],
    ['{"jsonrpc"', -32700, false],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc"]', -32700, false],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}', -32700, false],
    ['[]', -32600, false],
  ] as const) {
    const answer: Answer = await (await gateway.post('/mcp', body)).json()
    const first = isInList ? answer[0] : answer
    expect([body, first.id, first.error?.code]).toEqual([body, null, code])
  }
})

test('[C1] a body that is not plain JSON by its name is refused', async () => {
  const gateway = await started()
  const status = async (type: string) =>
    (await gateway.post('/mcp', greeting(), { 'content-type': type })).status
  for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON ;x'])
    expect([type, await status(type)]).toEqual([type, 200])
  for (const type of ['application/json-patch+json', 'application/jsonp', 'text/plain'])
    expect([type, await status(type)]).toEqual([type, 415])
})

test('[C1] listening to nothing, or without a stream, is refused', async () => {
  const gateway = await started()
  const nothing = await modern(gateway, '/mcp', 'subscriptions/listen')
  expect([nothing.status, (await nothing.answer()).error.code]).toEqual([400, -32602])
  const params = {
    notifications: { toolsListChanged: true },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  }
  for (const path of ['/mcp', '/mcp/plain']) {
    const asked = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }
    const answer = await gateway.post(path, asked, {
      accept: 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    })
    expect([path, answer.status]).toEqual([path, 406])
  }
})

test('[B7][C1] an unknown resource, task or cursor is told by its own code', async () => {
  const { sandbox } = place()
  const tasks = ownServer(
    sandbox,
    '{}',
    'globalThis.capabilities = { tasks: { cancel: {}, requests: { tools: { call: {} } } } }',
  )
  const gateway = await up(sandbox, { servers: { plain, tasks }, agents: AGENTS })
  const client = await WireClient.open(gateway)
  const code = async (method: string, params: object) => (await client.ask(method, params)).error?.code
  expect(await code('resources/read', { uri: 'nope://x' })).toBe(-32002)
  expect(await code('resources/read', {})).toBe(-32602)
  const given = await modern(gateway, '/mcp', 'resources/read', { uri: 'nope://x' }, { name: 'nope://x' })
  expect((await given.answer()).error.code).toBe(-32602)
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/result'])
    expect([method, await code(method, { taskId: 'nobodys' })]).toEqual([method, -32602])
  for (const list of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
    expect([list, await code(list, { cursor: 'bogus' })]).toEqual([list, -32602])
    expect([list, await code(list, {})]).toEqual([list, undefined])
  }
})

test('[C11] more sessions than there may be are told when to come back', async () => {
  const gateway = await started({ plain }, { gateway: { limits: { sessions: 1 } } })
  const client = await WireClient.open(gateway)
  await client.listen()
  const refused = await gateway.post('/mcp', greeting(), { authorization: `Bearer ${TOKEN}` })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await refused.json()).toMatchObject({
    id: 0,
    error: { data: { code: 'GATEWAY_LIMIT', retryAfter: 1 } },
  })
})
