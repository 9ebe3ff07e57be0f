// A tool that was called before takes a shorter way. Nothing but the time it takes may differ from its first call.

import { AsyncLocalStorage } from 'node:async_hooks'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { codeOf, entry, type Hub, hubWith, ownServer, place, until, WIRES } from './hub.ts'

/** What a caller is told of a call, whatever becomes of it. */
async function told(call: ReturnType<ReturnType<Hub['as']>['call']>): Promise<unknown> {
  try {
    const { isError, text, json } = await call.then((result) => ({
      isError: result.isError,
      text: result.text,
      json: result.json(),
    }))
    return { isError, text, json }
  } catch (error) {
    const { code, message, hint } = error as { code?: string; message?: string; hint?: string }
    return { code, message, hint }
  }
}

/** What the record says of the calls so far, oldest first, without what differs from call to call. */
async function recorded(hub: Hub): Promise<{ tool: string; outcome: string }[]> {
  await hub.flush()
  const rows = await hub.calls.list({ limit: 1000 })
  return rows
    .toReversed()
    .map(({ seq: _, id: _id, startedAt: _at, duration: _took, energy, resultBytes, result, ...row }) => ({
      ...row,
      costs: energy === undefined ? undefined : energy > 0,
      // The id is a part of the answer, and one digit may be more than another.
      answered: resultBytes > 0,
      result: result?.replace(/\d+ bytes\)$/, 'bytes)'),
    }))
}

const CALLS: [string, object][] = [
  ['s/echo', { text: 'é\n"x" \u2028' }],
  ['s/add', { a: 1, b: 2 }],
  ['s/fail', {}],
  ['s/throw', { code: -32050 }],
  ['s/blob', { size: 20_000 }],
  ['s/echo', { text: 5 }],
  ['s/ask', {}],
]

for (const [wire, era] of WIRES)
  test(`[B6][C10] ${wire}, ${era}: a call made again gives and leaves behind what the first one did`, async () => {
    const server = await entry(wire, 'elicit', { era })
    const hub = await place().open(
      { servers: { s: server }, agents: { ada: { servers: ['*'], approval: 'never' } } },
      { onElicitation: () => ({ action: 'accept', content: { name: 'Ada' } }) },
    )
    const ada = hub.as('ada')
    await ada.ready()
    const first: unknown[] = []
    const again: unknown[] = []
    for (const [address, args] of CALLS) first.push(await told(ada.call(address, args)))
    for (const [address, args] of CALLS) again.push(await told(ada.call(address, args)))
    expect(again).toEqual(first)
    expect(first[0]).toMatchObject({ isError: false, text: 'é\n"x" \u2028' })
    expect(first.at(-1)).toMatchObject({ text: expect.stringContaining('Ada') })
    const rows = await recorded(hub)
    expect(rows).toHaveLength(2 * CALLS.length)
    expect(rows.slice(CALLS.length)).toEqual(rows.slice(0, CALLS.length))
    expect(rows.slice(0, 4).map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'error', 'error'])
    expect(hub.servers.get('s')).toMatchObject({ inFlight: 0 })
  })

test('[B6] a server that is lost in the middle leaves the outcome unknown, and is there for the next call', async () => {
  const hub = await hubWith({ s: serverCommand('crash-call') })
  for (let round = 0; round < 3; round++) {
    expect((await hub.as().call('s/echo', { text: `${round}` })).text).toBe(`${round}`)
    expect(await told(hub.as().call('s/crash'))).toMatchObject({ code: 'CONNECTION_LOST' })
  }
  const rows = await recorded(hub)
  expect(rows.map(({ tool, outcome }) => `${tool} ${outcome}`)).toEqual(
    [0, 1, 2].flatMap(() => ['echo ok', 'crash unknown']),
  )
})

test('[B6] again: cancelled before it is sent, in the middle, and given up when its time is over', async () => {
  const hub = await hubWith({ s: serverCommand('plain') })
  const agent = hub.as()
  await agent.call('s/sleep', { ms: 1 })
  expect(await codeOf(agent.call('s/sleep', { ms: 1 }, { signal: AbortSignal.abort() }))).toBe(
    'CALL_CANCELLED',
  )
  const stop = new AbortController()
  const stopped = agent.call('s/sleep', { ms: 60_000 }, { signal: stop.signal })
  await until(() => hub.servers.get('s').inFlight === 1)
  stop.abort()
  expect(await codeOf(stopped)).toBe('CALL_CANCELLED')
  expect(await codeOf(agent.call('s/sleep', { ms: 60_000 }, { timeout: 50 }))).toBe('CALL_TIMEOUT')
  const seen: number[] = []
  const onProgress = ({ progress }: { progress: number }) => void seen.push(progress)
  for (let round = 0; round < 2; round++) await agent.call('s/progress', { steps: 3 }, { onProgress })
  expect(seen).toEqual([1, 2, 3, 1, 2, 3])
  expect(hub.servers.get('s')).toMatchObject({ inFlight: 0 })
  const rows = await recorded(hub)
  expect(rows.map(({ outcome }) => outcome)).toEqual(['ok', 'cancelled', 'cancelled', 'timeout', 'ok', 'ok'])
})

test('[B6][C10] again: they wait for a place in turn, and are refused when too many wait', async () => {
  const limits = { inFlight: 2, queue: 3 }
  const hub = await hubWith({ s: { ...serverCommand('plain'), limits } })
  await hub.as().call('s/count')
  const calls = Array.from({ length: 8 }, () =>
    hub
      .as()
      .call('s/count')
      .then(
        ({ text }) => text,
        ({ code }) => code,
      ),
  )
  expect(await Promise.all(calls)).toEqual([
    ...['2', '3', '4', '5', '6'],
    ...['SERVER_BUSY', 'SERVER_BUSY', 'SERVER_BUSY'],
  ])
  expect((await hub.as().call('s/count')).text).toBe('7')
})

/** A server in the era it is told, whose `raw` answers with what it is given as the inside of a result. */
function rawServer(era: 'legacy' | 'modern'): string {
  return `{
    const n = { type: 'string' }
    const tools = ['raw', 'order', 'slow'].map((name) => ({ name, inputSchema: { type: 'object', properties: { n } } }))
    const text = (text) => ({ resultType: 'complete', content: [{ type: 'text', text }] })
    const order = []
    globalThis.methods = {
      ${
        era === 'modern'
          ? `'server/discover': () => ({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} },
              serverInfo: { name: 'own', version: '1' }, ttlMs: 0, cacheScope: 'private' }),`
          : ''
      }
      'tools/list': () => ({ resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' }),
      'tools/call': async ({ name, arguments: given }) => {
        if (name === 'raw') return await new Promise(() => {})
        if (name === 'slow') await new Promise((resolve) => setTimeout(resolve, 100))
        else order.push(given.n)
        return text(name === 'slow' ? 'slow' : JSON.stringify(order))
      },
    }
    globalThis.seen = (method, params, line) => {
      if (method !== 'tools/call' || params.name !== 'raw') return
      process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.parse(line).id + ',"result":{' + params.arguments.inside + '}}\\n')
    }
  }`
}

const BROKEN = [
  '"resultType":"input_required","a":tru',
  '"resultType":"\\u0069nput_required","a":{},"a":tru',
  '"content":[tru]',
  `"structuredContent":${'['.repeat(200)}${']'.repeat(200)},"isError":false`,
]

for (const era of ['legacy', 'modern'] as const)
  test(`[B6] ${era}: an answer that cannot be read fails its own call each time, and no other`, async () => {
    const at = place()
    const own = { ...ownServer(at.sandbox, '{}', rawServer(era)), limits: { inFlight: 2 } }
    const hub = await at.open({ servers: { own } })
    await hub.as().ready()
    await hub.as().call('own/slow')
    for (const inside of [...BROKEN, ...BROKEN]) {
      const slow = hub.as().call('own/slow')
      expect(await codeOf(hub.as().call('own/raw', { inside }))).toBe('MESSAGE_INVALID')
      expect((await slow).text).toBe('slow')
    }
    expect(hub.servers.get('own')).toMatchObject({ status: 'connected', inFlight: 0 })
    const rows = (await recorded(hub)).filter(({ tool }) => tool === 'raw')
    expect(rows).toHaveLength(2 * BROKEN.length)
    for (const row of rows) expect(row).toMatchObject({ outcome: 'error', code: 'MESSAGE_INVALID' })
  })

test('[B6] calls reach a server in the order in which they were made, whichever way they go', async () => {
  const at = place()
  const hub = await at.open({ servers: { own: ownServer(at.sandbox, '{}', rawServer('modern')) } })
  await hub.as().ready()
  await hub.as().call('own/order', { n: 'first' })
  // What is null goes the long way: the schema does not want it, and the server has the last word.
  const words = [null, 'a', null, 'b', 'c', null]
  const answers = await Promise.all(words.map((n) => hub.as().call('own/order', { n })))
  expect(JSON.parse(answers.at(-1)?.text ?? '')).toEqual(['first', ...words])
})

test('[B1][E2] what runs in this process runs in the context of its caller, every time', async () => {
  const context = new AsyncLocalStorage<string>()
  const instance = new McpServer({ name: 'own', version: '1' })
  instance.registerTool('who', {}, () => ({
    content: [{ type: 'text', text: context.getStore() ?? 'nobody' }],
  }))
  const hub = await hubWith({ own: { type: 'sdk', instance: instance as never } })
  hub.tools.register({ name: 'who', run: () => context.getStore() ?? 'nobody' })
  for (const address of ['own/who', 'who'])
    for (const name of ['ada', 'bob', 'eve'])
      expect((await context.run(name, () => hub.as().call(address))).text).toBe(name)
  // And so does what answers the questions of a modern server.
  const asking = await hubWith(
    { elicit: serverCommand('elicit', { era: 'modern' }) },
    { onElicitation: () => ({ action: 'accept', content: { name: context.getStore() ?? 'nobody' } }) },
  )
  for (const name of ['ada', 'bob', 'eve'])
    expect((await context.run(name, () => asking.as().call('elicit/ask'))).text).toContain(name)
})

test('[C10] without a record they are made as well', async () => {
  const hub = await hubWith({ s: serverCommand('plain') }, { store: 'none' })
  const words = ['one', 'two', 'three']
  for (const text of words) expect((await hub.as().call('s/echo', { text })).text).toBe(text)
  const many = await Promise.all(words.map((text) => hub.as().call('s/echo', { text })))
  expect(many.map(({ text }) => text)).toEqual(words)
})
