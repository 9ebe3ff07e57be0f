// Sessions of legacy clients: whose they are, what they survive, and streams that can be come back to.

import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, type Answer, type Gateway, ownServer, place, TOKEN, until, up, userFile } from './hub.ts'
import { ASKING, ASKING_TOOLS, greeting, WireClient } from './wire-client.ts'

const plain = serverCommand('plain', { era: 'legacy' })
const changing = serverCommand('changing', { era: 'legacy' })
const BOB = { servers: ['*'], token: 'bobs-token', approval: 'never' }
const two = { ...AGENTS, bob: BOB }

const started = (servers: object, agents: object = AGENTS): Promise<Gateway> =>
  up(place().sandbox, { servers, agents })

async function textOf(client: WireClient, name: string, given: object = {}): Promise<string> {
  return (await client.call(name, given)).content[0].text
}

test('[C1] a session is its agent’s alone, at its endpoint alone, unforged, and over when it was ended', async () => {
  const gateway = await started({ plain }, two)
  const ada = await WireClient.open(gateway, '/mcp/plain')
  expect(ada.id).toMatch(/^[\x21-\x7e]{40,}$/)
  expect(await textOf(ada, 'echo', { text: 'x' })).toBe('x')
  const status = async (headers: Record<string, string>, path = '/mcp/plain') => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    return (await gateway.post(path, ping, { 'mcp-session-id': ada.id, ...headers })).status
  }
  const bob = { authorization: 'Bearer bobs-token' }
  const flipped = ada.id.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  const [body = '', signature = ''] = ada.id.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  const others = Buffer.from(JSON.stringify(claims.with(1, 'bob'))).toString('base64url')
  for (const headers of [
    bob,
    { 'mcp-session-id': flipped },
    { 'mcp-session-id': `${ada.id}.x` },
    { 'mcp-session-id': `${others}.${signature}`, ...bob },
    { 'mcp-session-id': '' },
    { 'mcp-session-id': 'x'.repeat(3000) },
  ]) {
    expect([headers, await status(headers)]).toEqual([headers, 404])
    expect((await ada.get(headers)).status).toBe(404)
    expect(await ada.delete(headers)).toBe(404)
  }
  expect(await status({}, '/mcp')).toBe(404)
  expect(await ada.tell('notifications/initialized')).toBe(202)
  const stream = await ada.listen()
  expect(await ada.delete()).toBe(204)
  await stream.end()
  expect([await status({}), (await ada.get()).status, await ada.delete()]).toEqual([404, 404, 404])
  expect(await ada.tell('notifications/initialized')).toBe(404)
  expect(await status({ 'mcp-session-id': `${ada.id}.` })).toBe(404)
})

test('[C1] a stream needs a session and a client that reads streams', async () => {
  const gateway = await started({ plain })
  const client = await WireClient.open(gateway)
  const bare = { authorization: `Bearer ${TOKEN}`, accept: 'text/event-stream' }
  const statusOf = async (headers: Record<string, string>) =>
    (await fetch(`${gateway.url}/mcp`, { headers })).status
  expect(await statusOf(bare)).toBe(405)
  expect(await statusOf({ ...bare, 'mcp-protocol-version': '2026-07-28' })).toBe(405)
  expect((await client.get({ accept: 'application/json' })).status).toBe(406)
  expect((await client.get({ 'last-event-id': 'nonsense' })).status).toBe(400)
  const stream = await client.listen()
  expect(stream.ended).toBe(false)
})

test('[C1] a second stream replaces the first; what nobody read comes with the next, once and in order', async () => {
  const gateway = await started({ changing })
  const client = await WireClient.open(gateway, '/mcp/changing')
  await client.ask('resources/subscribe', { uri: 'test://text' })
  const touch = () => client.call('touch', { uri: 'test://text' })
  await touch()
  const first = await client.listen()
  await first.find('notifications/resources/updated')
  const second = await client.listen()
  await first.end()
  await touch()
  await second.find('notifications/resources/updated')
  for (const stream of [first, second])
    expect(stream.of('notifications/resources/updated')).toEqual([{ uri: 'test://text' }])
  second.leave()
  await second.end()
  await touch()
  await touch()
  // With a number, also what went into a connection that was broken already.
  const third = await client.listen(second.lastId)
  await until(() => third.messages.length === 2)
})

test('[C1] a request’s own stream that broke is gone on with: progress, then the answer, once each', async () => {
  const { sandbox } = place()
  const own = ownServer(
    sandbox,
    `{
  steps: async ({}, say) => {
    for (let step = 1; step <= 6; step++) {
      if (step === 4) await new Promise((resolve) => { go = resolve })
      say({ method: 'notifications/progress', params: { progressToken: token, progress: step } })
    }
    return 'done'
  },
  go: () => { go(); return 'went' },
}`,
    `let token, go
globalThis.seen = (method, params) => { if (params?._meta?.progressToken !== undefined) token = params._meta.progressToken }`,
  )
  const gateway = await up(sandbox, { servers: { own }, agents: AGENTS })
  const client = await WireClient.open(gateway, '/mcp/own')
  const broken = await client.begin('steps', {}, 7, { progressToken: 'mine' })
  await until(() => broken.messages.length === 3)
  // A stream of this version begins with a number and nothing else.
  expect(broken.all[0]).toMatchObject({ id: expect.stringMatching(/-0$/), message: undefined })
  const secondId = broken.all[2]?.id ?? ''
  broken.leave()
  await broken.end()
  await client.call('go')
  const resumed = await (await client.listen(secondId)).end()
  const steps = [...broken.messages.slice(0, 2), ...resumed.messages]
  expect(steps.map(({ params, result }) => params?.progress ?? result.content[0].text)).toEqual([
    1,
    2,
    3,
    4,
    5,
    6,
    '"done"',
  ])
  expect(steps.slice(0, 6).every(({ params }) => params.progressToken === 'mine')).toBe(true)
  expect(steps.at(-1).id).toBe(7)
  // It can be asked for again, and is still the same.
  expect((await (await client.listen(secondId)).end()).messages).toEqual(resumed.messages)
  expect((await client.get({ 'last-event-id': secondId.replace(/-\d+-/, '-999-') })).status).toBe(400)
})

test('[D16] sessions survive a restart of the gateway', async () => {
  const { sandbox } = place()
  const config = { servers: { changing }, agents: AGENTS }
  const before = await up(sandbox, config)
  const raw = await WireClient.open(before, '/mcp/changing')
  const sdk = new Client({ name: 'sdk', version: '1' })
  const updates: string[] = []
  const transport = new StreamableHTTPClientTransport(new URL(`${before.url}/mcp/changing`), {
    requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } },
    reconnectionOptions: {
      initialReconnectionDelay: 50,
      maxReconnectionDelay: 200,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: 100,
    },
  })
  await sdk.connect(transport as never)
  onTestFinished(() => sdk.close())
  const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js')
  sdk.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    updates.push('tools')
  })
  const id = transport.sessionId
  await raw.listen()
  await before.end('SIGTERM')
  const after = await up(sandbox, config, { port: new URL(before.url).port })
  expect(after.url).toBe(before.url)
  expect(await textOf(raw.at(after), 'echo', { text: 'again' })).toBe('again')
  const called = (await sdk.callTool({ name: 'echo', arguments: { text: 'sdk' } })) as Answer
  expect([called.content[0].text, transport.sessionId]).toEqual(['sdk', id])
  // The client has come back to its stream by itself.
  await until(async () => {
    await textOf(raw.at(after), 'change', { kind: 'add' })
    return updates.length > 0
  })
})

test('[D16] after a restart, what was ended is over, and who had subscriptions or a level begins anew', async () => {
  const { sandbox } = place()
  const stateful = { ...ownServer(sandbox, '{ pid: () => process.pid }'), share: 'session' }
  const config = { servers: { changing, stateful }, agents: AGENTS }
  const before = await up(sandbox, config)
  const [ended, levelled, subscribed, own] = await Promise.all(
    [1, 2, 3, 4].map(() => WireClient.open(before)),
  )
  if (!ended || !levelled || !subscribed || !own) throw new Error('there are four')
  expect(await ended.delete()).toBe(204)
  await levelled.ask('logging/setLevel', { level: 'info' })
  expect((await subscribed.ask('resources/subscribe', { uri: 'test://text' })).result).toEqual({})
  await own.call('mcp__stateful__pid')
  await before.end('SIGKILL')
  const after = await up(sandbox, config)
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  for (const client of [ended, levelled, subscribed, own])
    expect((await client.at(after).post(ping)).status).toBe(404)
})

test('[C11] a removed agent and a revoked token end their sessions and streams, and nobody else’s', async () => {
  const { sandbox } = place()
  const agents = { ...two, cleo: { servers: ['*'], approval: 'never' } }
  const gateway = await up(sandbox, { servers: { plain }, agents }, { user: true })
  const token = (await sandbox.run(['agents', 'token', 'cleo', '--json'])).json.token
  const [ada, bob, cleo] = await Promise.all([
    WireClient.open(gateway),
    WireClient.open(gateway, '/mcp', { token: 'bobs-token' }),
    WireClient.open(gateway, '/mcp', { token }),
  ])
  const streams = await Promise.all([ada.listen(), bob.listen(), cleo.listen()])
  const revoked = await sandbox.run(['agents', 'token', 'cleo', '--revoke', '--json'])
  expect(revoked.code).toBe(0)
  await streams[2].end()
  expect((await cleo.get()).status).toBe(401)
  const { bob: _, ...rest } = agents
  sandbox.write(userFile(sandbox), JSON.stringify({ servers: { plain }, agents: rest }))
  await streams[1].end()
  expect((await bob.get()).status).toBe(401)
  expect(streams[0].ended).toBe(false)
  expect((await ada.ask('ping')).result).toEqual({})
})

test('[C10] a client that never reads its stream is left behind, and keeps only the last of what it missed', async () => {
  const { sandbox } = place()
  const own = ownServer(
    sandbox,
    `{ flood: ({ count }, say) => {
  for (let n = 0; n < count; n++) say({ method: 'notifications/resources/updated', params: { uri: 'test://x', n, fill } })
} }`,
    `const fill = 'x'.repeat(100_000)
globalThis.capabilities = { resources: { subscribe: true } }
globalThis.methods = { 'resources/subscribe': () => ({}) }`,
  )
  const gateway = await up(sandbox, { servers: { own }, agents: AGENTS })
  const client = await WireClient.open(gateway, '/mcp/own')
  expect((await client.ask('resources/subscribe', { uri: 'test://x' })).result).toEqual({})
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    accept: 'text/event-stream',
    'mcp-session-id': client.id,
  }
  const lazy = httpRequest(`${gateway.url}/mcp/own`, { headers }, (response) => void response.pause())
  lazy.on('error', () => undefined).end()
  onTestFinished(() => void lazy.destroy())
  await once(lazy, 'response')
  // Far more than a reader may leave unread, and than the network takes.
  for (let round = 0; round < 9; round++) await client.call('flood', { count: 100 })
  const late = await client.listen()
  await until(() => late.of('notifications/resources/updated').some(({ n }) => n === 99))
  expect(late.messages.length).toBeLessThan(12)
})

test('[C5] a call is cancelled by its id in its session alone, and its server is told', async () => {
  const { sandbox } = place()
  const own = ownServer(sandbox, ASKING_TOOLS, ASKING)
  const gateway = await up(sandbox, { servers: { own }, agents: two })
  const ada = await WireClient.open(gateway, '/mcp/own')
  const bob = await WireClient.open(gateway, '/mcp/own', { token: 'bobs-token' })
  const mine = ada.post({
    jsonrpc: '2.0',
    id: 5,
    method: 'tools/call',
    params: { name: 'wait', arguments: { key: 1 } },
  })
  const theirs = bob.post({
    jsonrpc: '2.0',
    id: 5,
    method: 'tools/call',
    params: { name: 'wait', arguments: { key: 2 } },
  })
  const heard = async (method: string) => JSON.parse(await textOf(ada, 'heard', { method }))
  await until(
    async () =>
      (await heard('tools/call')).filter(({ params }: Answer) => params.name === 'wait').length === 2,
  )
  expect(await ada.tell('notifications/cancelled', { requestId: '5' })).toBe(202)
  expect(await heard('notifications/cancelled')).toEqual([])
  expect(await ada.tell('notifications/cancelled', { requestId: 5, reason: 'enough' })).toBe(202)
  // HTTP wants an answer to every request; a client that cancelled pays no heed to it.
  const { id, result } = (await (await mine).json()) as Answer
  expect([id, result.isError]).toEqual([5, true])
  expect(await heard('notifications/cancelled')).toHaveLength(1)
  await ada.call('free', { key: 2 })
  expect(((await (await theirs).json()) as Answer).result.content[0].text).toBe('"waited"')
})

test('[C5] a client on the official SDK that cancels a call is rid of it, and goes on', async () => {
  const { sandbox } = place()
  const own = ownServer(sandbox, ASKING_TOOLS, ASKING)
  const gateway = await up(sandbox, { servers: { own }, agents: AGENTS })
  const client = new Client({ name: 'sdk', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp/own`), {
    requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } },
  })
  await client.connect(transport as never)
  onTestFinished(() => client.close())
  const stop = new AbortController()
  const call = client.callTool({ name: 'wait', arguments: { key: 1 } }, undefined, { signal: stop.signal })
  const heard = async (method: string) =>
    JSON.parse(((await client.callTool({ name: 'heard', arguments: { method } })) as Answer).content[0].text)
  await until(async () => (await heard('tools/call')).some(({ params }: Answer) => params.name === 'wait'))
  stop.abort('enough')
  await expect(call).rejects.toThrow('enough')
  await until(async () => (await heard('notifications/cancelled')).length === 1)
})

test('[C1] initialize agrees on the client’s version, or offers the newest', async () => {
  const gateway = await started({ plain })
  for (const [asked, agreed] of [
    ['2024-11-05', '2024-11-05'],
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['1999-01-01', '2025-11-25'],
  ] as const) {
    const answer = await gateway.post('/mcp/plain', greeting({ version: asked }))
    expect(((await answer.json()) as Answer).result.protocolVersion).toBe(agreed)
  }
})

test('[B1][D14] to a client with a session, a tool that it may not use is an error of its call, and no end of its session', async () => {
  const agents = { ada: { servers: ['plain'], token: TOKEN, approval: 'never', deny: ['plain/add'] } }
  const gateway = await started({ plain }, agents)
  for (const path of ['/mcp', '/mcp/', '/mcp/plain', '/mcp/plain/']) {
    const client = await WireClient.open(gateway, path)
    const name = path.startsWith('/mcp/p') ? 'add' : 'mcp__plain__add'
    const params = { name, arguments: { a: 1, b: 2 } }
    const asked = await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    expect([path, asked.status]).toEqual([path, 200])
  }
})
