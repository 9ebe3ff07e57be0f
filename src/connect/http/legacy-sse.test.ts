import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { openLegacySse } from './legacy-sse.ts'
import {
  event,
  type Handler,
  LEGACY,
  message,
  notification,
  open,
  result,
  serve,
  stream,
} from './test-rig.ts'

async function start(endpoint: string, post?: Handler, headers = {}) {
  const state: { stream?: ServerResponse } = {}
  const rig = await serve((hit, response, request) => {
    if (hit.method === 'GET') {
      state.stream = stream(response)
      response.write(`event: endpoint\r\ndata: ${endpoint}\r\n\r\n`)
    } else if (post) post(hit, response, request)
    else {
      response.writeHead(202).end('Accepted')
      if (hit.message.id !== undefined) state.stream?.write(event(result(hit.message.id)))
    }
  })
  return { rig, state, ...(await open(openLegacySse({ url: rig.url, limit: 50_000, headers }))) }
}

test('messages go to the address the server names, answers come on the stream', async () => {
  const { rig, transport, told } = await start('/messages?s=1', undefined, { 'X-Own': '1' })
  expect(transport.streams).toBe(false)
  // Sent before the address is known.
  transport.send(message(1, 'initialize'))
  await told.reply(1)
  transport.agree(LEGACY)
  transport.send(notification('notifications/initialized'))
  for (let id = 2; id < 10; id++) transport.send(message(id, 'tools/call'))
  for (let id = 2; id < 10; id++) await told.reply(id)
  expect(rig.hits[0]).toMatchObject({ method: 'GET', path: '/mcp', headers: { accept: 'text/event-stream' } })
  for (const hit of rig.hits.slice(1))
    expect(hit).toMatchObject({ method: 'POST', path: '/messages?s=1', headers: { 'x-own': '1' } })
  expect(rig.hits[2]?.message.method).toBe('notifications/initialized')
  await transport.close()
  await transport.close()
  await rig.until(() => rig.sockets.size === 0)
  expect(told.ends).toEqual([])
})

test('several messages in one event are told one by one', async () => {
  const { state, transport, told } = await start('/messages', (hit, response) => {
    response.writeHead(202).end()
    state.stream?.write(event([{ jsonrpc: '2.0', method: 'notifications/x' }, result(hit.message.id)]))
  })
  transport.send(message(1, 'tools/list'))
  await told.reply(1)
  expect(told.messages.map(({ value }) => value.method ?? value.id)).toEqual(['notifications/x', 1])
})

for (const endpoint of ['http://127.0.0.1:1/x', '//evil.example/x', 'https://127.0.0.1/x', 'http://['])
  test(`the address ${endpoint} is refused`, async () => {
    const { rig, transport, told } = await start(endpoint)
    transport.send(message(1, 'initialize'))
    expect((await told.end()).code).toBe('ADDRESS_REFUSED')
    await rig.until(() => rig.sockets.size === 0)
    expect(rig.hits).toHaveLength(1)
  })

test('a stream that breaks ends the connection once', async () => {
  const { state, transport, told } = await start('/m')
  transport.send(message(1, 'initialize'))
  await told.reply(1)
  state.stream?.destroy()
  expect((await told.end()).code).toBe('CONNECTION_LOST')
  transport.send(message(2, 'tools/call'))
  expect(told.ends).toHaveLength(1)
})

test('a message that is refused fails alone', async () => {
  const { transport, told } = await start('/m', (hit, response) => {
    response.writeHead(hit.message.id === 1 ? 500 : 401).end('no')
  })
  transport.send(message(1, 'tools/call'))
  transport.send(message(2, 'tools/call'))
  expect((await told.failure(1)).code).toBe('SERVER_UNREACHABLE')
  expect((await told.failure(2)).code).toBe('AUTH_REQUIRED')
  expect(told.ends).toEqual([])
})

test('a server without such a stream says so by its status', async () => {
  const rig = await serve((_hit, response) => response.writeHead(404).end())
  const { transport, told } = await open(openLegacySse({ url: rig.url, limit: 1000 }))
  transport.send(message(1, 'initialize'))
  expect(await told.end()).toMatchObject({ code: 'SERVER_UNREACHABLE', details: { status: 404 } })
})

test('an event that is too large is thrown away, one without end ends the connection', async () => {
  const { state, transport, told } = await start('/m')
  transport.send(message(1, 'initialize'))
  await told.reply(1)
  state.stream?.write(event(result(5, 'x'.repeat(60_000))) + event({ jsonrpc: '2.0', method: 'n' }))
  await told.until(() => told.messages.length === 2)
  expect(told.oversize).toMatchObject([{ id: 5 }])
  state.stream?.write('data: ')
  const next = (error?: Error | null) => {
    if (!error) setImmediate(() => state.stream?.write('x'.repeat(10_000), next))
  }
  next()
  expect((await told.end()).code).toBe('MESSAGE_TOO_LARGE')
})

test('events of other kinds are none of ours', async () => {
  const { state, transport, told } = await start('/m')
  transport.send(message(1, 'initialize'))
  await told.reply(1)
  state.stream?.write(`event: ping\ndata: x\n\n${event({ jsonrpc: '2.0', method: 'n' })}`)
  await told.until(() => told.messages.length === 2)
  transport.drop(1)
  expect(told.noises).toEqual([])
})
