import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { openStreamable, type StreamableOptions } from './streamable.ts'
import {
  event,
  greet,
  type Handler,
  type Hit,
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
const gets = (hits: Hit[]) => hits.filter(({ method }) => method === 'GET')
const answers: Handler = (hit, response) => {
  if (hit.method === 'GET') response.writeHead(405).end()
  else if (hit.message.id === undefined) response.writeHead(202).end()
  else json(response, result(hit.message.id))
}

const cuts: [string, (response: ServerResponse) => void][] = [
  ['ends', (response) => response.end()],
  ['breaks', (response) => response.destroy()],
]
for (const [how, cut] of cuts) {
  test(`a modern stream that ${how} before the answer fails at once, outcome unknown`, async () => {
    const { rig, transport, told } = await start((_hit, response) => {
      stream(response).write(event({ jsonrpc: '2.0', method: 'notifications/progress' }, 'e1'), () =>
        cut(response),
      )
    })
    transport.agree(MODERN)
    transport.send(message(1, 'tools/call'))
    const fault = await told.failure(1)
    expect(fault.code).toBe('CONNECTION_LOST')
    expect(fault.message).toContain('the outcome is unknown')
    expect(gets(rig.hits)).toEqual([])
  })

  test(`an old stream without event ids that ${how} before the answer fails at once`, async () => {
    const { transport, told } = await start((_hit, response) => {
      stream(response).write(event({ jsonrpc: '2.0', method: 'notifications/progress' }), () => cut(response))
    })
    transport.agree(LEGACY)
    transport.send(message(1, 'tools/call'))
    expect((await told.failure(1)).code).toBe('CONNECTION_LOST')
  })

  test(`an old stream with event ids that ${how} is taken up again where it was`, async () => {
    const { rig, transport, told } = await start((hit, response) => {
      stream(response)
      const last = hit.headers['last-event-id']
      // The event that is cut in the middle has not been seen.
      if (last === undefined)
        response.write('id: é1\nretry: 20\ndata: \n\nid: e2\ndata: {', () => cut(response))
      else if (gets(rig.hits).length === 1)
        response.write(event({ jsonrpc: '2.0', method: 'notifications/progress' }, 'e3'), () => cut(response))
      else response.write(event(result(1), 'e4'))
    })
    transport.agree(LEGACY)
    transport.send(message(1, 'tools/call'))
    await told.reply(1)
    expect(told.messages.map(({ value, stream }) => [value.method ?? value.id, stream])).toEqual([
      ['notifications/progress', 1],
      [1, 1],
    ])
    const seen = gets(rig.hits).map(({ headers }) =>
      Buffer.from(String(headers['last-event-id']), 'latin1').toString(),
    )
    expect(seen).toEqual(['é1', 'e3'])
    // The stream would go on for ever; it is let go.
    await rig.until(() => rig.sockets.size === 0)
    expect(told.failures).toEqual([])
  })
}

test('a stream that breaks off without anything new is taken up three times and then lost', async () => {
  const { rig, transport, told } = await start((_hit, response) => {
    stream(response).write('id: e1\nretry: 1\ndata:\n\n', () => response.destroy())
  })
  transport.agree(LEGACY)
  transport.send(message(1, 'tools/call'))
  expect((await told.failure(1)).code).toBe('CONNECTION_LOST')
  expect(gets(rig.hits)).toHaveLength(3)
})

test('a stream that is ended in good order is asked for as long as somebody waits', async () => {
  const { rig, transport, told } = await start((hit, response) => {
    stream(response)
    if (hit.method === 'POST') response.end('id: e1\nretry: 1\ndata:\n\n')
    else response.end(gets(rig.hits).length === 7 ? event(result(1), 'e2') : '')
  })
  transport.agree(LEGACY)
  transport.send(message(1, 'tools/call'))
  await told.reply(1)
  expect(gets(rig.hits).map(({ headers }) => headers['last-event-id'])).toEqual(Array(7).fill('e1'))
  transport.send(message(2, 'tools/call'))
  await rig.until(() => gets(rig.hits).length === 12)
  transport.drop(2)
  transport.send(message(3, 'tools/call'))
  await rig.until(() => gets(rig.hits).length === 16)
  expect(told.failures).toEqual([])
})

for (const status of [409, 429, 502, 503])
  test(`the rest of an answer that is refused with ${status} is asked for again, and not before the server wants it`, async () => {
    const asked: number[] = []
    const { transport, told } = await start((hit, response) => {
      if (hit.method === 'POST') stream(response).end('id: e1\nretry: 1\ndata:\n\n')
      else if (asked.push(performance.now()) < 5)
        response.writeHead(status, asked.length === 1 ? { 'retry-after': '1' } : {}).end('later')
      else stream(response).end(event(result(1), 'e2'))
    })
    transport.agree(LEGACY)
    transport.send(message(1, 'tools/call'))
    await told.reply(1)
    const [first = 0, second = 0] = asked
    // A timer may be a little early.
    expect(second - first).toBeGreaterThan(990)
    expect(told.failures).toEqual([])
  })

for (const status of [400, 404, 405, 500])
  test(`the rest of an answer that is refused with ${status} is lost`, async () => {
    const { rig, transport, told } = await start((hit, response) => {
      if (hit.method === 'POST') stream(response).end('id: e1\nretry: 1\ndata:\n\n')
      else response.writeHead(status).end()
    })
    transport.agree(LEGACY)
    transport.send(message(1, 'tools/call'))
    expect((await told.failure(1)).code).toBe('CONNECTION_LOST')
    expect(gets(rig.hits)).toHaveLength(1)
  })

test('an answer that comes on the stream that stands by ends its request too', async () => {
  let standby: ServerResponse | undefined
  const { rig, transport, told } = await start((hit, response) => {
    if (hit.method === 'GET') standby = stream(response)
    else if (hit.message.method === 'tools/call') {
      stream(response)
      standby?.write(event(result(hit.message.id)))
    } else answers(hit, response, undefined as never)
  })
  await greet(transport, told)
  await rig.until(() => standby !== undefined)
  transport.send(message(2, 'tools/call'))
  await told.reply(2)
  await rig.until(() => rig.gone.length === 1)
  expect(told.failures).toEqual([])
})

test('an answer that comes on the stream of another request ends its own too, and its place is free again', async () => {
  const { rig, transport, told } = await start((hit, response) => {
    stream(response)
    const { id = 0 } = hit.message
    // Every second stream brings the answers to two requests.
    if (id % 2 === 0) response.end(event(result(id - 1)) + event(result(id)))
  })
  transport.agree(LEGACY)
  for (let id = 1; id <= 200; id += 2) {
    transport.send(message(id, 'tools/call'))
    await rig.until(() => rig.hits.length === id)
    transport.send(message(id + 1, 'tools/call'))
    expect((await told.reply(id)).result).toEqual({})
    await told.reply(id + 1)
  }
  await rig.until(() => rig.gone.length === 100)
  expect(told.failures).toEqual([])
})

test('the stream that stands by comes back where it was after the time the server asks for', async () => {
  const { rig, transport, told } = await start((hit, response) => {
    if (hit.method !== 'GET') answers(hit, response, undefined as never)
    else {
      const count = gets(rig.hits).length
      stream(response).write(`retry: 1\n${event({ jsonrpc: '2.0', method: 'notifications/x' }, `e${count}`)}`)
      if (count < 3) response.end()
    }
  })
  await greet(transport, told)
  await rig.until(() => gets(rig.hits).length === 3)
  await told.until(() => told.messages.length === 4)
  expect(gets(rig.hits).map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e1', 'e2'])
  expect(told.messages.slice(1).every(({ stream }) => stream === undefined)).toBe(true)
})

for (const status of [400, 403, 408, 409, 425, 429, 500])
  test(`a stream that stands by comes back although it was refused once with ${status}`, async () => {
    const statuses: string[] = []
    const { rig, transport, told } = await start(
      (hit, response) => {
        if (hit.method !== 'GET') answers(hit, response, undefined as never)
        else if (gets(rig.hits).length === 1) stream(response).end('retry: 1\ndata: \n\n')
        else if (gets(rig.hits).length === 2) response.writeHead(status).end('not now')
        else stream(response).write(event({ jsonrpc: '2.0', method: 'notifications/x' }))
      },
      { onStatus: (status) => statuses.push(status) },
    )
    await greet(transport, told)
    await told.until(() => told.messages.length === 2)
    expect(statuses.at(0)).toBe('listening')
    expect(statuses.slice(-2)).toEqual(['not-listening', 'listening'])
  })

for (const status of [404, 405])
  test(`a stream that stands by and is refused with ${status} is not asked for again`, async () => {
    const { rig, transport, told } = await start((hit, response) => {
      if (hit.method !== 'GET') answers(hit, response, undefined as never)
      else if (gets(rig.hits).length === 1) stream(response).end('retry: 1\ndata: \n\n')
      else response.writeHead(status).end()
    })
    await greet(transport, told)
    await rig.until(() => gets(rig.hits).length === 2)
    for (let id = 2; id < 12; id++) {
      transport.send(message(id, 'tools/list'))
      await told.reply(id)
    }
    expect(gets(rig.hits)).toHaveLength(2)
  })

test('events of other kinds, and words that go with a status, are no messages', async () => {
  const { rig, transport, told } = await start((hit, response) => {
    if (hit.message.id === undefined)
      response.writeHead(202, { 'content-type': 'text/plain' }).end('Accepted')
    else stream(response).end(`event: ping\ndata: now\n\n${event(result(hit.message.id))}`)
  })
  transport.agree(MODERN)
  transport.send(notification('notifications/x'))
  transport.send(message(1, 'tools/call'))
  await told.reply(1)
  await rig.until(() => rig.hits.length === 2)
  transport.send(message(2, 'tools/call'))
  await told.reply(2)
  expect(told.messages.map(({ value }) => value.id)).toEqual([1, 2])
  expect(told.noises).toEqual([])
})

test('there is one stream that stands by, and none where the server has none', async () => {
  const { rig, transport, told } = await start(answers)
  await greet(transport, told)
  transport.send(message(2, 'tools/list'))
  await told.reply(2)
  transport.send(message(3, 'tools/list'))
  await told.reply(3)
  expect(gets(rig.hits)).toHaveLength(1)
  expect(told.noises).toEqual([])
})

test('giving up a request closes its stream, and the server sees that', async () => {
  const { rig, transport, told } = await start((hit, response) => {
    stream(response).write(event({ jsonrpc: '2.0', method: `notifications/${hit.message.method}` }))
  })
  transport.agree(MODERN)
  for (const [id, method] of ['tools/call', 'subscriptions/listen'].entries())
    transport.send(message(id, method))
  await told.until(() => told.messages.length === 2)
  transport.drop(0)
  transport.drop(1)
  transport.drop(1)
  await rig.until(() => rig.gone.length === 2)
  expect(told.failures).toEqual([])
})

test('a request without any answer yet can be given up', async () => {
  const { rig, transport, told } = await start(() => undefined)
  transport.send(message(1, 'tools/call'))
  await rig.until(() => rig.hits.length === 1)
  transport.drop(1)
  await rig.until(() => rig.sockets.size === 0)
  expect(told.failures).toEqual([])
})

test('a stream that goes on after its answer is let go in the end', async () => {
  const { rig, transport, told } = await start((hit, response) => {
    stream(response).write(event(result(hit.message.id)))
  })
  transport.agree(MODERN)
  transport.send(message(1, 'tools/call'))
  await told.reply(1)
  await rig.until(() => rig.gone.length === 1)
  expect(told.failures).toEqual([])
})

test('close leaves no connection, whatever is under way', async () => {
  const { rig, transport, told } = await start((hit, response) => {
    if (hit.method === 'GET') stream(response)
    else if (hit.message.method === 'initialize')
      json(response, result(hit.message.id), 200, { 'mcp-session-id': 's' })
    else if (hit.message.method === 'tools/call') stream(response)
    else if (hit.method !== 'DELETE') answers(hit, response, undefined as never)
  })
  await greet(transport, told)
  for (let id = 2; id < 10; id++) transport.send(message(id, 'tools/call'))
  await rig.until(() => rig.hits.length === 11)
  // The server does not even answer the goodbye.
  await Promise.all([transport.close(), transport.close()])
  await rig.until(() => rig.sockets.size === 0)
  transport.send(message(99, 'tools/call'))
  transport.drop(99)
  expect(rig.hits.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
  expect([told.failures, told.ends]).toEqual([[], []])
})

test('a kept connection that the server let go is asked again, but no tool is called twice', async () => {
  const { rig, transport, told } = await start((hit, response, request) => {
    if (hit.message.params?.['drop'] !== undefined && rig.hits.length % 2 === 0)
      request.socket.resetAndDestroy()
    else answers(hit, response, undefined as never)
  })
  const dropped = (id: number, method: string) =>
    message(id, method, { body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { drop: 1 } }) })
  transport.send(message(1, 'tools/list'))
  await told.reply(1)
  transport.send(dropped(2, 'tools/list'))
  await told.reply(2)
  expect(rig.hits).toHaveLength(3)
  transport.send(dropped(3, 'tools/call'))
  expect((await told.failure(3)).code).toBe('CONNECTION_LOST')
  expect(rig.hits).toHaveLength(4)
})
