// Server-sent events, read and written. The reader copies each large event once and gives up on one over the limit.

import { MARK } from './byte-mark.ts'

interface ServerEvent {
  readonly event: string
  readonly data: Buffer
}

export interface EventReaderEvents {
  event(event: ServerEvent): void
  /** An event was over the limit and was thrown away; what follows is read again. */
  oversized(size: number, head: Buffer, tail: Buffer): void
}

/** Follows the grammar of the WHATWG: CR, LF and CRLF end lines, `data` lines are joined, comments are skipped. */
export class EventReader {
  readonly #limit: number
  readonly #events: EventReaderEvents
  #parts: Buffer[] = []
  #lineSize = 0
  /** There when the line under way is over the limit. */
  #ends: Ends | undefined
  #skipLineFeed = false
  #data: Buffer[] = []
  #size = 0
  #event = ''
  #id: string | undefined
  /** There when the event under way is over the limit: what is kept of its data. */
  #over: Ends | undefined
  #marked = 0

  /** The id of the last whole event, for resumption; one that was cut is asked for again. */
  lastId: string | undefined
  /** How long the server wants us to wait before reconnecting, in milliseconds. */
  retry: number | undefined

  constructor(limit: number, events: EventReaderEvents) {
    this.#limit = limit
    this.#events = events
  }

  /** Whether the event under way is over the limit already; nothing bounds how long it goes on. */
  get over(): boolean {
    return this.#over !== undefined || this.#lineSize + this.#size > this.#limit
  }

  push(chunk: Buffer): void {
    let bytes = chunk
    if (this.#marked < MARK.length) bytes = this.#withoutMark(bytes)
    if (this.#skipLineFeed && bytes.length > 0) {
      if (bytes[0] === LF) bytes = bytes.subarray(1)
      this.#skipLineFeed = false
    }
    let from = 0
    // A carriage return is rare; without one in the chunk only line feeds have to be looked for.
    const returns = bytes.includes(CR)
    for (;;) {
      const end = returns ? endOfLine(bytes, from) : bytes.indexOf(LF, from)
      if (end < 0) break
      this.#add(bytes.subarray(from, end))
      this.#finishLine()
      from = end + 1
      if (bytes[end] === CR) {
        if (from === bytes.length) this.#skipLineFeed = true
        else if (bytes[from] === LF) from += 1
      }
    }
    if (from < bytes.length) this.#add(bytes.subarray(from))
  }

  /** A byte order mark may begin the stream, and come in pieces. */
  #withoutMark(bytes: Buffer): Buffer {
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] === MARK[this.#marked]) this.#marked += 1
      else {
        if (this.#marked > 0) this.#add(MARK.subarray(0, this.#marked))
        this.#marked = MARK.length
        return bytes.subarray(at)
      }
      if (this.#marked === MARK.length) return bytes.subarray(at + 1)
    }
    return bytes.subarray(bytes.length)
  }

  #add(part: Buffer): void {
    this.#lineSize += part.length
    if (this.#ends === undefined) {
      this.#parts.push(part)
      if (this.#lineSize + this.#size <= this.#limit) return
      this.#ends = new Ends()
      for (const early of this.#parts) this.#ends.add(early)
      this.#parts = []
    } else this.#ends.add(part)
  }

  #finishLine(): void {
    const [first] = this.#parts
    const line = this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts)
    const ends = this.#ends
    this.#parts = []
    this.#lineSize = 0
    this.#ends = undefined
    if (ends !== undefined) this.#longField(ends)
    else if (line.length === 0) this.#dispatch()
    else this.#field(line)
  }

  #longField({ head, tail, size }: Ends): void {
    const { name, value } = fieldOf(head)
    const length = size - value
    if (name === 'data')
      this.#cut(head.subarray(value), tail.subarray(Math.max(0, tail.length - length)), length)
    // There was no room left for it beside the data, and it needs none.
    else if (size === head.length) this.#field(head)
  }

  /** The event is over the limit with this line: from here on only the ends of its data are kept. */
  #cut(head: Buffer, tail: Buffer, size: number): void {
    const isFirst = this.#over === undefined && this.#data.length === 0
    this.#over ??= new Ends()
    if (this.#data.length > 0) this.#over.add(joined(this.#data))
    this.#data = []
    this.#size = 0
    if (!isFirst) this.#over.add(NEW_LINE)
    this.#over.add(head, tail, size)
  }

  #field(line: Buffer): void {
    const { name, value } = fieldOf(line)
    if (name === 'data') {
      // Many lines with hardly anything in them cost more than their bytes.
      const cost = this.#data.length === 0 ? line.length : line.length + LINE_COST
      const data = line.subarray(value)
      if (this.#over === undefined && this.#size + cost <= this.#limit) {
        this.#size += cost
        this.#data.push(data)
      } else this.#cut(data, data, data.length)
    } else if (name === 'event') this.#event = line.toString('utf8', value)
    else if (name === 'id') {
      const id = line.toString('utf8', value)
      if (!id.includes('\0')) this.#id = id
    } else if (name === 'retry') {
      const text = line.toString('utf8', value)
      if (/^\d+$/.test(text)) this.retry = Number(text)
    }
  }

  #dispatch(): void {
    const data = this.#data
    const event = this.#event || 'message'
    const over = this.#over
    this.#data = []
    this.#event = ''
    this.#size = 0
    this.#over = undefined
    this.lastId = this.#id
    if (over) this.#events.oversized(over.size, over.head, over.tail)
    else if (data.length > 0) this.#events.event({ event, data: joined(data) })
  }
}

/** One event that carries a message. The message has no line end, or it would be two. */
export function eventStart(id?: string): Buffer {
  return id === undefined ? EVENT_START : Buffer.from(`id: ${id}\nevent: message\ndata: `)
}
export const EVENT_END: Buffer = Buffer.from('\n\n')
/** Keeps a quiet stream open; readers skip it. */
export const EVENT_COMMENT = ': still here\n\n'

// --- internal ---

const EVENT_START = Buffer.from('event: message\ndata: ')
const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
const SPACE = 0x20
const ENDS = 4096
const LINE_COST = 64
const NEW_LINE = Buffer.from('\n')

/** The first and the last bytes of something too large. */
class Ends {
  head: Buffer = Buffer.alloc(0)
  size = 0
  #tail: Buffer[] = []
  #kept = 0

  /** Adds what follows; of something large its own ends will do. */
  add(head: Buffer, tail: Buffer = head, size: number = head.length): void {
    if (size === 0) return
    // As long as nothing is missing in between.
    if (this.head.length === this.size && this.size < ENDS)
      this.head = Buffer.concat([this.head, head.subarray(0, ENDS - this.size)])
    this.size += size
    this.#tail.push(tail)
    this.#kept += tail.length
    // Now and then, not each time: a line may have a single byte.
    if (this.#kept > 16 * ENDS) this.#shorten()
  }

  get tail(): Buffer {
    this.#shorten()
    return this.#tail[0] ?? this.head
  }

  #shorten(): void {
    const tail = Buffer.from(Buffer.concat(this.#tail).subarray(-ENDS))
    this.#tail = [tail]
    this.#kept = tail.length
  }
}

function endOfLine(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) if (bytes[at] === LF || bytes[at] === CR) return at
  return -1
}

/** The name of the field in a line, and where its value begins. A comment has the empty name. */
function fieldOf(line: Buffer): { name: string; value: number } {
  const colon = line.subarray(0, 64).indexOf(COLON)
  if (colon < 0) return { name: line.length < 64 ? line.toString('utf8') : '', value: line.length }
  return { name: line.toString('utf8', 0, colon), value: line[colon + 1] === SPACE ? colon + 2 : colon + 1 }
}

function joined(data: readonly Buffer[]): Buffer {
  const [first] = data
  if (data.length === 1 && first) return first
  return Buffer.concat(data.flatMap((line, index) => (index === 0 ? [line] : [NEW_LINE, line])))
}
