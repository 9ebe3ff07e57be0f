// What one call costs: set aside before it is sent, settled when it has ended.

import type { Tool } from '../connect/definitions.ts'
import { agentOf } from '../policy/access.ts'
import type { Regulator, Reservation } from '../policy/energy.ts'
import { priceOf, timeCost } from '../policy/estimate.ts'
import type { Target } from './admit.ts'
import type { CallContext } from './context.ts'
import type { Asking } from './passage.ts'

/** What is set aside for something, until it is known what it took. */
export interface Metering {
  /** What it costs if nobody ever learns more. */
  readonly reserved: number
  /** Says that it has ended, and after how long; tells what it cost. */
  settle(milliseconds: number): number
  /** Gives all of it back: nothing was sent. */
  giveBack(): void
}

export class Meter implements Metering {
  readonly #regulator: Regulator
  readonly #reservation: Reservation
  readonly #target: Target
  readonly #price: number

  constructor(regulator: Regulator, reservation: Reservation, target: Target, price: number) {
    this.#regulator = regulator
    this.#reservation = reservation
    this.#target = target
    this.#price = price
  }

  get reserved(): number {
    return this.#reservation.amount
  }

  /** What it cost: its time and its price, whether it went well or not. */
  settle(milliseconds: number): number {
    const time = timeCost(milliseconds)
    this.#regulator.estimates.add(this.#target.server, this.#target.tool, time)
    return this.#regulator.settle(this.#reservation, time + this.#price)
  }

  giveBack(): void {
    this.#regulator.settle(this.#reservation, 0)
  }
}

/**
 * Sets aside what a call may take. Throws or rejects when the agent has not enough; undefined where nothing is metered. A
 * promise only where the ledger must be asked.
 */
export function reserve(
  context: CallContext,
  asking: Asking,
  target: Target,
  definition: Tool | undefined,
): Meter | Promise<Meter> | undefined {
  const regulator = context.recording()?.energy
  if (regulator === undefined) return undefined
  const price = priceFor(context, target)
  const estimate = regulator.estimates.of(target.server, target.tool, definition, price)
  const reserved = regulator.reserve(agentOf(asking.actor), estimate.energy)
  return reserved instanceof Promise
    ? reserved.then((reservation) => new Meter(regulator, reservation, target, price))
    : new Meter(regulator, reserved, target, price)
}

/** What a call will probably cost; undefined where nothing is metered. */
export function estimateFor(
  context: CallContext,
  target: Target,
  definition: Tool | undefined,
): number | undefined {
  const { server, tool } = target
  const estimate = context
    .recording()
    ?.energy?.estimates.of(server, tool, definition, priceFor(context, target))
  return estimate && Math.round(estimate.energy * 100) / 100
}

// --- internal ---

function priceFor(context: CallContext, { server, tool }: Target): number {
  return server === '' ? 0 : priceOf(context.active().servers.get(server)?.definition?.price, tool)
}
