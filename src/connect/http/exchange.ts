// One request and its answer, be it a message, a stream of them, or a refusal. Bytes are counted as they come.

import type { ClientRequest, IncomingMessage } from 'node:http'
import { Fault } from '../../base/fault.ts'
import { messagesIn } from '../../wire/batch.ts'
import { EventReader } from '../../wire/events.ts'
import type { Body } from '../../wire/message.ts'
import { isAboutSignature, MOST_ATTEMPTS, type Signature } from './credential.ts'
import type { Dialer } from './dial.ts'
import { followRedirect, isRedirect } from './redirect.ts'
import type { Refusal } from './refusal.ts'
import { type Breakage, breakageOf, tooLarge } from './trouble.ts'

/** Who asked. Hears `message` any number of times and then exactly one of the last three, unless it aborts. */
export interface Receiver {
  /** The answer begins, and it is no refusal. */
  accepted(response: IncomingMessage): void
  message(bytes: Buffer): void
  ended(): void
  refused(refusal: Refusal): void
  broken(breakage: Breakage): void
  /** An event of another kind. Without this it is none of ours: some servers keep streams alive with them. */
  event?(name: string, data: Buffer): void
  /** A stream for everybody goes on after an event that is too large; without this it ends there. */
  oversized?(size: number, head: Buffer, tail: Buffer): void
}

export class Exchange {
  readonly #dialer: Dialer
  readonly #limit: number
  readonly #receiver: Receiver
  #method = ''
  #headers: readonly string[] = []
  #body: Body | undefined
  #path: string
  #redirects = 0
  #signature: Signature | undefined
  #attempts = 0
  #isIdle = false
  #request: ClientRequest | undefined
  #reader: EventReader | undefined
  #parts: Buffer[] = []
  #size = 0
  #answering = false
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

  start(method: string, headers: readonly string[], body?: Body): void {
    this.#method = method
    this.#headers = headers
    this.#body = body
    this.#send()
  }

  /** Ends it; nothing is heard of it any more. */
  abort(): void {
    this.#over = true
    this.#request?.destroy()
  }

  /** The process may end while this goes on. */
  unref(): void {
    this.#isIdle = true
    const request = this.#request
    if (request?.socket) request.socket.unref()
    else request?.once('socket', (socket) => socket.unref())
  }

  #send(): void {
    const { credential } = this.#dialer
    if (credential === undefined) {
      this.#dispatch(this.#headers)
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
    this.#dispatch([...this.#headers, ...signature.headers])
    if (this.#isIdle) this.unref()
  }

  #unsigned(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.#stop(error instanceof Fault ? error : new Fault('AUTH_REQUIRED', message, { cause: error }))
  }

  get #target(): URL {
    return new URL(this.#path, this.#dialer.url)
  }

  #dispatch(headers: readonly string[]): void {
    try {
      const request = this.#dialer.request(this.#method, this.#path, headers)
      this.#request = request
      request.on('response', (response) => this.#respond(response))
      request.on('error', (error) => this.#fail(error, request.reusedSocket))
      request.end(this.#body)
    } catch (error) {
      // Nobody has heard of this exchange yet, and may not before `start` is over.
      if (!(error instanceof Error)) throw error
      process.nextTick(() => this.#fail(error, false))
    }
  }

  #respond(response: IncomingMessage): void {
    if (this.#over) return
    this.#answering = true
    const status = response.statusCode ?? 0
    const { headers } = response
    this.#dialer.credential?.answered?.(headers, this.#target)
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') {
      // We never ask for it. A few bytes of it can be gigabytes.
      this.#stop(new Fault('MESSAGE_INVALID', `${this.#dialer.place} answered in ${encoding}, unasked`))
      return
    }
    if (status >= 300) {
      if (isRedirect(status)) this.#redirect(response, status)
      else this.#refuse(response, status)
      return
    }
    const type = headers['content-type']
    if (type !== undefined && isEventStream(type)) {
      this.#receiver.accepted(response)
      this.#readEvents(response)
    } else if (this.#method !== 'POST' && this.#method !== 'DELETE') this.#refuse(response, status)
    else if (status === 202 || status === 204 || type === undefined || isJson(type)) {
      this.#receiver.accepted(response)
      // "Accepted" is no message.
      const isMessage = type === undefined ? status === 200 : isJson(type)
      this.#readWhole(response, Number(headers['content-length'] ?? 0), isMessage)
    } else this.#refuse(response, status)
  }

  #readWhole(response: IncomingMessage, length: number, isMessage: boolean): void {
    if (length > this.#limit) {
      this.#stop(tooLarge(this.#dialer.place, this.#limit))
      return
    }
    response.on('data', (chunk: Buffer) => {
      this.#size += chunk.length
      if (this.#size > this.#limit) this.#stop(tooLarge(this.#dialer.place, this.#limit))
      else this.#parts.push(chunk)
    })
    response.on('end', () => {
      if (this.#over) return
      if (isMessage && this.#size > 0) for (const message of messagesIn(this.#take())) this.#message(message)
      this.#end()
    })
    response.on('error', (error) => this.#fail(error))
  }

  #readEvents(response: IncomingMessage): void {
    const receiver = this.#receiver
    const reader = new EventReader(this.#limit, {
      event: ({ data, event }) => {
        this.#size = 0
        // An event without data only tells its id.
        if (data.length === 0) return
        if (event === 'message') this.#message(data)
        else if (!this.#over) receiver.event?.(event, data)
      },
      oversized: (size, head, tail) => {
        this.#size = 0
        if (receiver.oversized) receiver.oversized(size, head, tail)
        else this.#stop(tooLarge(this.#dialer.place, this.#limit))
      },
    })
    this.#reader = reader
    const patience = receiver.oversized ? this.#limit * PATIENCE : 0
    response.on('data', (chunk: Buffer) => {
      if (this.#over) return
      reader.push(chunk)
      if (!reader.over) return
      // Thrown away as it comes in, but it may never end.
      this.#size += chunk.length
      if (this.#size > patience) this.#stop(tooLarge(this.#dialer.place, this.#limit))
    })
    response.on('end', () => this.#end())
    response.on('error', (error) => this.#fail(error))
  }

  #redirect(response: IncomingMessage, status: number): void {
    const from = new URL(this.#path, this.#dialer.url)
    const path = followRedirect(this.#method, status, response.headers.location, {
      from,
      count: this.#redirects,
    })
    if (path instanceof Fault) {
      this.#stop(path)
      return
    }
    this.#redirects += 1
    this.#path = path
    response.resume()
    response.on('end', () => {
      this.#answering = false
      if (!this.#over) this.#send()
    })
    response.on('error', (error) => this.#fail(error))
  }

  #refuse(response: IncomingMessage, status: number): void {
    let done = false
    const finish = () => {
      if (this.#over || done) return
      done = true
      this.#refused({ status, headers: response.headers, body: this.#take() })
    }
    response.on('data', (chunk: Buffer) => {
      this.#size += chunk.length
      if (this.#size <= REFUSAL_LIMIT) this.#parts.push(chunk)
      else {
        finish()
        this.#request?.destroy()
      }
    })
    response.on('end', finish)
    // What came of it says enough.
    response.on('error', finish)
  }

  /** A signature that was not taken may be made anew; any other refusal is one. */
  #refused(refusal: Refusal): void {
    const { credential } = this.#dialer
    const signature = this.#signature
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
    return whole
  }

  #end(): void {
    if (this.#over) return
    this.#over = true
    this.#receiver.ended()
  }

  #fail(error: NodeJS.ErrnoException, reused = false): void {
    if (this.#over) return
    this.#over = true
    const answering = this.#answering
    this.#receiver.broken(breakageOf(error, this.#dialer.place, { reused, answering }))
  }

  #stop(fault: Fault): void {
    if (this.#over) return
    this.#over = true
    this.#request?.destroy()
    this.#receiver.broken({ kind: 'final', fault })
  }
}

// --- internal ---

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
