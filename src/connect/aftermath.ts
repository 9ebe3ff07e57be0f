// Calls that are over for us, and perhaps not for the server: what it asks now on a stream that all share may be meant for
// who called before, and must not be shown to whoever calls next.

import type { Habits } from './habits.ts'
import { rest } from './pause.ts'

/**
 * Milliseconds for which a question may belong to a call that was answered: a job that was left running asks at once if it
 * asks at all, and everybody else's calls that may ask wait for so long.
 */
const ANSWERED = 2_000
/** The same for a call that was given up: its handler may not have got to its question yet. */
const GIVEN_UP = 10_000
/** Who waits for that must get its turn in time, so these are never more than so much of what a call may take. */
const PART = { answered: 1 / 10, 'given up': 1 / 6 }
/** Milliseconds for which a question outside of all calls says nothing about the server: one was given up. */
const EXCUSED = 60_000

type How = 'answered' | 'given up'

interface Over {
  readonly how: How
  /** Undefined for who cannot be asked. */
  readonly client: string | undefined
  readonly subject: string
  readonly idle: number
  /** Of a request that was given up. */
  readonly id?: number
  readonly timer: NodeJS.Timeout
  /** Nothing was asked since. */
  silent: boolean
}

/** A call that is over. */
export interface Ended {
  readonly subject: string
  /** Whose it was; undefined for who cannot be asked. */
  readonly client: string | undefined
  /** Milliseconds that it may take without a sign of life. */
  readonly idle?: number | undefined
}

export class Aftermath {
  readonly #habits: Habits
  readonly #changed: () => void
  readonly #over = new Set<Over>()
  /** On the monotonic clock. */
  #gaveUpAt = Number.NEGATIVE_INFINITY

  /** `changed` is called when fewer may be meant than before. */
  constructor(habits: Habits, changed: () => void) {
    this.#habits = habits
    this.#changed = changed
  }

  /** Somebody was perhaps answered when the server was last heard, on the monotonic clock, and nobody took note. */
  heard(at: number, idle: number): void {
    if (performance.now() - at < ANSWERED) this.#add('answered', { subject: '', client: undefined, idle })
  }

  answered(call: Ended): void {
    if (this.#habits.mayAskLater(call.subject)) this.#add('answered', call)
  }

  gaveUp(id: number, call: Ended): void {
    if (!this.#habits.mayAsk(call.subject)) return
    this.#gaveUpAt = performance.now()
    this.#add('given up', call, id)
  }

  /** The server answered what was given up. */
  answeredLate(id: unknown): void {
    for (const over of this.#over)
      if (over.id === Number(id)) {
        this.#remove(over)
        this.answered(over)
        this.#changed()
      }
  }

  /** How the call ended of somebody else than this client, who may be meant. */
  other(than: string | undefined): How | undefined {
    for (const { client, how } of this.#over) if (client !== than) return how
    return undefined
  }

  /** Whether somebody else gave a call up, whose handler may be still at it. */
  isLeftByOther(than: string | undefined): boolean {
    for (const { client, how } of this.#over) if (client !== than && how === 'given up') return true
    return false
  }

  /** Whether a question outside of all calls may belong to one that was given up. */
  get excuses(): boolean {
    return performance.now() - this.#gaveUpAt < EXCUSED
  }

  /** Resolves when no call that has been answered by now can be meant any more. */
  passed(): Promise<void> {
    return rest(ANSWERED)
  }

  /** A question came that may belong to any of them. */
  questioned(): void {
    for (const over of this.#over) over.silent = false
  }

  clear(): void {
    for (const over of this.#over) this.#remove(over)
    this.#changed()
  }

  // --- internal ---

  #add(how: How, { subject, client, idle = Number.POSITIVE_INFINITY }: Ended, id?: number): void {
    const time = Math.min(how === 'answered' ? ANSWERED : GIVEN_UP, idle * PART[how])
    const timer = setTimeout(() => {
      this.#over.delete(over)
      if (over.silent && how === 'answered') this.#wasSilent(subject)
      this.#changed()
    }, time)
    const over: Over = { how, client, subject, idle, timer: timer.unref(), silent: true, ...(id && { id }) }
    this.#over.add(over)
  }

  #wasSilent(subject: string): void {
    this.#habits.wasSilent(subject)
    for (const over of this.#over) if (over.how === 'answered' && over.subject === subject) this.#remove(over)
  }

  #remove(over: Over): void {
    clearTimeout(over.timer)
    this.#over.delete(over)
  }
}
