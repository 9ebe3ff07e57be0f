// The oldest way over http (2024-11-05): one stream for all that the server says, and an address it names for all that
// it is told.

import { excerptOf } from '../../base/excerpt.ts'
import { Fault } from '../../base/fault.ts'
import { idOfCut } from '../../wire/ends.ts'
import type { AnswerHeaders } from '../../wire/http-answer.ts'
import type { Diagnosis, OpenTransport, Outgoing, Transport, TransportEvents } from '../transport.ts'
import { Dialer, type DialOptions } from './dial.ts'
import { Exchange, type Receiver } from './exchange.ts'
import { type Agreement, HeaderBook, type HeaderMap } from './headers.ts'
import { type Refusal, refusalFault } from './refusal.ts'
import { type Breakage, lost } from './trouble.ts'

export interface LegacySseOptions extends DialOptions {
  readonly headers?: HeaderMap | undefined
  /** Bytes a message may have. */
  readonly limit: number
}

/** What is sent before the server named its address waits; that it never does is told by `closed`. */
export function openLegacySse(options: LegacySseOptions): OpenTransport {
  return (events) => new LegacySseTransport(options, events)
}

// --- internal ---

class LegacySseTransport implements Transport, Receiver {
  readonly streams = false
  readonly #dialer: Dialer
  readonly #headers: HeaderBook
  readonly #limit: number
  readonly #events: TransportEvents
  readonly #stream: Exchange
  /** Where messages go, once the server said so. */
  #path: string | undefined
  readonly #posts = new Map<Outgoing, Exchange>()
  /** Messages that wait for the address, or for the notification that opens the session. */
  #held: Outgoing[] | undefined = []
  #ended = false

  constructor(options: LegacySseOptions, events: TransportEvents) {
    this.#dialer = new Dialer(options)
    this.#headers = new HeaderBook(this.#dialer.headers, options.headers)
    this.#limit = options.limit
    this.#events = events
    this.#stream = new Exchange(this.#dialer, this.#limit, this)
    this.#stream.start('GET', () => this.#headers.get())
  }

  send(outgoing: Outgoing): void {
    if (this.#ended) return
    if (this.#held) this.#held.push(outgoing)
    else this.#post(outgoing)
  }

  drop(id: number): void {
    for (const [outgoing, post] of this.#posts)
      if (outgoing.id === id) {
        post.abort()
        this.#posts.delete(outgoing)
      }
    if (this.#held) this.#held = this.#held.filter((outgoing) => outgoing.id !== id)
  }

  agree(agreement: Agreement): void {
    this.#headers.agree(agreement)
  }

  diagnosis(): Diagnosis {
    return {}
  }

  async close(): Promise<void> {
    this.#stop()
  }

  // --- what the stream tells ---

  accepted(_headers: AnswerHeaders): void {}

  message(bytes: Buffer): void {
    this.#events.message(bytes)
  }

  event(name: string, data: Buffer): void {
    if (name === 'endpoint') this.#endpoint(data.toString().trim())
  }

  oversized(size: number, head: Buffer, tail: Buffer): void {
    this.#events.oversized(size, idOfCut(head, tail))
  }

  ended(): void {
    this.#end(lost(`${this.#dialer.place} ended its stream`))
  }

  refused(refusal: Refusal): void {
    this.#end(refusalFault(refusal, this.#dialer))
  }

  broken({ fault }: Breakage): void {
    this.#end(fault)
  }

  // --- internal ---

  /** Only an address of the same origin: what we send carries our headers. */
  #endpoint(text: string): void {
    const { url, place, mask } = this.#dialer
    const target = URL.canParse(text, url.href) ? new URL(text, url.href) : undefined
    if (target?.origin !== url.origin) {
      this.#end(
        new Fault(
          'ADDRESS_REFUSED',
          `${place} wants its messages at ${excerptOf(text, { most: 200, mask })}`,
          {
            hint: 'an address on the same host and port is expected',
          },
        ),
      )
      return
    }
    this.#path = target.pathname + target.search
    this.#release()
  }

  #release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    // One of them may hold back those behind it.
    for (const outgoing of held) this.send(outgoing)
  }

  #post(outgoing: Outgoing): void {
    const opens = outgoing.method === 'notifications/initialized'
    if (opens) this.#held = []
    const done = (fault?: Fault) => {
      this.#posts.delete(outgoing)
      if (this.#ended) return
      if (fault && outgoing.id !== undefined) this.#events.failed(outgoing.id, fault)
      else if (fault) this.#events.noise(`${outgoing.method || 'an answer'} did not arrive: ${fault.message}`)
      if (opens) this.#release()
    }
    const receiver: Receiver = {
      accepted: () => undefined,
      // Some servers answer here as well; the stream is what counts.
      message: () => undefined,
      ended: () => done(),
      refused: (refusal) => done(refusal.status < 300 ? undefined : refusalFault(refusal, this.#dialer)),
      broken: ({ fault }) => done(fault),
    }
    const exchange = new Exchange(this.#dialer, this.#limit, receiver, this.#path)
    this.#posts.set(outgoing, exchange)
    exchange.start('POST', () => this.#headers.post(outgoing), outgoing.body)
  }

  #end(fault: Fault): void {
    if (this.#ended) return
    this.#stop()
    this.#events.closed(fault)
  }

  #stop(): void {
    this.#ended = true
    this.#stream.abort()
    for (const post of this.#posts.values()) post.abort()
    this.#posts.clear()
    this.#held = undefined
    this.#dialer.destroy()
  }
}
