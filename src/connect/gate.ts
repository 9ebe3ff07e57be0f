// How much is under way with one server at a time, so that a slow one holds up nobody but itself.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import { pause } from './pause.ts'

/** Milliseconds that calls under way are given to finish. */
export const DRAIN = 5_000

interface Waiting {
  readonly enter: () => void
  readonly leave: (fault: Fault) => void
}

export class Gate {
  readonly #limit: number
  readonly #queue: number
  readonly #server: string
  #inside = 0
  readonly #waiting: Waiting[] = []
  /** Calls of the same server that go another way. */
  alsoInside: () => number = () => 0

  constructor(server: string, limits: { readonly inFlight: number; readonly queue: number }) {
    this.#server = server
    this.#limit = limits.inFlight
    this.#queue = limits.queue
  }

  get inside(): number {
    return this.#inside + this.alsoInside()
  }

  /** Takes a place if one is free; nobody is overtaken. */
  tryEnter(): boolean {
    if (this.#inside >= this.#limit || this.#waiting.length > 0) return false
    this.#inside += 1
    return true
  }

  /** Waits for a place, in turn. Refused at once when too many wait already. */
  enter(signal?: Stop): Promise<void> {
    if (signal?.aborted) return Promise.reject(stopped())
    if (this.tryEnter()) return Promise.resolve()
    if (this.#waiting.length >= this.#queue)
      return Promise.reject(
        new Fault(
          'SERVER_BUSY',
          `${this.#server} has ${this.#inside} calls under way and ${this.#queue} waiting`,
          {
            hint: 'try again in a moment',
            server: this.#server,
          },
        ),
      )
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(stopped())
      }
      const done = () => signal?.removeEventListener('abort', stop)
      const waiting: Waiting = {
        enter: () => {
          done()
          resolve()
        },
        leave: (fault) => {
          done()
          reject(fault)
        },
      }
      signal?.addEventListener('abort', stop, { once: true })
      this.#waiting.push(waiting)
    })
  }

  leave(): void {
    if (this.#waiting.length === 0) this.#inside -= 1
    else this.#waiting.shift()?.enter()
  }

  /** Waits until nobody is inside, for so many milliseconds at most. */
  async drained(limit: number): Promise<void> {
    const deadline = performance.now() + limit
    while (this.inside > 0 && performance.now() < deadline) await pause(20)
  }

  /** Sends everybody home who still waits. */
  clear(fault: Fault): void {
    for (const waiting of this.#waiting.splice(0)) waiting.leave(fault)
  }
}

// --- internal ---

function stopped(): Fault {
  return new Fault('CALL_CANCELLED', 'the call was cancelled while it waited its turn')
}
