// The HTTP side at the level of requests: the rules of the modern era, and the modes that break them.
import { expect, test } from 'vitest'
import { startServer } from './start.ts'

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

interface Extra {
  headers?: Record<string, string>
  meta?: object
  id?: string
}

/** A right modern request, but for what `extra` changes. */
function modern(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  extra: Extra = {},
): Promise<Response> {
  const name = params['name'] ?? params['uri']
  return fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      ...ACCEPT,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...extra.headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: extra.id ?? 'a',
      method,
      params: { ...params, _meta: extra.meta ?? META },
    }),
  })
}

function call(url: string, name: string, given: object = {}, extra: Extra = {}): Promise<Response> {
  return modern(url, 'tools/call', { name, arguments: given }, extra)
}

async function codeOf(response: Response): Promise<[number, number]> {
  const body = (await response.json()) as { error: { code: number } }
  return [response.status, body.error.code]
}

async function textOf(response: Response): Promise<string> {
  const body = (await response.json()) as { result: { content: { text: string }[] } }
  return body.result.content[0]?.text ?? ''
}

/** Reads until so many bytes came, then leaves. */
async function bytesUntil(response: Response, enough: number): Promise<number> {
  let read = 0
  for await (const chunk of response.body ?? []) {
    read += chunk.length
    if (read >= enough) break
  }
  return read
}

test('modern requests are checked: envelope, version, headers, method', async () => {
  const { url } = await startServer('plain')
  expect((await modern(url, 'server/discover')).status).toBe(200)
  expect(await codeOf(await modern(url, 'tools/list', {}, { meta: {} }))).toEqual([400, -32602])
  const half = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  expect(await codeOf(await modern(url, 'tools/list', {}, { meta: half }))).toEqual([400, -32602])
  const future = { ...META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
  const ahead = { meta: future, headers: { 'mcp-protocol-version': '2099-01-01' } }
  expect(await codeOf(await modern(url, 'tools/list', {}, ahead))).toEqual([400, -32022])
  const wrongMethod = { headers: { 'mcp-method': 'tools/call' } }
  expect(await codeOf(await modern(url, 'tools/list', {}, wrongMethod))).toEqual([400, -32020])
  const wrongName = { headers: { 'mcp-name': 'other' } }
  expect(await codeOf(await call(url, 'echo', { text: 'x' }, wrongName))).toEqual([400, -32020])
  const wrongVersion = { headers: { 'mcp-protocol-version': '2025-11-25' } }
  expect(await codeOf(await modern(url, 'tools/list', {}, wrongVersion))).toEqual([400, -32020])
  expect(await codeOf(await modern(url, 'no/such'))).toEqual([404, -32601])
  expect((await modern(url, 'tools/list', {}, { headers: { origin: 'https://evil.example' } })).status).toBe(
    403,
  )
})

test('a modern server takes nothing but POST', async () => {
  const { url } = await startServer('plain', { era: 'modern' })
  expect((await fetch(url)).status).toBe(405)
  expect((await fetch(url, { method: 'DELETE' })).status).toBe(405)
})

test('a legacy server answers a modern request as old servers do', async () => {
  const { url } = await startServer('plain', { era: 'legacy' })
  expect((await modern(url, 'server/discover')).status).toBe(400)
})

test('cut-discover hangs up on the modern question, and on no other', async () => {
  const { url } = await startServer('cut-discover')
  await expect(modern(url, 'server/discover')).rejects.toThrow()
  expect((await modern(url, 'tools/list')).status).toBe(400)
})

test('x-mcp-header arguments must be mirrored', async () => {
  const { url } = await startServer('x-mcp-header')
  expect(await codeOf(await call(url, 'region', { region: 'eu' }))).toEqual([400, -32020])
  const headers = { 'mcp-param-region': '=?base64?WsO8cmljaA==?=' }
  expect(await textOf(await call(url, 'region', { region: 'Zürich' }, { headers }))).toContain('Zürich')
})

test('header-echo shows the headers', async () => {
  const { url } = await startServer('header-echo')
  expect(
    JSON.parse(await textOf(await call(url, 'headers', {}, { headers: { 'x-test': '1' } }))),
  ).toMatchObject({ 'x-test': '1' })
})

test('retry-after refuses once', async () => {
  const { url } = await startServer('retry-after')
  const first = await modern(url, 'tools/list')
  expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1'])
  expect((await modern(url, 'tools/list')).status).toBe(200)
  const dated = await modern(`${url}?case=503`, 'tools/list')
  expect(dated.status).toBe(503)
  expect(Date.parse(dated.headers.get('retry-after') ?? '')).toBeGreaterThan(0)
})

test('redirect sends to where it says', async () => {
  const { url } = await startServer('redirect')
  const same = await modern(url, 'tools/list')
  expect([same.status, same.headers.get('location')]).toEqual([307, '/mcp?redirected=1'])
  const cross = await modern(`${url}?case=cross`, 'tools/list')
  const location = cross.headers.get('location') ?? ''
  expect(new URL(location).origin).not.toBe(new URL(url).origin)
  expect((await fetch(location)).status).toBe(418)
  expect(JSON.parse(await textOf(await call(`${url}?redirected=1`, 'leaked')))).toHaveLength(1)
  expect((await modern(`${url}?case=internal`, 'tools/list')).status).toBe(302)
})

test('html-error and unauthorized refuse', async () => {
  const page = await startServer('html-error')
  const answer = await modern(page.url, 'tools/list')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([502, 'text/html; charset=utf-8'])
  const { url } = await startServer('unauthorized')
  const refused = await modern(url, 'tools/list')
  expect(refused.status).toBe(401)
  const metadata =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? ''
  expect(await (await fetch(metadata)).json()).toMatchObject({ resource: url })
  expect((await modern(url, 'tools/list', {}, { headers: { authorization: 'Bearer good' } })).status).toBe(
    200,
  )
})

test('sse-only refuses a POST and serves the old transport at the same url', async () => {
  const { url } = await startServer('sse-only')
  expect((await modern(url, 'server/discover')).status).toBe(405)
  const stream = await fetch(url, { headers: { accept: 'text/event-stream' } })
  for await (const chunk of stream.body ?? []) {
    expect(Buffer.from(chunk).toString()).toContain('event: endpoint\ndata: /messages?sessionId=')
    break
  }
})

test('stream-cut breaks the stream of a modern call', async () => {
  const { url } = await startServer('stream-cut')
  const response = await call(url, 'cut', {}, { meta: { ...META, progressToken: 'p' } })
  await expect(response.text()).rejects.toThrow()
})

test('huge-body never ends', async () => {
  const { url } = await startServer('huge-body')
  for (const name of ['endless-json', 'endless-event']) {
    expect(await bytesUntil(await call(url, name), 5_000_000)).toBeGreaterThanOrEqual(5_000_000)
  }
  const endless = await call(url, 'endless-json')
  expect(await textOf(await call(url, 'echo', { text: 'meanwhile' }))).toBe('meanwhile')
  await endless.body?.cancel()
  // fetch unpacks by itself; the other half of the check is that nothing is packed unasked.
  expect(await bytesUntil(await call(url, 'gzip-bomb'), 50_000_000)).toBeGreaterThanOrEqual(50_000_000)
  expect(
    await textOf(await call(url, 'gzip-bomb', {}, { headers: { 'accept-encoding': 'identity' } })),
  ).toContain('no gzip')
})

test('drip and slow-headers answer in the end', async () => {
  const drip = await startServer('drip', { delay: 1 })
  expect(await textOf(await call(drip.url, 'echo', { text: 'x' }))).toBe('drop by drop')
  const slow = await startServer('slow-headers', { delay: 10 })
  expect(await textOf(await call(slow.url, 'echo', { text: 'x' }))).toBe('x')
})

test('a subscription is acknowledged and then told of changes', async () => {
  const { url } = await startServer('changing')
  const listening = await modern(
    url,
    'subscriptions/listen',
    { notifications: { toolsListChanged: true } },
    { id: 'l' },
  )
  const seen: string[] = []
  for await (const chunk of listening.body ?? []) {
    seen.push(Buffer.from(chunk).toString())
    if (seen.length === 1) await call(url, 'change')
    else break
  }
  expect(seen[0]).toContain('notifications/subscriptions/acknowledged')
  expect(seen[1]).toContain('notifications/tools/list_changed')
  for (const text of seen) expect(text).toContain('"io.modelcontextprotocol/subscriptionId":"l"')
})
