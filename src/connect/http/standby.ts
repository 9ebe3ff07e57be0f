// The stream on which a server of the old era tells what belongs to no request. There is at most one; it is opened
// again when it ends, ever more slowly while nothing comes.

import type { AnswerHeaders } from '../../wire/http-answer.ts'
import type { Dialer } from './dial.ts'
import { Exchange, type Receiver } from './exchange.ts'
import type { HeaderBook } from './headers.ts'
import { type Refusal, retryAfter } from './refusal.ts'
import { errorIn, sessionLoss } from './session-loss.ts'
import type { Breakage } from './trouble.ts'

export interface StandbyHost {
  readonly dialer: Dialer
  readonly headers: HeaderBook
  readonly limit: number
  standbyMessage(bytes: Buffer): void
  standbyOversized(size: number, head: Buffer, tail: Buffer): void
  standbyState(open: boolean): void
  /** The server forgot the session while the stream was down. */
  standbySessionLost(): void
}

export class Standby implements Receiver {
  readonly #host: StandbyHost
  #exchange: Exchange | undefined
  #timer: NodeJS.Timeout | undefined
  #lastId: string | undefined
  #retry: number | undefined
  #fruitless = 0
  #opened = 0
  /** Whether the server ever gave it. */
  #had = false
  #open = false
  #stopped = true

  constructor(host: StandbyHost) {
    this.#host = host
  }

  /** Opens the stream, or opens it anew for a new session. */
  start(): void {
    this.stop()
    this.#stopped = false
    this.#lastId = undefined
    // Or a server that has such a stream only now and then would start session after session.
    this.#opened = 0
    this.#connect()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#exchange?.abort()
    this.#exchange = undefined
    if (this.#open) this.#host.standbyState(false)
    this.#open = false
  }

  accepted(_headers: AnswerHeaders): void {
    this.#opened = performance.now()
    this.#had = true
    this.#open = true
    this.#host.standbyState(true)
  }

  message(bytes: Buffer): void {
    this.#fruitless = 0
    this.#host.standbyMessage(bytes)
  }

  oversized(size: number, head: Buffer, tail: Buffer): void {
    this.#host.standbyOversized(size, head, tail)
  }

  ended(): void {
    this.#again()
  }

  /** A server need not have such a stream. One that had it gives it again, whatever stands in the way for now. */
  refused(refusal: Refusal): void {
    const { status, headers } = refusal
    if (this.#opened > 0 && this.#host.headers.session !== undefined && this.#isSessionLoss(refusal))
      this.#host.standbySessionLost()
    else if (status === 404 || status === 405) this.stop()
    else if (this.#had || status >= 500 || PASSING.has(status))
      this.#again(retryAfter(headers['retry-after'], Date.now()))
    else this.stop()
  }

  broken(_breakage: Breakage): void {
    this.#again()
  }

  #connect(): void {
    const { dialer, headers, limit } = this.#host
    this.#exchange = new Exchange(dialer, limit, this)
    this.#exchange.start('GET', () => headers.get(this.#lastId))
    // Whoever only listens does not keep a program running.
    this.#exchange.unref()
  }

  #isSessionLoss(refusal: Refusal): boolean {
    return sessionLoss(refusal, errorIn(refusal), undefined) !== undefined
  }

  /** `least`: milliseconds that the server wants us to wait. */
  #again(least = 0): void {
    if (this.#stopped) return
    // Also one that never stood: what is said before it does is missed.
    this.#host.standbyState(false)
    // One that stood for a while was no failure, even if nothing came.
    if (this.#open && performance.now() - this.#opened > LONGEST_WAIT) this.#fruitless = 0
    this.#open = false
    this.#lastId = this.#exchange?.lastId ?? this.#lastId
    this.#retry = this.#exchange?.retry ?? this.#retry
    const wait = Math.max(this.#retry ?? DEFAULT_RETRY, SHORTEST_RETRY) * 2 ** Math.min(this.#fruitless, 12)
    this.#fruitless += 1
    const next = Math.max(Math.min(wait, LONGEST_WAIT), least)
    this.#timer = setTimeout(() => this.#connect(), next).unref()
  }
}

// --- internal ---

/** Request timeout, conflict (the lost stream counts as open yet), too early, too many requests. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429])
const DEFAULT_RETRY = 1_000
const SHORTEST_RETRY = 10
const LONGEST_WAIT = 30_000
