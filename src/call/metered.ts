// What costs and is recorded as a call is, and is none of a tool: what a model takes, and what the agent's loop does itself.

import { Fault } from '../base/fault.ts'
import { agentOf } from '../policy/access.ts'
import type { Regulator, Reservation } from '../policy/energy.ts'
import type { CallContext } from './context.ts'
import { replyOf } from './native-call.ts'
import { type Asking, Passage, type Terms, unmetered } from './passage.ts'

export interface Work {
  /** The name it has in the record. */
  readonly name: string
  /** What the record keeps of what was asked. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** Energy to set aside; 0: it costs nothing, and is there for who has no energy left, too. */
  readonly estimate: number
}

/** Something that is under way. It ends once, well or not. */
export class MeteredWork {
  readonly #passage: Passage
  readonly #metering: KnownCost | undefined

  private constructor(passage: Passage, metering: KnownCost | undefined) {
    this.#passage = passage
    this.#metering = metering
  }

  /** Rejects with OUT_OF_ENERGY when there is too little for it, of which nothing is recorded. */
  static async begin(context: CallContext, asking: Asking, work: Work): Promise<MeteredWork> {
    const regulator = work.estimate > 0 ? context.recording()?.energy : undefined
    const metering =
      regulator && new KnownCost(regulator, await regulator.reserve(agentOf(asking.actor), work.estimate))
    const text = JSON.stringify(work.arguments)
    const terms = metering ?? unmetered(false)
    const passage = Passage.begin(context, asking, { server: '', tool: work.name }, text, terms)
    passage.proceed(await passage.written())
    passage.sent()
    return new MeteredWork(passage, metering)
  }

  /** Resolves when that survives this process. `said`: what the record keeps of what came of it. */
  async ended(energy: number, said: string, isError = false): Promise<void> {
    this.#costs(energy)
    const result = { content: [{ type: 'text', text: said }], ...(isError ? { isError } : {}) }
    this.#passage.answered(replyOf(result), isError, isError ? said : undefined)
    await this.#passage.written()
  }

  async failed(energy: number, error: unknown): Promise<void> {
    this.#costs(energy)
    this.#passage.failed(error instanceof Fault ? error : cancelledOr(error))
    await this.#passage.written()
  }

  // --- internal ---

  #costs(energy: number): void {
    if (this.#metering) this.#metering.cost = energy
  }
}

// --- internal ---

/** Costs what it is told, whatever time it took. */
class KnownCost implements Terms {
  readonly mayWrite = false
  cost = 0
  readonly #regulator: Regulator
  readonly #reservation: Reservation

  constructor(regulator: Regulator, reservation: Reservation) {
    this.#regulator = regulator
    this.#reservation = reservation
  }

  get reserved(): number {
    return this.#reservation.amount
  }

  ended(sent: boolean): number | undefined {
    const cost = this.#regulator.settle(this.#reservation, sent ? this.cost : 0)
    return sent ? cost : undefined
  }
}

function cancelledOr(error: unknown): unknown {
  const isAbort = error instanceof Error && error.name === 'AbortError'
  return isAbort ? new Fault('CALL_CANCELLED', 'it was stopped', { cause: error }) : error
}
