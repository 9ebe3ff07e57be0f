// Wrong tokens by where they come from. A right one is never turned away, so nobody can lock somebody else out.

import type { TooMuch } from './limits.ts'

const WINDOW = 60_000
/** Addresses that are remembered; then the one that was seen first is forgotten. */
const MOST = 4_096

interface Tries {
  count: number
  readonly since: number
}

export class FailedSignIns {
  readonly #addresses = new Map<string, Tries>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Counts a wrong token; says when the next one may be tried once there were more than `most` in a minute. */
  add(address: string, most: number): TooMuch | undefined {
    const now = this.#now()
    let tries = this.#addresses.get(address)
    if (tries === undefined || now - tries.since >= WINDOW) {
      // Taken out first, so that the order stays that of time.
      this.#addresses.delete(address)
      const [oldest] = this.#addresses.size < MOST ? [] : this.#addresses.keys()
      if (oldest !== undefined) this.#addresses.delete(oldest)
      tries = { count: 0, since: now }
      this.#addresses.set(address, tries)
    }
    tries.count += 1
    if (tries.count <= most) return undefined
    return {
      reason: 'too many wrong tokens from this address',
      retryAfter: Math.max(1, Math.ceil((WINDOW - (now - tries.since)) / 1_000)),
    }
  }
}
