// `busbar up`: who gets in, both eras' clients, and bytes that pass unchanged.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand, startServer } from '../servers/start.ts'
import { AGENTS, type Answer, askTool, type Gateway, ownServer, place, TOKEN, until, up } from './hub.ts'

const plain = serverCommand('plain')
const MODERN = '2026-07-28'
const PREFIX = 'io.modelcontextprotocol/'

const started = (servers: object, agents: object = AGENTS): Promise<Gateway> =>
  up(place().sandbox, { servers, agents })

const callBody = (id: unknown, name: string, given: object = {}, meta: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: given, ...(Object.keys(meta).length > 0 && { _meta: meta }) },
})

/** A call as a modern client makes it. */
function modernCall(
  gateway: Gateway,
  server: string,
  id: unknown,
  name: string,
  given: object = {},
  signal?: AbortSignal,
) {
  const meta = { [`${PREFIX}protocolVersion`]: MODERN, [`${PREFIX}clientCapabilities`]: {} }
  const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': name }
  return gateway.post(`/mcp/${server}`, callBody(id, name, given, meta), headers, signal)
}

/** Status of a request with any headers, also those that fetch keeps to itself. */
async function statusOf(
  gateway: Gateway,
  method: string,
  headers: object,
  path = '/mcp/plain',
  body = '',
): Promise<number> {
  const all = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}`, ...headers }
  const request = httpRequest(gateway.url + path, { method, headers: all as Record<string, string> })
  request.on('error', () => undefined)
  request.write(body)
  if (!('content-length' in headers)) request.end()
  const [response] = await once(request, 'response')
  response.resume()
  request.destroy()
  return response.statusCode
}

test('[C11] the gateway refuses who has no token, comes by a wrong name, or sends what is no message', async () => {
  const agents = {
    ...AGENTS,
    bob: { servers: [], token: 'bobs-token' },
    off: { servers: ['plain'], token: 'off-token', enabled: false },
  }
  const gateway = await started({ plain }, agents)
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const post = (headers: object, path = '/mcp/plain', body = ping) =>
    statusOf(gateway, 'POST', headers, path, body)
  expect(await post({})).toBe(200)
  for (const authorization of ['', 'Bearer wrong', `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, 'Bearer off-token'])
    expect([authorization, await post({ authorization })]).toEqual([authorization, 401])
  for (const host of ['evil.example', 'localhost.evil.example:80', '127.0.0.1.evil.example'])
    expect([host, await post({ host })]).toEqual([host, 403])
  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example'])
    expect([origin, await post({ origin })]).toEqual([origin, 403])
  expect(await post({ origin: gateway.url })).toBe(200)
  for (const method of ['GET', 'PUT']) expect(await statusOf(gateway, method, {})).toBe(405)
  expect(await statusOf(gateway, 'DELETE', {})).toBe(400)
  expect(await post({ 'content-type': 'text/plain' })).toBe(415)
  expect(await post({ 'content-length': String(17 * 1024 * 1024) })).toBe(413)
  expect(await post({}, '/mcp/nothing')).toBe(404)
  expect(await post({}, '/elsewhere')).toBe(404)
  expect(await post({}, '/api/servers')).toBe(403)
  for (const body of ['{', '[]', '"text"', '{"jsonrpc":"2.0"}', '{"id":1,"method":"ping","jsonrpc":"1.0"}'])
    expect([body, await post({}, '/mcp/plain', body)]).toEqual([body, 400])
  const bob = { authorization: 'Bearer bobs-token' }
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  expect([await post(bob, '/mcp/plain', list), await post(bob, '/mcp/absent', list)]).toEqual([404, 404])
  const unauthorized = await gateway.post('/mcp/plain', {}, { authorization: 'Bearer wrong' })
  expect(unauthorized.headers.get('www-authenticate')).toMatch(/^Bearer/)
  expect((await gateway.ask('plain', 'tools/list')).result.tools).toHaveLength(11)
})

test('[C11] who is refused is told why and what helps; what they sent as a token is not repeated', async () => {
  const gateway = await started({ plain }, AGENTS)
  const said = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(gateway.url + path, { headers })
    return [response.status, await response.json()]
  }
  const [none, wrong] = [{}, { authorization: 'Bearer wrong-7f3a' }]
  const needed = 'a token is needed: Authorization: Bearer …'
  const unknown = 'this token is not known, or not any more'
  const hint =
    'see whether its agent is there and enabled: busbar agents list; or make another token: busbar agents token NAME'
  for (const path of ['/mcp', '/mcp/plain', '/metrics']) {
    expect(await said(path, none)).toEqual([401, { error: needed }])
    expect(await said(path, wrong)).toEqual([401, { error: `${unknown}; ${hint}` }])
  }
  expect(await said('/api/servers', none)).toEqual([401, { code: 'NO_ACCESS', message: needed }])
  expect(await said('/api/servers', wrong)).toEqual([401, { code: 'NO_ACCESS', message: unknown, hint }])
  const agent = { authorization: `Bearer ${TOKEN}` }
  const owners = 'this is for the owner'
  expect(await said('/api/servers', agent)).toEqual([403, { code: 'NO_ACCESS', message: owners }])
  expect(await said('/metrics', agent)).toEqual([403, { error: owners }])
  const origin = 'https://evil.example'
  const message = `the Origin "${origin}" is not allowed: it is neither loopback nor listed in gateway.allowedHosts`
  expect(await said('/mcp', { ...agent, origin })).toEqual([403, { error: message }])
  expect(await said('/api/servers', { ...agent, origin })).toEqual([403, { code: 'NO_ACCESS', message }])
})

type Kind = 'v1' | 'v2 legacy' | 'v2 modern'

/** A client on an official SDK, connected through the gateway with the agent's token. */
async function clientOf(kind: Kind, gateway: Gateway, server: string): Promise<Answer> {
  const url = new URL(`${gateway.url}/mcp/${server}`)
  const options = { requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } } }
  const info = { name: 'test-client', version: '1.0.0' }
  const client: Answer =
    kind === 'v1'
      ? new ClientV1(info)
      : new ClientV2(info, {
          versionNegotiation: { mode: kind === 'v2 modern' ? { pin: MODERN } : 'legacy' },
        })
  await client.connect(kind === 'v1' ? new HttpV1(url, options) : new HttpV2(url, options))
  onTestFinished(() => client.close())
  return client
}

for (const kind of ['v1', 'v2 legacy', 'v2 modern'] as const)
  test(`[C1][B7][B15] a client on the official SDK, ${kind}, finds everything behind the gateway`, async () => {
    const { url } = await startServer('plain', { era: 'legacy' })
    const gateway = await started({
      legacy: serverCommand('plain', { era: 'legacy' }),
      modern: serverCommand('plain', { era: 'modern' }),
      remote: { url },
    })
    for (const server of ['legacy', 'modern', 'remote']) {
      await gateway.ask(server, 'tools/list')
      const client = await clientOf(kind, gateway, server)
      expect(client.getServerVersion()).toMatchObject({ name: 'plain', version: '1.0.0' })
      expect((await client.listTools()).tools).toHaveLength(11)
      const call = (name: string, given: object, onprogress?: (one: Answer) => void) =>
        kind === 'v1'
          ? client.callTool({ name, arguments: given }, undefined, onprogress && { onprogress })
          : client.callTool({ name, arguments: given }, onprogress && { onprogress })
      expect((await call('echo', { text: 'Grüße 🚌' })).content[0].text).toBe('Grüße 🚌')
      expect((await call('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 })
      expect((await call('fail', {})).isError).toBe(true)
      await expect(call('throw', { code: -32050 })).rejects.toMatchObject({ code: -32050 })
      const steps: number[] = []
      const done = await call('progress', { steps: 4 }, ({ progress }) => steps.push(progress))
      expect([...steps, done.content[0].text]).toEqual([1, 2, 3, 4, '4 steps'])
      expect((await client.listResources()).resources).toHaveLength(2)
      expect((await client.readResource({ uri: 'test://text' })).contents[0].text).toContain('quoted')
      expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1)
      expect((await client.listPrompts()).prompts).toHaveLength(1)
      const prompt = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } })
      expect(prompt.messages[0].content.text).toBe('Say hello to Ada')
    }
  })

for (const kind of ['v1', 'v2 legacy', 'v2 modern'] as const)
  for (const era of ['legacy', 'modern'] as const)
    test(`[C1] a client, ${kind}, that comes before a new ${era} server is up waits for it`, async () => {
      const gateway = await started({ slow: serverCommand('slow', { era, delay: 300 }) })
      const client = await clientOf(kind, gateway, 'slow')
      expect((await client.listTools()).tools).toHaveLength(11)
      expect((await client.callTool({ name: 'echo', arguments: { text: 'x' } })).content[0].text).toBe('x')
    })

/** What stands behind `"result":` in an answer, as text and without reading it: reading would change it. */
function resultText(message: string): string {
  const start = message.indexOf('"result":') + '"result":'.length
  let depth = 0
  for (const { 0: part, index } of message.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (part === '{') depth += 1
    if (part === '}') depth -= 1
    if (depth === 0) return message.slice(start, start + index + 1)
  }
  throw new Error('the answer has no result')
}

/** The result of a tool as the server itself writes it, asked without anything between. */
async function direct(mode: string, name: string): Promise<string> {
  const { command, args } = serverCommand(mode, { era: 'legacy' })
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
  say({ id: 1, method: 'initialize', params })
  await lines.next()
  say({ method: 'notifications/initialized' })
  say({ id: 2, method: 'tools/call', params: { name, arguments: {} } })
  const { value } = await lines.next()
  const ended = once(child, 'exit')
  child.stdin.end()
  await ended
  return resultText(value)
}

test('[C9] a result passes the gateway byte for byte, whatever numbers and keys it holds', async () => {
  const { url } = await startServer('big-numbers', { era: 'legacy' })
  const gateway = await started({
    legacy: serverCommand('big-numbers', { era: 'legacy' }),
    modern: serverCommand('big-numbers', { era: 'modern' }),
    remote: { url },
  })
  const wanted = await direct('big-numbers', 'numbers')
  expect(wanted).toContain('12345678901234567891')
  for (const server of ['legacy', 'modern', 'remote']) {
    const answer = await gateway.post(`/mcp/${server}`, callBody('a "text" id é', 'numbers'))
    const text = await answer.text()
    expect([server, resultText(text)]).toEqual([server, wanted])
    expect(JSON.parse(text).id).toBe('a "text" id é')
  }
  expect(resultText(await (await modernCall(gateway, 'modern', 7, 'numbers')).text())).toBe(wanted)
  expect(resultText(await (await modernCall(gateway, 'legacy', 7, 'numbers')).text())).toContain(
    wanted.slice(1),
  )
  const exact =
    '{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"type-of","arguments":{"value":12345678901234567891}}}'
  const { id, result } = (await (await gateway.post('/mcp/legacy', exact)).json()) as Answer
  expect([id, result.content[0].text]).toEqual([0, 'number 12345678901234567000'])
})

test('[B6] fifty clients that all use the same id and progress token get their own answers', async () => {
  const gateway = await started({ plain })
  const words = Array.from({ length: 50 }, (_, index) => `client ${index}`)
  const answers = await Promise.all(
    words.map(async (text, index) => {
      const call =
        index % 2 === 0
          ? modernCall(gateway, 'plain', 1, 'echo', { text })
          : gateway.post('/mcp/plain', callBody(1, 'echo', { text }))
      const { id, result } = (await (await call).json()) as Answer
      return [id, result.content[0].text]
    }),
  )
  expect(answers).toEqual(words.map((text) => [1, text]))
  const streams = await Promise.all(
    [2, 3, 4, 5, 6].map(async (steps) => {
      const body = callBody(1, 'progress', { steps, delay: 5 }, { progressToken: 'same' })
      const text = await (await gateway.post('/mcp/plain', body)).text()
      return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''))
    }),
  )
  for (const [index, messages] of streams.entries()) {
    const steps = index + 2
    expect(
      messages.slice(0, -1).map(({ params }) => [params.progressToken, params.progress, params.total]),
    ).toEqual(Array.from({ length: steps }, (_, step) => ['same', step + 1, steps]))
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: `${steps} steps` }] } })
  }
})

for (const era of ['legacy', 'modern'] as const) {
  const some = { ...serverCommand('plain', { era }), tools: { include: ['e*', 'add'], exclude: ['env'] } }

  test(`[B8] ${era}: tools that the entry does not offer are not listed`, async () => {
    const gateway = await started({ some })
    const { result } = await gateway.ask('some', 'tools/list')
    expect(result.tools.map(({ name }: Answer) => name)).toEqual(['echo', 'add'])
  })

  test(`[C11] ${era}: tools that the entry does not offer cannot be called`, async () => {
    const gateway = await started({ some })
    for (const name of ['env', 'pid', 'count'])
      for (const ask of [
        () => gateway.post('/mcp/some', callBody(1, name)),
        () => modernCall(gateway, 'some', 1, name),
      ])
        expect([name, await (await ask()).json()]).toMatchObject([name, { error: { code: -32602 } }])
    const { result } = await gateway.ask('some', 'tools/call', { name: 'echo', arguments: { text: 'x' } })
    expect(result.content[0].text).toBe('x')
  })
}

test('[C10] a client that does not read its answer holds up nobody else', async () => {
  const gateway = await started({ plain })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` }
  const lazy = Array.from({ length: 5 }, () => {
    const request = httpRequest(`${gateway.url}/mcp/plain`, { method: 'POST', headers }).on(
      'error',
      () => undefined,
    )
    request.end(JSON.stringify(callBody(1, 'blob', { size: 3_000_000 })))
    return request
  })
  await Promise.all(lazy.map(async (request) => (await once(request, 'response'))[0].pause()))
  for (let round = 0; round < 20; round++)
    expect(
      (await gateway.ask('plain', 'tools/call', { name: 'echo', arguments: { text: 'x' } })).result,
    ).toBeDefined()
  for (const request of lazy) request.destroy()
})

test('[C5] a modern client that goes away has cancelled; what a legacy one says of an id harms nobody', async () => {
  const { sandbox } = place()
  const own = ownServer(
    sandbox,
    `{
  hang: () => new Promise(() => {}),
  wait: () => new Promise((resolve) => setTimeout(resolve, 400, 'waited')),
  seen: () => [calls, cancelled],
}`,
    `let calls = 0, cancelled = 0
globalThis.seen = (method, params) => {
  if (params?.name === 'hang' || params?.name === 'wait') calls++
  if (method === 'notifications/cancelled') cancelled++
}`,
  )
  const gateway = await up(sandbox, { servers: { own }, agents: AGENTS })
  const seen = (calls: number, cancelled: number) =>
    until(async () => String(await askTool(gateway, 'own', 'seen')) === `${calls},${cancelled}`)
  const leaving = new AbortController()
  const modern = modernCall(gateway, 'own', 9, 'hang', {}, leaving.signal).catch(({ name }) => name)
  await seen(1, 0)
  leaving.abort()
  expect(await modern).toBe('AbortError')
  await seen(1, 1)
  // Without sessions an id says nothing about whose call it is.
  const calls = [askTool(gateway, 'own', 'wait'), askTool(gateway, 'own', 'wait')]
  await seen(3, 1)
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  expect((await gateway.post('/mcp/own', cancel)).status).toBe(202)
  expect(await Promise.all(calls)).toEqual(['waited', 'waited'])
})

test('[B13][D13] what keeps a call from being made is a result that says so; others are protocol errors', async () => {
  const gateway = await started({
    crash: serverCommand('crash-call'),
    gone: { command: 'no-such-program' },
    hang: { ...serverCommand('hang-call'), timeouts: { call: 200 } },
    loop: serverCommand('crash-loop'),
  })
  const call = (server: string, name: string) =>
    gateway.ask(server, 'tools/call', { name, arguments: { text: 'x' } })
  for (const [server, name, code] of [
    ['crash', 'crash', 'CONNECTION_LOST'],
    ['gone', 'x', 'SPAWN_FAILED'],
    ['hang', 'echo', 'CALL_TIMEOUT'],
    ['loop', 'x', 'CONNECTION_LOST'],
  ] as const) {
    const { result } = await call(server, name)
    expect(result).toMatchObject({ isError: true, _meta: { 'busbar/fault': { code } } })
    expect(result.content[0].text).toMatch(server === 'gone' ? 'no-such-program' : server)
  }
  const { result } = (await (await modernCall(gateway, 'gone', 1, 'x')).json()) as Answer
  expect(result).toMatchObject({ isError: true, resultType: 'complete' })
  expect(await gateway.ask('gone', 'tools/list')).toMatchObject({ error: { data: { code: 'SPAWN_FAILED' } } })
  expect((await call('crash', 'no-such-tool')).error).toMatchObject({ code: -32602 })
  expect((await gateway.ask('crash', 'no/such')).error).toMatchObject({ code: -32601 })
})

test('[C11] a second gateway in the same home is refused, and so is a port that is taken', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { plain }, agents: AGENTS })
  const pid = (await askTool(gateway, 'plain', 'pid')).pid
  const args = ['up', '--config', sandbox.path('team.json'), '--trust', '--json']
  const second = await sandbox.run([...args, '--port', '0'])
  expect(second.code).not.toBe(0)
  expect(second.error).toMatchObject({ code: 'GATEWAY_BUSY', message: expect.stringContaining('already') })
  expect((await askTool(gateway, 'plain', 'pid')).pid).toBe(pid)
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  await gateway.end('SIGTERM')
  const third = await sandbox.run([...args, '--port', String(port)])
  expect(third.code).not.toBe(0)
  expect(third.error).toMatchObject({ code: 'GATEWAY_BUSY', message: expect.stringContaining(String(port)) })
})

for (const era of ['legacy', 'modern'] as const)
  test(`[C11][B11] ${era}: no token of ours reaches a server, only what its entry says`, async () => {
    const { url } = await startServer('header-echo', { era })
    const gateway = await started({ echo: { url, headers: { 'X-Key': 'abc' } }, plain })
    for (const ask of [
      () =>
        gateway.post('/mcp/echo', callBody(1, 'headers'), { cookie: 'c=1', 'x-forwarded-for': '1.2.3.4' }),
      () => modernCall(gateway, 'echo', 1, 'headers'),
    ]) {
      const { result } = (await (await ask()).json()) as Answer
      const headers = JSON.parse(result.content[0].text)
      expect(headers['x-key']).toBe('abc')
      expect(JSON.stringify(headers)).not.toContain(TOKEN)
      for (const name of ['authorization', 'cookie', 'x-forwarded-for']) expect(headers[name]).toBeUndefined()
    }
    expect(JSON.stringify(await askTool(gateway, 'plain', 'env'))).not.toContain(TOKEN)
  })
