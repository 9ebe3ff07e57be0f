// Asks a quiet server now and then whether it is well. One that says anything in the words of the protocol is; one that
// does not loses its tools until it does.

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
  readonly #patience: number
  readonly #events: HealthEvents

  /**
   * `every`: milliseconds between two questions; 0 asks none. `patience`: those for which calls may wait in vain while
   * others are under way.
   */
  constructor(every: number, patience: number, events: HealthEvents) {
    this.#every = every
    this.#patience = patience
    this.#events = events
  }

  watch(link: Link, signal: AbortSignal): void {
    if (this.#every > 0) void this.#run(link, signal)
  }

  async #run(link: Link, signal: AbortSignal): Promise<void> {
    let missed = 0
    for (;;) {
      await rest(this.#every, signal)
      if (signal.aborted || link.closed) return
      const asked = performance.now()
      // A server that talks need not be asked.
      const error = asked - link.lastHeard < this.#every ? undefined : await this.#ask(link).catch(asFault)
      if (signal.aborted || link.closed) return
      if (error?.code === 'AUTH_REQUIRED') {
        // It is there, and no longer ours to use.
        link.abandon(error)
      } else if (error === undefined || isAnswer(error) || link.lastHeard > asked) {
        missed = 0
        this.#events.well(link)
      } else if (!link.isBusy(this.#patience)) {
        // With a call under way it may just be busy; the call's own deadline decides about it, but not one after the other.
        missed += 1
        this.#events.unwell(link, silent(error, link))
        if (missed >= PATIENCE) return link.abandon()
      }
    }
  }

  async #ask(link: Link): Promise<undefined> {
    await link.ping(Math.max(this.#every, 1_000))
  }
}

// --- internal ---

function asFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('SERVER_UNREACHABLE', String(error))
}

/** Over http an error of the protocol shows that the server is there, and so does its wish to be left alone for now. */
function isAnswer({ code }: Fault): boolean {
  return code === 'SERVER_ERROR' || code === 'SERVER_BUSY'
}

/** A status says only that somebody stands where the server was; what it says is what people need. */
function silent(error: Fault, { lastHeard }: Link): Fault {
  const seconds = Math.round((performance.now() - lastHeard) / 1000)
  const hasStatus = typeof error.details?.['status'] === 'number'
  const message = hasStatus ? error.message : `${error.server} has been silent for ${seconds} s`
  return new Fault('SERVER_UNREACHABLE', message, {
    server: error.server,
    hint: `run: busbar restart ${error.server}`,
    cause: error,
  })
}
