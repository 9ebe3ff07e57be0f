// Asks a quiet server now and then whether it is well. One that answers anything is; one that does not loses its tools
// until it does.

import { Fault } from '../base/fault.ts'
import type { Link } from './link.ts'
import { rest } from './pause.ts'

export interface HealthEvents {
  unwell(link: Link, error: Fault): void
  well(link: Link): void
}

/** After so many unanswered questions it is stopped and started anew. */
const PATIENCE = 3

export class Health {
  readonly #every: number
  readonly #events: HealthEvents

  /** `every`: milliseconds between two questions; 0 asks none. */
  constructor(every: number, events: HealthEvents) {
    this.#every = every
    this.#events = events
  }

  watch(link: Link, signal: AbortSignal): void {
    if (this.#every > 0) void this.#run(link, signal)
  }

  async #run(link: Link, signal: AbortSignal): Promise<void> {
    let missed = 0
    for (;;) {
      await rest(this.#every, signal)
      if (signal.aborted) return
      // A server that talks need not be asked.
      const quiet = performance.now() - link.lastHeard
      if (quiet < this.#every) {
        missed = 0
        this.#events.well(link)
        continue
      }
      try {
        await link.ping(Math.max(this.#every, 1_000))
        missed = 0
        this.#events.well(link)
      } catch (error) {
        if (signal.aborted || !(error instanceof Fault)) return
        if (error.code === 'CONNECTION_LOST') return
        missed += 1
        const seconds = Math.round((performance.now() - link.lastHeard) / 1000)
        this.#events.unwell(link, unwell(error, seconds))
        // A call may keep a server busy for long; its own deadline decides about it.
        if (missed >= PATIENCE && link.inFlight === 0) return link.abandon()
      }
    }
  }
}

// --- internal ---

function unwell(error: Fault, seconds: number): Fault {
  if (error.code === 'AUTH_REQUIRED') return error
  return new Fault('SERVER_UNREACHABLE', `${error.server} has been silent for ${seconds} s`, {
    server: error.server,
    hint: `run: busbar restart ${error.server}`,
    cause: error,
  })
}
