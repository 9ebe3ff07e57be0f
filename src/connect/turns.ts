// A server on one shared stream does not say which call a question of its belongs to. So that it can be told all the same,
// a call that may ask back is made while nobody else's is under way. What was seen to ask nothing goes side by side.

import type { Stop } from '../base/stop.ts'
import type { Asker } from './asker.ts'
import { abortable } from './pause.ts'

/** Whom a call is made for; undefined for all who cannot be asked. */
type Party = Asker | undefined

interface Call {
  readonly party: Party
  readonly tool: string
  /** Whether it may ask back. */
  readonly alone: boolean
  asked: boolean
}

interface Waiting extends Call {
  readonly go: () => void
}

export class Turns {
  readonly #server: string
  /** Whether a tool asks, once that was seen; one that did may always do so again. */
  readonly #asks = new Map<string, boolean>()
  readonly #inside = new Set<Call>()
  #waiting: Waiting[] = []

  constructor(server: string) {
    this.#server = server
  }

  /** Resolves when it may be sent; the returned function says that it has ended. */
  async enter(tool: string, party: Party, signal: Stop): Promise<() => void> {
    const alone = this.#asks.get(tool) !== false
    let call: Call = { party, tool, alone, asked: false }
    if (this.#mayEnter(call) && (this.#waiting.length === 0 || this.#isOwn(party))) this.#inside.add(call)
    else call = await this.#turn(call, signal)
    return () => this.#leave(call)
  }

  /** A question came that is for this one. */
  asked(party: Party): void {
    for (const call of this.#inside) if (call.party === party) call.asked = true
  }

  // --- internal ---

  #mayEnter({ party, alone }: Call): boolean {
    for (const other of this.#inside) if (other.party !== party && (alone || other.alone)) return false
    return true
  }

  /** Whether everything under way is for the same one: then it may go on, although others wait. */
  #isOwn(party: Party): boolean {
    for (const call of this.#inside) if (call.party !== party) return false
    return this.#inside.size > 0
  }

  async #turn(call: Call, signal: Stop): Promise<Call> {
    let go: (() => void) | undefined
    const turn = new Promise<void>((resolve) => {
      go = resolve
    })
    const waiting: Waiting = { ...call, go: () => go?.() }
    this.#waiting.push(waiting)
    try {
      await abortable(turn, signal, this.#server)
      return waiting
    } catch (error) {
      this.#waiting = this.#waiting.filter((it) => it !== waiting)
      // It may have been its turn in the very same moment.
      this.#leave(waiting)
      throw error
    }
  }

  #leave(call: Call): void {
    // Whatever was under way for the same one when a question came may have asked it.
    if (this.#inside.delete(call) && (call.asked || this.#asks.get(call.tool) === undefined))
      this.#asks.set(call.tool, call.asked)
    for (let next = this.#waiting[0]; next !== undefined && this.#mayEnter(next); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#inside.add(next)
      next.go()
    }
  }
}
