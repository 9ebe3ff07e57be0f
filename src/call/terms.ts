// The last of what stands before a call: that it is no loop, and that there is energy for it.

import { agentOf } from '../policy/access.ts'
import type { Reservation } from '../policy/energy.ts'
import type { Tariff } from '../policy/estimate.ts'
import type { LoopBreaker } from '../policy/loop-breaker.ts'
import type { Outcome } from '../store/invocation.ts'
import { type Leave, mayWrite, type Target } from './admit.ts'
import type { CallContext } from './context.ts'
import type { Asking, Terms } from './passage.ts'

/** Throws or rejects why it may not be sent. A promise only where the ledger must be asked. */
export function termsFor(
  context: CallContext,
  asking: Asking,
  target: Target,
  leave: Leave,
  tariff: Tariff | undefined,
  text: string,
): CallTerms | Promise<CallTerms> {
  const agent = agentOf(asking.actor)
  const loops = context.brakes()?.loops
  if (loops !== undefined && !loops.isCalm) refuseLoop(loops, agent, target, text)
  const reserved = tariff && context.recording()?.energy?.reserve(agent, tariff.energy)
  if (!(reserved instanceof Promise))
    return new CallTerms(context, asking, target, leave, tariff, reserved, text)
  return reserved.then((one) => new CallTerms(context, asking, target, leave, tariff, one, text))
}

/** Throws when this very call has failed again and again. */
export function refuseLoop(loops: LoopBreaker, agent: string, { server, tool }: Target, text: string): void {
  // The owner knows what they are doing.
  const fault = agent === '' ? undefined : loops.check({ agent, server, tool, text })
  if (fault) throw fault
}

export class CallTerms implements Terms {
  readonly mayWrite: boolean
  readonly #context: CallContext
  readonly #asking: Asking
  readonly #target: Target
  readonly #tariff: Tariff | undefined
  readonly #reserved: Reservation | undefined
  readonly #text: string

  constructor(
    context: CallContext,
    asking: Asking,
    target: Target,
    leave: Leave,
    tariff: Tariff | undefined,
    reserved: Reservation | undefined,
    text: string,
  ) {
    this.mayWrite = mayWrite(leave)
    this.#context = context
    this.#asking = asking
    this.#target = target
    this.#tariff = tariff
    this.#reserved = reserved
    this.#text = text
  }

  get reserved(): number | undefined {
    return this.#reserved?.amount
  }

  /** What it cost: its time and its price, whether it went well or not. */
  ended(sent: boolean, worked: number, outcome: Outcome, message: string | undefined): number | undefined {
    if (!sent) {
      this.giveBack()
      return undefined
    }
    const loops = this.#context.brakes()?.loops
    if (loops && !(outcome === 'ok' && loops.isCalm)) this.#note(outcome, message)
    if (this.#reserved === undefined || this.#tariff === undefined) return undefined
    const energy = this.#context.recording()?.energy
    return energy?.settle(this.#reserved, this.#tariff.spent(worked))
  }

  /** Gives back what was set aside: nothing was sent. */
  giveBack(): void {
    if (this.#reserved) this.#context.recording()?.energy?.settle(this.#reserved, 0)
  }

  // --- internal ---

  /** Only what a server or a tool did counts: nobody is in a loop by being refused. */
  #note(outcome: Outcome, message = ''): void {
    const agent = agentOf(this.#asking.actor)
    if (agent === '' || outcome === 'cancelled' || outcome === 'denied') return
    const scrub = this.#context.recording()?.scrub
    const said = scrub ? scrub(message) : message
    const { server, tool } = this.#target
    this.#context.brakes()?.loops.note({ agent, server, tool, text: this.#text }, outcome !== 'ok', said)
  }
}
