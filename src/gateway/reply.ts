// One answer to one request: what may come before it, and itself.

import type { ServerResponse } from 'node:http'
import { type Id, idText } from '../wire/id.ts'
import type { ProtocolError } from '../wire/message.ts'
import type { EventLog } from './event-log.ts'
import { EventSink } from './event-sink.ts'

export abstract class Reply {
  /** Of the request that it answers, once that was read. */
  requestId: Id | undefined = undefined
  /** How it answers where several requests share it and nobody waits for the rest any more. */
  answerAll: ((why: ProtocolError) => void) | undefined = undefined
  /** Whether it only tells what happens, and says by itself that nothing follows. */
  endsItself = false
  abstract get ended(): boolean
  /** Whether something can come before the answer. */
  abstract get streams(): boolean
  /** Something that comes before the answer. */
  abstract notify(body: Buffer): void
  /** Begins at once what stays open. */
  abstract open(): void
  /** The answer, in pieces. */
  abstract send(pieces: readonly Buffer[], status?: number): void
  /** There is no answer: a notification was taken. */
  abstract accepted(): void

  result(id: Id, result: unknown): void {
    this.send([Buffer.from(`{"jsonrpc":"2.0","id":${idText(id)},"result":${JSON.stringify(result)}}`)])
  }

  error(id: Id, error: ProtocolError, status = 200): void {
    const text = `{"jsonrpc":"2.0","id":${idText(id)},"error":${JSON.stringify(error)}}`
    this.send([Buffer.from(text)], status)
  }

  /** The answer to somebody who is sent away in the middle; whatever would follow is for nobody. */
  sendAway(why: ProtocolError): void {
    if (this.answerAll) this.answerAll(why)
    else if (this.requestId !== undefined && !this.endsItself) this.error(this.requestId, why)
  }

  /** Nothing new is begun here; another may be there in so many seconds. */
  unavailable(id: Id, error: ProtocolError, seconds: number): void {
    this.retryAfter(seconds)
    this.error(id, error, 503)
  }

  /** Says after how many seconds it may be tried again, where that can be said beside the answer. */
  retryAfter(_seconds: number): void {}
}

/** Below this, one copy is cheaper than several writes. */
const SMALL = 16 * 1024
/** Milliseconds without a byte being taken. */
const UNREAD_PATIENCE = 60_000
const JSON_TYPE = 'application/json'

/** Who keeps what was streamed, for a client that comes back for it. */
export interface Keeper {
  newStream(): EventLog
  /** Whether a stream begins with nothing but a number. */
  readonly marked: boolean
  /** Its reader ended a stream, or lost it. */
  left(): void
}

/** To one HTTP request: plain JSON when only the answer comes, a stream of events when something comes before. */
export class HttpReply extends Reply {
  readonly #response: ServerResponse
  readonly #accepts: boolean
  #sink: EventSink | undefined
  #log: EventLog | undefined
  #keeper: Keeper | undefined
  #session: string | undefined

  constructor(response: ServerResponse, accept: string | undefined) {
    super()
    this.#response = response
    // Clients that say nothing take everything.
    this.#accepts = accept === undefined || /text\/event-stream|\*\/\*|text\/\*/.test(accept)
  }

  /** Makes the stream, should there be one, such that its reader can come back to it. */
  keepBy(keeper: Keeper): void {
    this.#keeper = keeper
  }

  /** Tells the client under which id it is known from now on. */
  welcome(session: string): void {
    this.#session = session
  }

  get ended(): boolean {
    return this.#log === undefined
      ? this.#response.writableEnded || this.#response.destroyed
      : this.#log.ended
  }

  get streams(): boolean {
    return this.#accepts && !this.ended
  }

  notify(body: Buffer): void {
    if (!this.streams) return
    this.open()
    if (this.#log) this.#log.write([body])
    else this.#sink?.note(body)
  }

  open(): void {
    if (this.#sink !== undefined || this.ended) return
    this.#sink = new EventSink(this.#response, this.#headers())
    this.#log = this.#keeper?.newStream()
    this.#log?.attach(this.#sink, undefined, this.#keeper?.marked === true)
    this.#sink.onClose(() => this.#keeper?.left())
  }

  send(pieces: readonly Buffer[], status = 200): void {
    if (this.ended) return
    if (this.#log) {
      this.#log.write(pieces)
      this.#log.end()
      return
    }
    if (this.#sink) {
      this.#sink.event(pieces)
      this.#sink.end()
      return
    }
    let size = 0
    for (const { length } of pieces) size += length
    const head = ['content-type', JSON_TYPE, 'content-length', String(size)]
    if (this.#session !== undefined) head.push('mcp-session-id', this.#session)
    this.#response.writeHead(status, head)
    if (size < SMALL) {
      // Node puts text behind the head in one write, and bytes in a second; as latin1 they stay what they are.
      let text = ''
      for (const piece of pieces) text += piece.toString('latin1')
      this.#response.end(text, 'latin1')
      return
    }
    // A client that stops reading would keep all of it in memory.
    this.#response.setTimeout(UNREAD_PATIENCE, () => this.#response.destroy())
    for (const piece of pieces) this.#response.write(piece)
    this.#response.end()
  }

  override sendAway(why: ProtocolError): void {
    if (!this.endsItself) this.error(this.requestId ?? null, why, 401)
  }

  override unavailable(id: Id, error: ProtocolError, seconds: number): void {
    if (!this.#response.headersSent) this.#response.setHeader('connection', 'close')
    super.unavailable(id, error, seconds)
  }

  override retryAfter(seconds: number): void {
    if (!this.#response.headersSent) this.#response.setHeader('retry-after', seconds)
  }

  accepted(): void {
    if (!this.ended) this.#response.writeHead(202).end()
  }

  #headers(): Record<string, string> {
    return this.#session === undefined ? {} : { 'mcp-session-id': this.#session }
  }
}
