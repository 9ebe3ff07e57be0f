// `share: agent | session` for clients of the gateway: whose process a request goes to, and who hears what it says.

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { processesOf } from '../services/processes.ts'
import type { Sandbox } from './cli.ts'
import { AGENTS, type Answer, type Gateway, isAlive, ownServer, place, TOKEN, until, up } from './hub.ts'
import { owner, ownerToken } from './owner.ts'
import { stateful } from './stateful.ts'
import { ASKING, ASKING_TOOLS, modern, WireClient } from './wire-client.ts'

const TOKENS = { ...AGENTS, bob: { servers: ['*'], approval: 'never', token: 'bobs-token' } }

async function said(client: WireClient, name: string, given: object = {}): Promise<Answer> {
  return JSON.parse((await client.call(name, given)).content[0].text)
}

const open = (gateway: Gateway, token?: string) =>
  WireClient.open(gateway, '/mcp/kept', token ? { token } : {})

/** What the owner sees of it. */
async function shown(sandbox: Sandbox, gateway: Gateway): Promise<Answer> {
  return (await owner(sandbox, gateway)('GET /api/servers')).answer.servers[0]
}

const gatewayOn = (sandbox: Sandbox, more: object): Promise<Gateway> =>
  up(sandbox, { servers: { kept: stateful(sandbox, more) }, agents: TOKENS })

test('[D12][C11] with session, each session has its own, and all requests without one share their agent’s', async () => {
  const gateway = await gatewayOn(place().sandbox, { share: 'session' })
  const [one, two] = [await WireClient.open(gateway, '/mcp/kept'), await WireClient.open(gateway)]
  await said(one, 'set', { value: 'of one' })
  expect(await said(two, 'mcp__kept__get')).toEqual({ value: null, count: 1 })
  const single = async (token?: string): Promise<Answer> => {
    const call = { name: 'get', arguments: {} }
    const asked = await modern(gateway, '/mcp/kept', 'tools/call', call, {
      name: 'get',
      ...(token && { token }),
    })
    return JSON.parse((await asked.answer()).result.content[0].text)
  }
  expect([await single(), await single()]).toEqual([1, 2].map((count) => ({ value: null, count })))
  const { result } = await gateway.ask('kept', 'tools/call', { name: 'get', arguments: {} })
  expect(JSON.parse(result.content[0].text)).toEqual({ value: null, count: 3 })
  expect(await single('bobs-token')).toEqual({ value: null, count: 1 })
  expect(await said(one, 'get')).toEqual({ value: 'of one', count: 2 })
  // Everything else of a session goes where its calls go.
  const text = async (client: WireClient) => [
    (await client.ask('resources/read', { uri: 'kept:value' })).result.contents[0].text,
    (await client.ask('completion/complete', COMPLETE)).result.completion.values[0],
  ]
  expect(await text(one)).toEqual(['of one', 'of one'])
  expect(await text(two)).toEqual(['undefined', 'undefined'])
  expect((await one.ask('prompts/get', { name: 'kept' })).result.messages[0].content.text).toBe('of one')
  const tool = { server: 'kept', uri: 'kept:value' }
  expect((await said(two, 'ReadMcpResource', tool)).contents[0].text).toBe('undefined')
  await said(two, 'mcp__kept__set', { value: 'of two' })
  expect((await said(two, 'ReadMcpResource', tool)).contents[0].text).toBe('of two')
})

const COMPLETE = { ref: { type: 'ref/resource', uri: 'kept:value' }, argument: { name: 'a', value: '' } }

test('[D12] with agent, sessions of one agent share it, and others have another', async () => {
  const gateway = await gatewayOn(place().sandbox, { share: 'agent' })
  const [one, two, bob] = [await open(gateway), await open(gateway), await open(gateway, 'bobs-token')]
  await said(one, 'set', { value: 'of ada' })
  expect(await said(two, 'get')).toEqual({ value: 'of ada', count: 2 })
  expect(await said(bob, 'get')).toEqual({ value: null, count: 1 })
  // A session that ends takes nothing of its agent with it.
  expect(await one.delete()).toBe(204)
  expect(await said(two, 'get')).toEqual({ value: 'of ada', count: 3 })
})

test('[D12][B10] the end of a session is the end of its process', async () => {
  const { sandbox } = place()
  const gateway = await gatewayOn(sandbox, { share: 'session' })
  const [one, two] = [await open(gateway), await open(gateway)]
  const [first, second] = [await said(one, 'pid'), await said(two, 'pid')]
  const busy = one.begin('busy', { file: sandbox.path('never') })
  await until(async () => (await shown(sandbox, gateway)).inFlight === 1)
  expect(await one.delete()).toBe(204)
  await until(() => !isAlive(first))
  ;(await busy).leave()
  expect([isAlive(second), (await shown(sandbox, gateway)).instances]).toEqual([true, 1])
})

test('[D12][C11] what a process says is for its own session alone, which also says how much it wants to hear', async () => {
  const { sandbox } = place()
  const gateway = await gatewayOn(sandbox, { share: 'session', limits: { idle: '300ms' } })
  const [one, two] = [await open(gateway), await open(gateway)]
  const [first, second] = [await one.listen(), await two.listen()]
  // The one is there already, the other's is started by what follows.
  await said(one, 'get')
  await one.ask('logging/setLevel', { level: 'error' })
  for (const client of [one, two])
    expect((await client.ask('resources/subscribe', { uri: 'kept:value' })).result).toEqual({})
  expect([await said(one, 'subscribed'), await said(two, 'subscribed')]).toEqual([
    ['kept:value'],
    ['kept:value'],
  ])
  expect([await said(one, 'levels'), await said(two, 'levels')]).toEqual([['error'], []])
  const pid = await said(one, 'pid')
  await said(one, 'update')
  await said(one, 'log', { text: 'of one' })
  await until(() => first.of('notifications/message').length === 1)
  await said(two, 'log', { text: 'of two' })
  await until(() => second.of('notifications/message').length === 1)
  expect(first.of('notifications/message')).toEqual([{ level: 'error', data: 'of one' }])
  expect(second.of('notifications/message')).toEqual([{ level: 'error', data: 'of two' }])
  expect(first.of('notifications/resources/updated')).toEqual([{ uri: 'kept:value' }])
  expect(second.of('notifications/resources/updated')).toEqual([])
  // Who listens needs it: one that nobody listens to ends, this one does not.
  expect((await two.ask('resources/unsubscribe', { uri: 'kept:value' })).result).toEqual({})
  await until(async () => (await shown(sandbox, gateway)).instances === 1)
  expect(await said(one, 'pid')).toBe(pid)
  // One that died is started again without a call, and asked again.
  const before = servers(sandbox)
  await one.call('crash')
  await until(() => servers(sandbox).some((line) => !before.includes(line)))
  await until(async () => (await said(one, 'subscribed'))[0] === 'kept:value')
  expect(await said(one, 'pid')).not.toBe(pid)
  expect(await said(one, 'levels')).toEqual(['error'])
})

test('[D12] a modern client that listens hears of its agent’s process alone', async () => {
  const gateway = await gatewayOn(place().sandbox, { share: 'agent' })
  const notifications = { resourceSubscriptions: ['kept:value'] }
  const listen = (token?: string) =>
    modern(gateway, '/mcp/kept', 'subscriptions/listen', { notifications }, token ? { token } : {})
  const [ada, bob] = [await listen(), await listen('bobs-token')]
  for (const one of [ada, bob]) await one.find('notifications/subscriptions/acknowledged')
  await said(await open(gateway, 'bobs-token'), 'update')
  await bob.find('notifications/resources/updated')
  await said(await open(gateway), 'update')
  await ada.find('notifications/resources/updated')
  for (const one of [ada, bob]) {
    expect(one.of('notifications/resources/updated')).toHaveLength(1)
    one.leave()
  }
})

test('[D12][D11] a process asks the session that it is for, whoever else is calling, and hears its progress', async () => {
  const { sandbox } = place()
  const server = ownServer(sandbox, ASKING_TOOLS, ASKING)
  const gateway = await up(sandbox, { servers: { kept: { ...server, share: 'session' } }, agents: TOKENS })
  const capabilities = { elicitation: { form: {} } }
  const [one, two] = await Promise.all(
    [1, 2].map(() => WireClient.open(gateway, '/mcp/kept', { capabilities })),
  )
  if (!one || !two) throw new Error('two were opened')
  const params = {
    message: 'who?',
    requestedSchema: { type: 'object', properties: {} },
    _meta: { progressToken: 7 },
  }
  const asking = { method: 'elicitation/create', params }
  const calls = [await one.begin('ask', asking), await two.begin('ask', asking)]
  for (const [index, client] of [one, two].entries()) {
    const events = calls[index]
    const question = await events?.find('elicitation/create')
    await client.tell('notifications/progress', { progressToken: 7, progress: index })
    await client.answer(question.id, { action: 'accept', content: { name: `client ${index}` } })
    const answer = await events?.find(1)
    expect(JSON.parse(answer.result.content[0].text).result.content).toEqual({ name: `client ${index}` })
    const heard = await said(client, 'heard', { method: 'notifications/progress' })
    expect(heard.map((message: Answer) => message.params.progress)).toEqual([index])
  }
})

test('[D12][C5] tasks and methods that nobody knows go to the process of who asks, and names of tasks may repeat', async () => {
  const gateway = await gatewayOn(place().sandbox, { share: 'session' })
  const [one, two, bob] = [await open(gateway), await open(gateway), await open(gateway, 'bobs-token')]
  for (const [client, value] of [
    [one, 'one'],
    [two, 'two'],
    [bob, 'bob'],
  ] as const) {
    await said(client, 'set', { value })
    expect((await client.call('task')).task.taskId).toBe('task-1')
    expect((await client.ask('tasks/get', { taskId: 'task-1' })).result.statusMessage).toBe(value)
    expect((await client.ask('own/kept')).result).toEqual({ kept: value })
  }
  for (const [client, value] of [
    [one, 'one'],
    [two, 'two'],
    [bob, 'bob'],
  ] as const) {
    const { tasks } = (await client.ask('tasks/list')).result
    expect(tasks.map((task: Answer) => task.statusMessage)).toEqual([value])
  }
})

test('[D12][B5] how many there are is told by list, status and metrics', async () => {
  const { sandbox } = place()
  const gateway = await gatewayOn(sandbox, { share: 'session' })
  const asOwner = owner(sandbox, gateway)
  for (let index = 0; index < 3; index++) await said(await open(gateway), 'get')
  expect(await shown(sandbox, gateway)).toMatchObject({ status: 'connected', instances: 3 })
  const { answer } = await asOwner('GET /api/servers/check')
  expect(answer.servers[0].status.instances).toBe(3)
  const metrics = await fetch(`${gateway.url}/metrics`, {
    headers: { authorization: `Bearer ${ownerToken(sandbox)}` },
  })
  expect(await metrics.text()).toContain('busbar_server_instances{server="kept"} 3\n')
  const listed = await sandbox.run(['list', '--check', '--config', 'team.json'])
  expect(listed.stdout).toMatch(/kept +stdio +connected, 3 instances/)
})

test('[B10] when the gateway stops nothing is left; after kill -9 the next one ends what was', async () => {
  const { sandbox } = place()
  const run = async () => {
    const gateway = await gatewayOn(sandbox, { share: 'session', env: { STUBBORN: 'yes' } })
    const pids = [await said(await open(gateway), 'pid'), await said(await open(gateway), 'pid')]
    return { gateway, pids }
  }
  const first = await run()
  expect(await first.gateway.end('SIGTERM')).toBe(143)
  expect(first.pids.map(isAlive)).toEqual([false, false])
  const second = await run()
  await second.gateway.end('SIGKILL')
  expect(second.pids.map(isAlive)).toEqual([true, true])
  const third = await run()
  expect([...second.pids, ...third.pids].map(isAlive)).toEqual([false, false, true, true])
  // One for the lists, and one for each session.
  await until(() => servers(sandbox).length === 3)
})

test('[D12] each client on a line is a session: with a gateway, and without', async () => {
  const { sandbox } = place()
  const config = { servers: { kept: stateful(sandbox, { share: 'session' }) }, agents: TOKENS }
  const file = sandbox.write('team.json', JSON.stringify(config))
  const talk = async (value: string) => {
    const child = sandbox.start(['serve', '--stdio', '--config', file, '--trust', '--server', 'kept'], {
      env: { BUSBAR_TOKEN: TOKEN },
    })
    onTestFinished(async () => {
      child.stdin?.end()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    })
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
    const answers: Answer[] = []
    lines.on('line', (line) => answers.push(JSON.parse(line)))
    const ask = async (id: number, method: string, params: object): Promise<Answer> => {
      child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      return (await until(() => answers.find((one) => one.id === id))).result
    }
    const call = async (id: number, name: string, given: object = {}) =>
      JSON.parse((await ask(id, 'tools/call', { name, arguments: given })).content[0].text)
    await ask(1, 'initialize', INITIALIZE)
    expect(await call(2, 'set', { value })).toEqual({ value, count: 1 })
    return { child, call }
  }
  const check = async () => {
    const [one, two] = [await talk('one'), await talk('two')]
    expect(await one.call(3, 'get')).toEqual({ value: 'one', count: 2 })
    expect(await two.call(3, 'get')).toEqual({ value: 'two', count: 2 })
    const pid = await one.call(4, 'pid')
    one.child.stdin?.end()
    await once(one.child, 'close')
    await until(() => !isAlive(pid))
    expect(await two.call(5, 'get')).toEqual({ value: 'two', count: 3 })
    two.child.stdin?.end()
    await once(two.child, 'close')
  }
  await check()
  expect(servers(sandbox)).toEqual([])
  const gateway = await up(sandbox, config)
  await check()
  await until(async () => (await shown(sandbox, gateway)).instances === 0)
})

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'lines', version: '1' },
}

/** The processes of the stateful server that are alive. */
function servers({ root }: Sandbox): string[] {
  return processesOf(root).filter((line) => /own-\w+\.mjs/.test(line))
}
