// The regulator: lets an agent call as long as it has the energy. What a call may take is set aside before it is sent, and
// what it took is settled after. A process leases some energy at a time from the ledger in the store, so that most calls
// wait for nothing and two processes never spend the same; what is spent reaches the ledger with the call's row.

import { type Clock, systemClock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { accountOf, type EnergyBudget, energyOf, millionths } from '../store/energy-level.ts'
import type { Energy } from '../store/policy.ts'
import { Account, leaseFor, signedMillionths, type Waiting } from './energy-account.ts'
import { type EnergyState, energyState, outOfEnergy } from './energy-state.ts'
import { Estimates } from './estimate.ts'

export interface RegulatorOptions {
  readonly store: { readonly energy: Energy }
  /** Whose leases they are: `Recorder.owner`, whose rows are charged to them. */
  readonly owner: string
  readonly clock?: Clock | undefined
  /** Brings what was settled to the ledger, before a level is changed by hand. Must not reject. */
  flush?(): Promise<void>
  /** Told when an agent's state changes. Must not throw. */
  onChange?(change: EnergyChange): void
  /** Told what a person should know. Must not throw. */
  onTrouble?(message: string): void
}

export interface EnergyChange {
  readonly agent: string
  readonly from: EnergyState
  readonly to: EnergyState
  readonly level: number
}

export interface EnergyStatus extends EnergyBudget {
  readonly level: number
  readonly state: EnergyState
  /** Set aside by this process for calls that are under way. */
  readonly reserved: number
}

/** Energy that is set aside for one call. To be settled once. */
export class Reservation {
  /** Goes into the begin of the call's record: what it costs if nobody ever learns more. */
  declare readonly amount: number
  /** @internal */
  declare readonly account: Account | undefined
  /** @internal The same amount in millionths. */
  declare readonly count: number
  /** @internal What it was settled with. */
  declare cost: number | undefined

  constructor(account: Account | undefined, count: number) {
    this.account = account
    this.count = count
    this.amount = energyOf(count)
    this.cost = undefined
  }
}

export class Regulator {
  /** What calls of tools will take. */
  readonly estimates: Estimates
  readonly #options: RegulatorOptions
  readonly #energy: Energy
  readonly #clock: Clock
  #accounts: ReadonlyMap<string, Account> = new Map()
  #configuring: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #closed: Promise<void> | undefined

  static open(options: RegulatorOptions): Regulator {
    return new Regulator(options)
  }

  /** Use `Regulator.open`. */
  private constructor(options: RegulatorOptions) {
    this.#options = options
    this.#energy = options.store.energy
    this.#clock = options.clock ?? systemClock()
    this.estimates = new Estimates(this.#energy)
  }

  /** Follows a configuration, for calls from now on; resolves when the ledger does, too. Agents not named are unlimited. */
  async configure(budgets: ReadonlyMap<string, EnergyBudget | 'unlimited'>): Promise<void> {
    const now = this.#clock.monotonic()
    const accounts = new Map<string, Account>()
    const lowered: Account[] = []
    for (const [agent, budget] of budgets) {
      if (budget === 'unlimited') continue
      const known = this.#accounts.get(agent)
      if (known && budget.capacity < known.budget.capacity) lowered.push(known)
      known?.follow(budget, now)
      accounts.set(agent, known ?? new Account(agent, budget, now))
    }
    const dropped = [...this.#accounts.values()].filter(({ agent }) => !accounts.has(agent))
    this.#accounts = accounts
    const wanted = [...budgets].map(
      ([agent, budget]) => [agent, budget === 'unlimited' ? undefined : budget] as const,
    )
    const configured = this.#configuring.then(async () => {
      await this.#options.flush?.()
      await this.#energy.configure(new Map(wanted))
    })
    this.#configuring = configured.catch(() => undefined)
    // What was leased when it could hold more is not its own any longer.
    const returned = lowered.map((account) => this.#giveBack(account))
    await configured
    await Promise.all(returned)
    for (const account of dropped) await this.#giveBack(account)
    await this.refresh()
  }

  /**
   * Sets energy aside for a call of an agent or worker, or refuses with OUT_OF_ENERGY. A promise only where the ledger must
   * be asked. A call that needs more than an agent can hold may go when the agent is full, and leaves it in debt.
   */
  reserve(agent: string, estimate: number): Reservation | Promise<Reservation> {
    const account = this.#accounts.get(accountOf(agent))
    const needed = millionths(estimate)
    if (account === undefined) return new Reservation(undefined, needed)
    return this.reserveNow(agent, estimate) ?? this.#queue(account, agent, Math.min(needed, account.capacity))
  }

  /** The same where the ledger need not be asked. Undefined where it must be: nothing was done. */
  reserveNow(agent: string, estimate: number): Reservation | undefined {
    // Nearly every agent is no worker, and has its own.
    const account = this.#accounts.get(agent) ?? this.#accounts.get(accountOf(agent))
    if (account === undefined) return new Reservation(undefined, millionths(estimate))
    const needed = Math.min(millionths(estimate), account.capacity)
    if (account.free < needed || account.busy > 0) return undefined
    account.free -= needed
    account.reserved += needed
    account.short = 0
    return new Reservation(account, needed)
  }

  /** Says what a call took in the end. Tells the cost as it must stand in the call's row. */
  settle(reservation: Reservation, cost: number): number {
    if (reservation.cost !== undefined) return reservation.cost
    const spent = millionths(cost)
    const { account } = reservation
    reservation.cost = energyOf(spent)
    if (account === undefined) return reservation.cost
    const now = this.#clock.monotonic()
    const level = account.settle(reservation.count, spent, now)
    // Nearly always there is plenty, before and after.
    if (account.state !== 'plenty' || account.short > 0 || 2 * level <= account.capacity)
      this.#tell(account, now)
    if (this.#timer === undefined) this.#watch()
    return reservation.cost
  }

  /** How an agent is, as far as this process knows; undefined when it is unlimited. See `refresh`. */
  state(agent: string): EnergyStatus | undefined {
    const account = this.#accounts.get(accountOf(agent))
    if (account === undefined) return undefined
    const { budget, reserved, capacity } = account
    const level = Math.floor(account.level(this.#clock.monotonic()))
    return {
      ...budget,
      level: energyOf(level),
      state: energyState(level, capacity, account.short),
      reserved: energyOf(reserved),
    }
  }

  /** Milliseconds until an agent has so much, if nothing else is called; Infinity when it never will. */
  untilEnough(agent: string, amount: number): number {
    const account = this.#accounts.get(accountOf(agent))
    if (account === undefined) return 0
    const needed = Math.min(millionths(amount), account.capacity)
    return account.until(needed, this.#clock.monotonic()) / 1000
  }

  /** Puts energy back; all of it when no amount is given. */
  async refill(agent: string, amount?: number): Promise<EnergyStatus> {
    const name = accountOf(agent)
    if (!this.#accounts.has(name))
      throw new Fault('USAGE', `${name} has no account of energy`, { hint: 'its energy is unlimited' })
    await this.#options.flush?.()
    await this.#energy.refill(name, amount)
    await this.refresh(name)
    const state = this.state(name)
    if (state === undefined) throw new Fault('USAGE', `${name} has no account of energy any more`)
    return state
  }

  /** Looks at what other processes did, for one agent or all of them. */
  async refresh(agent?: string): Promise<void> {
    const accounts = [...this.#accounts.values()].filter(
      (account) => agent === undefined || account.agent === accountOf(agent),
    )
    await Promise.all(accounts.map((account) => this.#change(account, () => 0)))
  }

  /** @internal Returns what has not been used for a while, and tells whose state has changed by itself. */
  async look(): Promise<void> {
    const now = this.#clock.monotonic()
    const returned: Promise<void>[] = []
    for (const account of this.#accounts.values()) {
      this.#tell(account, now)
      if (account.free > 0 && now - account.usedAt >= IDLE && account.busy === 0)
        returned.push(this.#giveBack(account))
    }
    await Promise.all(returned)
  }

  /** Returns what was leased and not spent. What is under way can still be settled. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  // --- internal ---

  #queue(account: Account, agent: string, needed: number): Promise<Reservation> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Fault('CLOSED', 'the hub was closed'))
      account.waiting.push({
        agent,
        needed,
        grant: () => resolve(grant(account, needed)),
        refuse: reject,
      })
      if (account.waiting.length === 1) void this.#serve(account)
    })
  }

  /** One lease for all who wait when it is taken. */
  async #serve(account: Account): Promise<void> {
    try {
      const view = await this.#change(account, (room) => {
        const needs = account.waiting.map(({ needed }) => needed)
        return leaseFor(needs, account.free, room, account.capacity)
      })
      const room = view ? signedMillionths(view.room) : 0
      for (const one of account.waiting.splice(0)) {
        if (account.free >= one.needed) one.grant()
        // It came, or a call proved dearer, after the lease was taken.
        else if (account.free + room >= one.needed) account.waiting.push(one)
        else this.#refuse(account, one, account.free + room)
      }
    } catch (error) {
      // The ledger cannot be asked. Nobody may spend what may be another's.
      for (const one of account.waiting.splice(0)) one.refuse(error)
    }
    if (account.waiting.length > 0) void this.#serve(account)
    this.#watch()
  }

  #refuse(account: Account, { agent, needed, refuse }: Waiting, left: number): void {
    const now = this.#clock.monotonic()
    account.short = Math.max(account.short, needed)
    refuse(
      outOfEnergy({
        agent,
        left: energyOf(left),
        capacity: account.budget.capacity,
        needed: energyOf(needed),
        wait: account.wait(needed - left) / 1000,
        now: this.#clock.wall(),
      }),
    )
    this.#tell(account, now)
  }

  /** Changes the lease, one change after the other; `by` says how much when it is its turn. */
  #change(account: Account, by: (room: number) => number): ReturnType<Energy['lease']> {
    account.busy += 1
    const changed = account.work.then(() => this.#changeNow(account, by))
    account.work = changed.catch(() => undefined)
    return changed.finally(() => {
      account.busy -= 1
    })
  }

  async #changeNow(account: Account, by: (room: number) => number): ReturnType<Energy['lease']> {
    // Nobody leases by what the ledger is about to forget.
    await this.#configuring
    const { agent, budget } = account
    let taken = 0
    const lease = () =>
      this.#energy.lease(this.#options.owner, agent, ({ room }) => {
        taken = by(signedMillionths(room))
        return taken / 1e6
      })
    let view = await lease()
    if (view === undefined && this.#accounts.get(agent) === account) {
      // Another process follows a configuration in which the agent is unlimited.
      await this.#energy.configure(new Map([[agent, budget]]))
      view = await lease()
    }
    if (view === undefined) return undefined
    const now = this.#clock.monotonic()
    // What is given back has left `free` already.
    if (taken > 0) {
      account.free += taken
      account.usedAt = now
    }
    account.see(view, now)
    this.#tell(account, now)
    return view
  }

  async #giveBack(account: Account): Promise<void> {
    const amount = account.free
    if (amount <= 0) return
    account.free = 0
    try {
      await this.#change(account, () => -amount)
    } catch (error) {
      account.free += amount
      this.#options.onTrouble?.(error instanceof Error ? error.message : String(error))
    }
  }

  #tell(account: Account, now: number): void {
    const to = account.judge(now)
    const from = account.state
    if (to === from) return
    account.state = to
    this.#options.onChange?.({
      agent: account.agent,
      from,
      to,
      level: energyOf(Math.floor(account.level(now))),
    })
  }

  /** As long as something changes by itself. */
  #watch(): void {
    if (this.#timer !== undefined || this.#closed) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.look().then(() => {
        const changing = ({ free, state, rate }: Account) => free > 0 || (state !== 'plenty' && rate > 0)
        if ([...this.#accounts.values()].some(changing)) this.#watch()
      })
    }, LOOK_MS).unref()
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#configuring
    for (const account of this.#accounts.values()) {
      await account.work
      await this.#giveBack(account)
    }
  }
}

// --- internal ---

/** Microseconds after the last call in which what is leased is kept for the next. */
const IDLE = 5e6
const LOOK_MS = 1000

function grant(account: Account, needed: number): Reservation {
  account.free -= needed
  account.reserved += needed
  account.short = 0
  return new Reservation(account, needed)
}
