// `busbar serve --stdio`: the gateway for clients that start what they talk to.

import { once } from 'node:events'
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { processesOf } from '../services/processes.ts'
import { AGENTS, type Answer, ownServer, place, TOKEN, until, up } from './hub.ts'
import { INITIALIZE, INITIALIZED, lines, starting } from './lines.ts'
import { ASKING, ASKING_TOOLS } from './wire-client.ts'

const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
const echo = (id: unknown, message: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'mcp__plain__echo', arguments: { text: message } },
})

const config = { servers: { plain: serverCommand('plain') }, agents: AGENTS }

test('[B1] without a gateway it runs the servers itself, answers what was asked before the end, and leaves nothing', async () => {
  const { sandbox } = place()
  const { args } = starting(sandbox, config)
  const input = [INITIALIZE, INITIALIZED, LIST, echo('three', 'hi')]
    .map((it) => JSON.stringify(it))
    .join('\n')
  const { code, stdout, stderr } = await sandbox.run(args.slice(1), {
    input: `${input}\n`,
    env: { BUSBAR_TOKEN: TOKEN },
  })
  expect([code, stderr]).toEqual([0, ''])
  const messages: Answer[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const byId = (id: unknown) => messages.find((message) => message.id === id)
  expect(byId(1).result.serverInfo.name).toBe('busbar')
  expect(byId(2).result.tools.map(({ name }: Answer) => name)).toContain('mcp__plain__echo')
  expect(byId('three').result.content[0].text).toContain('hi')
  expect(processesOf(sandbox.root)).toEqual([])
  const usage = await sandbox.run(['usage', '--json', '--config', sandbox.path('team.json')])
  expect(usage.json.rows).toMatchObject([{ key: 'plain', calls: 1 }])
})

for (const running of [false, true])
  test(`[B1] both SDKs list and call ${running ? 'through the running gateway' : 'by a process of their own'}`, async () => {
    const { sandbox } = place()
    if (running) await up(sandbox, config)
    const v1 = new ClientV1({ name: 'v1', version: '1' })
    await v1.connect(new StdioV1(starting(sandbox, config)))
    onTestFinished(() => v1.close())
    const { tools } = await v1.listTools()
    expect(tools.map(({ name }) => name)).toContain('mcp__plain__echo')
    const called = await v1.callTool({ name: 'mcp__plain__echo', arguments: { text: 'one' } })
    expect(JSON.stringify(called.content)).toContain('one')
    for (const mode of ['legacy', 'auto'] as const) {
      const v2 = new ClientV2({ name: 'v2', version: '1' }, { versionNegotiation: { mode } })
      await v2.connect(new StdioV2(starting(sandbox, config)))
      onTestFinished(() => v2.close())
      expect(v2.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy')
      const answer = await v2.callTool({ name: 'mcp__plain__echo', arguments: { text: 'two' } })
      expect(JSON.stringify(answer.content)).toContain('two')
    }
    // Of the running gateway there is one server for all of them.
    if (running)
      expect(processesOf(sandbox.root).filter((line) => line.includes('server.mjs'))).toHaveLength(1)
  })

test('[B1] one server alone keeps its names', async () => {
  const { sandbox } = place()
  const client = new ClientV1({ name: 'v1', version: '1' })
  await client.connect(new StdioV1(starting(sandbox, config, ['--server', 'plain'])))
  onTestFinished(() => client.close())
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')
})

test('[B1] a gateway that is started anew is waited for, and what was under way is told', async () => {
  const { sandbox } = place()
  const servers = {
    plain: serverCommand('plain'),
    slow: ownServer(
      sandbox,
      `{ hang: () => { writeFileSync(${JSON.stringify(sandbox.path('called'))}, ''); return new Promise(() => undefined) } }`,
      "import { writeFileSync } from 'node:fs'",
    ),
  }
  const given = { servers, agents: AGENTS }
  const first = await up(sandbox, given)
  const { send, find, child } = lines(sandbox, given)
  send(INITIALIZE, INITIALIZED, LIST)
  await find(({ id }) => id === 2)
  send({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'mcp__slow__hang', arguments: {} } })
  await until(() => sandbox.exists('called'))
  await first.end('SIGKILL')
  const lost = await find(({ id }) => id === 3)
  expect(lost.error).toMatchObject({ data: { code: 'CONNECTION_LOST' } })
  send(echo(4, 'meanwhile'))
  await up(sandbox, given)
  expect((await find(({ id }) => id === 4)).result.content[0].text).toContain('meanwhile')
  child.stdin?.end()
  await once(child, 'close')
  expect(child.exitCode).toBe(0)
})

test('[B1][B10] what is asked while the gateway finishes its calls is made at the next one, once', async () => {
  const { sandbox } = place()
  const called = JSON.stringify(sandbox.path('called'))
  const hanging = `{ hang: () => { appendFileSync(${called}, 'x'); return new Promise(() => undefined) } }`
  const slow = ownServer(sandbox, hanging, "import { appendFileSync } from 'node:fs'")
  const given = { servers: { plain: serverCommand('plain'), slow }, agents: AGENTS }
  const first = await up(sandbox, given)
  const { send, find, child } = lines(sandbox, given)
  send(INITIALIZE, INITIALIZED, LIST)
  await find(({ id }) => id === 2)
  send({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'mcp__slow__hang', arguments: {} } })
  await until(() => sandbox.exists('called'))
  const stopped = first.end('SIGTERM')
  const headers = { authorization: `Bearer ${TOKEN}` }
  await until(async () => (await fetch(`${first.url}/api/servers`, { headers })).status === 503)
  // Read in this order: the first is refused before the second lets it end.
  send(echo(4, 'meanwhile'), {
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 3 },
  })
  await stopped
  await up(sandbox, given)
  expect((await find(({ id }) => id === 4)).result.content[0].text).toContain('meanwhile')
  expect(sandbox.read('called')).toBe('x')
  child.stdin?.end()
  await once(child, 'close')
})

test('[B1] what a client on a line subscribed to, and how much it wants to hear, outlives the gateway', async () => {
  const { sandbox } = place()
  const given = { servers: { changing: serverCommand('changing') }, agents: AGENTS }
  const first = await up(sandbox, given)
  const { send, find } = lines(sandbox, given)
  const call = (id: number, name: string, args: object) =>
    send({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: `mcp__changing__${name}`, arguments: args },
    })
  send(INITIALIZE, INITIALIZED)
  send({ jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params: { uri: 'test://text' } })
  send({ jsonrpc: '2.0', id: 3, method: 'logging/setLevel', params: { level: 'error' } })
  await find(({ id }) => id === 2)
  await first.end('SIGTERM')
  await up(sandbox, given)
  call(4, 'log', { level: 'info', text: 'too little' })
  call(5, 'log', { level: 'error', text: 'enough' })
  const logged = await find(({ method }) => method === 'notifications/message')
  expect(JSON.stringify(logged.params)).toContain('enough')
  call(6, 'touch', { uri: 'test://text' })
  const updated = await find(({ method }) => method === 'notifications/resources/updated')
  expect(updated.params.uri).toBe('test://text')
})

test('[B1] a server can ask the one who called on a line', async () => {
  const { sandbox } = place()
  const everything = new URL(
    '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
    import.meta.url,
  ).pathname
  const given = { servers: { every: { command: process.execPath, args: [everything] } }, agents: AGENTS }
  const client = new ClientV1({ name: 'v1', version: '1' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'decline' }))
  await client.connect(new StdioV1(starting(sandbox, given)))
  onTestFinished(() => client.close())
  const { tools } = await client.listTools()
  const name = tools.map((tool) => tool.name).find((it) => it.endsWith('trigger-elicitation-request'))
  const answer = await client.callTool({ name: name ?? '', arguments: {} })
  expect(JSON.stringify(answer.content)).toMatch(/declin/i)
})

test('[B1] a modern client on a line that has heard enough says so', async () => {
  const { sandbox } = place()
  const { send, find, next } = lines(sandbox, config)
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  send({
    jsonrpc: '2.0',
    id: 'listen',
    method: 'subscriptions/listen',
    params: { notifications: { toolsListChanged: true }, _meta: meta },
  })
  const acknowledged = await find(({ method }) => method === 'notifications/subscriptions/acknowledged')
  expect(acknowledged.params._meta['io.modelcontextprotocol/subscriptionId']).toBe('listen')
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'listen' } })
  expect((await find(({ id }) => id === 'listen')).result.resultType).toBe('complete')
  send({ jsonrpc: '2.0', id: 9, method: 'nothing/known', params: { _meta: meta } })
  expect((await next()).error.code).toBe(-32601)
})

test('[C11] who has no token, or a wrong one, is told what to do, and nothing is written to stdout', async () => {
  const { sandbox } = place()
  const { args } = starting(sandbox, config)
  const none = await sandbox.run(args.slice(1), { input: '' })
  expect(none).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('BUSBAR_TOKEN is not set'),
  })
  for (const running of [false, true]) {
    if (running) await up(sandbox, config)
    const wrong = await sandbox.run(args.slice(1), { input: '', env: { BUSBAR_TOKEN: 'wrong' } })
    expect(wrong).toMatchObject({
      code: 6,
      stdout: '',
      stderr: expect.stringContaining('busbar agents token'),
    })
  }
  const usage = await sandbox.run(['serve'], { input: '' })
  expect(usage).toMatchObject({ code: 1, stderr: expect.stringContaining('busbar serve --stdio') })
})

test('[B1] what is no message is answered, and the next one is served', async () => {
  const { sandbox } = place()
  const { child, next, send } = lines(sandbox, config)
  child.stdin?.write('this is no message\n')
  expect((await next()).error.code).toBe(-32700)
  send({ jsonrpc: '2.0', id: 5, method: 'ping' })
  expect(await next()).toEqual({ jsonrpc: '2.0', id: 5, result: {} })
})

for (const running of [false, true]) {
  const how = running ? 'through a gateway' : 'by itself'

  test(`[B1] a mark before the first message and no line end after the last lose neither, ${how}`, async () => {
    const { sandbox } = place()
    if (running) await up(sandbox, config)
    const { args } = starting(sandbox, config)
    const texts = [INITIALIZE, INITIALIZED, echo('last', 'hi')].map((it) => JSON.stringify(it))
    const { code, stdout } = await sandbox.run(args.slice(1), {
      input: `\ufeff${texts.join('\n')}`,
      env: { BUSBAR_TOKEN: TOKEN },
    })
    const answers: Answer[] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([code, answers.find(({ id }) => id === 1)?.result.serverInfo.name]).toEqual([0, 'busbar'])
    expect(answers.find(({ id }) => id === 'last')?.result.content[0].text).toBe('hi')
  })

  test(`[B1][B6] a message that is too large is answered under its id, ${how}`, async () => {
    const { sandbox } = place()
    if (running) await up(sandbox, config)
    const { next, send } = lines(sandbox, config)
    send(INITIALIZE)
    await next()
    const { id, ...large } = echo('large', 'x'.repeat(16 * 1024 * 1024))
    for (const message of [
      { id, ...large },
      { ...large, id },
    ]) {
      send(message)
      expect(await next()).toMatchObject({ id, error: { message: expect.stringContaining('too large') } })
    }
    send({ jsonrpc: '2.0', id: 5, method: 'ping' })
    expect(await next()).toEqual({ jsonrpc: '2.0', id: 5, result: {} })
  })
}

for (const running of [false, true])
  test(`[B1] several messages in one list are answered in one, ${running ? 'through a gateway' : 'by itself'}`, async () => {
    const { sandbox } = place()
    if (running) await up(sandbox, config)
    const { next, send } = lines(sandbox, config)
    send(INITIALIZE)
    await next()
    send([INITIALIZED, { jsonrpc: '2.0', id: 'b1', method: 'ping' }, echo('b2', 'hi')] as never)
    const answers: Answer[] = await next()
    expect(answers.map(({ id }) => id).toSorted()).toEqual(['b1', 'b2'])
    expect(answers.find(({ id }) => id === 'b2').result.content[0].text).toBe('hi')
    send([] as never)
    expect((await next()).error.code).toBe(-32600)
  })

test('[C1][C5] a modern client on a line cancels the request it waits for, also when it came back with an answer', async () => {
  const { sandbox } = place()
  const tools = `{
    ...${ASKING_TOOLS},
    careful: async (_given, say) => {
      await ask(say, 'elicitation/create', { message: 'Sure?', requestedSchema: { type: 'object' } })
      return await new Promise(() => {})
    },
  }`
  const servers = { own: ownServer(sandbox, tools, ASKING) }
  const client = lines(sandbox, { servers, agents: AGENTS })
  const call = (id: number, name: string, more: object = {}, capabilities: object = {}) =>
    client.send({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: {
        name: `mcp__own__${name}`,
        arguments: {},
        ...more,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    })
  const forms = { elicitation: { form: {} } }
  call(1, 'careful', {}, forms)
  const { result } = await client.find(({ id }) => id === 1)
  expect(result.resultType).toBe('input_required')
  const { requestState } = result
  call(2, 'careful', { inputResponses: { q1: { action: 'accept', content: {} } }, requestState }, forms)
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
  const ended = await client.find(({ id }) => id === 2)
  expect(ended.result._meta['busbar/fault'].code).toBe('CALL_CANCELLED')
  // It has its turn because the other is over.
  call(3, 'heard', { arguments: { method: 'notifications/cancelled' } })
  const heard = await client.find(({ id }) => id === 3)
  expect(JSON.parse(heard.result.content[0].text)).toHaveLength(1)
})
