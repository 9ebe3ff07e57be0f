// Everything that is said to a server, held against the schemas of the official SDK, in both eras.

import {
  ClientNotificationSchema,
  ClientRequestSchema,
  ClientResultSchema,
  JSONRPCErrorResponseSchema,
  JSONRPCNotificationSchema,
  JSONRPCRequestSchema,
  JSONRPCResultResponseSchema,
} from '@modelcontextprotocol/core'
import { classifyInboundRequest } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { type Era, LEGACY_VERSIONS, META, MODERN_VERSION } from '../wire/era.ts'
import { encodeHeader } from '../wire/param-headers.ts'
import type { Handlers } from './answers.ts'
import { Link } from './link.ts'
import type { OpenTransport, Outgoing, TransportEvents } from './transport.ts'

interface Sent extends Outgoing {
  readonly text: string
  readonly message: { id?: number; method?: string; params?: Record<string, unknown> }
}

/** A server that answers everything at once, and remembers it. */
class Far {
  readonly sent: Sent[] = []
  /** What it gives for a method; `silence` for no answer at all. */
  readonly #results: Readonly<Record<string, object | 'silence'>>
  events: TransportEvents | undefined

  constructor(era: Era, results: Readonly<Record<string, object | 'silence'>> = {}) {
    const capabilities = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: {} }
    const introduction =
      era === 'modern'
        ? { 'server/discover': { supportedVersions: [MODERN_VERSION], capabilities } }
        : {
            initialize: {
              protocolVersion: LEGACY_VERSIONS[0],
              capabilities,
              serverInfo: { name: 's', version: '1' },
            },
          }
    this.#results = {
      'tools/call': {},
      'resources/read': {},
      'prompts/get': {},
      ping: {},
      ...introduction,
      ...results,
    }
  }

  readonly open: OpenTransport = (events) => {
    this.events = events
    return {
      streams: false,
      send: (outgoing) => this.#receive(outgoing),
      drop: () => undefined,
      agree: () => undefined,
      diagnosis: () => ({}),
      close: async () => undefined,
    }
  }

  last(method: string): Sent {
    const found = this.sent.findLast((it) => it.method === method)
    if (found === undefined) throw new Error(`${method} was not sent`)
    return found
  }

  /** Asks back, and gives the answer. */
  async ask(request: object): Promise<unknown> {
    const count = this.sent.length
    this.events?.message(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...request })))
    while (this.sent.length === count) await new Promise((resolve) => setImmediate(resolve))
    return JSON.parse(this.sent.at(-1)?.text ?? '')
  }

  #receive(outgoing: Outgoing): void {
    const text = outgoing.body.toString()
    this.sent.push({ ...outgoing, text, message: JSON.parse(text) })
    const { id, method } = outgoing
    if (id === undefined) return
    const result = this.#results[method]
    if (result === 'silence') return
    const answer = result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result }
    queueMicrotask(() => this.events?.message(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))))
  }
}

const CLIENT = { name: 'busbar', version: '1.2.3', title: 'Busbar' }
const HANDLERS: Handlers = {
  onElicitation: () => ({ action: 'accept', content: { name: 'Ada' } }),
  onSampling: () => ({ role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' }),
  roots: [{ uri: 'file:///work', name: 'work' }],
}

function connect(far: Far, handlers: Handlers = {}): Promise<Link> {
  return Link.connect({
    server: 'shop',
    client: CLIENT,
    open: far.open,
    respawn: false,
    patience: 1000,
    deadline: 5000,
    signal: new AbortController().signal,
    handlers,
    limit: 1_000_000,
    scrub: (text) => text,
    events: {
      changed: () => undefined,
      notification: () => undefined,
      oddity: () => undefined,
      closed: () => undefined,
    },
  })
}

/** Against the envelope, which allows nothing else beside it, and against what the method wants. */
function expectRequest({ message, text, method, name }: Sent, era: Era): void {
  expect(text).not.toMatch(/[\r\n]/)
  expect(JSONRPCRequestSchema.parse(message)).toEqual(message)
  const { jsonrpc: _, id, ...request } = message as Record<string, unknown>
  expect(ClientRequestSchema.parse(request)).toMatchObject({ method })
  expect(Number.isInteger(id)).toBe(true)
  const route = classifyInboundRequest({
    httpMethod: 'POST',
    body: message,
    ...(era === 'modern' ? { protocolVersionHeader: MODERN_VERSION, mcpMethodHeader: method } : {}),
    ...(era === 'modern' && name !== undefined ? { mcpNameHeader: encodeHeader(name) } : {}),
  })
  expect(route).toMatchObject({ kind: era })
}

const asks: [string, Record<string, unknown> | undefined][] = [
  ['tools/list', undefined],
  ['tools/list', { cursor: 'page-2' }],
  ['resources/list', undefined],
  ['resources/templates/list', undefined],
  ['prompts/list', undefined],
  ['tools/call', { name: 'echo', arguments: { text: 'line\nend', n: 1.5, deep: [{ a: null }] } }],
  ['tools/call', { name: 'Zürich' }],
  ['resources/read', { uri: 'file:///a b' }],
  ['prompts/get', { name: 'plan', arguments: { goal: 'x' } }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }],
]

for (const era of ['modern', 'legacy'] as const) {
  for (const handlers of [{}, HANDLERS])
    test(`[B6] what opens a ${era} connection ${handlers === HANDLERS ? 'with' : 'without'} handlers is valid`, async () => {
      const far = new Far(era)
      const link = await connect(far, handlers)
      expect(link.agreement.era).toBe(era)
      // The question is a modern one in any case.
      expectRequest(far.last('server/discover'), 'modern')
      if (era === 'legacy') {
        expectRequest(far.last('initialize'), 'legacy')
        const { message } = far.last('notifications/initialized')
        expect(JSONRPCNotificationSchema.parse(message)).toEqual(message)
        expect(ClientNotificationSchema.safeParse(message).success).toBe(true)
      }
      expect(far.sent.map(({ method }) => method)).toEqual(
        era === 'modern'
          ? ['server/discover']
          : ['server/discover', 'initialize', 'notifications/initialized'],
      )
    })

  for (const [method, params] of asks)
    test(`[B6] ${method} with ${JSON.stringify(params)} is a valid ${era} request`, async () => {
      const far = new Far(era)
      const link = await connect(far)
      await link.ask(method, params)
      const sent = far.last(method)
      expectRequest(sent, era)
      const { _meta: meta, ...rest } = sent.message.params as { _meta: Record<string, unknown> }
      expect(rest).toEqual(params ?? {})
      expect(meta['progressToken']).toBe(sent.message.id)
      expect(meta[META.version]).toBe(era === 'modern' ? MODERN_VERSION : undefined)
      expect(meta[META.client]).toEqual(era === 'modern' ? CLIENT : undefined)
    })

  test(`a sign of life is asked for with a valid ${era} request`, async () => {
    const far = new Far(era)
    const link = await connect(far)
    await link.ping(1000)
    expectRequest(far.sent.at(-1) as Sent, era)
    expect(far.sent.at(-1)?.method).toBe(era === 'modern' ? 'server/discover' : 'ping')
  })

  test(`a ${era} call that is given up is cancelled with a valid notification`, async () => {
    const far = new Far(era, { 'tools/call': 'silence' })
    const link = await connect(far)
    const stop = new AbortController()
    const call = link.ask('tools/call', { name: 'slow' }, { signal: stop.signal })
    stop.abort()
    await expect(call).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
    const { message } = far.last('notifications/cancelled')
    expect(JSONRPCNotificationSchema.parse(message)).toEqual(message)
    expect(ClientNotificationSchema.safeParse(message).success).toBe(true)
    expect(message.params?.['requestId']).toBe(far.last('tools/call').id)
  })

  test(`every request of a ${era} connection has an id of its own`, async () => {
    const far = new Far(era)
    const link = await connect(far)
    await Promise.all(asks.map(([method, params]) => link.ask(method, params)))
    const ids = far.sent.flatMap(({ id }) => (id === undefined ? [] : [id]))
    expect(new Set(ids).size).toBe(ids.length)
  })
}

test('whoever listens to a modern server asks for it with a valid request', async () => {
  const far = new Far('modern', { 'subscriptions/listen': {} })
  const link = await connect(far)
  await link.listen(new AbortController().signal, () => undefined)
  const sent = far.last('subscriptions/listen')
  expectRequest(sent, 'modern')
  expect(sent.message.params?.['notifications']).toEqual({ toolsListChanged: true, promptsListChanged: true })
})

const questions: [string, object][] = [
  ['ping', {}],
  ['roots/list', {}],
  [
    'elicitation/create',
    { params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } } },
  ],
  ['sampling/createMessage', { params: { messages: [], maxTokens: 1 } }],
]
for (const [method, rest] of questions)
  test(`${method} of a server gets a valid answer, with a handler and without`, async () => {
    const far = new Far('legacy')
    await connect(far, HANDLERS)
    const answer = await far.ask({ id: 'q-1', method, ...rest })
    expect(JSONRPCResultResponseSchema.parse(answer)).toEqual(answer)
    expect(ClientResultSchema.safeParse((answer as { result: unknown }).result).success).toBe(true)
    if (method === 'ping') return
    const silent = new Far('legacy')
    await connect(silent)
    const refusal = await silent.ask({ id: 7, method, ...rest })
    expect(JSONRPCErrorResponseSchema.parse(refusal)).toEqual(refusal)
    expect(refusal).toMatchObject({ id: 7, error: { code: -32601 } })
  })

test('a message with an id that is no id does no harm', async () => {
  const far = new Far('legacy')
  const link = await connect(far)
  for (const text of ['{"jsonrpc":"2.0","id":{},"result":{}}', '{"id":[', '{"jsonrpc":"2.0","id":{"a":1}}'])
    far.events?.message(Buffer.from(text))
  await expect(link.ask('ping', undefined)).resolves.toMatchObject({ kind: 'result' })
})
