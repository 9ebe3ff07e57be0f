// Times at which something is to be done, one for each name.

export class Alarms {
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #ring: (name: string) => void

  constructor(ring: (name: string) => void) {
    this.#ring = ring
  }

  /** Epoch milliseconds; undefined takes it away. */
  set(name: string, until: number | undefined): void {
    clearTimeout(this.#timers.get(name))
    this.#timers.delete(name)
    if (until === undefined) return
    const wait = Math.min(Math.max(0, until - Date.now()), LONGEST)
    const timer = setTimeout(() => {
      if (until > Date.now()) return this.set(name, until)
      this.#timers.delete(name)
      this.#ring(name)
    }, wait)
    this.#timers.set(name, timer.unref())
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }
}

// --- internal ---

/** More than a timer can wait. */
const LONGEST = 2 ** 31 - 1
