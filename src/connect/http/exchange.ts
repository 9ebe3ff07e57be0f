// One request and its answer, be it a message, a stream of them, or a refusal. Bytes are counted as they come.

import { Fault } from '../../base/fault.ts'
import { eachMessage, messagesIn } from '../../wire/batch.ts'
import { withoutMark } from '../../wire/byte-mark.ts'
import { EventReader } from '../../wire/events.ts'
import type { AnswerHeaders } from '../../wire/http-answer.ts'
import { headerLines } from '../../wire/http-request.ts'
import type { Body } from '../../wire/message.ts'
import { isAboutSignature, MOST_ATTEMPTS, type Signature } from './credential.ts'
import type { Dialer } from './dial.ts'
import type { Asker, KeptSocket, Stage } from './kept-socket.ts'
import { followRedirect, isRedirect } from './redirect.ts'
import type { Refusal } from './refusal.ts'
import { type Breakage, breakageOf, tooLarge } from './trouble.ts'

/** Who asked. Hears `message` any number of times and then exactly one of the last three, unless it aborts. */
export interface Receiver {
  /** The answer begins, and it is no refusal. */
  accepted(headers: AnswerHeaders): void
  message(bytes: Buffer): void
  ended(): void
  refused(refusal: Refusal): void
  broken(breakage: Breakage): void
  /** An event of another kind. Without this it is none of ours: some servers keep streams alive with them. */
  event?(name: string, data: Buffer): void
  /** A stream for everybody goes on after an event that is too large; without this it ends there. */
  oversized?(size: number, head: Buffer, tail: Buffer): void
}

export class Exchange implements Asker {
  readonly #dialer: Dialer
  readonly #limit: number
  readonly #receiver: Receiver
  #method = ''
  #lines = ''
  #body: Body | undefined
  #path: string
  #redirects = 0
  #signature: Signature | undefined
  #attempts = 0
  #isIdle = false
  #socket: KeptSocket | undefined
  #reader: EventReader | undefined
  #parts: Buffer[] = []
  #size = 0
  #answering = false
  /** What is done with the body that is coming. */
  #reading: Reading = 'nothing'
  #refusal: { readonly status: number; readonly headers: AnswerHeaders } | undefined
  #over = false

  constructor(dialer: Dialer, limit: number, receiver: Receiver, path?: string) {
    this.#dialer = dialer
    this.#limit = limit
    this.#receiver = receiver
    this.#path = path ?? dialer.url.pathname + dialer.url.search
  }

  /** Whether the answer is a stream of events. */
  get streaming(): boolean {
    return this.#reader !== undefined
  }

  /** The id of the last event on the stream. */
  get lastId(): string | undefined {
    return this.#reader?.lastId
  }

  /** How long the server wants us to wait before we come back. */
  get retry(): number | undefined {
    return this.#reader?.retry
  }

  /** `lines` makes those of the headers; what it throws is told as any other trouble is, not now. */
  start(method: string, lines: () => string, body?: Body): void {
    this.#method = method
    this.#body = body
    try {
      this.#lines = lines()
    } catch (error) {
      this.#failLater(error)
      return
    }
    this.#send()
  }

  /** Ends it; nothing is heard of it any more. */
  abort(): void {
    this.#over = true
    this.#socket?.abort(this)
  }

  /** The process may end while this goes on. */
  unref(): void {
    this.#isIdle = true
    this.#socket?.unref(this)
  }

  // --- what comes back ---

  head(status: number, headers: AnswerHeaders): void {
    if (this.#over) return
    this.#answering = true
    this.#dialer.credential?.answered?.(headers, this.#target)
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') {
      // We never ask for it. A few bytes of it can be gigabytes.
      this.#stop(new Fault('MESSAGE_INVALID', `${this.#dialer.place} answered in ${encoding}, unasked`))
      return
    }
    if (status >= 300) {
      if (isRedirect(status)) this.#redirect(status, headers)
      else this.#refuse(status, headers)
      return
    }
    const type = headers['content-type']
    if (type !== undefined && isEventStream(type)) {
      this.#receiver.accepted(headers)
      this.#readEvents()
    } else if (this.#method !== 'POST' && this.#method !== 'DELETE') this.#refuse(status, headers)
    else if (status === 202 || status === 204 || type === undefined || isJson(type)) {
      this.#receiver.accepted(headers)
      // "Accepted" is no message.
      const isMessage = type === undefined ? status === 200 : isJson(type)
      this.#reading = isMessage ? 'message' : 'nothing'
      if (Number(headers['content-length'] ?? 0) > this.#limit)
        this.#stop(tooLarge(this.#dialer.place, this.#limit))
    } else this.#refuse(status, headers)
  }

  data(chunk: Buffer): void {
    if (this.#over) return
    switch (this.#reading) {
      case 'events':
        this.#readEvent(chunk)
        return
      case 'refusal':
        this.#readRefusal(chunk)
        return
      case 'way':
        this.#size += chunk.length
        if (this.#size <= REFUSAL_LIMIT) return
        this.#socket?.abort(this)
        this.#follow()
        return
      default:
        this.#size += chunk.length
        if (this.#size > this.#limit) this.#stop(tooLarge(this.#dialer.place, this.#limit))
        else if (this.#reading === 'message') this.#parts.push(chunk)
    }
  }

  end(): void {
    if (this.#over) return
    switch (this.#reading) {
      case 'refusal':
        this.#refused()
        return
      case 'way':
        this.#follow()
        return
      case 'message':
        if (this.#size > 0) for (const message of messagesIn(this.#take())) this.#message(message)
    }
    this.#end()
  }

  broken(error: NodeJS.ErrnoException, at: Stage): void {
    // What came of a refusal says enough.
    if (this.#reading === 'refusal' && this.#answering && !this.#over) this.#refused()
    else this.#fail(error, at)
  }

  // --- internal ---

  #send(): void {
    const { credential } = this.#dialer
    if (credential === undefined) {
      this.#dispatch([])
      return
    }
    try {
      const signature = credential.sign(this.#method, this.#target)
      if (signature instanceof Promise)
        signature.then(
          (late) => this.#sendSigned(late),
          (error) => this.#unsigned(error),
        )
      else this.#sendSigned(signature)
    } catch (error) {
      process.nextTick(() => this.#unsigned(error))
    }
  }

  #sendSigned(signature: Signature): void {
    if (this.#over) return
    this.#signature = signature
    this.#dispatch(signature.headers)
  }

  #unsigned(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.#stop(error instanceof Fault ? error : new Fault('AUTH_REQUIRED', message, { cause: error }))
  }

  get #target(): URL {
    return this.#dialer.at(this.#path)
  }

  #dispatch(signed: readonly string[]): void {
    try {
      const lines = this.#lines + headerLines(signed)
      this.#socket = this.#dialer.send(this, this.#method, this.#path, lines, this.#body)
      if (this.#isIdle) this.#socket.unref(this)
    } catch (error) {
      this.#failLater(error)
    }
  }

  /** To where the server sent us. */
  #follow(): void {
    this.#answering = false
    this.#size = 0
    this.#send()
  }

  #readEvents(): void {
    const receiver = this.#receiver
    const take = (message: Buffer) => this.#message(message)
    this.#reading = 'events'
    this.#reader = new EventReader(this.#limit, {
      event: ({ data, event }) => {
        this.#size = 0
        // An event without data only tells its id.
        if (data.length === 0) return
        if (event === 'message') eachMessage(data, take)
        else if (!this.#over) receiver.event?.(event, data)
      },
      oversized: (size, head, tail) => {
        this.#size = 0
        if (receiver.oversized) receiver.oversized(size, head, tail)
        else this.#stop(tooLarge(this.#dialer.place, this.#limit))
      },
    })
  }

  #readEvent(chunk: Buffer): void {
    this.#reader?.push(chunk)
    if (!this.#reader?.over) return
    // Thrown away as it comes in, but it may never end.
    this.#size += chunk.length
    const patience = this.#receiver.oversized ? this.#limit * PATIENCE : 0
    if (this.#size > patience) this.#stop(tooLarge(this.#dialer.place, this.#limit))
  }

  #redirect(status: number, headers: AnswerHeaders): void {
    const from = this.#target
    const redirection = { from, count: this.#redirects, mask: this.#dialer.mask }
    const path = followRedirect(this.#method, status, headers['location'], redirection)
    if (path instanceof Fault) {
      this.#stop(path)
      return
    }
    this.#redirects += 1
    this.#path = path
    this.#reading = 'way'
  }

  #refuse(status: number, headers: AnswerHeaders): void {
    this.#reading = 'refusal'
    this.#refusal = { status, headers }
  }

  #readRefusal(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size <= REFUSAL_LIMIT) this.#parts.push(chunk)
    else {
      this.#socket?.abort(this)
      this.#refused()
    }
  }

  /** A signature that was not taken may be made anew; any other refusal is one. */
  #refused(): void {
    const { status = 0, headers = {} } = this.#refusal ?? {}
    const refusal = { status, headers, body: this.#take() }
    const { credential } = this.#dialer
    const signature = this.#signature
    // Until it is known what comes of it, nothing more is to be heard.
    this.#reading = 'nothing'
    if (!credential || !signature || !isAboutSignature(refusal) || this.#attempts >= MOST_ATTEMPTS) {
      this.#over = true
      this.#receiver.refused(refusal)
      return
    }
    this.#attempts += 1
    credential.refused(refusal, signature, this.#attempts).then(
      (again) => {
        if (this.#over) return
        this.#size = 0
        this.#answering = false
        if (again) return this.#send()
        this.#over = true
        this.#receiver.refused(refusal)
      },
      (error) => this.#unsigned(error),
    )
  }

  #message(bytes: Buffer): void {
    if (!this.#over) this.#receiver.message(bytes)
  }

  #take(): Buffer {
    const [first] = this.#parts
    const whole = this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts)
    this.#parts = []
    return withoutMark(whole)
  }

  #end(): void {
    if (this.#over) return
    this.#over = true
    this.#receiver.ended()
  }

  #fail(error: NodeJS.ErrnoException, at: Stage): void {
    if (this.#over) return
    this.#over = true
    this.#receiver.broken(breakageOf(error, this.#dialer.place, this.#answering ? 'answering' : at))
  }

  /** Nobody has heard of this exchange yet, and may not before `start` is over. */
  #failLater(error: unknown): void {
    if (!(error instanceof Error)) throw error
    process.nextTick(() => this.#fail(error, 'opening'))
  }

  #stop(fault: Fault): void {
    if (this.#over) return
    this.#over = true
    this.#socket?.abort(this)
    this.#receiver.broken({ kind: 'final', fault })
  }
}

// --- internal ---

/** The body of an answer is a message, a stream of events, the words of a refusal, the page of a redirect, or nothing. */
type Reading = 'nothing' | 'message' | 'events' | 'refusal' | 'way'

/** Enough for a page that says what went wrong. */
const REFUSAL_LIMIT = 256 * 1024
/** How many times the limit an event may have before a stream for everybody is given up. */
const PATIENCE = 4

function isEventStream(type: string): boolean {
  return type === 'text/event-stream' || /^text\/event-stream\b/i.test(type)
}

function isJson(type: string): boolean {
  return type === 'application/json' || /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)
}
