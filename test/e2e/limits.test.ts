// How much of the gateway one client may take, and by which names it is reached, over real HTTP.

import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import {
  AGENTS,
  type Answer,
  askTool,
  type Gateway,
  ownServer,
  place,
  TOKEN,
  until,
  up,
  userFile,
} from './hub.ts'

const plain = serverCommand('plain')
const BOB = 'bobs-token'
const agents = { ...AGENTS, bob: { servers: ['*'], token: BOB, approval: 'never' } }

const started = (limits: object, servers: object = { plain }): Promise<Gateway> =>
  up(place().sandbox, { servers, agents, gateway: { limits } })

const call = (name: string, given: object = {}, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: given },
})
/** Path, body and headers as a modern client sends them. */
const modern = (method: string, params: object, token = TOKEN): [string, object, Record<string, string>] => {
  const prefix = 'io.modelcontextprotocol/'
  const meta = { [`${prefix}protocolVersion`]: '2026-07-28', [`${prefix}clientCapabilities`]: {} }
  const name = 'name' in params ? { 'mcp-name': String(params.name) } : {}
  return [
    '/mcp/plain',
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
    { ...bearer(token), 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name },
  ]
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }

const ping = async (gateway: Gateway, token = TOKEN): Promise<number> => {
  const answer = await gateway.post('/mcp/plain', PING, bearer(token))
  await answer.text()
  return answer.status
}

/** A request with any headers, also those that fetch keeps to itself. */
async function send(
  gateway: Gateway,
  headers: Record<string, string | string[]>,
  { path = '/mcp/plain', method = 'POST', body = JSON.stringify(PING) } = {},
): Promise<{ status: number | undefined; headers: IncomingMessage['headers']; body: string }> {
  const all = { 'content-type': 'application/json', ...bearer(TOKEN), ...headers }
  const request = httpRequest(gateway.url + path, { method, headers: all, agent: false })
  request.on('error', () => undefined)
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

/** Bytes as they are; what comes back until the connection is closed. */
function rawSocket(gateway: Gateway): { socket: Socket; received: Promise<string> } {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  return { socket, received: text(socket).catch(() => 'reset') }
}

test('[C10] of a list of messages no more are under way than of single ones, and all are answered', async () => {
  const { sandbox } = place()
  const counting = ownServer(
    sandbox,
    `{ work: async () => {
      now += 1
      most = Math.max(most, now)
      await new Promise((resolve) => setTimeout(resolve, 100))
      now -= 1
    }, most: () => most }`,
    'let now = 0, most = 0',
  )
  const gateway = await up(sandbox, { servers: { counting }, agents, gateway: { limits: { concurrent: 3 } } })
  const list = Array.from({ length: 12 }, (_, id) => call('work', {}, id))
  const answers = (await (await gateway.post('/mcp/counting', list)).json()) as Answer[]
  expect(answers.map(({ id }) => id).sort((one, other) => one - other)).toEqual(list.map(({ id }) => id))
  expect(answers.every(({ result }) => result.isError !== true)).toBe(true)
  expect(await askTool(gateway, 'counting', 'most')).toBe(3)
})

test('[C10] an agent that has all its requests under way is told to come back; others go on', async () => {
  const gateway = await started({ concurrent: 3 })
  await gateway.ask('plain', 'tools/list')
  const leaving = new AbortController()
  const held = Array.from({ length: 3 }, () =>
    // A modern client that goes away has cancelled.
    gateway
      .post(...modern('tools/call', { name: 'sleep', arguments: { ms: 600_000 } }), leaving.signal)
      .catch(() => 'gone'),
  )
  const refused = await until(async () => {
    const answer = await gateway.post('/mcp/plain', PING)
    const body = (await answer.json()) as Answer
    return answer.status === 429 ? { headers: answer.headers, body } : undefined
  })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.body).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: {
      code: 4000,
      message: 'ada has 3 requests under way',
      data: { code: 'GATEWAY_LIMIT', retryAfter: 1 },
    },
  })
  expect(await ping(gateway, BOB)).toBe(200)
  leaving.abort()
  expect(await Promise.all(held)).toEqual(['gone', 'gone', 'gone'])
  await until(async () => (await ping(gateway)) === 200)
})

test('[C10] a rate is kept for each agent, and a new one holds without a restart', async () => {
  const { sandbox } = place()
  const three = { ...agents, eve: { servers: ['plain'], token: 'eves-token' } }
  const config = (rate: string) => ({ servers: { plain }, agents: three, gateway: { limits: { rate } } })
  const gateway = await up(sandbox, config('3/hour'), { user: true })
  const tries = async (token: string) =>
    await Promise.all([1, 2, 3, 4, 5].map(async () => await ping(gateway, token)))
  expect((await tries(TOKEN)).sort()).toEqual([200, 200, 200, 429, 429])
  expect((await tries(BOB)).sort()).toEqual([200, 200, 200, 429, 429])
  // Several in one request are as many.
  const eve = await gateway.post('/mcp/plain', [PING, PING, PING, PING], bearer('eves-token'))
  expect([eve.status, await eve.json()]).toMatchObject([429, { error: { data: { code: 'GATEWAY_LIMIT' } } }])
  const refused = await gateway.post('/mcp/plain', PING)
  const wait = Number(refused.headers.get('retry-after'))
  expect([wait > 1_000, wait <= 1_200]).toEqual([true, true])
  const pid = await until(async () => {
    const answer = await fetch(`${gateway.url}/api/servers`, { headers: ownerOf(sandbox) })
    return ((await answer.json()) as Answer).servers[0].pid as number | undefined
  })
  sandbox.write(userFile(sandbox), JSON.stringify(config('1000/s')))
  await until(async () => (await ping(gateway)) === 200)
  expect(await tries(TOKEN)).toEqual([200, 200, 200, 200, 200])
  expect((await askTool(gateway, 'plain', 'pid')).pid).toBe(pid)
})

function ownerOf(sandbox: { home: string; read(name: string): string }): Record<string, string> {
  return bearer(sandbox.read(`${sandbox.home}/.local/state/busbar/admin-token`).trim())
}

test('[C11] after too many wrong tokens only wrong ones are turned away', async () => {
  const gateway = await started({ failedSignIns: 5 })
  const wrong = () => gateway.post('/mcp/plain', PING, bearer('wrong'))
  for (let round = 0; round < 5; round++) expect((await wrong()).status).toBe(401)
  const refused = await wrong()
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: 4000 } })
  expect([await ping(gateway), await ping(gateway, BOB)]).toEqual([200, 200])
  // Clients ask without a token first, to be told that one is needed.
  for (let round = 0; round < 8; round++) {
    const none = await fetch(`${gateway.url}/mcp/plain`, { method: 'POST' })
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="busbar"'])
  }
})

test('[C10] bodies and headers have an end', async () => {
  const gateway = await started({ body: '100KB', headers: '4KB', headerCount: 20 })
  const statusOf = async (body: string) => {
    const answer = await gateway.post('/mcp/plain', body)
    await answer.text()
    return answer.status
  }
  expect(await statusOf(JSON.stringify(call('echo', { text: 'x'.repeat(50_000) })))).toBe(200)
  expect(await statusOf(JSON.stringify(call('echo', { text: 'x'.repeat(110_000) })))).toBe(413)
  // Without a length, it is counted.
  const { socket, received } = rawSocket(gateway)
  socket.write(
    `POST /mcp/plain HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  )
  for (let part = 0; part < 12; part++) socket.write(`2710\r\n${' '.repeat(10_000)}\r\n`)
  expect(await received).toMatch(/^HTTP\/1\.1 413 /)
  expect((await send(gateway, { 'x-long': 'x'.repeat(5_000) })).status).toBe(431)
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'y']))
  expect((await send(gateway, many(10))).status).toBe(200)
  expect((await send(gateway, many(30))).status).toBe(431)
  expect(await ping(gateway)).toBe(200)
})

test('[C10] who never ends a request is sent away, and meanwhile holds up nobody', async () => {
  const gateway = await started({ receive: '1s' })
  const head = `POST /mcp/plain HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`
  const slow = [
    'POST /mcp/plain HTT',
    head,
    `${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"jsonrpc"`,
    `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"jso`,
  ].map((bytes) => {
    const { socket, received } = rawSocket(gateway)
    socket.write(bytes)
    // A byte now and then does not help.
    const drip = setInterval(() => socket.writable && socket.write('x'), 50)
    return received.finally(() => clearInterval(drip))
  })
  expect(await ping(gateway)).toBe(200)
  const ends = await Promise.all(slow)
  expect(ends.map((end) => end === 'reset' || /^HTTP\/1\.1 (?:400|408) /.test(end))).toEqual(
    slow.map(() => true),
  )
  expect(ends.join('')).toContain('408')
  expect(await ping(gateway)).toBe(200)
})

test('[C10] streams that stay open are counted by agent', async () => {
  const gateway = await started({ streams: 2 })
  await gateway.ask('plain', 'tools/list')
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const listen = (token: string, signal = leaving.signal) =>
    gateway.post(
      ...modern('subscriptions/listen', { notifications: { toolsListChanged: true } }, token),
      signal,
    )
  const first = new AbortController()
  expect((await listen(TOKEN, first.signal)).status).toBe(200)
  // A legacy client has a stream of its session.
  const initialize = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  }
  const begun = await gateway.post('/mcp/plain', { ...PING, method: 'initialize', params: initialize })
  const session = begun.headers.get('mcp-session-id') ?? ''
  await begun.text()
  const stream = await fetch(`${gateway.url}/mcp/plain`, {
    headers: { ...bearer(TOKEN), accept: 'text/event-stream', 'mcp-session-id': session },
    signal: leaving.signal,
  })
  expect(stream.status).toBe(200)
  const third = await listen(TOKEN)
  expect(third.status).toBe(429)
  expect(await third.json()).toMatchObject({ error: { message: 'ada has 2 streams open' } })
  expect((await listen(BOB)).status).toBe(200)
  expect(await ping(gateway)).toBe(200)
  first.abort()
  await until(async () => (await listen(TOKEN)).status === 200)
})

test('[C11] every route but /healthz wants a token', async () => {
  const gateway = await started({})
  const routes = ['/', '/mcp', '/mcp/plain', '/mcp/nothing', '/api/servers', '/api/status', '/api/tools/call']
  for (const path of [...routes, '/healthz/', '/metrics', '/.well-known/x', '/api/approvals', '//healthz'])
    for (const method of ['GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'PATCH'])
      expect([path, method, (await send(gateway, { authorization: '' }, { path, method })).status]).toEqual([
        path,
        method,
        401,
      ])
  const health = await send(gateway, { authorization: '' }, { path: '/healthz', method: 'GET' })
  expect([health.status, health.body]).toEqual([200, '{"ok":true}'])
})

test('[C11] only names of this machine are answered, whatever the port and the form', async () => {
  const gateway = await started({})
  const host = async (value: string) => (await send(gateway, { host: value })).status
  for (const value of ['localhost', 'LOCALHOST:1', '127.0.0.1', '127.0.0.1:65000', '[::1]:4747', '127.9.9.9'])
    expect([value, await host(value)]).toEqual([value, 200])
  for (const value of [
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'evil.example:4747',
    '0.0.0.0',
    '::1',
    'localhost.',
    '2130706433',
    'localhost:1:2',
  ])
    expect([value, await host(value)]).toEqual([value, 403])
  const origin = async (value: string | string[]) => (await send(gateway, { origin: value })).status
  for (const value of [gateway.url, 'http://localhost:3000', 'http://[::1]:1'])
    expect([value, await origin(value)]).toEqual([value, 200])
  for (const value of [
    'null',
    'http://evil.example',
    'http://localhost.evil.example',
    'file://',
    ['http://localhost', 'http://evil.example'],
    ['http://evil.example', 'http://localhost'],
  ])
    expect([value, await origin(value)]).toEqual([value, 403])
  // Without any name: refused by the parser, or by us where an old client may leave it out.
  for (const [version, status] of [
    ['1.1', 400],
    ['1.0', 403],
  ]) {
    const { socket, received } = rawSocket(gateway)
    socket.write(`GET /healthz HTTP/${version}\r\nConnection: close\r\n\r\n`)
    expect(await received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  }
})

test('[C11] an address that others can reach needs names and a token for every agent', async () => {
  const { sandbox } = place()
  const config = (gateway: object, more: object = {}) =>
    JSON.stringify({ servers: { plain }, agents: { ...AGENTS, ...more }, gateway })
  const file = sandbox.path('team.json')
  const args = ['up', '--port', '0', '--json', '--config', file, '--trust']
  for (const [text, extra, reason] of [
    [config({ host: '0.0.0.0' }), [], 'other machines'],
    [config({}), ['--host', '0.0.0.0'], 'other machines'],
    [config({}), ['--host', '::'], 'other machines'],
    [
      config({ allowedHosts: ['gate.example'] }, { eve: { servers: ['plain'] } }),
      ['--host', '0.0.0.0'],
      'no token: eve',
    ],
  ] as const) {
    sandbox.write('team.json', text)
    const { code, error } = await sandbox.run([...args, ...extra])
    expect(code).toBe(1)
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(reason) })
  }
  const off = { eve: { servers: ['plain'], enabled: false } }
  const gateway = await up(
    sandbox,
    JSON.parse(config({ host: '0.0.0.0', allowedHosts: ['gate.example'] }, off)),
  )
  const { port } = new URL(gateway.url)
  const near = { ...gateway, url: `http://127.0.0.1:${port}` }
  expect((await send(near, { host: 'gate.example' })).status).toBe(200)
  expect((await send(near, { host: `gate.example:${port}` })).status).toBe(200)
  expect((await send(near, { host: 'other.example' })).status).toBe(403)
})

test('[C11] the gateway listens on ::1 and on localhost, and is reached there', async () => {
  for (const host of ['::1', 'localhost']) {
    const { sandbox } = place()
    const gateway = await up(sandbox, { servers: { plain }, agents, gateway: { host } })
    if (host === '::1') expect(gateway.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect(await ping(gateway)).toBe(200)
  }
})
