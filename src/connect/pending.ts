// One request on its way: what was asked, by when, and whom the answer goes to.

import type { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Stopwatch } from '../base/stopwatch.ts'
import type { NotificationMessage, ReplyMessage } from '../wire/message.ts'
import type { Asker } from './asker.ts'

export interface Ask {
  readonly method: string
  /** Their text. */
  readonly params?: string | undefined
  /** For the headers of modern requests. */
  readonly name?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: Stop | undefined
  /** Milliseconds without a sign of life until it is given up; a progress notification is one. */
  readonly idle?: number | undefined
  /** Milliseconds after which it is given up whatever happens. */
  readonly total?: number | undefined
  /** Given up without telling the server: it may not even know the method. */
  readonly quiet?: boolean | undefined
  /** What belongs to this request and comes before its answer, in order. Must not throw. */
  readonly onNotification?: ((message: NotificationMessage) => void) | undefined
  /** Whom the server may ask back, where that is not this process itself. */
  readonly asker?: Asker | undefined
}

/** A request that is made again and again: its text up to the value that differs each time, and from there to its id. */
export interface Form {
  readonly before: string
  readonly after: string
}

/** Whom the answer to a request goes to. It is told one of these, once; neither may throw. */
export interface Receiver {
  answered(reply: ReplyMessage, at: number): void
  failed(fault: Fault): void
  /** What the server's work on it is timed by. Held while the server waits for an answer of ours. */
  readonly clock?: Stopwatch | undefined
}

/** One request that waits for its answer. It ends exactly once. */
export class Pending {
  declare readonly ask: Ask
  declare private readonly receiver: Receiver
  /** When it was made, on the monotonic clock. */
  declare readonly since: number
  declare private abort: (() => void) | undefined

  /** When it is given up, on the monotonic clock. */
  declare due: number

  constructor(ask: Ask, receiver: Receiver, now: number) {
    this.ask = ask
    this.receiver = receiver
    this.since = now
    this.abort = undefined
    this.due = now + Math.min(ask.idle || FOREVER, ask.total || FOREVER)
  }

  get clock(): Stopwatch | undefined {
    return this.receiver.clock
  }

  onAbort(stop: () => void): void {
    this.abort = stop
    this.ask.signal?.addEventListener('abort', stop, { once: true })
  }

  /** A notification that belongs to it: it is alive. */
  alive(message: NotificationMessage): void {
    this.postpone(performance.now())
    try {
      this.ask.onNotification?.(message)
    } catch (error) {
      // Its author hears of it; the call goes on.
      queueMicrotask(() => process.emitWarning(error instanceof Error ? error : String(error)))
    }
  }

  postpone(now: number): void {
    const { idle, total } = this.ask
    this.due = Math.min(now + (idle || FOREVER), this.since + (total || FOREVER))
  }

  /** Which of its two limits it has reached, in milliseconds. */
  reached(now: number): number {
    const { idle = 0, total } = this.ask
    return total !== undefined && now - this.since >= total ? total : idle
  }

  settle(message: ReplyMessage, at: number): void {
    if (this.abort) this.ask.signal?.removeEventListener('abort', this.abort)
    this.receiver.answered(message, at)
  }

  fail(fault: Fault): void {
    if (this.abort) this.ask.signal?.removeEventListener('abort', this.abort)
    this.receiver.failed(fault)
  }
}

// --- internal ---

const FOREVER = Number.POSITIVE_INFINITY
