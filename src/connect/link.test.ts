// Servers that choke on the first question, over every wire that is no pipe.

import http, { type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { openLegacySse } from './http/legacy-sse.ts'
import { openStreamable } from './http/streamable.ts'
import { event, type Handler, type Hit, json, result, serve, stream } from './http/test-rig.ts'
import { Link, type LinkOptions } from './link.ts'
import { openWebSocket } from './websocket.ts'

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  serverInfo: { name: 'old', version: '1' },
}
const LIMIT = 100_000

async function connect(options: Pick<LinkOptions, 'open'> & Partial<LinkOptions>): Promise<Link> {
  const ignore = () => undefined
  const link = await Link.connect({
    server: 'old',
    client: { name: 'busbar', version: '1' },
    respawn: false,
    patience: 5_000,
    deadline: 10_000,
    signal: new AbortController().signal,
    handlers: {},
    limit: LIMIT,
    scrub: (text) => text,
    events: { changed: ignore, notification: ignore, oddity: ignore, closed: ignore },
    ...options,
  })
  onTestFinished(() => link.close())
  return link
}

const methods = (hits: readonly Hit[]) => hits.flatMap(({ message }) => message.method ?? [])

/** A legacy server over http that does with the first question as told. */
const legacy =
  (choke: Handler): Handler =>
  (hit, response, request) => {
    const { id, method } = hit.message
    if (method === 'server/discover') choke(hit, response, request)
    else if (method === 'initialize') json(response, result(id, INITIALIZED))
    else response.writeHead(hit.method === 'POST' ? 202 : 405).end()
  }

const CHOKING: [string, Handler][] = [
  ['500 in plain words', (_, response) => void response.writeHead(500).end('Internal Server Error')],
  [
    '500 without an id',
    (_, response) =>
      json(response, { jsonrpc: '2.0', id: null, error: { code: -32603, message: 'Internal error' } }, 500),
  ],
  ['501', (_, response) => void response.writeHead(501).end()],
  ['502', (_, response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad')],
  ['no answer at all', (_, response) => void response.destroy()],
  ['a page', (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hi')],
  ['a stream that ends empty', (_, response) => void stream(response).end(': x\n\n')],
]
for (const [what, choke] of CHOKING)
  test(`http: a legacy server that has ${what} for the first question is asked the second`, async () => {
    const rig = await serve(legacy(choke))
    const link = await connect({ open: openStreamable({ url: rig.url, limit: LIMIT }) })
    expect(link.agreement).toMatchObject({ era: 'legacy', serverInfo: { name: 'old' } })
    expect(methods(rig.hits).slice(0, 2)).toEqual(['server/discover', 'initialize'])
  })

test('http: what is out of order for both questions is told in its own words', async () => {
  const rig = await serve((_, response) => void response.writeHead(500).end('the database is away'))
  const connecting = connect({ open: openStreamable({ url: rig.url, limit: LIMIT }) })
  await expect(connecting).rejects.toMatchObject({
    code: 'SERVER_UNREACHABLE',
    message: expect.stringContaining('answered 500: the database is away'),
  })
  expect(methods(rig.hits)).toEqual(['server/discover', 'initialize'])
})

for (const [status, code] of [
  [401, 'AUTH_REQUIRED'],
  [429, 'SERVER_BUSY'],
] as const)
  test(`http: ${status} is the answer, and nothing more is asked`, async () => {
    const rig = await serve((_, response) => void response.writeHead(status).end())
    const connecting = connect({ open: openStreamable({ url: rig.url, limit: LIMIT }) })
    await expect(connecting).rejects.toMatchObject({ code })
    expect(methods(rig.hits)).toEqual(['server/discover'])
  })

test('the older HTTP+SSE is never asked the modern question', async () => {
  let told: ServerResponse | undefined
  const rig = await serve((hit, response) => {
    if (hit.method === 'GET') {
      told = stream(response)
      told.write('event: endpoint\ndata: /messages\n\n')
      return
    }
    const { id, method } = hit.message
    response.writeHead(method === 'server/discover' ? 500 : 202).end()
    if (method === 'initialize') told?.write(event(result(id, INITIALIZED)))
  })
  const link = await connect({ open: openLegacySse({ url: rig.url, limit: LIMIT }), only: 'legacy' })
  expect(link.agreement.era).toBe('legacy')
  await rig.until(() => methods(rig.hits).length === 2)
  expect(methods(rig.hits)).toEqual(['initialize', 'notifications/initialized'])
})

/** A server over WebSocket; what it heard, and on how many connections. */
async function overSocket(listen: (socket: WebSocket, method: string, id: number) => void) {
  const server = http.createServer()
  const far = new WebSocketServer({ server })
  const heard: string[] = []
  let dialled = 0
  far.on('connection', (socket) => {
    dialled += 1
    socket.on('error', () => undefined)
    socket.on('message', (data) => {
      const { id, method } = JSON.parse(data.toString())
      heard.push(method)
      listen(socket, method, id)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of far.clients) socket.terminate()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const open = openWebSocket({ url: `ws://127.0.0.1:${port}/mcp`, limit: LIMIT })
  return { open, heard, dialled: () => dialled }
}

for (const [what, choke] of [
  ['says goodbye', (socket: WebSocket) => socket.close(1002, 'not initialized')],
  ['hangs up', (socket: WebSocket) => socket.terminate()],
] as const)
  test(`websocket: a legacy server that ${what} at the first question is dialled again and asked the second`, async () => {
    const { open, heard, dialled } = await overSocket((socket, method, id) => {
      if (method === 'server/discover') choke(socket)
      else if (method === 'initialize') socket.send(JSON.stringify(result(id, INITIALIZED)))
    })
    const link = await connect({ open, respawn: true })
    expect(link.agreement.era).toBe('legacy')
    expect([heard.slice(0, 2), dialled()]).toEqual([['server/discover', 'initialize'], 2])
  })

test('websocket: one that hangs up at both questions is not asked for ever', async () => {
  const { open, heard } = await overSocket((socket) => socket.close(1011))
  await expect(connect({ open, respawn: true })).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
  expect(heard).toEqual(['server/discover', 'initialize'])
})
