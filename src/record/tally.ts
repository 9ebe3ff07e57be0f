// How many calls there were and how long they took, by server, since this process began: plain numbers that are counted up.

import type { Outcome } from '../store/invocation.ts'

/** Upper bounds in seconds of what is counted together. */
export const BUCKETS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
]

export interface ServerTally {
  readonly outcomes: Readonly<Record<Outcome, number>>
  /** How many fell between one bound and the one before it; the last place is for what took longer than any. */
  readonly buckets: readonly number[]
  /** In all, without what was denied: that took nobody's time but ours. */
  readonly count: number
  readonly seconds: number
}

export class Tally {
  readonly #servers = new Map<string, Counts>()
  /** Who asks for a server that nobody has may choose its name; all of those are counted as one. */
  readonly #others = new Counts()
  #known: ReadonlySet<string> = new Set()

  /** The names that may be counted by themselves; empty for native tools. */
  know(servers: Iterable<string>): void {
    this.#known = new Set(['', ...servers])
  }

  /** `duration`: in milliseconds. */
  add(server: string, outcome: Outcome, duration: number): void {
    const counts = this.#servers.get(server) ?? this.#first(server)
    counts.outcomes[outcome] += 1
    if (outcome === 'denied') return
    const seconds = duration / 1000
    let place = 0
    while (place < BUCKETS.length && seconds > (BUCKETS[place] ?? 0)) place += 1
    counts.buckets[place] = (counts.buckets[place] ?? 0) + 1
    counts.count += 1
    counts.seconds += seconds
  }

  /** By server; those that nobody has under `undefined`. */
  *all(): Generator<[string | undefined, ServerTally]> {
    yield* this.#servers
    if (Object.values(this.#others.outcomes).some((count) => count > 0)) yield [undefined, this.#others]
  }

  // --- internal ---

  #first(server: string): Counts {
    if (!this.#known.has(server)) return this.#others
    const counts = new Counts()
    this.#servers.set(server, counts)
    return counts
  }
}

// --- internal ---

class Counts implements ServerTally {
  readonly outcomes: Record<Outcome, number> = {
    ok: 0,
    error: 0,
    denied: 0,
    timeout: 0,
    cancelled: 0,
    unknown: 0,
  }
  readonly buckets: number[] = new Array<number>(BUCKETS.length + 1).fill(0)
  count = 0
  seconds = 0
}
