// The events of one stream of a session. A client that lost the stream goes on where it was: events are numbered, and kept
// for a while.

/** Where events go. */
export interface Sink {
  readonly closed: boolean
  event(pieces: readonly Buffer[], id: string): void
  /** Nothing but an id, so that the reader has one to go on from. */
  mark(id: string): void
  end(): void
  onClose(listener: () => void): void
}

/** Bytes and events that are kept of one stream. */
const MOST_BYTES = 1024 * 1024
const MOST_EVENTS = 1000
/** While nobody reads, the last one may be larger than all that is kept otherwise: it is most likely the answer. */
const LARGEST = 16 * 1024 * 1024

interface Kept {
  readonly sequence: number
  readonly pieces: readonly Buffer[]
  readonly size: number
}

export class EventLog {
  readonly number: number
  readonly #epoch: string
  #kept: Kept[] = []
  #bytes = 0
  #next = 1
  /** The last one that went to somebody. */
  #told = 0
  #sink: Sink | undefined
  #ended = false

  /** `epoch`: another one for each life of a session, whose numbers begin anew. */
  constructor(number: number, epoch: string) {
    this.number = number
    this.#epoch = epoch
  }

  /** Whether somebody reads it. */
  get read(): boolean {
    return this.#sink !== undefined && !this.#sink.closed
  }

  get ended(): boolean {
    return this.#ended
  }

  get bytes(): number {
    return this.#bytes
  }

  write(pieces: readonly Buffer[]): void {
    const size = pieces.reduce((sum, { length }) => sum + length, 0)
    const sequence = this.#next++
    const { read } = this
    if (read) this.#tell(pieces, sequence)
    // Copied: the bytes of a message are a part of all that was read with it.
    if (size > (read ? MOST_BYTES : LARGEST)) return
    this.#kept.push({ sequence, pieces: [Buffer.concat(pieces)], size })
    this.#bytes += size
    while (this.#kept.length > 1 && (this.#bytes > MOST_BYTES || this.#kept.length > MOST_EVENTS))
      this.#drop()
  }

  /** Nothing follows. */
  end(): void {
    this.#ended = true
    this.#sink?.end()
  }

  /** Somebody reads from now on; who read before does no longer. With a number, from what follows it. */
  attach(sink: Sink, after: number | undefined, marked: boolean): void {
    this.#sink?.end()
    this.#sink = sink
    if (marked && this.#next === 1) sink.mark(this.#id(0))
    // To a reader without a number, what nobody could read yet is new.
    const from = after ?? this.#told
    for (const { sequence, pieces } of this.#kept) if (sequence > from) this.#tell(pieces, sequence)
    if (this.#ended) sink.end()
  }

  // --- internal ---

  #id(sequence: number): string {
    return `${this.#epoch}-${this.number}-${sequence}`
  }

  #tell(pieces: readonly Buffer[], sequence: number): void {
    this.#sink?.event(pieces, this.#id(sequence))
    this.#told = Math.max(this.#told, sequence)
  }

  #drop(): void {
    this.#bytes -= this.#kept.shift()?.size ?? 0
  }
}

/** Where in which stream. */
export interface Place {
  readonly epoch: string
  readonly stream: number
  readonly sequence: number
}

/** That of a `Last-Event-ID`; undefined when it is none of ours. */
export function placeOf(id: string | undefined): Place | undefined {
  const [, epoch, stream, sequence] = /^([0-9a-f]{8})-(\d{1,9})-(\d{1,9})$/.exec(id ?? '') ?? []
  return epoch === undefined ? undefined : { epoch, stream: Number(stream), sequence: Number(sequence) }
}
