// The table of answers a server may give to the first question, on a transport that is a literal.

import { expect, test } from 'vitest'
import { Fault } from '../base/fault.ts'
import { Channel } from './channel.ts'
import { negotiate } from './negotiate.ts'
import type { Outgoing, Transport, TransportEvents } from './transport.ts'

type Script = (outgoing: Outgoing, say: (message: object | string) => void, events: TransportEvents) => void

const DISCOVERED = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }
const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  serverInfo: { name: 'old', version: '1' },
}

/** Agrees with a server that does what the script says; tells what was asked, in order. */
async function agree(
  script: Script,
  options: {
    patience?: number
    expected?: 'modern' | 'legacy'
    only?: 'legacy'
    streams?: boolean
  } = {},
) {
  const asked: string[] = []
  const open = (events: TransportEvents): Transport => ({
    streams: options.streams === true,
    send: (outgoing) => {
      asked.push(outgoing.method)
      const say = (message: object | string) =>
        events.message(
          Buffer.from(
            typeof message === 'string'
              ? message
              : JSON.stringify({ jsonrpc: '2.0', id: outgoing.id, ...message }),
          ),
        )
      script(outgoing, say, events)
    },
    drop: () => undefined,
    agree: () => undefined,
    diagnosis: () => ({}),
    close: async () => undefined,
  })
  const ignore = () => undefined
  const events = { request: ignore, notification: ignore, oddity: ignore, closed: ignore }
  const channel = await Channel.open({ server: 'files', scrub: (text) => text }, open, events)
  const agreed = await negotiate(channel, 'files', {
    client: { name: 'busbar', version: '1' },
    capabilities: {},
    declared: {},
    patience: options.patience ?? 5_000,
    deadline: 10_000,
    signal: new AbortController().signal,
    expected: options.expected,
    only: options.only,
  })
  return { ...agreed, asked, waiting: channel.inFlight }
}

/** Answers `initialize`, and the question before it as given. */
const legacyAfter =
  (discover: (say: Parameters<Script>[1], events: TransportEvents, id: number) => void): Script =>
  ({ method, id = 0 }, say, events) => {
    if (method === 'server/discover') discover(say, events, id)
    else if (method === 'initialize') say({ result: INITIALIZED })
  }

test('a modern server is asked once', async () => {
  const { agreement, asked } = await agree((_, say) => say({ result: DISCOVERED }))
  expect(agreement).toMatchObject({ era: 'modern', version: '2026-07-28', capabilities: { tools: {} } })
  expect(asked).toEqual(['server/discover'])
})

const refusals: [string, Parameters<typeof legacyAfter>[0]][] = [
  ['does not know the method', (say) => say({ error: { code: -32601, message: 'no' } })],
  ['calls the parameters wrong', (say) => say({ error: { code: -32602, message: 'no' } })],
  ['answers anything with an empty object', (say) => say({ result: {} })],
  ['knows only other versions', (say) => say({ result: { supportedVersions: ['2031-01-01'] } })],
  [
    'answers without an id',
    (say) => say('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}'),
  ],
  ['answers with half a message', (say, _, id) => say(`{"jsonrpc":"2.0","id":${id},"error":{"co`)],
  [
    'refuses with a bare status',
    (_, events, id) =>
      events.failed(id, new Fault('SERVER_UNREACHABLE', 'answered 400', { details: { status: 400 } })),
  ],
  [
    'breaks down over it',
    (_, events, id) =>
      events.failed(id, new Fault('SERVER_UNREACHABLE', 'answered 500', { details: { status: 500 } })),
  ],
  [
    'breaks down over it, in the words of the protocol',
    (_, events, id) =>
      events.failed(
        id,
        new Fault('SERVER_ERROR', 'answered 500', { details: { status: 500, code: -32603 } }),
      ),
  ],
  [
    'shows a page',
    (_, events, id) =>
      events.failed(id, new Fault('SERVER_UNREACHABLE', 'text/html', { details: { status: 200 } })),
  ],
  ['hangs up on this request', (_, events, id) => events.failed(id, new Fault('CONNECTION_LOST', 'hung up'))],
]
for (const [what, discover] of refusals)
  test(`a server that ${what} is asked the older way, on the same connection`, async () => {
    const { agreement, asked } = await agree(legacyAfter(discover))
    expect(agreement).toMatchObject({ era: 'legacy', version: '2025-06-18', serverInfo: { name: 'old' } })
    expect(asked).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
  })

test('a silent server is asked the older way after a while, and the open question is given up', async () => {
  const { agreement, waiting } = await agree(
    legacyAfter(() => undefined),
    { patience: 5 },
  )
  expect(agreement.era).toBe('legacy')
  expect(waiting).toBe(0)
})

test('a server that says yes to both questions goes on as the older one says, and may be started anew', async () => {
  let first: ((message: object) => void) | undefined
  const { agreement, held, asked } = await agree(
    ({ method }, say) => {
      if (method === 'server/discover') first = say
      if (method !== 'initialize') return
      first?.({ result: DISCOVERED })
      say({ result: INITIALIZED })
    },
    { patience: 5 },
  )
  expect(agreement.era).toBe('legacy')
  expect(held).toBe(true)
  expect(asked).toContain('notifications/initialized')
})

test('where each request stands for itself, the first question counts', async () => {
  let first: ((message: object) => void) | undefined
  const { agreement, held } = await agree(
    ({ method }, say) => {
      if (method === 'server/discover') first = say
      if (method !== 'initialize') return
      first?.({ result: DISCOVERED })
      say({ result: INITIALIZED })
    },
    { patience: 5, streams: true },
  )
  expect([agreement.era, held]).toEqual(['modern', false])
})

test('one that is known to be modern is given its time', async () => {
  const { agreement, asked } = await agree(
    ({ method }, say) => {
      if (method === 'server/discover') setTimeout(() => say({ result: DISCOVERED }), 50)
    },
    { patience: 5, expected: 'modern' },
  )
  expect([agreement.era, asked]).toEqual(['modern', ['server/discover']])
})

test('a late modern answer counts when the older question is refused', async () => {
  let first: ((message: object) => void) | undefined
  const { agreement } = await agree(
    ({ method }, say) => {
      if (method === 'server/discover') first = say
      if (method !== 'initialize') return
      say({ error: { code: -32601, message: 'never heard of it' } })
      setImmediate(() => setImmediate(() => first?.({ result: DISCOVERED })))
    },
    { patience: 5 },
  )
  expect(agreement.era).toBe('modern')
})

test('a server known as legacy is not asked the new way', async () => {
  const { asked } = await agree(
    legacyAfter(() => undefined),
    { expected: 'legacy' },
  )
  expect(asked).toEqual(['initialize', 'notifications/initialized'])
})

test('one that changed since is asked anew', async () => {
  const { agreement, asked } = await agree(
    ({ method }, say) =>
      say(method === 'initialize' ? { error: { code: -32022, message: 'no' } } : { result: DISCOVERED }),
    { expected: 'legacy' },
  )
  expect(agreement.era).toBe('modern')
  expect(asked).toEqual(['initialize', 'server/discover'])
})

test('a modern server that names our version in its refusal is asked once more', async () => {
  let count = 0
  const { agreement, asked } = await agree((_, say) => {
    count += 1
    if (count > 1) say({ result: DISCOVERED })
    else say({ error: { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } } })
  })
  expect(agreement.era).toBe('modern')
  expect(asked).toEqual(['server/discover', 'server/discover'])
})

test('a server that knows neither question is modern without saying so', async () => {
  const { agreement } = await agree((_, say) => say({ error: { code: -32601, message: 'no' } }))
  expect(agreement).toMatchObject({ era: 'modern', capabilities: {} })
})

test('a version nobody here speaks is named', async () => {
  const script = legacyAfter((say) => say({ error: { code: -32601, message: 'no' } }))
  const odd: Script = (outgoing, say, events) =>
    outgoing.method === 'initialize'
      ? say({ result: { ...INITIALIZED, protocolVersion: '1999-01-01' } })
      : script(outgoing, say, events)
  await expect(agree(odd)).rejects.toMatchObject({
    code: 'SERVER_UNREACHABLE',
    message: expect.stringContaining('1999-01-01'),
  })
})

const finals: [string, Fault][] = [
  ['wants a sign-in', new Fault('AUTH_REQUIRED', 'sign in', { details: { status: 401 } })],
  ['has too much to do', new Fault('SERVER_BUSY', 'later', { details: { status: 503 } })],
  ['is not there', new Fault('SERVER_UNREACHABLE', 'nothing listens', { details: { code: 'ECONNREFUSED' } })],
  ['sends us elsewhere', new Fault('SERVER_UNREACHABLE', 'has moved', { details: { status: 302 } })],
  ['sends us to another server', new Fault('ADDRESS_REFUSED', 'another', { details: { status: 307 } })],
]
for (const [what, fault] of finals)
  test(`a server that ${what} is not asked the older way`, async () => {
    const asked: string[] = []
    const script: Script = ({ method, id = 0 }, _, events) => {
      asked.push(method)
      events.failed(id, fault)
    }
    await expect(agree(script)).rejects.toMatchObject({
      code: fault.code,
      message: expect.stringContaining(fault.message),
    })
    expect(asked).toEqual(['server/discover'])
  })

const ANSWERED = new Fault('SERVER_UNREACHABLE', 'answered 500', { details: { status: 500 } })
const FORBIDDEN = new Fault('SERVER_UNREACHABLE', 'answered 403', { details: { status: 403 } })
const HUNG_UP = new Fault('CONNECTION_LOST', 'hung up')
const GONE = new Fault('SERVER_UNREACHABLE', 'nothing listens', { details: { code: 'ECONNREFUSED' } })
const twice: [string, Fault, Fault, Fault][] = [
  ['the older question’s answer', ANSWERED, FORBIDDEN, FORBIDDEN],
  ['an answer rather than none', ANSWERED, HUNG_UP, ANSWERED],
  ['an answer rather than that nobody is there any more', ANSWERED, GONE, ANSWERED],
  ['the answer that came at last', HUNG_UP, FORBIDDEN, FORBIDDEN],
  ['where none came, what happened last', HUNG_UP, GONE, GONE],
]
for (const [what, first, second, told] of twice)
  test(`of two failures that one is told which says more: ${what}`, async () => {
    const script: Script = ({ method, id = 0 }, _, events) =>
      events.failed(id, method === 'initialize' ? second : first)
    await expect(agree(script)).rejects.toMatchObject({ message: expect.stringContaining(told.message) })
  })

test('a transport that has only the older era is never asked the new way', async () => {
  const asked: string[] = []
  const script: Script = ({ method }, say) => {
    asked.push(method)
    say({ error: { code: -32603, message: 'out of order' } })
  }
  await expect(agree(script, { expected: 'legacy', only: 'legacy' })).rejects.toMatchObject({
    message: expect.stringContaining('out of order'),
  })
  expect(asked).toEqual(['initialize'])
})
