import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { openStreamable, type StreamableStatus } from './streamable.ts'
import {
  greet,
  type Handler,
  type Hit,
  json,
  LEGACY,
  message,
  open,
  result,
  serve,
  stream,
} from './test-rig.ts'

/** A server that forgets its sessions when told to. */
async function start(refuse: { status: number; body: string }, version: () => string = () => LEGACY.version) {
  const sessions = new Set<string>()
  const streams: ServerResponse[] = []
  /** Holds the refusal of this call back. */
  const late: { id?: number; refuse?: () => void } = {}
  let count = 0
  const handler: Handler = (hit, response) => {
    const session = String(hit.headers['mcp-session-id'])
    if (hit.message.method === 'initialize') {
      count += 1
      sessions.add(`s${count}`)
      json(response, result(hit.message.id, { protocolVersion: version() }), 200, {
        'mcp-session-id': `s${count}`,
      })
    } else if (!sessions.has(session)) {
      const answer = () =>
        response.writeHead(refuse.status, { 'content-type': 'application/json' }).end(refuse.body)
      if (late.id !== undefined && late.id === hit.message.id) late.refuse = answer
      else answer()
    } else if (hit.method === 'GET') streams.push(stream(response))
    else if (hit.message.id === undefined) response.writeHead(202).end()
    else json(response, result(hit.message.id, { session }))
  }
  const rig = await serve(handler)
  const statuses: StreamableStatus[] = []
  const opened = await open(
    openStreamable({ url: rig.url, limit: 100_000, onStatus: (status) => statuses.push(status) }),
  )
  await greet(opened.transport, opened.told)
  return { rig, sessions, streams, late, statuses, ...opened }
}
const named = (hits: Hit[], method: string) => hits.filter((hit) => hit.message.method === method)

const LOST = {
  status: 404,
  body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}',
}

const said = (message: string) => ({
  status: 400,
  body: JSON.stringify({
    jsonrpc: '2.0',
    error: { code: -32000, message: `Bad Request: ${message}` },
    id: null,
  }),
})

for (const refuse of [
  LOST,
  { status: 404, body: 'gone' },
  { status: 400, body: 'No valid session ID' },
  said('Server not initialized'),
  said('No valid session ID provided'),
  said('Mcp-Session-Id header is required'),
])
  test(`twenty calls in a forgotten session (${refuse.status} ${refuse.body}) start one new session`, async () => {
    const { rig, sessions, statuses, transport, told } = await start(refuse)
    transport.send(message(2, 'tools/list'))
    expect((await told.reply(2)).result).toEqual({ session: 's1' })
    sessions.clear()
    for (let id = 3; id < 23; id++) transport.send(message(id, 'tools/call'))
    for (let id = 3; id < 23; id++) expect((await told.reply(id)).result).toEqual({ session: 's2' })
    expect(named(rig.hits, 'initialize').map(({ headers }) => headers['mcp-session-id'])).toEqual([
      undefined,
      undefined,
    ])
    expect(
      named(rig.hits, 'notifications/initialized').map(({ headers }) => headers['mcp-session-id']),
    ).toEqual(['s1', 's2'])
    // Nobody above hears the second answer to the first question.
    expect(told.messages.filter(({ value }) => value.id === 1)).toHaveLength(1)
    await rig.until(() => rig.hits.filter(({ method }) => method === 'GET').length === 2)
    expect(statuses).toContain('session-renewed')
    expect(told.ends).toEqual([])
  })

test('a session that cannot be started anew ends the connection', async () => {
  let version = LEGACY.version
  const { sessions, transport, told } = await start(LOST, () => version)
  sessions.clear()
  version = '2024-11-05'
  transport.send(message(2, 'tools/call'))
  transport.send(message(3, 'tools/call'))
  const fault = await told.end()
  expect(fault.code).toBe('CONNECTION_LOST')
  expect(fault.message).toContain('speaks version 2024-11-05 all at once')
  expect(told.failures.map(({ id }) => id)).toEqual([2, 3])
})

test('a server that forgets every session is given up', async () => {
  const { rig, sessions, transport, told } = await start(LOST)
  sessions.add = () => sessions
  sessions.clear()
  transport.send(message(2, 'tools/call'))
  expect((await told.end()).code).toBe('CONNECTION_LOST')
  expect(named(rig.hits, 'initialize')).toHaveLength(2)
})

test('a call that learns of the new session too late is sent again in it, and starts no third', async () => {
  const { rig, sessions, late, transport, told } = await start(LOST)
  sessions.clear()
  late.id = 2
  transport.send(message(2, 'tools/call'))
  await rig.until(() => late.refuse !== undefined)
  transport.send(message(3, 'tools/call'))
  await told.reply(3)
  late.refuse?.()
  expect((await told.reply(2)).result).toEqual({ session: 's2' })
  expect(named(rig.hits, 'initialize')).toHaveLength(2)
})

test('words of a 400 that a new session does not help are about that call, and start no other', async () => {
  const { rig, sessions, transport, told } = await start(said('the session of the date is missing'))
  sessions.has = (session) =>
    Set.prototype.has.call(sessions, session) && !refused.has(rig.hits.at(-1)?.message.id)
  const refused = new Set<unknown>([2, 3, 4])
  const book = (id: number) => message(id, 'tools/call', { name: 'book' })
  for (const id of [2, 3, 4]) {
    transport.send(book(id))
    expect(await told.failure(id)).toMatchObject({ code: 'SERVER_ERROR', details: { status: 400 } })
  }
  expect(named(rig.hits, 'initialize')).toHaveLength(2)
  transport.send(book(5))
  expect((await told.reply(5)).result).toEqual({ session: 's2' })
  // Another tool is believed, for which it was the session.
  sessions.clear()
  transport.send(message(6, 'tools/call', { name: 'look' }))
  expect((await told.reply(6)).result).toEqual({ session: 's3' })
  expect(told.ends).toEqual([])
})

for (const refuse of [LOST, said('Server not initialized')])
  test(`a stream that stands by and learns of it first (${refuse.status}) starts the new session, once`, async () => {
    const { rig, sessions, streams, transport, told } = await start(refuse)
    await rig.until(() => streams.length === 1)
    sessions.clear()
    for (const response of streams) response.end('retry: 1\ndata: \n\n')
    await rig.until(() => rig.hits.filter(({ method }) => method === 'GET').length === 3)
    transport.send(message(2, 'tools/call'))
    expect((await told.reply(2)).result).toEqual({ session: 's2' })
    expect(named(rig.hits, 'initialize')).toHaveLength(2)
  })

test('an unknown method in a session is an answer, not a lost session', async () => {
  const body = '{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no such method"}}'
  const { rig, sessions, transport, told } = await start({ status: 404, body })
  sessions.clear()
  transport.send(message(2, 'x/y'))
  expect((await told.reply(2)).error.code).toBe(-32601)
  expect(named(rig.hits, 'initialize')).toHaveLength(1)
})

test('a call can be given up while the session starts anew', async () => {
  const { rig, sessions, transport, told } = await start(LOST)
  sessions.clear()
  transport.send(message(2, 'tools/call'))
  await rig.until(() => named(rig.hits, 'initialize').length === 2)
  transport.drop(2)
  transport.send(message(3, 'tools/call'))
  await told.reply(3)
  expect(told.failures).toEqual([])
  expect(named(rig.hits, 'tools/call').filter(({ message }) => message.id === 2).length).toBeLessThanOrEqual(
    2,
  )
})
