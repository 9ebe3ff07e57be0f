// What decides whether a call may go on, as the store keeps it: tokens, rules, approvals, pins and energy.

import type { EnergyBudget } from './energy-level.ts'

export interface Token {
  readonly agent: string
  /** SHA-256 of the token as hex; the token itself is kept nowhere. */
  readonly hash: string
  readonly createdAt: number
  readonly expiresAt?: number | undefined
  readonly revokedAt?: number | undefined
}

export interface Agents {
  /** Takes nothing away from the agent's other tokens. */
  add(token: Token): Promise<void>
  /** Oldest first, revoked and expired ones too. */
  list(agent: string): Promise<Token[]>
  /** Every token that is good at `now`. */
  active(now: number): Promise<Token[]>
  /** Revokes all of an agent's tokens, or those whose hash begins so; tells how many. */
  revoke(agent: string, now: number, hashPrefix?: string): Promise<number>
}

type RuleDecision = 'allow' | 'ask' | 'deny'

export interface Rule {
  readonly id: string
  /** Every agent when absent. */
  readonly agent?: string | undefined
  readonly server: string
  /** Every tool when absent. */
  readonly tool?: string | undefined
  /** What ran under the server's name when it was said; absent for native tools, and in rows of older versions. */
  readonly identity?: string | undefined
  readonly decision: RuleDecision
  readonly createdAt: number
  readonly note?: string | undefined
}

export interface Rules {
  add(rule: Rule): Promise<void>
  /** Oldest first. */
  list(): Promise<Rule[]>
  remove(id: string): Promise<boolean>
}

export type ApprovalStatus = 'pending' | 'allowed' | 'denied' | 'used' | 'expired' | 'cancelled'

export interface Approval {
  readonly id: string
  readonly agent: string
  readonly server: string
  readonly tool: string
  /** The tool's definition that was asked about. */
  readonly fingerprint: string
  /** What runs under the server's name; absent for native tools, and in rows of older versions. */
  readonly identity?: string | undefined
  readonly argumentsHash: string
  /** Scrubbed JSON, for people. */
  readonly arguments: string
  /** What it may do, and why a person is asked. */
  readonly risk?: string | undefined
  readonly reason?: string | undefined
  /** By which door the call came. */
  readonly surface?: string | undefined
  readonly estimate?: number | undefined
  readonly status: ApprovalStatus
  readonly createdAt: number
  readonly expiresAt: number
  readonly decidedAt?: number | undefined
  readonly decidedBy?: string | undefined
  readonly remember?: string | undefined
}

export interface Decision {
  readonly at: number
  readonly by?: string | undefined
  readonly remember?: string | undefined
}

/** What an approval is for: this very call and no other. */
export type ApprovedCall = Pick<Approval, 'agent' | 'server' | 'tool' | 'fingerprint' | 'argumentsHash'>

/** How people answered. */
export interface ApprovalStatistics {
  readonly asked: number
  /** Used ones, too. */
  readonly allowed: number
  readonly denied: number
  readonly expired: number
  readonly pending: number
  /** What part of those that were answered was allowed; absent where none was. */
  readonly rate?: number | undefined
  /** Milliseconds from the question to the answer, in the middle. */
  readonly median?: number | undefined
}

export interface ApprovalFilter {
  readonly status?: ApprovalStatus
  readonly agent?: string
  readonly limit?: number
  readonly first?: boolean
}

export interface Approvals {
  add(approval: Approval): Promise<void>
  get(id: string): Promise<Approval | undefined>
  /** The newest of a call that is pending, allowed and not used, or denied, and has not expired. */
  find(call: ApprovedCall, now: number): Promise<Approval | undefined>
  /** Oldest first; the newest `limit` of them, 1,000 when it is not given, or with `first` the oldest. */
  list(filter: ApprovalFilter): Promise<Approval[]>
  /** Those that are pending at `now` and whose id ends so; two are enough to know that it is not only one. */
  ending(end: string, now: number): Promise<Approval[]>
  /** How many an agent and its workers have pending at `now`. */
  open(agent: string, now: number): Promise<number>
  statistics(since: number): Promise<ApprovalStatistics>
  /** Moves it from one status to another; false when it is not in the first (any more). */
  decide(id: string, from: ApprovalStatus, to: ApprovalStatus, decision?: Decision): Promise<boolean>
  /** Expires what is still pending at its end; tells how many. */
  expire(now: number): Promise<number>
}

/** A definition that differs from the accepted one and waits for a person. */
export interface PendingPin {
  readonly fingerprint: string
  readonly definition: string
  readonly seenAt: number
}

export interface Pin {
  readonly server: string
  readonly tool: string
  readonly fingerprint: string
  /** JSON text. */
  readonly definition: string
  readonly firstSeen: number
  /** When it was first seen, or when a person accepted it. */
  readonly acceptedAt: number
  readonly pending?: PendingPin | undefined
  readonly removedAt?: number | undefined
}

export interface Pins {
  /**
   * Writes tools that were seen for the first time, and of known ones what is pending and whether they are gone; all of
   * it or nothing. Never touches an accepted definition: where that is another one by now, nothing is written, and the
   * pin is given back as it is.
   */
  save(pins: readonly Pin[]): Promise<Pin[]>
  /** By server and tool. */
  list(server?: string): Promise<Pin[]>
  /** Makes the pending definition of that fingerprint the accepted one; false when it is no longer what was shown. */
  accept(server: string, tool: string, fingerprint: string, at: number): Promise<boolean>
}

/** An agent's account as it is now. Amounts are exact to a millionth. */
export interface EnergyAccount extends EnergyBudget {
  readonly agent: string
  /** What is not spent. Below zero when a call took more than was thought; it recovers from there. */
  readonly level: number
  /** What processes have taken of it for calls that are under way or to come. */
  readonly leased: number
}

/** What one process may see of an account when it changes its lease. */
export interface LeaseView {
  readonly account: EnergyAccount
  /** The lease of the one who asks. Below zero by what its rows cost beyond it. */
  readonly own: number
  /** By how much it may grow: nobody else has leased that. Below zero when there is a debt. */
  readonly room: number
}

export interface EnergyHour {
  /** Epoch milliseconds at which it began. */
  readonly hour: number
  readonly calls: number
  readonly energy: number
}

export interface ToolCost {
  readonly server: string
  readonly tool: string
  readonly calls: number
  readonly energy: number
}

/**
 * The ledger of energy. The record of calls is what is charged: `Invocations.append` takes what each new row cost from its
 * agent's account, in the same transaction, so the two cannot disagree.
 */
/** How long one call took, in milliseconds, and what it cost: less than that time where somebody else was waited for. */
export interface ToolDuration {
  readonly server: string
  readonly tool: string
  readonly duration: number
  readonly energy: number
}

export interface Energy {
  account(agent: string): Promise<EnergyAccount | undefined>
  /** By agent. */
  accounts(): Promise<EnergyAccount[]>
  /**
   * Opens accounts, full, and follows other budgets: the level stays, up to the capacity. An account without a budget
   * (`undefined`: unlimited) is closed. One that is not named stays as it is.
   */
  configure(budgets: ReadonlyMap<string, EnergyBudget | undefined>): Promise<void>
  /** Puts an amount back, or all of it; never above the capacity. */
  refill(agent: string, amount?: number): Promise<EnergyAccount | undefined>
  /**
   * Changes a process's lease by what `change` says, which is at most `room`, while no other process does. It must have
   * no effects of its own, for it may be called again. Tells how all stands afterwards; undefined without an account.
   */
  lease(owner: string, agent: string, change: (view: LeaseView) => number): Promise<LeaseView | undefined>
  /** Every process that has a lease. */
  owners(): Promise<string[]>
  /** Returns all leases of processes whose rows are all in the record. */
  release(owners: readonly string[]): Promise<void>
  /** What an agent and its workers spent, oldest hour first. */
  hours(agent: string, since: number): Promise<EnergyHour[]>
  /** What an agent and its workers spent it on, dearest first. */
  toolCosts(agent: string, since: number): Promise<ToolCost[]>
  /** How long the latest calls that were charged took, of whichever tool; oldest first. */
  durations(): Promise<ToolDuration[]>
}
