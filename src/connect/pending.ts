// One request on its way: what was asked, by when, and whom the answer goes to.

import type { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
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

/** One request that waits for its answer. It ends exactly once. */
export class Pending {
  readonly ask: Ask
  readonly #resolve: (message: ReplyMessage) => void
  readonly #reject: (fault: Fault) => void
  readonly #since = performance.now()
  #abort: (() => void) | undefined

  /** When it is given up, on the monotonic clock. */
  due: number

  constructor(ask: Ask, resolve: (message: ReplyMessage) => void, reject: (fault: Fault) => void) {
    this.ask = ask
    this.#resolve = resolve
    this.#reject = reject
    this.due = this.#dueFrom(this.#since)
  }

  onAbort(stop: () => void): void {
    this.#abort = stop
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
    this.due = this.#dueFrom(now)
  }

  /** Which of its two limits it has reached, in milliseconds. */
  reached(now: number): number {
    const { idle = 0, total } = this.ask
    return total !== undefined && now - this.#since >= total ? total : idle
  }

  settle(message: ReplyMessage): void {
    if (this.#abort) this.ask.signal?.removeEventListener('abort', this.#abort)
    this.#resolve(message)
  }

  fail(fault: Fault): void {
    if (this.#abort) this.ask.signal?.removeEventListener('abort', this.#abort)
    this.#reject(fault)
  }

  #dueFrom(now: number): number {
    const { idle, total } = this.ask
    return Math.min(
      idle ? now + idle : Number.POSITIVE_INFINITY,
      total ? this.#since + total : Number.POSITIVE_INFINITY,
    )
  }
}
