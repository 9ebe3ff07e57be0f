// Calls that wait for an answer. It may be given in this process, or in another one that shares the store.

import type { Stop } from '../base/stop.ts'
import type { ApprovalStatus } from '../store/policy.ts'

type Heard = ApprovalStatus | 'aborted'

/** Milliseconds between two looks at the store. */
const LOOK_EVERY = 500

export class Waiters {
  readonly #look: (id: string) => Promise<ApprovalStatus>
  readonly #waiting = new Map<string, Set<(heard: Heard) => void>>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** `look` tells how a question stands in the store. */
  constructor(look: (id: string) => Promise<ApprovalStatus>) {
    this.#look = look
  }

  /** Waits until a question is answered; `pending` when the time is over. */
  wait(id: string, limit: number, signal: Stop | undefined): Promise<Heard> {
    if (this.#closed) return Promise.resolve('pending')
    if (signal?.aborted) return Promise.resolve('aborted')
    return new Promise((resolve) => {
      const all = this.#waiting.get(id) ?? new Set()
      this.#waiting.set(id, all)
      const done = (heard: Heard) => {
        if (!all.delete(done)) return
        if (all.size === 0) this.#waiting.delete(id)
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        resolve(heard)
      }
      const onAbort = () => done('aborted')
      const timer = setTimeout(() => done('pending'), Math.min(limit, LONGEST))
      signal?.addEventListener('abort', onAbort, { once: true })
      all.add(done)
      this.#timer ??= setInterval(() => void this.#lookAround(), LOOK_EVERY).unref()
    })
  }

  /** Whether somebody waits for it. */
  has(id: string): boolean {
    return this.#waiting.has(id)
  }

  /** Says how a question stands now. */
  tell(id: string, status: ApprovalStatus): void {
    for (const done of [...(this.#waiting.get(id) ?? [])]) done(status)
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
    for (const id of [...this.#waiting.keys()]) this.tell(id, 'pending')
  }

  // --- internal ---

  async #lookAround(): Promise<void> {
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    for (const id of [...this.#waiting.keys()]) {
      // A store that cannot be read now can be read the next time.
      const status = await this.#look(id).catch(() => 'pending' as const)
      if (status !== 'pending') this.tell(id, status)
    }
  }
}

/** More than a timer can wait. */
const LONGEST = 2 ** 31 - 1
