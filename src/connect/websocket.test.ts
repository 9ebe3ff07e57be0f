import http from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { testCertificate } from './http/test-certificate.ts'
import { startProxy } from './http/test-proxy.ts'
import { LEGACY, message, notification, open, result, serve } from './http/test-rig.ts'
import { openWebSocket, type WebSocketOptions } from './websocket.ts'

async function start(listen: (socket: WebSocket) => void, more: Partial<WebSocketOptions> = {}) {
  const server = http.createServer()
  const far = new WebSocketServer({ server })
  const requests: http.IncomingMessage[] = []
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  far.on('connection', (socket, request) => {
    requests.push(request)
    socket.on('error', () => undefined)
    listen(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  return { far, requests, server, ...(await open(openWebSocket({ url, limit: 10_000, ...more }))) }
}
const echo = (socket: WebSocket) =>
  socket.on('message', (data) => {
    const { id } = JSON.parse(data.toString())
    if (id !== undefined) socket.send(JSON.stringify(result(id)))
  })

test('messages travel a frame each, in order, also those sent before the handshake is over', async () => {
  const heard: string[] = []
  const { requests, transport, told } = await start(
    (socket) => {
      socket.on('message', (data) => heard.push(JSON.parse(data.toString()).method))
      echo(socket)
    },
    { headers: { Authorization: 'Bearer t' } },
  )
  expect(transport.streams).toBe(false)
  transport.send(message(1, 'initialize'))
  transport.send(notification('notifications/initialized'))
  transport.send(message(2, 'tools/list', { body: Buffer.from(message(2, 'tools/list').body) }))
  await told.reply(2)
  transport.agree(LEGACY)
  expect(heard).toEqual(['initialize', 'notifications/initialized', 'tools/list'])
  expect(requests[0]?.headers).toMatchObject({
    authorization: 'Bearer t',
    'sec-websocket-protocol': 'mcp',
    'user-agent': 'busbar',
  })
  expect(requests[0]?.headers['sec-websocket-extensions']).toBeUndefined()
  await transport.close()
  await transport.close()
  expect(told.ends).toEqual([])
})

test('several messages in one frame are told one by one', async () => {
  const { transport, told } = await start((socket) =>
    socket.on('message', () => socket.send(JSON.stringify([notified, result(1)]))),
  )
  const notified = { jsonrpc: '2.0', method: 'notifications/x' }
  transport.send(message(1, 'tools/list'))
  await told.reply(1)
  expect(told.messages.map(({ value }) => value.method ?? value.id)).toEqual(['notifications/x', 1])
})

test('a frame over the limit is thrown away, and the connection goes on', async () => {
  const { transport, told } = await start((socket) =>
    socket.on('message', () => {
      socket.send(`{"jsonrpc":"2.0","id":1,"result":{"text":"${'x'.repeat(10_000)}"}}`)
      socket.send('{"jsonrpc":"2.0","id":2,"result":{}}')
    }),
  )
  transport.send(message(1, 'tools/call'))
  await told.reply(2)
  expect(told.oversize).toMatchObject([{ id: 1 }])
  expect(told.ends).toHaveLength(0)
  await transport.close()
})

test('a frame far over the limit ends the connection and says why', async () => {
  const { transport, told } = await start((socket) =>
    socket.on('message', () => socket.send('x'.repeat(50_001))),
  )
  transport.send(message(1, 'tools/call'))
  expect((await told.end()).code).toBe('MESSAGE_TOO_LARGE')
  expect(told.ends).toHaveLength(1)
})

test('a connection that breaks is told once', async () => {
  const { transport, told } = await start((socket) => socket.on('message', () => socket.terminate()))
  transport.send(message(1, 'tools/call'))
  expect((await told.end()).code).toBe('CONNECTION_LOST')
  transport.send(message(2, 'tools/call'))
  await transport.close()
  expect(told.ends).toHaveLength(1)
})

test('what a server says when it closes is told, masked and as one line', async () => {
  const { transport, told } = await start((socket) =>
    socket.on('message', () =>
      socket.close(1008, 'policy:\u001b[31m\n token=ghp_abcdefghijklmnopqrstuvwx over'),
    ),
  )
  transport.send(message(1, 'tools/call'))
  const { code, message: said } = await told.end()
  expect([code, said]).toEqual([
    'CONNECTION_LOST',
    expect.stringMatching(/ closed the connection \(1008: policy: \[31m .* over\): the outcome is unknown$/),
  ])
  expect(said).not.toContain('ghp_abc')
  await transport.close()
})

test('a message in a binary frame is a message', async () => {
  const { transport, told } = await start((socket) =>
    socket.on('message', () => socket.send(Buffer.from(` ${JSON.stringify(result(1, 'bytes'))}`))),
  )
  transport.send(message(1, 'tools/call'))
  expect((await told.reply(1)).result).toBe('bytes')
  expect(told.noises).toEqual([])
})

for (const [what, agreed] of [
  ['no', false],
  ['another', 'other'],
] as const)
  test(`a server that agrees to ${what} subprotocol`, async () => {
    const server = http.createServer()
    const far = new WebSocketServer({ server, handleProtocols: () => agreed })
    far.on('connection', echo)
    const rig = await serve(() => undefined, server)
    const url = rig.url.replace('http', 'ws')
    const { transport, told } = await open(openWebSocket({ url, limit: 1000 }))
    transport.send(message(1, 'tools/call'))
    if (!agreed) expect(await told.reply(1)).toMatchObject({ id: 1 })
    else
      expect(await told.end()).toMatchObject({
        code: 'SERVER_UNREACHABLE',
        message: `127.0.0.1:${rig.port} wants to speak another subprotocol than mcp`,
        hint: 'is the url the one of an MCP server?',
      })
    await transport.close()
  })

test('a binary frame is noise', async () => {
  const { transport, told } = await start((socket) => {
    socket.send(Buffer.from([1, 2]))
    echo(socket)
  })
  transport.send(message(1, 'tools/call'))
  await told.reply(1)
  await told.until(() => told.noises.length === 1)
})

for (const [status, code] of [
  [401, 'AUTH_REQUIRED'],
  [404, 'SERVER_UNREACHABLE'],
  [302, 'ADDRESS_REFUSED'],
  [200, 'SERVER_UNREACHABLE'],
] as const)
  test(`status ${status} to the handshake means ${code}`, async () => {
    const server = http.createServer()
    server.on('upgrade', (_request, socket) =>
      socket.end(
        `HTTP/1.1 ${status} X\r\n${status === 302 ? 'location: http://evil.example/\r\n' : ''}content-length: 2\r\nconnection: close\r\n\r\nno`,
      ),
    )
    const rig = await serve(() => undefined, server)
    const { told } = await open(openWebSocket({ url: rig.url.replace('http', 'ws'), limit: 1000 }))
    expect(await told.end()).toMatchObject({ code, details: { status } })
    await rig.until(() => rig.sockets.size === 0)
  })

test('nobody listening, and no address at all', async () => {
  const { told } = await open(openWebSocket({ url: 'ws://127.0.0.1:1/', limit: 1000 }))
  expect((await told.end()).message).toBe('nothing listens at 127.0.0.1:1')
  await expect(open(openWebSocket({ url: 'file:///x', limit: 1000 }))).rejects.toMatchObject({
    code: 'ADDRESS_REFUSED',
  })
})

test('a public name that leads to this machine is refused', async () => {
  const rig = await serve((_hit, response) => response.end())
  const { told } = await open(
    openWebSocket({
      url: `ws://mcp.example.com:${rig.port}/`,
      limit: 1000,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    }),
  )
  expect((await told.end()).code).toBe('ADDRESS_REFUSED')
  expect(rig.sockets.size).toBe(0)
})

test('closing while the handshake goes on ends it', async () => {
  const server = http.createServer()
  server.on('upgrade', () => undefined)
  const rig = await serve(() => undefined, server)
  const { transport, told } = await open(openWebSocket({ url: rig.url.replace('http', 'ws'), limit: 1000 }))
  transport.send(message(1, 'initialize'))
  await transport.close()
  await rig.until(() => rig.sockets.size === 0)
  expect(told.ends).toEqual([])
})

// Whoever asks it would find that the name leads nowhere.
const resolve = () => Promise.reject(new Error('the proxy looks names up, not we'))

for (const scheme of ['ws', 'wss'] as const)
  test(`${scheme} goes through a tunnel of the proxy that the environment names`, async () => {
    const pair = testCertificate(['mcp.example.com'])
    const target = await serve(
      (_hit, response) => response.end(),
      scheme === 'wss' ? https.createServer(pair) : undefined,
    )
    const heard: http.IncomingMessage[] = []
    new WebSocketServer({ server: target.server }).on('connection', (socket, request) => {
      heard.push(request)
      echo(socket)
    })
    const { asked, env, passwords } = await startProxy(target)
    const url = `${scheme}://mcp.example.com/mcp`
    const options = { url, limit: 1000, env, resolve, certificates: pair.cert }
    const { transport, told } = await open(openWebSocket(options))
    transport.send(message(1, 'initialize'))
    await told.reply(1)
    expect(asked).toEqual([`CONNECT mcp.example.com:${scheme === 'wss' ? 443 : 80}`])
    expect(passwords).toEqual([`Basic ${Buffer.from('user:pa ss').toString('base64')}`])
    // The proxy's password is for the proxy alone.
    expect(heard[0]?.headers).toMatchObject({ host: 'mcp.example.com' })
    expect(heard[0]?.headers['proxy-authorization']).toBeUndefined()
    await transport.close()
    await target.until(() => target.sockets.size === 0)
  })

test('a proxy that refuses the tunnel is named, and one that says nothing holds up nobody', async () => {
  const target = await serve((_hit, response) => response.end())
  const { env, proxy } = await startProxy(target, 407)
  const options = { url: 'ws://mcp.example.com/', limit: 1000, resolve }
  const refused = await open(openWebSocket({ ...options, env }))
  expect(await refused.told.end()).toMatchObject({
    code: 'SERVER_UNREACHABLE',
    message: `the proxy 127.0.0.1:${proxy.port} answered 407 when asked for mcp.example.com:80`,
  })
  const silent = http.createServer()
  const asked = new Promise<void>((resolve) =>
    silent.on('connect', (_request, socket) => {
      socket.on('end', () => socket.end()).resume()
      resolve()
    }),
  )
  const rig = await serve(() => undefined, silent)
  const waiting = await open(
    openWebSocket({ ...options, env: { HTTP_PROXY: `http://127.0.0.1:${rig.port}` } }),
  )
  await asked
  await waiting.transport.close()
  await rig.until(() => rig.sockets.size === 0)
  expect(waiting.told.ends).toEqual([])
})
