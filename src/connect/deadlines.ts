// One timer for many deadlines. Calls come by the thousand and nearly all end long before theirs, so a timer for each
// would be made only to be thrown away.

/** A timer cannot wait longer; then it is set once more. */
const LONGEST = 2 ** 31 - 1

export class Deadlines {
  readonly #expire: (now: number) => number
  #timer: NodeJS.Timeout | undefined
  #at = Number.POSITIVE_INFINITY

  /** `expire` ends what is due at the given moment and returns the next deadline, or infinity. */
  constructor(expire: (now: number) => number) {
    this.#expire = expire
  }

  /** Something is due at this moment of the monotonic clock. */
  expect(due: number): void {
    if (due < this.#at) this.#set(due)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#at = Number.POSITIVE_INFINITY
  }

  // --- internal ---

  #set(due: number): void {
    clearTimeout(this.#timer)
    this.#at = due
    if (due === Number.POSITIVE_INFINITY) return
    // A timer may fire a moment early by this clock; then it is set once more.
    this.#timer = setTimeout(
      () => {
        this.#at = Number.POSITIVE_INFINITY
        this.#set(Math.min(this.#at, this.#expire(performance.now())))
      },
      Math.min(LONGEST, Math.max(1, Math.ceil(due - performance.now()))),
    )
  }
}
