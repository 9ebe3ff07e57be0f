// Calls that are parked, as they run: no sequence of what servers and clients may do shows a question to somebody else,
// answers twice or goes on twice.

import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Fault } from '../base/fault.ts'
import { Stopper } from '../base/stop.ts'
import type { Given } from '../connect/asker.ts'
import { META } from '../wire/era.ts'
import { type ReplyMessage, type RequestMessage, readMessage, requestOf } from '../wire/message.ts'
import { readParams } from '../wire/params.ts'
import type { Asked } from './asked.ts'
import type { ParkedCall } from './parked-call.ts'
import { Parking } from './parking.ts'
import type { Answered } from './pass.ts'
import type { Forwarding } from './questions.ts'
import { Reply } from './reply.ts'
import { MOST_PARKED } from './translation-calls.ts'

const PATIENCE = 600_000
const forwarding: Forwarding = {
  gone: () => undefined,
  consent: async () => ({ answered: async () => undefined, failed: async () => undefined }),
  tell: () => undefined,
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** An answer that goes nowhere. */
class Unheard extends Reply {
  readonly ended = false
  readonly streams = true
  notify(): void {}
  open(): void {}
  send(): void {}
  accepted(): void {}
}

function parking(key = 'a secret'): Parking {
  return new Parking({ key: Buffer.from(key), forwarding, patience: () => PATIENCE })
}

function request(agent: string, more: object = {}, tool = 'ask'): Asked & { readonly gone: Stopper } {
  const _meta = { [META.capabilities]: { elicitation: {} } }
  const text = JSON.stringify({ name: tool, arguments: {}, ...more, _meta })
  const body = Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${text}}`)
  const params = readParams(Buffer.from(text))
  if (typeof params === 'string') throw new Error(params)
  return {
    actor: { kind: 'agent', id: agent },
    scope: undefined,
    headers: undefined,
    body,
    reply: new Unheard(),
    gone: new Stopper(),
    session: undefined,
    // A request reads as one.
    message: readMessage(body) as RequestMessage,
    params,
    name: tool,
    modern: true,
  }
}

type Reached = Awaited<ReturnType<Parking['reached']>>
type End = { readonly reached: Reached } | { readonly fault: Fault }

/** A request of a client, from its beginning to what came of it. */
class Visit {
  readonly asked: Asked & { readonly gone: Stopper }
  readonly agent: string
  call: ParkedCall | undefined
  readonly ends: End[] = []

  constructor(lot: Parking, agent: string, more: object = {}, server?: Server) {
    this.agent = agent
    this.asked = request(agent, more)
    try {
      this.call = lot.callOf(this.asked, 'own')
      if (this.call === undefined) throw new Error('the client can be asked')
      const { call } = this
      const forward = () => (server ?? new Server()).takes(call)
      void lot.reached(call, this.asked, forward).then(
        (reached) => this.ends.push({ reached }),
        (fault) => this.ends.push({ fault }),
      )
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      this.ends.push({ fault: error })
    }
  }

  get code(): string | undefined {
    const [end] = this.ends
    return end && 'fault' in end ? end.fault.code : undefined
  }

  /** What its client is asked, and what it comes back with. */
  get inputs(): { inputRequests: Record<string, { params: { message: string } }>; requestState: string } {
    const [end] = this.ends
    if (end === undefined || 'fault' in end || 'reply' in end.reached) throw new Error('nothing was asked')
    // Written by the server below.
    return end.reached as never
  }

  get isAsked(): boolean {
    const [end] = this.ends
    return end !== undefined && 'reached' in end && !('reply' in end.reached)
  }

  /** The same request with the answers. */
  get again(): object {
    const { inputRequests, requestState } = this.inputs
    const answered = Object.entries(inputRequests).map(([key, { params }]) => [
      key,
      { action: 'accept', content: { to: params.message } },
    ])
    return { inputResponses: Object.fromEntries(answered), requestState }
  }
}

/** A server's side of one call. */
class Server {
  call: ParkedCall | undefined
  readonly heard: { readonly question: string; readonly given: Given }[] = []
  asked = 0
  ended = false
  readonly #withdraw = new Map<string, Stopper>()
  #resolve: ((answered: Answered) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  takes(call: ParkedCall): Promise<Answered> {
    this.call = call
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      call.stop.addEventListener('abort', () => this.fails('CALL_CANCELLED'))
      if (call.stop.aborted) this.fails('CALL_CANCELLED')
    })
  }

  /** Asks; the question says whose it is. */
  asks(): void {
    if (this.call === undefined || this.ended) return
    const question = `${this.call.agent} ${this.call.id} ${++this.asked}`
    const stop = new Stopper()
    this.#withdraw.set(question, stop)
    const message = requestOf('elicitation/create', { message: question })
    void this.call.asker.question(message, stop).then((given) => this.heard.push({ question, given }))
  }

  takesBack(): void {
    const [oldest] = this.#withdraw
    oldest?.[1].abort()
    if (oldest) this.#withdraw.delete(oldest[0])
  }

  answers(): void {
    this.ended = true
    const reply = readMessage(Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}')) as ReplyMessage
    this.#resolve?.({ reply, era: 'legacy', asks: false })
  }

  fails(code: 'CALL_CANCELLED' | 'CONNECTION_LOST'): void {
    this.ended = true
    this.#reject?.(new Fault(code, 'it is over'))
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

async function parkedCall(lot = parking()) {
  const server = new Server()
  const visit = new Visit(lot, 'ada', {}, server)
  server.asks()
  await settled()
  return { lot, server, visit }
}

test('[C11] a state is good for its agent, its request, its time and one use', async () => {
  const { lot, server, visit } = await parkedCall()
  const code = (agent: string, more: object, at = lot) => new Visit(at, agent, more).code
  expect(code('bob', visit.again)).toBe('REQUEST_STATE_INVALID')
  expect(code('ada', { ...visit.again, arguments: { more: 1 } })).toBe('REQUEST_STATE_INVALID')
  expect(code('ada', visit.again, parking('another secret'))).toBe('REQUEST_STATE_INVALID')
  // A gateway that was started anew has the key, and not the call.
  expect(code('ada', visit.again, parking())).toBe('CONNECTION_LOST')
  const back = new Visit(lot, 'ada', visit.again)
  await settled()
  expect(server.heard).toHaveLength(1)
  expect(code('ada', visit.again)).toBe('REQUEST_STATE_INVALID')
  server.answers()
  await settled()
  expect(back.ends).toMatchObject([{ reached: { era: 'legacy' } }])
  expect(code('ada', visit.again)).toBe('REQUEST_STATE_INVALID')
  expect(vi.getTimerCount()).toBe(0)
})

test('[C11] a call that nobody comes back for is cancelled when its time is over, and who comes then is told so', async () => {
  const { lot, server, visit } = await parkedCall()
  vi.advanceTimersByTime(PATIENCE - 1)
  expect(visit.call?.state).toBe('parked')
  vi.advanceTimersByTime(1)
  expect(visit.call?.state).toBe('ended')
  await settled()
  expect(server.call?.stop.aborted).toBe(true)
  expect(server.heard).toMatchObject([{ given: { error: { message: 'the client did not answer in time' } } }])
  const late = new Visit(lot, 'ada', visit.again)
  expect(late.ends).toMatchObject([
    { fault: { code: 'REQUEST_STATE_INVALID', message: 'requestState has expired' } },
  ])
})

test('[C11] each time a client is asked, it has the whole time', async () => {
  const { lot, server, visit } = await parkedCall()
  vi.advanceTimersByTime(PATIENCE - 1)
  const second = new Visit(lot, 'ada', visit.again)
  server.asks()
  await settled()
  vi.advanceTimersByTime(PATIENCE - 1)
  const third = new Visit(lot, 'ada', second.again)
  server.answers()
  await settled()
  expect(third.ends).toMatchObject([{ reached: { era: 'legacy' } }])
  expect(server.heard).toHaveLength(2)
})

test('[C1] what the server says while nobody waits is kept for who comes back', async () => {
  for (const [way, end] of [
    [(server: Server) => server.answers(), { reached: { era: 'legacy' } }],
    [(server: Server) => server.fails('CONNECTION_LOST'), { fault: { code: 'CONNECTION_LOST' } }],
  ] as const) {
    const { lot, server, visit } = await parkedCall()
    server.takesBack()
    way(server)
    await settled()
    expect(visit.call?.state).toBe('kept')
    const back = new Visit(lot, 'ada', visit.again)
    await settled()
    expect(back.ends).toMatchObject([end])
    expect(vi.getTimerCount()).toBe(0)
  }
})

test('[C1] a question that comes while nobody waits is put when the client comes back', async () => {
  const { lot, server, visit } = await parkedCall()
  server.asks()
  await settled()
  expect(Object.keys(visit.inputs.inputRequests)).toEqual(['q1'])
  const back = new Visit(lot, 'ada', visit.again)
  await settled()
  expect(Object.keys(back.inputs.inputRequests)).toEqual(['q2'])
  expect(server.heard.map(({ question }) => question.split(' ')[2])).toEqual(['1'])
})

test('[C1] a question that comes after the answer is put to nobody', async () => {
  const { server, visit } = await parkedCall()
  server.answers()
  await settled()
  expect(visit.call?.state).toBe('kept')
  const late = requestOf('elicitation/create', { message: 'one more thing' })
  expect(await visit.call?.asker.question(late, new Stopper())).toMatchObject({ error: { code: -32603 } })
  expect(visit.call?.inputRequests).not.toHaveProperty('q2')
})

test('[C5] as many are parked for an agent as may be, and none more; others are not held up', async () => {
  const lot = parking()
  for (let count = 0; count < MOST_PARKED; count++) await parkedCall(lot)
  expect(new Visit(lot, 'ada').code).toBe('GATEWAY_LIMIT')
  expect(new Visit(lot, 'bob').code).toBeUndefined()
  lot.close()
  expect(new Visit(lot, 'ada').code).toBeUndefined()
  expect(vi.getTimerCount()).toBe(0)
})

test('[C5] a client that leaves, in the middle or before it read what to come back with, has cancelled', async () => {
  for (const parked of [true, false]) {
    const server = new Server()
    const visit = new Visit(parking(), 'ada', {}, server)
    if (parked) server.asks()
    visit.asked.gone.abort()
    await settled()
    expect([visit.call?.state, server.call?.stop.aborted]).toEqual(['ended', true])
  }
})

const agent = fc.constantFrom('ada', 'bob')
const which = fc.nat(5)
const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('begin' as const), agent }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('take back' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), which }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('come back' as const), which, agent }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('come back with nothing' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), part: fc.constantFrom(2, 1) }) },
)

test('[C11] whatever servers and clients do, nobody sees another’s question, nothing is answered or goes on twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
      const lot = parking()
      const servers: Server[] = []
      const visits: Visit[] = []
      const used = new Map<string, number>()
      const visit = (agent: string, more?: object, server?: Server) => {
        const made = new Visit(lot, agent, more, server)
        visits.push(made)
        return made
      }
      for (const one of actions) {
        const server = 'which' in one ? servers[one.which] : undefined
        const asking = visits.filter(({ isAsked }) => isAsked)
        const from = 'which' in one ? asking[one.which] : undefined
        if (one.do === 'begin') {
          const next = new Server()
          servers.push(next)
          visit(one.agent, {}, next)
        } else if (one.do === 'ask') server?.asks()
        else if (one.do === 'take back') server?.takesBack()
        else if (one.do === 'answer') server?.answers()
        else if (one.do === 'fail') server?.fails('CONNECTION_LOST')
        else if (one.do === 'wait') vi.advanceTimersByTime(PATIENCE / one.part)
        else if (one.do === 'leave') {
          const waits = visits.filter(({ ends }) => ends.length === 0)[one.which]
          waits?.asked.gone.abort()
        } else if (from) {
          const { again } = from
          const { requestState } = from.inputs
          const back = one.do === 'come back' ? visit(one.agent, again) : visit(from.agent, { requestState })
          // Whoever was let in is the one it was given to, and the first.
          if (back.call) {
            expect(back.agent).toBe(from.agent)
            used.set(requestState, (used.get(requestState) ?? 0) + 1)
          }
        }
        await settled()
      }
      // In the end the servers answer, and nobody comes back.
      for (const server of servers) server.answers()
      await settled()
      vi.advanceTimersByTime(PATIENCE)
      await settled()
      for (const { agent, ends, call, isAsked } of visits) {
        // Every request is answered, once.
        expect(ends).toHaveLength(1)
        if (call) expect(call.state).toBe('ended')
        if (isAsked)
          for (const { params } of Object.values(visitInputs(ends)))
            expect(params.message.startsWith(`${agent} `)).toBe(true)
      }
      for (const count of used.values()) expect(count).toBe(1)
      for (const server of servers) {
        // Each question is answered once, and with the answer to that question.
        const questions = server.heard.map(({ question }) => question)
        expect(new Set(questions).size).toBe(questions.length)
        expect(questions).toHaveLength(server.asked)
        for (const { question, given } of server.heard)
          if ('reply' in given) expect(given.reply.bytes.toString()).toContain(question)
      }
      // Nothing is waited for any more.
      expect(vi.getTimerCount()).toBe(0)
    }),
    { numRuns: 300 },
  )
})

function visitInputs(ends: readonly End[]): Record<string, { params: { message: string } }> {
  const [end] = ends
  if (end === undefined || 'fault' in end || 'reply' in end.reached) return {}
  // Written by the server above.
  return end.reached.inputRequests as never
}
