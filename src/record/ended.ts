// Calls that have ended, told to whoever listens. Nothing is made for nobody.

import { tellAll } from '../base/event-stream.ts'
import type { Outcome } from '../store/invocation.ts'
import type { OpenCall } from './line.ts'

/** Which call, whose, and how it ended. */
export interface EndedCall {
  readonly id: string
  /** Empty for the owner. */
  readonly agent: string
  /** Empty for a native tool. */
  readonly server: string
  /** `#method` for requests other than calls. */
  readonly tool: string
  readonly outcome: Outcome
  readonly milliseconds: number
  /** What it took; undefined where nothing was metered, or nothing was done. */
  readonly energy?: number | undefined
  readonly conversation?: string | undefined
}

export class EndedCalls {
  readonly #listeners = new Set<(call: EndedCall) => void>()

  add(listener: (call: EndedCall) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(calls: readonly OpenCall[]): void {
    if (this.#listeners.size === 0) return
    for (const { start, end } of calls) {
      const { id, names, conversation } = start
      const { agent, server, tool } = names
      const { outcome, duration: milliseconds, energy } = end
      tellAll(this.#listeners, { id, agent, server, tool, outcome, milliseconds, energy, conversation })
    }
  }
}
