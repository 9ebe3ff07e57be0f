// Requests that were given up while their handlers may still be at work in the server: what it asks then may be meant for
// those who asked first, and must not be shown to whoever calls now.

import type { Asker } from './asker.ts'

/** Milliseconds for which a question may belong to a request that was given up. */
const LEFT = 60_000

interface Left {
  readonly asker: Asker | undefined
  /** On the monotonic clock. */
  readonly until: number
}

export class LeftRequests {
  readonly #left = new Map<number, Left>()

  add(id: number, asker: Asker | undefined): void {
    this.#left.set(id, { asker, until: performance.now() + LEFT })
  }

  /** The server answered it all the same. */
  answered(id: unknown): void {
    this.#left.delete(Number(id))
  }

  /** Whether somebody else than this one may be meant. */
  isOther(than: Asker | undefined): boolean {
    const now = performance.now()
    for (const [id, { asker, until }] of this.#left) {
      if (until < now) this.#left.delete(id)
      else if (asker !== than) return true
    }
    return false
  }
}
