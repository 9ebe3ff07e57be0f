// When questions and their answers are over, also where somebody sets the clock: by the clock of the day, which all processes
// share, or by one of this process that nobody sets, whichever comes first.

import type { Approval } from '../store/policy.ts'

type Timed = Pick<Approval, 'id' | 'createdAt' | 'expiresAt'>

/** Questions of which the end is kept in mind; those looked at longest ago are forgotten first. */
const MOST = 20_000

export class Deadlines {
  readonly #now: () => number
  readonly #monotonic: () => number
  readonly #ends = new Map<string, number>()

  /** `now`: epoch milliseconds; `monotonic`: milliseconds of a clock that nobody sets. */
  constructor(now: () => number, monotonic: () => number = () => performance.now()) {
    this.#now = now
    this.#monotonic = monotonic
  }

  /** The milliseconds that are left of it; none or less when it is over. */
  left({ id, createdAt, expiresAt }: Timed): number {
    const byClock = expiresAt - this.#now()
    const now = this.#monotonic()
    let end = this.#ends.get(id)
    if (end === undefined) {
      // Never more than it was given, however far the clock went back before it was first seen here.
      end = now + Math.min(byClock, expiresAt - createdAt)
      this.#ends.set(id, end)
      const [oldest] = this.#ends.keys()
      if (this.#ends.size > MOST && oldest !== undefined) this.#ends.delete(oldest)
    }
    return Math.min(byClock, end - now)
  }

  isOver(approval: Timed): boolean {
    return this.left(approval) <= 0
  }
}
