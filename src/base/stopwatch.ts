// How long something is worked on: from when it began, less the time in which somebody else is waited for.

export class Stopwatch {
  readonly #now: () => number
  /** Undefined until it runs. */
  #since: number | undefined
  /** How many hold it at the moment; while there is one, it stands still. */
  #holds: number
  #heldSince: number
  /** Milliseconds for which it stood still. */
  #held: number

  /** `now`: milliseconds of a clock that nobody sets. */
  constructor(now: () => number = monotonic) {
    this.#now = now
    this.#since = undefined
    this.#holds = 0
    this.#heldSince = 0
    this.#held = 0
  }

  /** Runs from now on, or since a moment that is past. The first time counts. */
  start(since: number = this.#now()): void {
    this.#since ??= since
  }

  /** Stands still until what is returned is called. However many hold it at once, time passes once. */
  hold(): () => void {
    if (this.#holds === 0) this.#heldSince = this.#now()
    this.#holds += 1
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#holds -= 1
      if (this.#holds === 0) this.#held += this.#now() - this.#heldSince
    }
  }

  /** The milliseconds for which it ran. */
  get elapsed(): number {
    if (this.#since === undefined) return 0
    const now = this.#now()
    const held = this.#holds === 0 ? this.#held : this.#held + now - this.#heldSince
    return Math.max(0, now - this.#since - held)
  }
}

/** The same promise, with the stopwatch standing still until it is settled. */
export function offTheClock<T>(clock: Stopwatch | undefined, waiting: Promise<T>): Promise<T> {
  return clock === undefined ? waiting : waiting.finally(clock.hold())
}

// --- internal ---

const monotonic = () => performance.now()
