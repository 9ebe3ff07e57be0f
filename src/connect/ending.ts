// What was started and is on its way out. Nothing new starts before it is gone: never two at a time.

import type { Stop } from '../base/stop.ts'

export class Ending {
  #work: Promise<unknown>

  /** `after`: what must be gone first of all. */
  constructor(after: Promise<unknown>) {
    this.#work = after
  }

  add(work: Promise<unknown> | undefined): void {
    if (work) this.#work = Promise.all([this.#work, work.catch(() => undefined)])
  }

  /** Waits until nothing is left; what something ends on its own way out counts, too. */
  async gone(signal?: Stop): Promise<void> {
    let seen: Promise<unknown>
    do {
      seen = this.#work
      await seen
    } while (seen !== this.#work && !signal?.aborted)
  }
}
