// For tests: clients and servers around a lot of parked calls, each of which can be made to do anything at any time.

import { Fault } from '../base/fault.ts'
import { Stopper } from '../base/stop.ts'
import type { Given } from '../connect/asker.ts'
import { META } from '../wire/era.ts'
import { type ReplyMessage, type RequestMessage, readMessage, requestOf } from '../wire/message.ts'
import { readParams } from '../wire/params.ts'
import type { Asked } from './asked.ts'
import { Gone } from './gone.ts'
import type { ParkedCall } from './parked-call.ts'
import { Parking } from './parking.ts'
import type { Answered } from './pass.ts'
import type { Forwarding } from './questions.ts'
import { Reply } from './reply.ts'

export const PATIENCE = 600_000
export const SHORT = 45_000
const forwarding: Forwarding = {
  gone: () => undefined,
  rootsChanged: () => undefined,
  consent: async () => ({ answered: async () => undefined, failed: async () => undefined }),
  tell: () => undefined,
}

/** An answer that goes nowhere. */
class Unheard extends Reply {
  readonly ended = false
  readonly streams = true
  notify(): void {}
  open(): void {}
  send(): void {}
  accepted(): void {}
}

export function parking(key = 'a secret'): Parking {
  return new Parking({
    key: Buffer.from(key),
    forwarding,
    patience: () => PATIENCE,
    shortPatience: () => SHORT,
  })
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
    gone: new Gone(),
    session: undefined,
    // A request reads as one.
    message: readMessage(body) as RequestMessage,
    params,
    name: tool,
    modern: true,
  }
}

type Reached = Awaited<ReturnType<Parking['reached']>>
export type End = { readonly reached: Reached } | { readonly fault: Fault }

/** A request of a client, from its beginning to what came of it. */
export class Visit {
  readonly asked: Asked & { readonly gone: Stopper }
  readonly agent: string
  call: ParkedCall | undefined
  readonly ends: End[] = []

  constructor(lot: Parking, agent: string, more: object = {}, server?: Server) {
    this.agent = agent
    this.asked = request(agent, more)
    try {
      this.call = lot.callOf(this.asked, 'own', false)
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
export class Server {
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

export const settled = (): Promise<void> => new Promise<void>((resolve) => setImmediate(resolve))

export async function parkedCall(
  lot: Parking = parking(),
): Promise<{ lot: Parking; server: Server; visit: Visit }> {
  const server = new Server()
  const visit = new Visit(lot, 'ada', {}, server)
  server.asks()
  await settled()
  return { lot, server, visit }
}
