// What servers ask in the middle of a call: it reaches the very client that called, when that can answer, and nobody else.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { startFixture, stdioFixture } from '../conformance/processes.ts'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, type Answer, entry, kill, ownServer, place, TOKEN, until, up } from './hub.ts'
import { ASKING, ASKING_TOOLS, Events, WireClient } from './wire-client.ts'

const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const BOB = { servers: ['*'], token: 'bobs-token', approval: 'never' }
const asBob = { token: 'bobs-token', capabilities: ALL }
const FORM = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
}
const SAMPLE = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi?' } }], maxTokens: 10 }
const REPLY = { role: 'assistant', content: { type: 'text', text: 'Hi!' }, model: 'm' }

/** A gateway before one server that asks whatever it is told to. */
async function asking(more: object = {}, agents: object = { ...AGENTS, bob: BOB }) {
  const { sandbox } = place()
  const own = { ...ownServer(sandbox, ASKING_TOOLS, ASKING), ...more }
  const gateway = await up(sandbox, { servers: { own }, agents, approvals: { wait: 0 } })
  const open = (options: object = { capabilities: ALL }, path = '/mcp/own') =>
    WireClient.open(gateway, path, options)
  return { sandbox, gateway, open }
}

/** What the server was told in the end. */
async function told(events: Events, id = 1): Promise<Answer> {
  const { result } = await events.find(id)
  return JSON.parse(result.content[0].text)
}

for (const wire of ['stdio', 'http', 'sse', 'websocket'] as const)
  test(`[C1] a legacy server over ${wire} asks the one who called, with nothing but the call’s own stream`, async () => {
    const servers = { elicit: await entry(wire, 'elicit', { era: 'legacy' }) }
    const gateway = await up(place().sandbox, { servers, agents: AGENTS })
    for (const [path, prefix] of [
      ['/mcp/elicit', ''],
      ['/mcp', 'mcp__elicit__'],
    ] as const) {
      const client = await WireClient.open(gateway, path, { capabilities: ALL })
      for (const [name, method, given] of [
        ['ask', 'elicitation/create', { action: 'accept', content: { name: 'Ada' } }],
        ['ask-url', 'elicitation/create', { action: 'decline' }],
        ['sample', 'sampling/createMessage', REPLY],
        ['roots', 'roots/list', { roots: [{ uri: 'file:///tmp' }] }],
      ] as const) {
        const events = await client.begin(prefix + name)
        const question = await events.find(method)
        if (name === 'ask') expect(question.params.requestedSchema.required).toEqual(['name'])
        expect(await client.answer(question.id, given)).toBe(202)
        expect([name, await told(events)]).toEqual([name, given])
      }
    }
  })

for (const over of ['stdio', 'http'] as const)
  test(`[C1] clients on the official SDK answer a server on it, over ${over}`, async () => {
    const fixture = over === 'http' ? await startFixture() : undefined
    if (fixture) onTestFinished(fixture.close)
    const server = fixture ? { type: 'http', url: fixture.url } : { ...stdioFixture, era: 'legacy' }
    const gateway = await up(place().sandbox, { servers: { fixture: server }, agents: AGENTS })
    const client = new Client({ name: 'sdk', version: '1' }, { capabilities: ALL })
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept',
      content: { username: 'ada', email: 'ada@example.com' },
    }))
    client.setRequestHandler(CreateMessageRequestSchema, () => REPLY as Answer)
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///tmp' }] }))
    const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp/fixture`), {
      requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } },
    })
    await client.connect(transport as never)
    onTestFinished(() => client.close())
    const text = async (name: string, given: object) =>
      ((await client.callTool({ name, arguments: { ...given } })) as Answer).content[0].text
    expect(await text('test_elicitation', { message: 'Who?' })).toContain('ada@example.com')
    expect(await text('test_sampling', { prompt: 'Hi?' })).toContain('Hi!')
  })

test('[C11] a client is asked only what it said it can answer, and sent only to the web', async () => {
  const { open } = await asking()
  const refused = async (client: WireClient, method: string, params: object = {}) => {
    const events = await (await client.begin('ask', { method, params })).end()
    expect(events.messages.filter((one) => one.method === method)).toEqual([])
    const whole = await client.call('ask', { method, params })
    return JSON.parse(whole.content[0].text).error
  }
  const silent = await open({})
  for (const [method, params] of [
    ['elicitation/create', FORM],
    ['sampling/createMessage', SAMPLE],
    ['roots/list', {}],
  ] as const)
    expect(await refused(silent, method, params)).toMatchObject({
      code: -32601,
      message: expect.stringContaining('cannot answer'),
    })
  const forms = await open({ capabilities: { elicitation: {} } })
  const page = { mode: 'url', message: 'Go', elicitationId: 'e', url: 'https://example.com/' }
  expect(await refused(forms, 'elicitation/create', page)).toMatchObject({ code: -32601 })
  const all = await open()
  for (const url of [
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://',
    5,
    undefined,
  ])
    expect(await refused(all, 'elicitation/create', { ...page, url })).toMatchObject({
      message: expect.stringContaining('http'),
    })
  expect(await refused(all, 'vendor/question')).toMatchObject({ code: -32601 })
})

test('[C11] on a shared line what may ask is called for one client at a time, and nobody hears what another gave up', async () => {
  const { open } = await asking()
  const [ada, bob] = [await open(), await open(asBob)]
  await bob.call('free', { key: 0 })
  const wait = { name: 'wait', arguments: { key: 1 } }
  const waiting = bob.post({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: wait })
  const called = async () =>
    JSON.parse((await bob.call('heard', { method: 'tools/call' })).content[0].text).map(
      ({ params }: Answer) => params.name,
    )
  await until(async () => (await called()).includes('wait'))
  const first = ada.begin('ask', { method: 'elicitation/create', params: FORM })
  expect(await called()).not.toContain('ask')
  // Bob cancels; the server may well be still at it and ask on his behalf.
  await bob.tell('notifications/cancelled', { requestId: 9 })
  expect(((await (await waiting).json()) as Answer).result.isError).toBe(true)
  expect(await called()).not.toContain('ask')
  // Once the server has answered what was given up, there is no doubt left.
  await bob.call('free', { key: 1 })
  const events = await first
  const { id } = await events.find('elicitation/create')
  await ada.answer(id, { action: 'cancel' })
  expect(await told(events)).toEqual({ result: { action: 'cancel' } })
})

test('[C11] two agents call a server that asks at the same time, and each hears its own question', async () => {
  const { open } = await asking()
  const [ada, bob] = [await open(), await open(asBob)]
  const ask = (who: string) => ({
    method: 'elicitation/create',
    params: { ...FORM, message: `Is that you, ${who}?` },
  })
  for (let round = 0; round < 3; round++) {
    const both = [
      { client: ada, who: 'Ada', events: ada.begin('ask', ask('Ada'), 20 + round) },
      { client: bob, who: 'Bob', events: bob.begin('ask', ask('Bob'), 20 + round) },
    ]
    const answers = both.map(async ({ client, who, events }) => {
      const heard = await events
      const { id, params } = await heard.find('elicitation/create')
      expect(params.message).toContain(who)
      await client.answer(id, { action: 'accept', content: { name: who } })
      return await told(heard, 20 + round)
    })
    expect(await Promise.all(answers)).toEqual(
      ['Ada', 'Bob'].map((name) => ({ result: { action: 'accept', content: { name } } })),
    )
  }
})

/** A server with tasks that ask, in their course, whom they belong to. */
const TASKS = `
${ASKING}
globalThis.capabilities = { tasks: { requests: { tools: { call: {} } }, cancel: {} } }
const ends = new Map()
let count = 0
const question = (taskId) => ({
  message: 'About ' + taskId + '?',
  requestedSchema: { type: 'object' },
  _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
})
globalThis.methods = {
  'tools/call': async ({ name, arguments: given, task }) => {
    if (task) return { task: { taskId: 't' + ++count, status: 'working', createdAt: 'now', ttl: null } }
    // In the middle of somebody's call, about somebody's task.
    const heard = name === 'meddle' ? await ask(globalThis.say, 'elicitation/create', question(given.taskId)) : 0
    return { content: [{ type: 'text', text: JSON.stringify(heard) }] }
  },
  'tasks/result': async ({ taskId }) => {
    const heard = await ask(globalThis.say, 'elicitation/create', question(taskId))
    return { content: [{ type: 'text', text: JSON.stringify(heard) }] }
  },
}
`

test('[C1][C11] what a task asks goes to who waits for its result, and to nobody else who calls meanwhile', async () => {
  const { sandbox } = place()
  const own = ownServer(sandbox, '{ work: () => 0, meddle: () => 0 }', TASKS)
  const gateway = await up(sandbox, { servers: { own }, agents: { ...AGENTS, bob: BOB } })
  const ada = await WireClient.open(gateway, '/mcp', { capabilities: ALL })
  const bob = await WireClient.open(gateway, '/mcp', asBob)
  expect(ada.welcome.capabilities.tasks).toEqual({ requests: { tools: { call: {} } }, cancel: {} })
  const started = async (client: WireClient) => {
    const params = { name: 'mcp__own__work', arguments: {}, task: {} }
    return (await client.ask('tools/call', params)).result.task.taskId
  }
  const tasks = [await started(ada), await started(bob)]
  // Nobody waits for Ada's task yet, and Bob's call is the only one: it is not his question all the same.
  const meddled = await (await bob.begin('mcp__own__meddle', { taskId: tasks[0] }, 7)).end()
  expect(meddled.of('elicitation/create')).toEqual([])
  const { content } = await bob.call('mcp__own__meddle', { taskId: tasks[0] })
  expect(content[0].text).toContain('nobody waits for the task')
  const waiting = [ada, bob].map(async (client, index) => {
    const wanted = { jsonrpc: '2.0', id: 1, method: 'tasks/result', params: { taskId: tasks[index] } }
    const events = new Events(await client.post(wanted), new AbortController())
    const { id, params } = await events.find('elicitation/create')
    expect(params.message).toBe(`About ${tasks[index]}?`)
    await client.answer(id, { action: 'accept', content: { name: tasks[index] } })
    expect((await told(events)).result.content.name).toBe(tasks[index])
    expect(events.of('elicitation/create')).toHaveLength(1)
  })
  await Promise.all(waiting)
})

test('[C5] a question holds up its own call and no other, and an answer in time counts', async () => {
  const { open } = await asking({ timeouts: { call: 400 } })
  const [ada, bob] = [await open(), await open(asBob)]
  const events = await ada.begin('ask', { method: 'elicitation/create', params: FORM })
  const { id } = await events.find('elicitation/create')
  // By the time that another call is overdue, this one would be, too.
  for (let round = 0; round < 2; round++) {
    const overdue = await bob.call('wait', { key: round })
    expect(overdue._meta['busbar/fault'].code).toBe('CALL_TIMEOUT')
  }
  await ada.answer(id, { action: 'accept', content: { name: 'Ada' } })
  expect(await told(events)).toEqual({ result: { action: 'accept', content: { name: 'Ada' } } })
})

test('[C5] a question that the server takes back is taken back from the client, by its number there', async () => {
  const { open } = await asking()
  const client = await open()
  const events = await client.begin('ask', { method: 'elicitation/create', params: FORM })
  const { id } = await events.find('elicitation/create')
  const cancelled = { method: 'notifications/cancelled', params: { requestId: 'q1', reason: 'never mind' } }
  const saying = client.call('say', { message: cancelled })
  const { params } = await events.find('notifications/cancelled')
  expect(params).toEqual({ requestId: id })
  await saying
  // What comes too late is taken, and means nothing.
  expect(await client.answer(id, { action: 'cancel' })).toBe(202)
  // A number that means nothing here reaches nobody.
  const others = await client.begin(
    'say',
    {
      message: { method: 'notifications/cancelled', params: { requestId: 77 } },
    },
    2,
  )
  await others.end()
  expect(others.of('notifications/cancelled')).toEqual([])
  await client.delete()
})

test('[C5] a client that ends its session leaves no question open', async () => {
  const { open } = await asking()
  const [ada, other] = [await open(), await open()]
  const events = await ada.begin('ask', { method: 'elicitation/create', params: FORM })
  await events.find('elicitation/create')
  expect(await ada.delete()).toBe(204)
  await events.end()
  const answers = await until(async () => {
    const all = JSON.parse((await other.call('answers')).content[0].text)
    return all.length > 0 && all
  })
  expect(answers).toEqual([{ error: { code: -32603, message: 'the client has gone' } }])
})

test('[C5] a question whose server dies is taken back, and the call fails', async () => {
  const { open } = await asking()
  const ada = await open()
  const [server] = JSON.parse((await ada.call('pid')).content[0].text)
  const events = await ada.begin('ask', { method: 'elicitation/create', params: FORM })
  const { id } = await events.find('elicitation/create')
  kill(server, 'SIGKILL')
  await events.end()
  expect(events.of('notifications/cancelled')).toEqual([{ requestId: id }])
  expect(events.messages.at(-1).result._meta['busbar/fault'].code).toBe('CONNECTION_LOST')
})

const sampled = { method: 'sampling/createMessage', params: SAMPLE }
const careful = { ada: { ...AGENTS.ada, approval: 'always' } }

test('[D11] a person agrees before a server uses the model of a client, and that is written down', async () => {
  const approval = { ask: 'allow', '#sampling/*': 'ask' }
  const { sandbox, open } = await asking({ approval }, careful)
  const client = await open()
  const first = await (await client.begin('ask', sampled)).end()
  expect(first.of('sampling/createMessage')).toEqual([])
  const pending = async () => (await sandbox.run(['approve', 'list', '--json'])).json.approvals
  const [approved] = await pending()
  expect([approved.server, approved.tool]).toEqual(['own', '#sampling/createMessage'])
  await sandbox.run(['approve', 'allow', approved.id])
  const events = await client.begin('ask', sampled)
  const { id, params } = await events.find('sampling/createMessage')
  expect(params).toEqual(SAMPLE)
  await client.answer(id, REPLY)
  expect(await told(events)).toEqual({ result: REPLY })
  const again = await (await client.begin('ask', sampled)).end()
  expect(again.of('sampling/createMessage')).toEqual([])
  const [denied] = await pending()
  await sandbox.run(['approve', 'deny', denied.id])
  const refused = await client.call('ask', sampled)
  expect(JSON.parse(refused.content[0].text).error.message).toContain('no')
  const { calls } = (await sandbox.run(['usage', '--calls', '--json'])).json
  const rows = calls.filter(({ tool }: Answer) => tool === '#sampling/createMessage')
  expect(rows.map(({ outcome }: Answer) => outcome)).toEqual(['denied', 'denied', 'ok', 'denied'])
})

test('[C5] a question of a modern server waits for a legacy client no longer than the call may take', async () => {
  const own = { ...serverCommand('elicit', { era: 'modern' }), timeouts: { call: 300, total: 900 } }
  const gateway = await up(place().sandbox, { servers: { elicit: own }, agents: AGENTS })
  const client = await WireClient.open(gateway, '/mcp/elicit', { capabilities: ALL })
  const events = await client.begin('ask')
  const { id } = await events.find('elicitation/create')
  const { result } = await events.find(1)
  expect(result).toMatchObject({ isError: true })
  expect(result.content[0].text).toContain('elicit did not answer tools/call within 900 ms')
  // The dialogue is closed.
  expect(events.of('notifications/cancelled')).toMatchObject([{ requestId: id }])
})
