// One answer to one HTTP request: plain JSON when only the answer comes, a stream of events when something comes before.

import type { ServerResponse } from 'node:http'
import { EVENT_COMMENT, EVENT_END, eventStart } from '../wire/events.ts'
import { oneLine } from '../wire/lines.ts'
import type { Id, ProtocolError } from '../wire/message.ts'

const KEEP_ALIVE = 15_000
/** Below this, one copy is cheaper than several writes. */
const SMALL = 16 * 1024
/** Bytes that may wait for a client before notifications are left out, and before it is given up. */
const UNREAD_NOTES = 1024 * 1024
const UNREAD_LIMIT = 32 * 1024 * 1024
/** Milliseconds without a byte being taken. */
const UNREAD_PATIENCE = 60_000
const JSON_TYPE = 'application/json'

export class Reply {
  readonly #response: ServerResponse
  #stream = false
  #timer: NodeJS.Timeout | undefined

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get ended(): boolean {
    return this.#response.writableEnded || this.#response.destroyed
  }

  /** Something that comes before the answer. From now on it is a stream. */
  notify(body: Buffer): void {
    if (this.ended) return
    this.open()
    // Who does not read misses what happened meanwhile, and in the end everything.
    const { writableLength } = this.#response
    if (writableLength > UNREAD_LIMIT) this.#response.destroy()
    else if (writableLength < UNREAD_NOTES) this.#event([body])
  }

  /** Begins the stream at once, for one that stays open. */
  open(): void {
    if (this.#stream || this.ended) return
    this.#stream = true
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      // Proxies would hold events back otherwise.
      'x-accel-buffering': 'no',
    })
    this.#response.flushHeaders()
    this.#timer = setInterval(() => this.#response.write(EVENT_COMMENT), KEEP_ALIVE)
    this.#timer.unref()
    this.#response.once('close', () => clearInterval(this.#timer))
  }

  /** The answer, in pieces. */
  send(pieces: readonly Buffer[], status = 200): void {
    if (this.ended) return
    if (this.#stream) {
      clearInterval(this.#timer)
      this.#event(pieces)
      this.#response.end()
      return
    }
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
    this.#response.writeHead(status, ['content-type', JSON_TYPE, 'content-length', String(size)])
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

  result(id: Id, result: unknown): void {
    this.send([Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result }))])
  }

  error(id: Id, error: ProtocolError, status = 200): void {
    this.send([Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error }))], status)
  }

  /** Nothing but a status: a notification was taken. */
  accepted(): void {
    this.#response.writeHead(202).end()
  }

  #event(pieces: readonly Buffer[]): void {
    this.#response.cork()
    this.#response.write(eventStart())
    for (const piece of pieces) this.#response.write(oneLine(piece))
    this.#response.write(EVENT_END)
    this.#response.uncork()
  }
}
