// Messages separated by line ends, as stdio carries them. Chunks are kept apart until their line is whole, so a large
// line is copied once; a line over the limit is thrown away while it comes in, all but its two ends.

import { isUtf8 } from 'node:buffer'
import type { Body } from './message.ts'
import { SHORT } from './one-text.ts'

export interface LineEvents {
  line(bytes: Buffer): void
  /**
   * A short line, one letter for each byte of UTF-8, that begins at a place of a chunk. False: it was not taken, and comes as
   * bytes. Many of them are found in one text at a fraction of what it takes to cut each out of the bytes.
   */
  letters?(line: string, chunk: Buffer, start: number): boolean
  oversized(size: number, head: Buffer, tail: Buffer): void
}

/** Bytes of a chunk up to which all of it is made one text. */
const SMALL = 16 * 1024

/** Kept of either end of a line that is too long, so that its id can still be found. */
const ENDS = 4096

export class LineReader {
  readonly #limit: number
  readonly #events: LineEvents
  #parts: Buffer[] = []
  #size = 0
  #cut: { head: Buffer; tail: Buffer } | undefined

  constructor(limit: number, events: LineEvents) {
    this.#limit = limit
    this.#events = events
  }

  push(chunk: Buffer): void {
    let from = this.#size === 0 && chunk.length <= SMALL && this.#events.letters ? this.#take(chunk) : 0
    if (from === chunk.length) return
    for (let end = chunk.indexOf(0x0a, from); end >= 0; end = chunk.indexOf(0x0a, from)) {
      if (this.#size === 0 && end - from <= this.#limit) {
        // The usual case: a whole line in one chunk. Some end their lines as Windows does.
        const stop = chunk[end - 1] === 0x0d && end > from ? end - 1 : end
        if (stop > from) this.#events.line(chunk.subarray(from, stop))
      } else {
        this.#add(chunk.subarray(from, end))
        this.#finish()
      }
      from = end + 1
    }
    if (from < chunk.length) this.#add(from === 0 ? chunk : chunk.subarray(from))
  }

  /** Nothing more comes: what came after the last line end is a line, too. */
  end(): void {
    if (this.#size > 0) this.#finish()
  }

  /** What came after the last line end; half a message when a process dies. */
  get rest(): number {
    return this.#size
  }

  /** Hands on short lines as text, up to the first that is not taken; tells where that begins. */
  #take(chunk: Buffer): number {
    // A letter may have come by half; then its line is not whole either, and the bytes tell.
    if (!isUtf8(chunk)) return 0
    const text = chunk.toString('latin1')
    const most = Math.min(SHORT, this.#limit)
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      if (end - from > most || this.#events.letters?.(text.slice(from, end), chunk, from) !== true) break
      from = end + 1
    }
    return from
  }

  #add(part: Buffer): void {
    this.#size += part.length
    const cut = this.#cut
    if (cut !== undefined) {
      if (cut.head.length < ENDS) cut.head = beginning(cut.head, part)
      cut.tail = ending(cut.tail, part)
    } else {
      this.#parts.push(part)
      if (this.#size > this.#limit) this.#overflow()
    }
  }

  #overflow(): void {
    const whole = Buffer.concat(this.#parts)
    // Copies: a view would keep all of it in memory.
    this.#cut = { head: Buffer.from(whole.subarray(0, ENDS)), tail: Buffer.from(whole.subarray(-ENDS)) }
    this.#parts = []
  }

  #finish(): void {
    const [first] = this.#parts
    const line = this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts)
    const cut = this.#cut
    const size = this.#size
    this.#parts = []
    this.#size = 0
    this.#cut = undefined
    if (cut) this.#events.oversized(size, cut.head, cut.tail)
    else this.#line(line)
  }

  #line(bytes: Buffer): void {
    const line = bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes
    if (line.length > 0) this.#events.line(line)
  }
}

/**
 * A message is one line, whatever its author thought: a line end inside would end it, and what follows would be a message
 * of its own that nobody has looked at. In JSON a line end is only space; inside a text there can be none.
 */
export function oneLine(body: Body): Body {
  if (typeof body === 'string')
    return body.includes('\n') || body.includes('\r') ? body.replace(/[\r\n]/g, ' ') : body
  if (!body.includes(0x0a) && !body.includes(0x0d)) return body
  return Buffer.from(body.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte)))
}

// --- internal ---

function beginning(head: Buffer, part: Buffer): Buffer {
  return Buffer.concat([head, part.subarray(0, ENDS - head.length)])
}

function ending(tail: Buffer, part: Buffer): Buffer {
  return part.length >= ENDS
    ? Buffer.from(part.subarray(-ENDS))
    : Buffer.concat([
        tail.subarray(Math.min(tail.length, Math.max(0, tail.length + part.length - ENDS))),
        part,
      ])
}
