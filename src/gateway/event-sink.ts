// One response that is a stream of events, and its reader, who may be slow or gone.

import type { ServerResponse } from 'node:http'
import { EVENT_COMMENT, EVENT_END, eventStart } from '../wire/events.ts'
import { oneLine } from '../wire/lines.ts'
import type { Sink } from './event-log.ts'

const KEEP_ALIVE = 15_000
/** Bytes that may wait for a reader before what can be missed is left out, and before it is given up. */
const UNREAD_NOTES = 1024 * 1024
const UNREAD_LIMIT = 32 * 1024 * 1024

export class EventSink implements Sink {
  readonly #response: ServerResponse
  readonly #timer: NodeJS.Timeout

  /** Begins the stream. `headers` go with it. */
  constructor(response: ServerResponse, headers: Readonly<Record<string, string>> = {}) {
    this.#response = response
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      // Proxies would hold events back otherwise.
      'x-accel-buffering': 'no',
      ...headers,
    })
    response.flushHeaders()
    this.#timer = setInterval(() => response.write(EVENT_COMMENT), KEEP_ALIVE)
    this.#timer.unref()
    response.once('close', () => clearInterval(this.#timer))
  }

  get closed(): boolean {
    return this.#response.writableEnded || this.#response.destroyed
  }

  /** Something that may be missed: who does not read misses what happened meanwhile, and in the end everything. */
  note(body: Buffer): void {
    if (this.#response.writableLength < UNREAD_NOTES) this.event([body])
    else this.#patience()
  }

  /** Something that must arrive, in pieces. With an id, the reader can ask for what follows it. */
  event(pieces: readonly Buffer[], id?: string): void {
    if (this.closed || !this.#patience()) return
    this.#response.cork()
    this.#response.write(eventStart(id))
    for (const piece of pieces) this.#response.write(oneLine(piece))
    this.#response.write(EVENT_END)
    this.#response.uncork()
  }

  /** Nothing but an id, so that the reader has one to go on from. */
  mark(id: string): void {
    if (!this.closed) this.#response.write(`id: ${id}\ndata: \n\n`)
  }

  end(): void {
    clearInterval(this.#timer)
    if (!this.closed) this.#response.end()
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener)
  }

  /** Whether the reader is still waited for. */
  #patience(): boolean {
    const patient = this.#response.writableLength <= UNREAD_LIMIT
    if (!patient) this.#response.destroy()
    return patient
  }
}
