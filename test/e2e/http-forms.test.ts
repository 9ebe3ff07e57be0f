// Requests to the gateway in every form that HTTP allows, and in some that it does not; written byte by byte.

import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, type Gateway, place, TOKEN, up } from './hub.ts'

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const servers = { plain: serverCommand('plain') }

/** What comes back to some bytes, until the other side hangs up. */
function said(where: { port: number } | { path: string }, ...parts: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...where, host: '127.0.0.1' })
    let text = ''
    socket.on('data', (data) => (text += data))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
    for (const part of parts) socket.write(part)
  })
}

interface Form {
  readonly method?: string
  readonly target?: string
  readonly version?: string
  readonly headers?: readonly string[]
  readonly length?: number | null
  readonly body?: string | Buffer
}

/** A request as an agent makes it; `HERE` stands for where the gateway is. */
async function answer(gateway: Gateway, form: Form): Promise<[status: number, text: string]> {
  const { host, port } = new URL(gateway.url)
  const { method = 'POST', target = '/mcp', version = '1.1', headers = ['Host: HERE'], body = PING } = form
  const length = form.length === undefined ? Buffer.byteLength(body) : form.length
  const lines = [
    `${method} ${target} HTTP/${version}`,
    `Authorization: Bearer ${TOKEN}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'Connection: close',
    ...headers,
    ...(length === null ? [] : [`Content-Length: ${length}`]),
  ]
  const head = `${lines.join('\r\n').replaceAll('HERE', host)}\r\n\r\n`
  const text = await said({ port: Number(port) }, head, body)
  const [first = '', rest = ''] = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '').split(/\r\n\r\n(.*)/s)
  return [Number(first.split(' ')[1]), rest]
}

test('[C11] the whole address in the first line is taken, and means what its path says', async () => {
  const gateway = await up(place().sandbox, { servers, agents: AGENTS })
  const ok = [200, '{"jsonrpc":"2.0","id":1,"result":{}}']
  for (const target of ['http://HERE/mcp', 'HTTP://HERE/mcp', 'http://HERE/mcp/plain?x=1'])
    expect([target, ...(await answer(gateway, { target }))]).toEqual([target, ...ok])
  expect((await answer(gateway, { method: 'GET', target: 'http://HERE/healthz', body: '' }))[0]).toBe(200)
  expect((await answer(gateway, { method: 'GET', target: 'http://HERE/api/status', body: '' }))[0]).toBe(403)
  const evil = { target: 'http://evil.example/mcp', headers: ['Host: evil.example'] }
  expect((await answer(gateway, evil))[0]).toBe(403)
  const [status, text] = await answer(gateway, { target: 'http://localhost/mcp' })
  expect([status, text]).toEqual([400, expect.stringContaining('names another host')])
})

test('[C11] what can be read in two ways is refused', async () => {
  const gateway = await up(place().sandbox, { servers: {}, agents: AGENTS })
  for (const [headers, what] of [
    [['Host: HERE', 'host: HERE'], 'more than one Host'],
    [['Host: HERE', 'Host: evil.example'], 'more than one Host'],
    [['Host: HERE', 'Authorization: Bearer other'], 'more than one Authorization'],
    [['Host: HERE', 'Content-Length: 3'], ''],
    [[], ''],
  ] as const) {
    const [status, text] = await answer(gateway, { headers })
    expect([headers, status]).toEqual([headers, 400])
    expect(text).toContain(what)
  }
})

test('[C11] a packed body is refused by its name; identity is none', async () => {
  const gateway = await up(place().sandbox, { servers: {}, agents: AGENTS })
  const packed = { headers: ['Host: HERE', 'Content-Encoding: gzip'], body: gzipSync(PING) }
  const message = 'the content encoding "gzip" is not understood'
  expect(await answer(gateway, packed)).toEqual([
    415,
    JSON.stringify({ error: `${message}; send it as it is` }),
  ])
  const plain = { headers: ['Host: HERE', 'Content-Encoding: Identity'] }
  expect((await answer(gateway, plain))[0]).toBe(200)
  const coded = {
    headers: ['Host: HERE', 'Transfer-Encoding: gzip, chunked'],
    length: null,
    body: '0\r\n\r\n',
  }
  expect((await answer(gateway, coded))[0]).toBe(501)
})

test('[C11][B6] bodies in pieces, with and without leave, up to the limit and not beyond', async () => {
  const gateway = await up(place().sandbox, {
    servers: {},
    agents: AGENTS,
    gateway: { limits: { body: '1KB' } },
  })
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
  const pieces = (...texts: string[]): Form => ({
    headers: ['Host: HERE', 'Transfer-Encoding: chunked'],
    length: null,
    body: [...texts.map(chunk), '0\r\n\r\n'].join(''),
  })
  expect((await answer(gateway, pieces(PING.slice(0, 9), PING.slice(9))))[0]).toBe(200)
  expect((await answer(gateway, pieces(PING, ' '.repeat(2000))))[0]).toBe(413)
  const waiting = { headers: ['Host: HERE', 'Expect: 100-continue'] }
  expect((await answer(gateway, waiting))[0]).toBe(200)
  expect((await answer(gateway, { ...waiting, length: 2000, body: '' }))[0]).toBe(413)
})

const FORMS: [title: string, form: Form, status: number][] = [
  ['HEAD', { method: 'HEAD', body: '' }, 405],
  ['OPTIONS', { method: 'OPTIONS', body: '' }, 405],
  ['HTTP/1.0 with a Host', { version: '1.0' }, 200],
  ['HTTP/1.0 without a Host', { version: '1.0', headers: [] }, 403],
  ['a slash at the end', { target: '/mcp/plain/' }, 200],
  ['an encoded name', { target: '/mcp/pl%61in' }, 200],
  ['a name that is not encoded as names are', { target: '/mcp/pl%zz' }, 404],
  ['an encoded slash in a name', { target: '/mcp/plain%2Fx' }, 404],
  ['a query', { target: '/mcp?a=b&a' }, 200],
  ['a very long address', { target: `/mcp?${'a'.repeat(20_000)}` }, 431],
]

test('[C11] other methods, other versions and other addresses', async () => {
  const gateway = await up(place().sandbox, { servers, agents: AGENTS })
  for (const [title, form, status] of FORMS)
    expect([title, (await answer(gateway, form))[0]]).toEqual([title, status])
})

test('[C11] the word before a token is written in any way', async () => {
  const gateway = await up(place().sandbox, { servers: {}, agents: AGENTS })
  for (const word of ['bearer', 'BEARER', 'Bearer ']) {
    const authorization = `${word} ${TOKEN}`
    expect((await gateway.post('/mcp', PING, { authorization })).status).toBe(200)
  }
})

test('[C11] a line that is asked for by a name that is none harms nobody', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: {}, agents: AGENTS })
  const path = join(sandbox.home, '.local/state/busbar/gateway.sock')
  const head = [
    'GET /lines/%zz HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${TOKEN}`,
    'Connection: upgrade',
    'Upgrade: busbar-lines',
  ]
  expect(await said({ path }, `${head.join('\r\n')}\r\n\r\n`)).toContain(' 404 ')
  expect((await gateway.post('/mcp', PING)).status).toBe(200)
})
