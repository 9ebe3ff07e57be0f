// One message on its way over http, from the first attempt to its end: answered, failed, or given up.

import { Fault } from '../../base/fault.ts'
import type { AnswerHeaders } from '../../wire/http-answer.ts'
import { type ErrorMessage, errorOf, type Id } from '../../wire/message.ts'
import { mayBeOther, unread } from '../other-era.ts'
import type { Outgoing, TransportEvents } from '../transport.ts'
import { isSameId, replyIdOf } from './answer.ts'
import type { Dialer } from './dial.ts'
import { Exchange, type Receiver } from './exchange.ts'
import type { HeaderBook } from './headers.ts'
import { isBusy, type Refusal, refusalFault, retryAfter } from './refusal.ts'
import { errorIn, sessionLoss } from './session-loss.ts'
import { type Breakage, lost } from './trouble.ts'

/** What a call needs of the transport it belongs to. */
export interface CallHost {
  readonly dialer: Dialer
  readonly headers: HeaderBook
  readonly limit: number
  readonly events: TransportEvents
  /** It takes no place among the calls under way any more. */
  released(call: Call): void
  finished(call: Call): void
  /** The answer to a request came on the stream of another one. */
  answeredElsewhere(id: Id): void
  /** The server took the notification that opens the session. */
  greeted(): void
  /** The server forgot the session it was sent in. Whether the call is sent again in the next one. */
  sessionLost(call: Call, how: 'sure' | 'likely'): boolean
}

export class Call implements Receiver {
  readonly outgoing: Outgoing
  /** The id of a request; a number of its own for what has none. */
  readonly key: number
  /** Whether it takes a place among the calls under way. What answers the server must not wait behind them. */
  readonly counted: boolean
  /** Whether it holds such a place now. */
  holding = false
  /** The session it was sent in. */
  session: string | undefined
  /** Whether it was sent again in a new session. */
  resent = false
  readonly #host: CallHost
  #exchange: Exchange | undefined
  #answered = false
  #over = false
  #retried = false
  #resuming = false
  #attempts = 0
  /** How often in a row it was asked for the rest, and had nothing new. */
  #polls = 0
  /** Whether a message came since it was asked for the rest. */
  #heard = false
  #lastId: string | undefined
  #retry: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(host: CallHost, outgoing: Outgoing, key: number) {
    this.#host = host
    this.outgoing = outgoing
    this.key = key
    this.counted = outgoing.id !== undefined && outgoing.method !== 'subscriptions/listen'
  }

  /** Whether nobody waits for it any more; its stream may go on for a moment. */
  get answered(): boolean {
    return this.#answered
  }

  start(): void {
    const { dialer, headers, limit } = this.#host
    this.session = headers.session
    this.#exchange = new Exchange(dialer, limit, this)
    this.#exchange.start('POST', () => headers.post(this.outgoing), this.outgoing.body)
  }

  /** Ends it without a word. */
  abort(): void {
    this.#over = true
    clearTimeout(this.#timer)
    this.#exchange?.abort()
  }

  /** Its answer came another way. */
  settle(): void {
    this.abort()
    this.#host.finished(this)
  }

  fail(fault: Fault): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#timer)
    const { id, method } = this.outgoing
    if (id === undefined) this.#host.events.noise(`${method || 'an answer'} did not arrive: ${fault.message}`)
    else if (!this.#answered) this.#host.events.failed(id, fault)
    this.#host.finished(this)
  }

  accepted(headers: AnswerHeaders): void {
    const { method } = this.outgoing
    if (method === 'notifications/initialized') this.#host.greeted()
    if (method !== 'initialize') return
    this.#host.headers.session = headers['mcp-session-id']
  }

  message(bytes: Buffer): void {
    const { id } = this.outgoing
    this.#heard = true
    const reply = this.#answered ? undefined : replyIdOf(bytes)
    // What somebody says to a notification is said to nobody.
    if (id === undefined && reply !== undefined) return
    if (isSameId(reply, id) && id !== undefined) this.#answer()
    else if (reply !== undefined) this.#host.answeredElsewhere(reply)
    this.#host.events.message(bytes, id)
  }

  ended(): void {
    const { id, method } = this.outgoing
    if (this.#over) return
    if (this.#answered || id === undefined) this.#finish()
    else if (this.#exchange?.streaming) this.#poll()
    else
      this.fail(
        new Fault('MESSAGE_INVALID', `${this.#host.dialer.place} answered ${method} with something else`),
      )
  }

  refused(refusal: Refusal): void {
    const { dialer, events, headers } = this.#host
    const { id } = this.outgoing
    if (this.#resuming) {
      if (PASSING.has(refusal.status)) this.#poll(retryAfter(refusal.headers['retry-after'], Date.now()))
      else this.fail(lost(`${dialer.place} does not give the rest of an answer that broke off`))
      return
    }
    const error = errorIn(refusal)
    const loss = id === undefined || this.session === undefined ? undefined : sessionLoss(refusal, error, id)
    if (loss !== undefined && this.#host.sessionLost(this, loss)) return
    const isOther =
      id !== undefined &&
      headers.agreement?.modern &&
      speaksForItself(refusal) &&
      isOtherEra(refusal, error, id)
    if (id === undefined || error === undefined || !speaksForItself(refusal)) {
      const fault = refusalFault(refusal, dialer)
      this.fail(isOther ? unread(fault) : fault)
    } else if (isSameId(error.id, id) && !isOther) {
      this.#answered = true
      events.message(error.bytes, id)
      this.#finish()
    } else {
      const { status } = refusal
      const { code, message, data } = errorOf(error)
      const fault = new Fault('SERVER_ERROR', `${dialer.place} answered ${status}: ${message}`, {
        details: { status, code, ...(data === undefined ? {} : { data }) },
      })
      this.fail(isOther ? unread(fault) : fault)
    }
  }

  broken({ kind, fault }: Breakage): void {
    // The server had let go of the connection before it could read anything. Still, a tool is not called twice.
    if (kind === 'stale' && !this.#retried && !this.#resuming && this.outgoing.method !== 'tools/call') {
      this.#retried = true
      this.start()
    } else if (this.#answered) this.#finish()
    else if (kind === 'final' || (kind === 'unsent' && !this.#resuming)) this.fail(fault)
    else this.#cut(fault)
  }

  #answer(): void {
    this.#answered = true
    if (this.#resuming) this.settle()
    else if (this.#exchange?.streaming) {
      // A stream ends with its answer. One that does not would hold its connection for ever.
      this.#timer = setTimeout(() => this.settle(), LINGER).unref()
    }
  }

  /** The stream broke off. A server that does so again and again without anything new will not come to an end. */
  #cut(fault?: Fault): void {
    this.#attempts = this.#hasNews() ? 1 : this.#attempts + 1
    if (this.#attempts > MAX_ATTEMPTS) this.#lose(fault)
    else this.#resumeLater(0, fault)
  }

  /**
   * The server ended the stream in good order, or asks for patience: it works on, and wants to be asked for the rest now
   * and then. The call's own deadline says how long. `least`: milliseconds that it wants us to wait.
   */
  #poll(least = 0): void {
    this.#hasNews()
    // Another id alone is none: some number streams in which nothing is.
    this.#polls = this.#heard ? 0 : this.#polls + 1
    this.#heard = false
    this.#attempts = 0
    // One that wants to be asked very often gives its answer as soon without that.
    const slowed = Math.min(SHORTEST_RETRY * 2 ** Math.min(this.#polls, 16), DEFAULT_RETRY)
    this.#resumeLater(Math.max(least, slowed))
  }

  /** Whether something came since it was looked at last. What the stream said of itself is kept. */
  #hasNews(): boolean {
    const lastId = this.#exchange?.lastId ?? this.#lastId
    this.#retry = this.#exchange?.retry ?? this.#retry
    const isNew = lastId !== this.#lastId
    this.#lastId = lastId
    return isNew
  }

  /** Only the old era can go on where it was, and only if the server numbered its events. */
  #resumeLater(least: number, fault?: Fault): void {
    if (this.#lastId === undefined || this.#host.headers.isModern(this.outgoing.method)) {
      this.#lose(fault)
      return
    }
    this.#resuming = true
    this.#host.released(this)
    this.#timer = setTimeout(() => this.#resume(), Math.max(waitBefore(this.#retry), least))
  }

  #lose(fault = lost(`${this.#host.dialer.place} ended its answer before it was whole`)): void {
    this.fail(fault)
  }

  #resume(): void {
    const { dialer, headers, limit } = this.#host
    this.#exchange = new Exchange(dialer, limit, this)
    this.#exchange.start('GET', () => headers.get(this.#lastId))
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#timer)
    this.#host.finished(this)
  }
}

// --- internal ---

/** How long a stream may go on after its answer. */
const LINGER = 1_000
/** Tries in a row to get the rest of an answer that break off and bring nothing new. */
const MAX_ATTEMPTS = 3
/** Refusals of the rest that a server, or what stands before it, gives for a while. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429, 502, 503, 504])
const DEFAULT_RETRY = 1_000
const SHORTEST_RETRY = 10
const LONGEST_RETRY = 60_000

function waitBefore(retry: number | undefined): number {
  return Math.min(Math.max(retry ?? DEFAULT_RETRY, SHORTEST_RETRY), LONGEST_RETRY)
}

/** Whether the protocol error in a body says more than the status does. */
function speaksForItself({ status, headers }: Refusal): boolean {
  return status !== 401 && headers['www-authenticate'] === undefined && !isBusy(status, headers)
}

function isOtherEra({ status, body }: Refusal, error: ErrorMessage | undefined, id: number): boolean {
  return mayBeOther(status, body.toString('utf8', 0, LOOKED_AT), error, id)
}

/** Bytes of a body in which what it speaks of is looked for. */
const LOOKED_AT = 4096
