// One account as this process sees it: what it may spend without asking, and what the ledger said last. Everything is in
// whole millionths. At all times: lease in the ledger = free + reserved + spent and not yet charged.

import { type EnergyBudget, millionths, recoveryRate } from '../store/energy-level.ts'
import type { LeaseView } from '../store/policy.ts'
import { type EnergyState, energyState } from './energy-state.ts'

/** Somebody who waits for a lease. */
export interface Waiting {
  readonly agent: string
  readonly needed: number
  grant(): void
  refuse(error: unknown): void
}

export class Account {
  readonly agent: string
  budget: EnergyBudget
  capacity: number
  /** Millionths in a microsecond. */
  rate: number
  /** Of the lease, what is neither reserved nor spent. Below zero after a call that took more than was thought. */
  free = 0
  /** Set aside for calls that are under way. */
  reserved = 0
  /** What other processes had leased when it was last looked at. */
  others = 0
  /** What a refused call needed. */
  short = 0
  state: EnergyState = 'plenty'
  /** When a call last ended or began, by the monotonic clock. */
  usedAt = 0
  waiting: Waiting[] = []
  /** How much work with the ledger is under way or to come; calls that come meanwhile keep their order behind it. */
  busy = 0
  work: Promise<unknown> = Promise.resolve()
  #level: number
  #at: number

  constructor(agent: string, budget: EnergyBudget, now: number) {
    this.agent = agent
    this.budget = budget
    this.capacity = millionths(budget.capacity)
    this.rate = recoveryRate(budget.recovery)
    this.#level = this.capacity
    this.#at = now
  }

  /** What is not spent, as far as this process knows. */
  level(now: number): number {
    return Math.min(this.capacity, this.#level + Math.max(0, now - this.#at) * this.rate)
  }

  /** Takes in that a call has ended for which so much was set aside. Tells what is left. */
  settle(reserved: number, spent: number, now: number): number {
    const grown = this.#level + (now > this.#at ? (now - this.#at) * this.rate : 0)
    this.#level = Math.min(this.capacity, grown) - spent
    this.#at = now
    this.usedAt = now
    this.reserved -= reserved
    this.free += reserved - spent
    return this.#level
  }

  follow(budget: EnergyBudget, now: number): void {
    this.#level = this.level(now)
    this.#at = now
    this.budget = budget
    this.capacity = millionths(budget.capacity)
    this.rate = recoveryRate(budget.recovery)
  }

  /** Takes in what the ledger says. */
  see({ account, own }: LeaseView, now: number): void {
    const lease = signedMillionths(own)
    const unwritten = lease - this.reserved - this.free
    // Less is leased than was thought: the account was closed and opened again, or rows were charged that were not ours
    // to spend. What is not covered must be leased anew.
    if (unwritten < 0) this.free += unwritten
    this.#level = signedMillionths(account.level) - Math.max(0, unwritten)
    this.#at = now
    this.others = millionths(account.leased) - Math.max(0, lease)
  }

  /** The state that should be told now. */
  judge(now: number): EnergyState {
    const level = this.level(now)
    if (level >= this.short) this.short = 0
    return energyState(level, this.capacity, this.short)
  }

  /** Microseconds until so much can be leased, as far as this process knows. */
  until(needed: number, now: number): number {
    return this.wait(needed - (this.level(now) - this.reserved - this.others))
  }

  /** Microseconds until so much has come back. */
  wait(missing: number): number {
    if (missing <= 0) return 0
    return this.rate === 0 ? Number.POSITIVE_INFINITY : missing / this.rate
  }
}

/** How much to lease, for those of `needs` that can be met and some calls to come; `room` is what there is. */
export function leaseFor(needs: readonly number[], free: number, room: number, capacity: number): number {
  let total = 0
  for (const need of needs) if (total + need <= free + room) total += need
  const missing = total - free
  if (total === 0 || missing <= 0) return 0
  const block = Math.floor(capacity / BLOCKS)
  // When little is left nobody takes more than a call needs, so that other processes can call, too.
  return room < SPARING * block ? missing : Math.max(missing, block)
}

export function signedMillionths(energy: number): number {
  return energy < 0 ? -millionths(-energy) : millionths(energy)
}

// --- internal ---

const BLOCKS = 20
const SPARING = 4
