// Every transport in both eras, with all that MCP offers over it; and what only http can do wrong.

import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpServer as ServerV2 } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { serverCommand, startServer } from '../servers/start.ts'
import {
  type Answer,
  asked,
  between,
  codeOf,
  entry,
  faultOf,
  type Hub,
  hubWith,
  kill,
  pidOf,
  place,
  until,
  WIRES,
} from './hub.ts'

const PIXEL = /^iVBORw0KGgo/

/** Progress arrives before the result, whole and in order, however the server writes it. */
async function progressFirst(hub: Hub, server: string, args: object): Promise<void> {
  const told: (number | string)[] = []
  const { text } = await hub.as().call(`${server}/progress`, args, {
    onProgress: ({ progress, total }) => told.push(`${progress}/${total}`),
  })
  told.push(text)
  expect(told).toEqual(['1/5', '2/5', '3/5', '4/5', '5/5', '5 steps'])
}

for (const [wire, era] of WIRES) {
  test(`[B1][B7][B9][B13][B15][C1][C2][C4] ${wire}, ${era}: everything a server offers`, async () => {
    const hub = await hubWith({ plain: await entry(wire, 'plain', { era }) })
    const owner = hub.as()
    const status = hub.servers.get('plain')
    expect(status).toMatchObject({
      status: 'connected',
      era,
      serverInfo: { name: 'plain', version: '1.0.0' },
      instructions: 'A plain test server. Use echo to hear yourself.',
    })
    expect(owner.tools('plain').map(({ address }) => address)).toEqual(
      ['echo', 'add', 'fail', 'throw', 'sleep', 'env', 'pid', 'progress', 'count', 'blob', 'log'].map(
        (name) => `plain/${name}`,
      ),
    )
    const echo = await owner.call('plain/echo', { text: 'Grüße, “東京” \n🚌' })
    expect([echo.text, echo.isError]).toEqual(['Grüße, “東京” \n🚌', false])
    expect((await owner.call('plain/add', { a: 1, b: 2 })).json().structuredContent).toEqual({ sum: 3 })
    const failed = await owner.call('plain/fail')
    expect([failed.isError, failed.text]).toEqual([true, 'It failed, as asked'])
    const threw = await owner.call('plain/throw', { code: -32050 })
    expect([threw.isError, threw.text]).toEqual([true, 'It threw, as asked'])
    await progressFirst(hub, 'plain', { steps: 5 })
    await progressFirst(hub, 'plain', { steps: 5, coalesce: true })
    expect((await owner.resources('plain')).map(({ uri, server }) => [uri, server])).toEqual([
      ['test://text', 'plain'],
      ['test://pixel', 'plain'],
    ])
    expect(await owner.read('plain', 'test://text')).toMatchObject({
      contents: [{ uri: 'test://text', text: 'Grüße – “quoted” text' }],
    })
    expect(await owner.read('plain', 'test://pixel')).toMatchObject({
      contents: [{ blob: expect.stringMatching(PIXEL) }],
    })
    expect(await owner.read('plain', 'test://city/Z%C3%BCrich')).toMatchObject({
      contents: [{ text: 'City: Zürich' }],
    })
    expect((await owner.resourceTemplates('plain')).map((it) => it['uriTemplate'])).toEqual([
      'test://city/{name}',
    ])
    expect((await owner.prompts('plain')).map((it) => it['name'])).toEqual(['greet'])
    expect(await owner.getPrompt('plain', 'greet', { name: 'Ada' })).toMatchObject({
      messages: [{ role: 'user', content: { text: 'Say hello to Ada' } }],
    })
    const completed: Answer = await owner.complete('plain', {
      ref: { type: 'ref/resource', uri: 'test://city/{name}' },
      argument: { name: 'name', value: 'be' },
    })
    expect(completed.completion.values).toEqual(['Berlin', 'Bern'])
    expect(await codeOf(owner.read('plain', 'test://nothing'))).toBe('SERVER_ERROR')
    expect(status.oddities.count).toBe(0)
  })

  test(`[C5] ${wire}, ${era}: every content type arrives as it was sent`, async () => {
    const hub = await hubWith({ content: await entry(wire, 'content', { era }) })
    const result = async (name: string): Promise<Answer> => (await hub.as().call(`content/${name}`)).json()
    const [text, image, audio, link, embedded, blob, structured, list, mixed, empty, annotated] =
      await Promise.all(
        hub
          .as()
          .tools('content')
          .map(({ name }) => result(name)),
      )
    expect(text.content).toEqual([{ type: 'text', text: 'Plain text, “quoted”, 東京 🚌' }])
    expect(image.content).toEqual([
      { type: 'image', data: expect.stringMatching(PIXEL), mimeType: 'image/png' },
    ])
    expect(audio.content).toMatchObject([{ type: 'audio', mimeType: 'audio/wav' }])
    expect(link.content).toMatchObject([{ type: 'resource_link', uri: 'test://text', size: 25 }])
    expect(embedded.content).toMatchObject([{ type: 'resource', resource: { text: '# Note\n\nEmbedded.' } }])
    expect(blob.content).toMatchObject([{ resource: { blob: expect.stringMatching(PIXEL) } }])
    expect(structured.structuredContent).toEqual({
      name: 'Ada',
      tags: ['a', 'b'],
      nested: { ok: true, none: null },
    })
    expect(list.structuredContent).toEqual(era === 'modern' ? [1, 'two', null] : undefined)
    expect(mixed.content.map(({ type }: Answer) => type)).toEqual([
      'text',
      'image',
      'resource_link',
      'resource',
      'audio',
    ])
    expect(empty.content).toEqual([])
    expect(annotated.content[0]).toMatchObject({
      annotations: { audience: ['assistant'], priority: 1 },
      _meta: { 'example.com/block': { n: 1 } },
    })
    expect(annotated._meta['example.com/result']).toEqual(['kept'])
  })
}

const SDKS = [
  ['sdk1', 'stdio', 'legacy', undefined],
  ['sdk1', 'http', 'legacy', undefined],
  ['sdk2', 'stdio', 'legacy', 'legacy'],
  ['sdk2', 'stdio', 'modern', 'both'],
  ['sdk2', 'http', 'legacy', 'legacy'],
  ['sdk2', 'http', 'modern', 'modern'],
] as const
for (const [sdk, wire, era, offered] of SDKS)
  test(`[B1][C1] ${sdk} over ${wire}, ${era}: a server on the official SDK`, async () => {
    const hub = await hubWith({ sdk: await entry(wire, sdk, offered ? { era: offered } : {}) })
    expect(hub.servers.get('sdk')).toMatchObject({ status: 'connected', era, serverInfo: { name: sdk } })
    await officialServer(hub)
  })

async function officialServer(hub: Hub): Promise<void> {
  const owner = hub.as()
  expect(owner.tools('sdk').map(({ name }) => name)).toEqual(['echo', 'add', 'sleep', 'progress'])
  expect((await owner.call('sdk/echo', { text: 'hello' })).text).toBe('hello')
  expect((await owner.call('sdk/add', { a: 2, b: 3 })).json().structuredContent).toEqual({ sum: 5 })
  expect((await owner.call('sdk/add', { a: 'x' })).isError).toBe(true)
  await progressFirst(hub, 'sdk', { steps: 5 })
  expect(await owner.read('sdk', 'test://text')).toMatchObject({ contents: [{ text: 'A text' }] })
  expect(await owner.getPrompt('sdk', 'greet', { name: 'Ada' })).toMatchObject({
    messages: [{ content: { text: 'Say hello to Ada' } }],
  })
}

const echo = async ({ text }: { text: string }) => ({ content: [{ type: 'text' as const, text }] })

test('[B1] a server object of SDK v1 or v2 serves in this very process, also after a reconnect', async () => {
  const one = new ServerV1({ name: 'one', version: '1.0.0' })
  one.registerTool('echo', { inputSchema: { text: z.string() } }, echo)
  const two = new ServerV2({ name: 'two', version: '2.0.0' })
  two.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, echo)
  const hub = await hubWith({ one: { type: 'sdk', instance: one }, two: { type: 'sdk', instance: two } })
  for (const name of ['one', 'two']) {
    expect(hub.servers.get(name)).toMatchObject({ status: 'connected', serverInfo: { name } })
    const answers = Array.from({ length: 20 }, (_, index) =>
      hub.as().call(`${name}/echo`, { text: `${name} ${index}` }),
    )
    expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(
      answers.map((_, index) => `${name} ${index}`),
    )
    expect(await hub.servers.reconnect(name)).toMatchObject({ status: 'connected' })
    expect((await hub.as().call(`${name}/echo`, { text: 'again' })).text).toBe('again')
  }
})

test('[B1] claudeai-proxy says which connector it means, in a header and in the address', async () => {
  const { url, requests } = await between((await startServer('header-echo')).url)
  const hub = await hubWith({ proxy: { type: 'claudeai-proxy', id: 'mcpsrv_01', url: `${url}?id={id}` } })
  expect(hub.servers.get('proxy')).toMatchObject({ status: 'connected', transport: 'claudeai-proxy' })
  expect(await asked(hub, 'proxy/headers')).toMatchObject({ 'x-mcp-connector-id': 'mcpsrv_01' })
  for (const { path } of requests) expect(path).toBe('/mcp?id=mcpsrv_01')
})

for (const status of ['405', '404', '400'])
  test(`[C2] an http address that only knows the old transport (${status}) is spoken to over it`, async () => {
    const { url } = await startServer('sse-only', { case: status })
    const hub = await hubWith({ old: { url } })
    expect(hub.servers.get('old')).toMatchObject({ status: 'connected', era: 'legacy' })
    await progressFirst(hub, 'old', { steps: 5 })
  })

for (const wire of ['http', 'sse', 'websocket'] as const)
  test(`[C1][C2] ${wire}: a legacy server that hangs up on the modern question is asked the older one`, async () => {
    const home = place()
    const config = { servers: { old: await entry(wire, 'cut-discover') } }
    for (const round of ['first', 'second']) {
      const hub = await home.open(config)
      await hub.as().ready()
      expect(hub.servers.get('old')).toMatchObject({ status: 'connected', era: 'legacy' })
      expect((await hub.as().call('old/echo', { text: round })).text).toBe(round)
      await hub.close()
    }
  })

for (const [wire, era] of WIRES.filter(([name]) => name !== 'stdio'))
  test(`[B11] ${wire}, ${era}: configured headers are on every request`, async () => {
    const { url } = await entry(wire, 'header-echo', { era })
    const seen = await between(url)
    const type = wire === 'sse' || wire === 'websocket' ? { type: wire } : {}
    const hub = await hubWith({ echo: { url: seen.url, ...type, headers: { 'X-Key': 'abc', 'X-Two': 'd' } } })
    if (wire !== 'websocket')
      expect(await asked(hub, 'echo/headers')).toMatchObject({ 'x-key': 'abc', 'x-two': 'd' })
    await hub.as().call('echo/echo', { text: 'x' })
    await hub.close()
    expect(seen.requests.length).toBeGreaterThanOrEqual(wire === 'websocket' ? 1 : 3)
    for (const { method, headers } of seen.requests)
      expect([method, headers['x-key'], headers['x-two']]).toEqual([method, 'abc', 'd'])
  })

for (const kind of ['429', '503'])
  test(`[C10] a server that says ${kind} with Retry-After when it is connected to is tried again, and not sooner`, async () => {
    const { url } = await startServer('retry-after', { case: kind })
    const waits: number[] = []
    const hub = await hubWith(
      { busy: { url } },
      {
        onEvent: (event) => {
          if (event.type !== 'server-status' || event.status.retryAt === undefined) return
          waits.push(Date.parse(event.status.retryAt) - Date.parse(event.status.errors[0]?.at ?? ''))
        },
      },
    )
    await until(() => hub.servers.get('busy').status === 'connected')
    expect((await hub.as().call('busy/echo', { text: 'now' })).text).toBe('now')
    // A date has whole seconds: of its two, more than one is left.
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(990)
  })

for (const method of ['tools/list', 'resources/list', 'resources/read', 'prompts/list', 'prompts/get'])
  test(`[C5] ${method} that is refused once with Retry-After is asked again`, async () => {
    let refused = 0
    const { url } = await between((await startServer('plain', { era: 'modern' })).url, ({ headers }) => {
      if (headers['mcp-method'] !== method || refused > 0) return undefined
      refused += 1
      return { status: 429, headers: { 'retry-after': '0' } }
    })
    const hub = await hubWith({ busy: { url } })
    const owner = hub.as()
    await until(() => hub.servers.get('busy').status === 'connected')
    expect(await owner.resources('busy')).toHaveLength(2)
    expect(await owner.prompts('busy')).toHaveLength(1)
    expect(await owner.read('busy', 'test://text')).toHaveProperty('contents')
    expect(await owner.getPrompt('busy', 'greet', { name: 'Ada' })).toHaveProperty('messages')
    expect(refused).toBe(1)
  })

for (const kind of ['call-429', 'call-503'])
  test(`[C5] a call that is refused with ${kind} is not made again by itself`, async () => {
    const { url } = await startServer('retry-after', { case: kind })
    const hub = await hubWith({ busy: { url } })
    const fault = await faultOf(hub.as().call('busy/count'))
    expect(fault).toMatchObject({ code: 'SERVER_BUSY', hint: expect.stringMatching(/again in \d s/) })
    expect((await hub.as().call('busy/count')).text).toBe('1')
  })

for (const wire of ['http', 'http event streams'] as const)
  test(`[B6] ${wire}: a lost session is begun anew once, and the call that found out succeeds`, async () => {
    const hub = await hubWith({ loss: await entry(wire, 'session-loss', { era: 'legacy' }) })
    expect((await hub.as().call('loss/count')).text).toBe('1')
    for (const round of ['2', '3']) {
      await hub.as().call('loss/forget')
      const [{ text }] = await Promise.all([
        hub.as().call('loss/count'),
        ...Array.from({ length: 10 }, () => hub.as().call('loss/echo', { text: 'x' })),
      ])
      expect(text).toBe(round)
    }
    expect(hub.servers.get('loss').status).toBe('connected')
  })

test('[B6] legacy: an answer whose stream was cut arrives when the stream is resumed by its event id', async () => {
  const hub = await hubWith({ cut: await entry('http', 'stream-cut', { era: 'legacy' }) })
  const told: unknown[] = []
  const { text } = await hub
    .as()
    .call('cut/cut', { ms: 10 }, { onProgress: ({ message }) => told.push(message) })
  expect([...told, text]).toEqual(['before the cut', 'after the cut'])
})

for (const [title, options] of [
  ['modern', { era: 'modern' }],
  ['legacy without event ids', { era: 'legacy', case: 'no-ids' }],
] as const)
  test(`[D13] ${title}: a call whose stream was cut fails at once, its outcome unknown`, async () => {
    const hub = await hubWith({ cut: await entry('http', 'stream-cut', options) })
    const fault = await faultOf(hub.as().call('cut/cut', { ms: 600_000 }))
    expect(fault).toMatchObject({ code: 'CONNECTION_LOST', server: 'cut' })
    expect((await hub.as().call('cut/echo', { text: 'on' })).text).toBe('on')
  })

test('[C11] a redirect within the origin is followed; to another one it is refused, and nothing leaks', async () => {
  const { url } = await startServer('redirect')
  const headers = { Authorization: 'Bearer very-secret', 'X-Key': 'abc' }
  const hub = await hubWith({
    same: { url: `${url}?case=same`, headers },
    cross: { url: `${url}?case=cross`, headers },
    internal: { url: `${url}?case=internal`, headers },
    metadata: { url: `${url}?case=metadata`, headers },
    loop: { url: `${url}?case=loop`, headers },
    direct: { url: `${url}?redirected=1` },
  })
  expect(hub.servers.get('same').status).toBe('connected')
  expect(await codeOf(hub.as().call('cross/echo', {}))).toBe('ADDRESS_REFUSED')
  expect(await codeOf(hub.as().call('internal/echo', {}))).toBe('ADDRESS_REFUSED')
  expect(await codeOf(hub.as().call('metadata/echo', {}))).toBe('ADDRESS_REFUSED')
  expect(await codeOf(hub.as().call('loop/echo', {}))).toBe('SERVER_UNREACHABLE')
  expect(await asked(hub, 'direct/leaked')).toEqual([])
})

for (const kind of ['all', 'ok'])
  test(`[D13] a page instead of an answer (${kind}) is told without its markup`, async () => {
    const { url } = await startServer('html-error', { case: kind })
    const hub = await hubWith({ page: { url } })
    const { status, error = '' } = hub.servers.get('page')
    expect(status).toBe('failed')
    expect(error).toContain(kind === 'ok' ? 'text/html' : '502')
    expect(error).not.toMatch(/[<>]|alert/)
  })

test('[B2][C10] a server that wants a sign-in has that status; calls say so; a good header lets in', async () => {
  const { url } = await startServer('unauthorized')
  const hub = await hubWith({
    shut: { url },
    open: { url, headers: { Authorization: 'Bearer good' } },
    later: { url: `${url}?case=call` },
  })
  expect(hub.servers.get('shut')).toMatchObject({ status: 'needs-auth', tools: [] })
  expect(await codeOf(hub.as().call('shut/echo', { text: 'x' }))).toBe('AUTH_REQUIRED')
  expect(hub.servers.get('open').status).toBe('connected')
  expect(await codeOf(hub.as().call('later/echo', { text: 'x' }))).toBe('AUTH_REQUIRED')
  expect((await hub.as().ready()).failed.map(({ server }) => server)).toEqual(['shut'])
})

for (const wire of ['http', 'http event streams'] as const)
  test(`[B9] ${wire}: arguments that a modern server wants as headers are sent as such`, async () => {
    const hub = await hubWith({ region: await entry(wire, 'x-mcp-header', { era: 'modern' }) })
    const given = { region: 'Zürich, east', count: 3, strict: false, note: 'plain' }
    const { arguments: args, headers } = await asked(hub, 'region/region', given)
    expect(args).toEqual(given)
    expect(headers).toMatchObject({ 'mcp-param-count': '3', 'mcp-param-strict': 'false' })
    expect(headers['mcp-param-note']).toBeUndefined()
    expect(
      hub
        .as()
        .tools('region')
        .map(({ name }) => name),
    ).not.toContain('bad-header')
    expect(hub.servers.get('region').errors[0]?.message).toContain('bad-header')
  })

for (const transport of ['http', 'sse', 'websocket'] as const)
  test(`[D13][E8] ${transport}: a remote server that dies and comes back is connected again, with its tools`, async () => {
    const first = await startServer('plain', { transport })
    const port = Number(new URL(first.url).port)
    const type = transport === 'http' ? {} : { type: transport }
    const hub = await hubWith({ far: { url: first.url, ...type, timeouts: { health: 200 } } })
    const before = await pidOf(hub, 'far')
    kill(before, 'SIGKILL')
    await until(() => hub.as().tools('far').length === 0)
    expect(hub.servers.get('far').status).toBe('failed')
    const second = await startServer('plain', { transport, port })
    await until(() => hub.as().tools('far').length > 0)
    expect(await pidOf(hub, 'far')).toBe(second.pid)
  })

test('[D13] stdio noise, tiny pieces and a flood on stderr do no harm', async () => {
  const hub = await hubWith({
    banner: serverCommand('banner'),
    partial: serverCommand('partial'),
    flood: serverCommand('stderr-flood'),
  })
  for (const name of ['banner', 'partial', 'flood'])
    expect((await hub.as().call(`${name}/echo`, { text: 'Grüße 🚌' })).text).toBe('Grüße 🚌')
  expect(hub.servers.get('banner').oddities.count).toBeGreaterThan(0)
})
