// A modern server over http whose place another one takes that speaks the older era, at the same address: rolled back.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type ServerOptions, serverCommand, startServer } from '../servers/start.ts'
import {
  AGENTS,
  type Answer,
  codeOf,
  faultOf,
  type Hub,
  hubWith,
  kill,
  pidOf,
  place,
  until,
  up,
} from './hub.ts'

type Kind = readonly [mode: string, options?: ServerOptions]

const MODERN: Kind = ['plain', { era: 'modern' }]
const LEGACY: Kind = ['plain', { era: 'legacy' }]

/** Two servers at one address, one after the other; `replace` resolves when the second one listens. */
async function replaceable([mode, options]: Kind, [next, more]: Kind) {
  const first = await startServer(mode, options)
  const port = Number(new URL(first.url).port)
  return {
    url: first.url,
    replace: async () => {
      await first.stop()
      await startServer(next, { ...more, port })
    },
  }
}

const echo = async (hub: Hub, text: string) => (await hub.as().call('it/echo', { text })).text

test('[E8][C1] the first call to a server that was rolled back is answered by what is there now', async () => {
  const { url, replace } = await replaceable(MODERN, LEGACY)
  const hub = await hubWith({ it: { url } })
  expect(hub.servers.get('it').protocolVersion).toBe('2026-07-28')
  for (const text of ['a', 'b']) expect(await echo(hub, text)).toContain(text)
  await replace()
  expect(await echo(hub, 'c')).toContain('c')
  expect(await echo(hub, 'd')).toContain('d')
  expect(hub.servers.get('it')).toMatchObject({ status: 'connected', protocolVersion: '2025-11-25' })
})

test('[E8][C1] gateway: calls and readings go on with a server that was rolled back', async () => {
  for (const first of ['call', 'read'] as const) {
    const { url, replace } = await replaceable(MODERN, LEGACY)
    const gateway = await up(place().sandbox, { servers: { it: { url } }, agents: AGENTS })
    const call = () => gateway.ask('it', 'tools/call', { name: 'echo', arguments: { text: 'hello' } })
    const read = () => gateway.ask('it', 'resources/read', { uri: 'test://text' })
    expect(JSON.stringify(await call())).toContain('hello')
    await replace()
    const answer = first === 'call' ? await call() : await read()
    expect(answer).toMatchObject({ result: expect.not.objectContaining({ isError: true }) })
    expect(JSON.stringify(await call())).toContain('hello')
    expect(JSON.stringify(await read())).toContain('contents')
  }
})

test('[E8][E9] what a server that was rolled back now calls by the same name is judged before it is called', async () => {
  const { url, replace } = await replaceable(MODERN, ['sdk1'])
  const gateway = await up(place().sandbox, { servers: { it: { url } }, agents: AGENTS })
  const call = async () =>
    JSON.stringify(await gateway.ask('it', 'tools/call', { name: 'echo', arguments: { text: 'hello' } }))
  expect(await call()).toContain('hello')
  await replace()
  for (const answer of [await call(), await call()]) expect(answer).toContain('TOOL_CHANGED')
  expect(JSON.stringify(await gateway.ask('it', 'resources/read', { uri: 'test://text' }))).toContain(
    'A text',
  )
})

test('[E8] a process that is of another era when it is started again is agreed with anew', async () => {
  const { sandbox, open } = place()
  const file = sandbox.write('era.txt', 'modern')
  const { command, args } = serverCommand('plain')
  const line = `exec ${[command, ...args].join(' ')} --era $(cat ${file})`
  const hub = await open({ servers: { it: { command: 'sh', args: ['-c', line] } } })
  await hub.as().ready()
  for (const [era, version] of [
    ['legacy', '2025-11-25'],
    ['modern', '2026-07-28'],
  ] as const) {
    sandbox.write('era.txt', era)
    kill(await pidOf(hub, 'it'), 'SIGKILL')
    await until(() => hub.servers.get('it').protocolVersion === version)
    expect(await echo(hub, era)).toContain(era)
  }
})

test('[E8] what takes the place of a server of the old transport is agreed with anew', async () => {
  const { url, replace } = await replaceable(['sse-only', { case: '405' }], MODERN)
  const hub = await hubWith({ it: { url } })
  expect(await echo(hub, 'a')).toContain('a')
  await replace()
  await until(() => hub.servers.get('it').protocolVersion === '2026-07-28')
  expect(await echo(hub, 'b')).toContain('b')
})

// --- what refuses in other ways ---

type Say = (response: ServerResponse, id: unknown) => void

const error = (status: number, code: number, message: string, id?: unknown): Say => {
  return (response, given) =>
    json(response, { jsonrpc: '2.0', id: id === undefined ? given : id, error: { code, message } }, status)
}
const bare =
  (status: number): Say =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'text/plain' }).end('no')

function json(response: ServerResponse, value: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

interface Scene {
  /** What modern requests are refused with, where they are. */
  refuse: ((method: string) => Say | undefined) | undefined
  /** Whether it speaks the older era. */
  legacy: boolean
  /** Methods in the order in which they came. */
  readonly asked: string[]
}

/** A server that speaks one era or the other, as is said from one request to the next. */
async function scene(): Promise<Scene & { url: string }> {
  const it: Scene = { refuse: undefined, legacy: false, asked: [] }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    if (request.method !== 'POST') {
      response.writeHead(405).end()
      return
    }
    const { id, method, params }: Answer = JSON.parse(text)
    it.asked.push(method)
    if (id === undefined) {
      response.writeHead(202).end()
      return
    }
    const isModern = request.headers['mcp-protocol-version'] === '2026-07-28'
    const refusal = isModern ? it.refuse?.(method) : undefined
    if (refusal) refusal(response, id)
    else if (!isModern && !it.legacy) error(400, -32600, 'no')(response, id)
    else json(response, { jsonrpc: '2.0', id, result: resultOf(method, params, isModern) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(it, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` })
}

function resultOf(method: string, params: Answer, isModern: boolean): object {
  const more = isModern ? { resultType: 'complete', ttlMs: 0, cacheScope: 'public' } : {}
  const serverInfo = { name: 'it', version: '1' }
  const capabilities = { tools: {} }
  if (method === 'server/discover')
    return { ...more, supportedVersions: ['2026-07-28'], capabilities, serverInfo }
  if (method === 'initialize') return { protocolVersion: '2025-11-25', capabilities, serverInfo }
  if (method === 'tools/list') return { ...more, tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }
  const era = isModern ? 'modern' : 'legacy'
  return { ...more, content: [{ type: 'text', text: `${era} ${params?.arguments?.text}` }] }
}

const REFUSALS: [string, Say][] = [
  ['400 and an error without an id', error(400, -32000, 'Bad Request: No valid session ID provided', null)],
  ['400 and an error with an id of its own', error(400, -32600, 'Missing session ID', 'server-error')],
  ['400 and an error that speaks of a session', error(400, -32000, 'Missing session')],
  ['400 and a version that it does not know', error(400, -32022, 'Unsupported protocol version')],
  ['a bare 400', bare(400)],
  ['a bare 404', bare(404)],
  ['a bare 405', bare(405)],
  ['a bare 415', bare(415)],
]
for (const [what, refusal] of REFUSALS)
  test(`[E8] a server that was rolled back and says ${what} is agreed with anew, and the call is made once`, async () => {
    const it = await scene()
    const hub = await hubWith({ it: { url: it.url } })
    // The second goes the short way.
    for (const text of ['a', 'b']) expect(await echo(hub, text)).toBe(`modern ${text}`)
    it.legacy = true
    it.refuse = () => refusal
    it.asked.length = 0
    expect(await echo(hub, 'c')).toBe('legacy c')
    expect(it.asked.filter((method) => method === 'tools/call')).toHaveLength(2)
    expect(it.asked.filter((method) => method === 'initialize')).toHaveLength(1)
    expect(await echo(hub, 'd')).toBe('legacy d')
  })

test('[E8] a server that was rolled back is agreed with anew when its health is looked at', async () => {
  for (const refusal of [error(200, -32601, 'Method not found'), error(400, -32000, 'no', null), bare(404)]) {
    const it = await scene()
    const hub = await hubWith({ it: { url: it.url, timeouts: { health: 50 } } })
    it.legacy = true
    it.refuse = () => refusal
    await until(() => hub.servers.get('it').protocolVersion === '2025-11-25')
    expect(await echo(hub, 'a')).toBe('legacy a')
  }
})

test('[E8] a modern server that refuses a call keeps its connection, and is not asked each time what it is', async () => {
  const it = await scene()
  const hub = await hubWith({ it: { url: it.url } })
  it.refuse = (method) => (method === 'tools/call' ? bare(400) : undefined)
  it.asked.length = 0
  for (let call = 0; call < 20; call++) expect(await codeOf(echo(hub, `${call}`))).toBe('SERVER_UNREACHABLE')
  expect(hub.servers.get('it')).toMatchObject({ status: 'connected', protocolVersion: '2026-07-28' })
  const of = (wanted: string) => it.asked.filter((method) => method === wanted).length
  expect([of('tools/call'), of('initialize')]).toEqual([20, 0])
  expect(of('server/discover')).toBeLessThan(6)
  it.refuse = undefined
  expect(await echo(hub, 'x')).toBe('modern x')
})

test('[E8] a server that refuses everything has failed, says why, and is tried later and later', async () => {
  const it = await scene()
  const hub = await hubWith({ it: { url: it.url } })
  it.refuse = () => bare(400)
  it.asked.length = 0
  for (let call = 0; call < 7; call++) {
    const { message } = await faultOf(echo(hub, `${call}`))
    expect(message).toContain('it')
  }
  expect(hub.servers.get('it')).toMatchObject({
    status: 'failed',
    error: 'it refused to start a session: no',
  })
  // Two questions for each try to agree, and a few tries.
  expect(it.asked.length).toBeLessThan(40)
  it.refuse = undefined
  await hub.servers.reconnect('it')
  expect(await echo(hub, 'x')).toBe('modern x')
})
