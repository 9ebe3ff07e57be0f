// Brings pins to the store behind their judgement: what is said in one turn in one write, one write at a time.

import type { Pin, Pins } from '../store/policy.ts'

interface WriterOptions {
  /** Pins whose accepted definition is another one in the store: another process was first. */
  onOther(pins: readonly Pin[]): void
  onTrouble(message: string): void
}

export class PinWriter {
  readonly #store: Pins | undefined
  readonly #options: WriterOptions
  /** What the store does not know yet, by address. The newest state of each counts. */
  readonly #waiting = new Map<string, () => Pin>()
  #running: Promise<void> | undefined
  #failed = false

  /** Without a store nothing is kept. */
  constructor(store: Pins | undefined, options: WriterOptions) {
    this.#store = store
    this.#options = options
  }

  /** `pin` is asked when it is written. */
  add(address: string, pin: () => Pin): void {
    if (this.#store === undefined) return
    this.#waiting.set(address, pin)
    void this.#start()
  }

  /** Resolves when all that was added so far is written, or could not be. Never rejects. */
  async flush(): Promise<void> {
    await this.#running
    if (this.#waiting.size > 0) await this.#start()
  }

  // --- internal ---

  #start(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #run(): Promise<void> {
    // Whatever else is seen in this turn goes along.
    await undefined
    while (this.#waiting.size > 0) {
      const batch = new Map(this.#waiting)
      this.#waiting.clear()
      try {
        const others = await this.#store?.save([...batch.values()].map((pin) => pin()))
        this.#failed = false
        if (others && others.length > 0) this.#options.onOther(others)
      } catch (error) {
        // Tried again with the next change; what has changed since is newer.
        for (const [address, pin] of batch) if (!this.#waiting.has(address)) this.#waiting.set(address, pin)
        this.#complain(error)
        return
      }
    }
  }

  /** Once, until it works again. */
  #complain(error: unknown): void {
    if (this.#failed) return
    this.#failed = true
    const reason = error instanceof Error ? error.message : String(error)
    this.#options.onTrouble(`definitions of tools are remembered by this process only: ${reason}`)
  }
}
