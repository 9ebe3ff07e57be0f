import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { openStreamable, type StreamableOptions } from './streamable.ts'
import {
  event,
  type Handler,
  json,
  LEGACY,
  MODERN,
  message,
  notification,
  open,
  result,
  serve,
  stream,
} from './test-rig.ts'

async function start(handler: Handler, more: Partial<StreamableOptions> = {}) {
  const rig = await serve(handler)
  return { rig, ...(await open(openStreamable({ url: rig.url, limit: 100_000, ...more }))) }
}
const echo: Handler = (hit, response) => {
  if (hit.message.id === undefined) response.writeHead(202).end()
  else json(response, result(hit.message.id))
}

for (const [status, value] of [
  [200, { result: { a: 1 } }],
  [400, { error: { code: -32601, message: 'no' } }],
] as const)
  test(`a byte order mark before an answer with ${status} is left out`, async () => {
    const { transport, told } = await start(({ message: { id } }, response) =>
      json(response, `\ufeff${JSON.stringify({ jsonrpc: '2.0', id, ...value })}`, status),
    )
    transport.send(message(1, 'tools/list'))
    expect(await told.reply(1)).toMatchObject(value)
  })

test('a modern request repeats in headers what it is about, configured headers first', async () => {
  const headers = { Authorization: 'Bearer t', Accept: 'text/html', 'MCP-Session-Id': 'x', 'X-Own': '1' }
  const { rig, transport, told } = await start(echo, { headers })
  transport.send(message(1, 'server/discover'))
  await told.reply(1)
  transport.agree(MODERN)
  transport.send(message(2, 'tools/call', { name: 'grüß\r\nx: y', headers: { 'Mcp-Param-A': '' } }))
  await told.reply(2)
  transport.send(notification('notifications/x'))
  await rig.until(() => rig.hits.length === 3)
  const common = {
    authorization: 'Bearer t',
    'x-own': '1',
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
  }
  expect(rig.hits[0]?.headers).toMatchObject({ ...common, 'mcp-method': 'server/discover' })
  expect(rig.hits[1]?.headers).toMatchObject({
    ...common,
    'mcp-method': 'tools/call',
    'mcp-name': `=?base64?${Buffer.from('grüß\r\nx: y').toString('base64')}?=`,
    'mcp-param-a': '',
  })
  expect(rig.hits[2]?.headers).toMatchObject({ ...common, 'mcp-method': 'notifications/x' })
  for (const hit of rig.hits) {
    expect(hit.headers['mcp-session-id']).toBeUndefined()
    expect(hit.headers['accept-encoding']).toBeUndefined()
    expect(hit.headers['transfer-encoding']).toBeUndefined()
  }
})

test('an old session keeps its id and its version, and says goodbye', async () => {
  const { rig, transport, told } = await start((hit, response) => {
    if (hit.message.method === 'initialize')
      json(response, result(hit.message.id), 200, { 'mcp-session-id': 's1' })
    else if (hit.method === 'POST') echo(hit, response, undefined as never)
    else response.writeHead(405).end()
  })
  transport.send(message(1, 'initialize'))
  await told.reply(1)
  transport.agree(LEGACY)
  transport.send(notification('notifications/initialized'))
  // Sent at once, and still not before the server knows of the session.
  transport.send(message(2, 'tools/list'))
  await told.reply(2)
  await transport.close()
  await transport.close()
  const seen = rig.hits.map(({ method, message }) => (method === 'POST' ? message.method : method))
  expect(seen).toEqual(['initialize', 'notifications/initialized', 'GET', 'tools/list', 'DELETE'])
  const [first, ...rest] = rig.hits
  expect(first?.headers['mcp-protocol-version']).toBeUndefined()
  expect(first?.headers['mcp-session-id']).toBeUndefined()
  for (const { headers } of rest)
    expect(headers).toMatchObject({ 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-11-25' })
  expect(rest.find(({ method }) => method === 'GET')?.headers.accept).toBe('text/event-stream')
  expect(told.ends).toEqual([])
})

test('what comes in one chunk is told in its order, under the stream of its request', async () => {
  const { transport, told } = await start((hit, response) => {
    const progress = [1, 2, 3].map((n) => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { n },
    }))
    stream(response).end([...progress, result(hit.message.id)].map((value) => event(value)).join(''))
  })
  transport.agree(MODERN)
  transport.send(message(7, 'tools/call'))
  await told.reply(7)
  expect(told.messages.map(({ value, stream }) => [value.params?.n ?? value.id, stream])).toEqual([
    [1, 7],
    [2, 7],
    [3, 7],
    [7, 7],
  ])
})

test('events may be cut anywhere: in a character, in a line end, at the byte order mark', async () => {
  const { transport, told } = await start((hit, response) => {
    const text = `\uFEFFevent: message\r\ndata: ${JSON.stringify(result(hit.message.id, { text: 'grüß €' }))}\r\n\r\n`
    stream(response)
    const bytes = [...Buffer.from(text)]
    const next = () => {
      const byte = bytes.shift()
      if (byte === undefined) response.end()
      else response.write(Buffer.from([byte]), () => setImmediate(next))
    }
    next()
  })
  transport.agree(MODERN)
  transport.send(message(1, 'tools/call'))
  expect((await told.reply(1)).result).toEqual({ text: 'grüß €' })
})

for (const [where, say] of [
  ['an answer', (response, list) => json(response, list)],
  ['an event', (response, list) => stream(response).end(event(list))],
] satisfies [string, (response: ServerResponse, list: unknown) => void][])
  test(`several messages in one list in ${where} are told one by one`, async () => {
    const { transport, told } = await start((hit, response) =>
      say(response, [{ jsonrpc: '2.0', method: 'notifications/x' }, result(hit.message.id)]),
    )
    transport.send(message(1, 'tools/list'))
    await told.reply(1)
    expect(told.messages.map(({ value, stream }) => [value.method ?? value.id, stream])).toEqual([
      ['notifications/x', 1],
      [1, 1],
    ])
  })

test('a protocol error under an error status is the answer, if it says whose it is', async () => {
  const error = { code: -32022, message: 'Unsupported', data: { supported: ['2026-07-28'] } }
  const { transport, told } = await start((hit, response) =>
    json(response, { jsonrpc: '2.0', id: hit.message.id === 1 ? 1 : null, error }, 400),
  )
  transport.send(message(1, 'server/discover'))
  expect((await told.reply(1)).error).toEqual(error)
  transport.send(message(2, 'server/discover'))
  expect(await told.failure(2)).toMatchObject({
    code: 'SERVER_ERROR',
    details: { status: 400, code: -32022, data: error.data },
  })
})

const refusals: [number, Record<string, string>, string][] = [
  [401, { 'www-authenticate': 'Bearer' }, 'AUTH_REQUIRED'],
  [403, {}, 'SERVER_UNREACHABLE'],
  [404, {}, 'SERVER_UNREACHABLE'],
  [405, {}, 'SERVER_UNREACHABLE'],
  [429, { 'retry-after': '1' }, 'SERVER_BUSY'],
  [503, { 'retry-after': '1' }, 'SERVER_BUSY'],
  [500, {}, 'SERVER_UNREACHABLE'],
]
for (const [status, headers, code] of refusals)
  test(`status ${status} fails its request with ${code} and goes on`, async () => {
    const { transport, told } = await start((hit, response) => {
      if (hit.message.id === 1) response.writeHead(status, headers).end('<h1>no</h1>')
      else echo(hit, response, undefined as never)
    })
    transport.send(message(1, 'tools/call'))
    expect(await told.failure(1)).toMatchObject({ code, details: { status } })
    transport.send(message(2, 'tools/call'))
    await told.reply(2)
    expect(told.ends).toEqual([])
  })

const odd: [string, Handler, string][] = [
  [
    'a page with status 200',
    (_hit, response) => response.setHeader('content-type', 'text/html').end('<p>hi'),
    'SERVER_UNREACHABLE',
  ],
  ['status 202 to a request', (_hit, response) => response.writeHead(202).end(), 'MESSAGE_INVALID'],
  ['an answer to somebody else', (_hit, response) => json(response, result(99)), 'MESSAGE_INVALID'],
  [
    'a compressed answer',
    (_hit, response) => json(response, 'x', 200, { 'content-encoding': 'gzip' }),
    'MESSAGE_INVALID',
  ],
  [
    'half an answer',
    (_hit, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': '99' })
        .write('{', () => response.destroy()),
    'CONNECTION_LOST',
  ],
  ['no answer at all', (_hit, response) => response.destroy(), 'CONNECTION_LOST'],
  [
    'something that is not http',
    (_hit, response) => response.socket?.end('hello\r\n\r\n'),
    'CONNECTION_LOST',
  ],
]
for (const [what, handler, code] of odd)
  test(`${what} fails the request with ${code}`, async () => {
    const { transport, told } = await start(handler)
    transport.send(message(1, 'tools/call'))
    expect((await told.failure(1)).code).toBe(code)
    expect(told.ends).toEqual([])
  })

test('a refused notification is noise and nothing more', async () => {
  const { transport, told } = await start((_hit, response) => response.writeHead(500).end('no'))
  transport.send(notification('notifications/x'))
  await told.until(() => told.noises.length > 0)
  expect(told.noises[0]).toMatch(/^notifications\/x did not arrive: .* answered 500: no$/)
})

test('headers that cannot be sent are refused, and their values not shown', () => {
  expect(() =>
    openStreamable({ url: 'http://127.0.0.1:1/', limit: 1, headers: { 'X-Key': 'se\ncret' } })(
      undefined as never,
    ),
  ).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.not.stringContaining('cret') }))
})

test('a header of a call that cannot be sent fails that call alone', async () => {
  const { transport, told } = await start(echo)
  transport.agree(MODERN)
  transport.send(message(1, 'tools/call', { headers: { 'Mcp-Param-A': 'a\r\nb' } }))
  expect((await told.failure(1)).code).toBe('MESSAGE_INVALID')
  transport.send(message(2, 'tools/call'))
  await told.reply(2)
})

test('a user and password in the address become a header', async () => {
  const rig = await serve(echo)
  const url = rig.url.replace('//', '//me:p%40ss@')
  const { transport, told } = await open(openStreamable({ url, limit: 1000 }))
  transport.send(message(1, 'tools/list'))
  await told.reply(1)
  expect(rig.hits[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`)
})
