// A server over streamable http, of either era: every message is a request of its own, answers come with it or on its
// stream. What the old era adds to that (sessions, a stream that stands by) is kept up here, unseen from above.

import { Fault } from '../../base/fault.ts'
import { Numbered } from '../../base/numbered.ts'
import { idOfCut } from '../../wire/ends.ts'
import type { Id } from '../../wire/message.ts'
import { subjectOf } from '../habits.ts'
import type { Diagnosis, OpenTransport, Outgoing, Transport, TransportEvents } from '../transport.ts'
import { replyIdOf } from './answer.ts'
import { Call, type CallHost } from './call.ts'
import { Dialer, type DialOptions } from './dial.ts'
import { Exchange } from './exchange.ts'
import { type Agreement, HeaderBook, type HeaderMap } from './headers.ts'
import { type Greeting, Renewal, type RenewalHost } from './renewal.ts'
import { Standby, type StandbyHost } from './standby.ts'
import { Wishes } from './wishes.ts'

/**
 * What goes on below, for whoever wants to know: a new session means that what the server offers may have changed, and
 * while nobody listens its notifications are missed.
 */
export type StreamableStatus = 'session-renewed' | 'listening' | 'not-listening'

export interface StreamableOptions extends DialOptions {
  readonly headers?: HeaderMap | undefined
  /** Bytes a message may have. */
  readonly limit: number
  readonly onStatus?: ((status: StreamableStatus) => void) | undefined
}

export function openStreamable(options: StreamableOptions): OpenTransport {
  return (events) => new StreamableTransport(options, events)
}

// --- internal ---

/** Requests under way at a time. Long streams do not count, and neither does what answers the server. */
const MAX_CALLS = 64
/** How long the server may take to hear that the session is over. */
const FAREWELL = 1_000
/** How long the words of a refusal are not believed after a new session did not help. */
const DISBELIEF = 60_000

class StreamableTransport implements Transport, CallHost, StandbyHost, RenewalHost {
  readonly streams = true
  readonly dialer: Dialer
  readonly headers: HeaderBook
  readonly limit: number
  readonly events: TransportEvents
  readonly #onStatus: ((status: StreamableStatus) => void) | undefined
  /** All that is under way, by its key. */
  readonly #calls = new Numbered<Call>()
  #notes = 0
  readonly #waiting = new Set<Call>()
  #active = 0
  /** Calls that must not overtake something. */
  #held: Call[] | undefined
  #greeting: Partial<Greeting> = {}
  #greeted = false
  /** Whose words about a session were not about ours, and until when they are not believed. */
  readonly #unhelped = new Map<string, number>()
  #renewal: Renewal | undefined
  readonly #standby: Standby
  readonly #wishes: Wishes
  #ended = false
  #closing: Promise<void> | undefined

  constructor(options: StreamableOptions, events: TransportEvents) {
    this.dialer = new Dialer(options)
    this.headers = new HeaderBook(this.dialer.headers, options.headers)
    this.limit = options.limit
    this.events = events
    this.#onStatus = options.onStatus
    this.#standby = new Standby(this)
    this.#wishes = new Wishes(this)
  }

  send(outgoing: Outgoing): void {
    if (this.#ended) return
    const call = new Call(this, outgoing, outgoing.id ?? --this.#notes)
    this.#calls.set(call.key, call)
    if (outgoing.method === 'initialize') this.#greeting = { initialize: outgoing }
    if (outgoing.method !== 'tools/call') this.#wishes.note(outgoing)
    if (this.#held) this.#held.push(call)
    else this.#admit(call)
    if (outgoing.method === 'notifications/initialized' && !this.#held) {
      this.#greeting = { ...this.#greeting, initialized: outgoing }
      // Nothing may reach the server before it knows that the session has begun.
      this.#held = []
    }
  }

  drop(id: number): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    call.abort()
    this.finished(call)
  }

  agree(agreement: Agreement): void {
    this.headers.agree(agreement)
  }

  diagnosis(): Diagnosis {
    return {}
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  // --- what calls tell ---

  released(call: Call): void {
    if (!call.holding) return
    call.holding = false
    this.#active -= 1
    for (const next of this.#waiting) {
      this.#waiting.delete(next)
      this.#begin(next)
      return
    }
  }

  finished(call: Call): void {
    this.#calls.take(call.key)
    this.#waiting.delete(call)
    if (this.#held) this.#held = this.#held.filter((held) => held !== call)
    this.released(call)
    if (call.outgoing.method === 'notifications/initialized') this.greeted()
  }

  /** An answer is an answer, whatever stream it comes on. */
  answeredElsewhere(id: Id): void {
    const key = typeof id === 'string' && /^[1-9]\d*$/.test(id) ? Number(id) : id
    if (typeof key === 'number') this.#calls.get(key)?.settle()
  }

  greeted(): void {
    if (this.#renewal || this.#greeted) return
    this.#greeted = true
    // On the next turn a connection is free, and the stream that stands by takes it before anything else is sent.
    setImmediate(() => this.#goOn())
  }

  sessionLost(call: Call, how: 'sure' | 'likely'): boolean {
    // What a new session did not mend was about something else; the old one would have been given up for nothing.
    if (how === 'likely' && this.#isUnhelped(call)) return false
    const { initialize, initialized } = this.#greeting
    if (call.resent || initialize === undefined || initialized === undefined) {
      this.#end(new Fault('CONNECTION_LOST', `${this.dialer.place} keeps forgetting the session`))
      return true
    }
    call.resent = true
    this.released(call)
    // Another call found out before this one.
    if (this.#renewal === undefined && call.session !== this.headers.session) {
      this.#admit(call)
      return true
    }
    this.#held = [...(this.#held ?? []), call]
    this.#renew({ initialize, initialized })
    return true
  }

  // --- what the stream that stands by tells ---

  standbyMessage(bytes: Buffer): void {
    const id = replyIdOf(bytes)
    if (id !== undefined) this.answeredElsewhere(id)
    this.events.message(bytes)
  }

  standbyOversized(size: number, head: Buffer, tail: Buffer): void {
    this.events.oversized(size, idOfCut(head, tail))
  }

  standbyState(open: boolean): void {
    if (!this.#ended) this.#onStatus?.(open ? 'listening' : 'not-listening')
  }

  standbySessionLost(): void {
    const { initialize, initialized } = this.#greeting
    if (initialize === undefined || initialized === undefined) return
    this.#held ??= []
    this.#renew({ initialize, initialized })
  }

  // --- what a renewal tells ---

  renewed(fault?: Fault): void {
    this.#renewal = undefined
    if (fault) {
      this.#end(fault)
      return
    }
    this.#onStatus?.('session-renewed')
    setImmediate(() => {
      this.#goOn(() => this.#wishes.repeat())
    })
  }

  // --- internal ---

  /** Whether a new session did not help a call of its kind, now or a moment ago. */
  #isUnhelped({ outgoing, resent }: Call): boolean {
    const subject = subjectOf(outgoing)
    const now = performance.now()
    if (resent) this.#unhelped.set(subject, now + DISBELIEF)
    return (this.#unhelped.get(subject) ?? 0) > now
  }

  #admit(call: Call): void {
    if (call.counted && this.#active >= MAX_CALLS) this.#waiting.add(call)
    else this.#begin(call)
  }

  #begin(call: Call): void {
    if (call.counted) {
      call.holding = true
      this.#active += 1
    }
    call.start()
  }

  /** `first`: comes before what waits. */
  #goOn(first?: () => void): void {
    if (this.#ended || this.#renewal) return
    if (!this.headers.isModern('')) this.#standby.start()
    first?.()
    const held = this.#held ?? []
    this.#held = undefined
    for (const call of held) this.#admit(call)
  }

  #renew(greeting: Greeting): void {
    if (this.#renewal) return
    this.#standby.stop()
    this.#renewal = new Renewal(this, greeting)
    this.#renewal.start()
  }

  #end(fault: Fault): void {
    if (this.#ended) return
    this.#ended = true
    const calls = this.#calls.values()
    this.#stop()
    for (const { outgoing, answered } of calls)
      if (outgoing.id !== undefined && !answered) this.events.failed(outgoing.id, fault)
    this.events.closed(fault)
    this.dialer.destroy()
  }

  #stop(): void {
    this.#standby.stop()
    this.#wishes.stop()
    this.#renewal?.abort()
    for (const call of this.#calls.values()) call.abort()
    this.#calls.clear()
    this.#waiting.clear()
    this.#held = undefined
  }

  async #close(): Promise<void> {
    const session = this.#ended || this.headers.agreement?.modern ? undefined : this.headers.session
    this.#ended = true
    this.#stop()
    if (session !== undefined) await this.#farewell()
    this.dialer.destroy()
  }

  /** Tells the server that the session is over. Whether it cares is its own affair. */
  #farewell(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        exchange.abort()
        done()
      }, FAREWELL)
      const exchange = new Exchange(this.dialer, this.limit, {
        accepted: () => undefined,
        message: () => undefined,
        ended: done,
        refused: done,
        broken: done,
      })
      exchange.start('DELETE', () => this.headers.delete())
    })
  }
}
