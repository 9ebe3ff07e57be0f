// When a quiet server is asked, and what counts as an answer, on a transport that is a literal and a clock that is ours.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Fault } from '../base/fault.ts'
import { Health } from './health.ts'
import { Link } from './link.ts'
import type { Outgoing, TransportEvents } from './transport.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const EVERY = 5_000
const CALL = 60_000
const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'old', version: '1' },
}

type Say = (message: object) => void
type React = (outgoing: Outgoing, say: Say, events: TransportEvents) => void

/** A server that is watched; it does what `react` says once it is connected. What became of it is told in order. */
async function watched(react: React) {
  const told: string[] = []
  const asked: string[] = []
  let events: TransportEvents | undefined
  const say: Say = (message) => events?.message(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })))
  const ignore = () => undefined
  const stop = new AbortController()
  const link = await Link.connect({
    server: 'files',
    client: { name: 'busbar', version: '1' },
    expected: 'legacy',
    respawn: false,
    patience: 700,
    deadline: 10_000,
    signal: stop.signal,
    handlers: {},
    limit: 100_000,
    scrub: (text) => text,
    open: (given) => {
      events = given
      return {
        streams: false,
        send: (outgoing) => {
          asked.push(outgoing.method)
          if (outgoing.method === 'initialize') say({ id: outgoing.id, result: INITIALIZED })
          else react(outgoing, say, given)
        },
        drop: ignore,
        agree: ignore,
        diagnosis: () => ({}),
        close: async () => undefined,
      }
    },
    events: {
      changed: ignore,
      notification: ignore,
      oddity: ignore,
      closed: ({ code }) => told.push(code),
    },
  })
  new Health(EVERY, CALL, {
    unwell: (_, { message }) => told.push(message),
    well: () => told.push('well'),
  }).watch(link, stop.signal)
  const call = (idle = CALL) => link.ask('tools/call', { name: 'x' }, { idle }).catch(({ code }) => code)
  return { link, told, asked, say, call, stop: () => stop.abort() }
}

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

test('a server that answers is well; one that falls silent loses its tools and is given up', async () => {
  let isAlive = true
  const { told, stop } = await watched(({ id }, say) => isAlive && say({ id, result: {} }))
  await pass(2 * EVERY)
  expect(told).toEqual(['well', 'well'])
  isAlive = false
  await pass(60_000)
  expect(told.slice(2)).toEqual([
    ...['silent for', 'silent for', 'silent for'].map((part) => expect.stringContaining(part)),
    'CONNECTION_LOST',
  ])
  stop()
})

test('[E8] one that is stuck is noticed although calls come one after the other', async () => {
  const { told, call, link, stop } = await watched(() => undefined)
  const results: unknown[] = []
  const load = (async () => {
    while (!link.closed) results.push(await call())
  })()
  await pass(CALL - 1_000)
  expect(told).toEqual([])
  await pass(60_000)
  await load
  expect(results).toEqual(['CALL_TIMEOUT', 'CONNECTION_LOST'])
  expect(told.at(-1)).toBe('CONNECTION_LOST')
  stop()
})

test('[E8] one that is stuck is noticed although calls overlap, or are cancelled', async () => {
  const { told, link, stop } = await watched(() => undefined)
  for (let second = 0; second < 100 && !link.closed; second++) {
    const patience = new AbortController()
    link.ask('tools/call', { name: 'x' }, { idle: CALL, signal: patience.signal }).catch(() => undefined)
    setTimeout(() => patience.abort(), 30_000)
    await pass(1_000)
  }
  expect(told.at(-1)).toBe('CONNECTION_LOST')
  stop()
})

test('[E8] one that is busy with a long call is left alone, whoever else is impatient', async () => {
  let first: number | undefined
  const { told, call, say, stop } = await watched(({ id, method }) => {
    if (method === 'tools/call') first ??= id
  })
  const long = call(5 * CALL)
  await pass(1_000)
  const short = [call(300), call()]
  await pass(4 * CALL)
  expect(await Promise.all(short)).toEqual(['CALL_TIMEOUT', 'CALL_TIMEOUT'])
  expect(told).toEqual([])
  say({ id: first, result: {} })
  expect(await long).toMatchObject({ kind: 'result' })
  stop()
})

test('[E8] a call that follows one with a short time-out has its own time', async () => {
  const { told, call, stop } = await watched(() => undefined)
  expect(await Promise.race([call(300), pass(400).then(() => 'late')])).toBe('CALL_TIMEOUT')
  const next = call(CALL)
  await pass(CALL - 1_000)
  expect(told).toEqual([])
  await pass(1_000)
  expect(await next).toBe('CALL_TIMEOUT')
  stop()
})

const refuse =
  (fault: Fault): React =>
  ({ id = 0 }, _, events) =>
    events.failed(id, fault)

for (const status of [500, 502, 404, 410])
  test(`[E8] ${status} to everything is no answer`, async () => {
    const fault = new Fault('SERVER_UNREACHABLE', `answered ${status}`, { details: { status } })
    const { told, stop } = await watched(refuse(fault))
    await pass(4 * EVERY)
    expect(told).toEqual([
      ...[1, 2, 3].map(() => expect.stringContaining(`answered ${status}`)),
      'CONNECTION_LOST',
    ])
    stop()
  })

const ANSWERS: [string, Fault][] = [
  [
    'an error of the protocol without an id',
    new Fault('SERVER_ERROR', 'answered 400: no', { details: { status: 400, code: -32601 } }),
  ],
  ['a wish to be left alone', new Fault('SERVER_BUSY', 'too much to do', { details: { status: 429 } })],
]
for (const [what, fault] of ANSWERS)
  test(`[E8] ${what} is an answer`, async () => {
    const { told, stop } = await watched(refuse(fault))
    await pass(4 * EVERY)
    expect(told).toEqual(['well', 'well', 'well', 'well'])
    stop()
  })

const PUZZLED: [string, Fault][] = [
  ['a bare status', new Fault('SERVER_UNREACHABLE', 'answered 400', { details: { status: 400 } })],
  ['an answer without a message', new Fault('MESSAGE_INVALID', 'answered ping with something else')],
  ['a stream without a message', new Fault('CONNECTION_LOST', 'ended its answer')],
  [
    'an error of another kind',
    new Fault('SERVER_ERROR', 'answered 400: no', { details: { status: 400, code: -32000 } }),
  ],
]
for (const [what, fault] of PUZZLED)
  test(`[E8] who does not know the question and says so with ${what} is asked for its tools`, async () => {
    const { told, asked, stop } = await watched(({ id = 0, method }, say, events) => {
      if (method === 'ping') events.failed(id, fault)
      else say({ id, result: { tools: [] } })
    })
    await pass(2 * EVERY)
    expect(told).toEqual(['well', 'well'])
    expect(asked.slice(2)).toEqual(['ping', 'tools/list', 'ping', 'tools/list'])
    stop()
  })

test('[E8] an error about something else, also to what was answered before, is no answer', async () => {
  const fault = new Fault('SERVER_ERROR', 'answered 400: start anew', {
    details: { status: 400, code: -32000 },
  })
  const { told, stop } = await watched(refuse(fault))
  await pass(4 * EVERY)
  expect(told).toEqual([...Array(3).fill('files: answered 400: start anew'), 'CONNECTION_LOST'])
  stop()
})

test('one that wants a sign-in is there, and no longer ours to use', async () => {
  const { told, stop } = await watched(
    refuse(new Fault('AUTH_REQUIRED', 'sign in', { details: { status: 401 } })),
  )
  await pass(EVERY)
  expect(told).toEqual(['AUTH_REQUIRED'])
  stop()
})

test('[E8] whatever comes is a sign of life', async () => {
  const { told, call, say, stop } = await watched(() => undefined)
  const waiting = [call(), call()]
  for (let second = 0; second < 150; second++) {
    await pass(1_000)
    say({ method: 'notifications/message', params: { level: 'info', data: 'at work' } })
  }
  expect(await Promise.all(waiting)).toEqual(['CALL_TIMEOUT', 'CALL_TIMEOUT'])
  expect(new Set(told)).toEqual(new Set(['well']))
  stop()
})
