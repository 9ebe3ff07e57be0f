// Asks a person before a call is made. A question is kept in the store, is about one very call, is answered once, and
// its answer is good for one call. Who asks is never who answers: agents have no way to this but to call again.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import { uuid7 } from '../base/uuid.ts'
import { accountOf } from '../store/energy-level.ts'
import type { Approval, ApprovalStatistics, ApprovalStatus, Approvals } from '../store/policy.ts'
import { type Answer, checked, ruleFor, scopeOf } from './approval-answer.ts'
import { answered, cancelled, denied, pending, tooMany, unknown, withdrawn } from './approval-faults.ts'
import { Deadlines } from './deadlines.ts'
import type { Memories } from './memories.ts'
import { Waiters } from './waiters.ts'

/** What is asked: the call, and what a person needs to judge it. */
export type Question = Omit<
  Approval,
  'id' | 'status' | 'createdAt' | 'expiresAt' | 'decidedAt' | 'decidedBy' | 'remember'
>

/** Answers in the name of a person; undefined leaves it to somebody else. */
export type Approver = (approval: Approval) => Answer | undefined | Promise<Answer | undefined>

export interface Patience {
  /** Milliseconds to wait for an answer. */
  readonly wait: number
  /** Milliseconds that the caller gave itself: then not even an approver in this process is waited for longer. */
  readonly limit?: number | undefined
  readonly signal?: Stop | undefined
  /** The person at the calling client, where one sits there. */
  readonly client?: Approver | undefined
}

interface DeskOptions {
  readonly approvals: Approvals
  readonly memories: Memories
  /** Milliseconds for which a question can be answered, and its answer used. */
  readonly expiry: () => number
  /** Told of every question and what became of it. Must not throw. */
  readonly onChange: (approval: Approval) => void
  readonly onTrouble: (message: string) => void
  /** Epoch milliseconds. */
  readonly now?: () => number
}

/** Questions that an agent and its workers may have open at a time. */
const MOST_OPEN = 10_000
/** Questions in one list. */
export const MOST_LISTED = 10_000

export class ApprovalDesk {
  readonly #options: DeskOptions
  readonly #now: () => number
  readonly #deadlines: Deadlines
  readonly #approvers = new Set<Approver>()
  readonly #waiters: Waiters
  /** Questions that are being looked for or put, so that calls that come together put one. */
  readonly #asking = new Map<string, Promise<Approval>>()
  /** Questions that an approver here is thinking about, by whom. */
  readonly #thinking = new Map<string, 'client' | 'program'>()

  constructor(options: DeskOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#deadlines = new Deadlines(this.#now)
    this.#waiters = new Waiters((id) => this.#look(id))
  }

  /** Adds somebody who answers; the returned function takes them away. */
  addApprover(approver: Approver): () => void {
    this.#approvers.add(approver)
    return () => this.#approvers.delete(approver)
  }

  /** Resolves when this call may be made, once, to the answer that is used up by it. Rejects when it may not, or not yet. */
  async permit(question: Question, { wait, limit, signal, client }: Patience): Promise<Approval> {
    // An answer may be used by another call of the same kind; then this one asks anew, within the same time.
    const until = performance.now() + wait
    const end = performance.now() + (limit ?? Number.POSITIVE_INFINITY)
    for (;;) {
      if (signal?.aborted) throw cancelled(question)
      let approval = await this.#asked(question)
      // What stands in another client's dialogue is that call's; this one has a person of its own to ask.
      if (client && this.#thinking.get(approval.id) === 'client') approval = await this.#put(question)
      const status =
        approval.status === 'pending'
          ? await this.#awaited(approval, { until, end }, signal, client)
          : approval.status
      switch (status) {
        case 'allowed':
          if (await this.#move(approval, 'allowed', 'used')) return approval
          break
        case 'denied':
          throw denied(approval)
        case 'pending':
          throw this.#pending(approval)
        case 'used':
        case 'expired':
        case 'cancelled':
          // Expired, used by somebody else meanwhile, or given up by a call of the same kind.
          if (status === 'cancelled') await this.#refuseWithdrawn(approval)
          if (performance.now() >= until) throw this.#pending(await this.#asked(question))
      }
    }
  }

  /**
   * Waits until a question is answered or over, without making the call that it is about; `pending` when the time is over. Who
   * gives up meanwhile takes the question back.
   */
  async settled(id: string, { wait, signal }: Omit<Patience, 'client'>): Promise<ApprovalStatus> {
    const approval = await this.#options.approvals.get(id)
    if (approval === undefined) return 'expired'
    if (approval.status !== 'pending') return approval.status
    return await this.#heard(approval, await this.#waiters.wait(id, wait, signal))
  }

  /** The call was not made, or not yet: it can be made with the same answer, until the question expires. */
  async giveBack(approval: Approval): Promise<void> {
    try {
      await this.#move(approval, 'used', 'allowed')
    } catch (error) {
      // Then it stays used. Why the call was not made is what its caller should hear.
      this.#options.onTrouble(`an answer is used up by a call that was not made: ${messageOf(error)}`)
    }
  }

  /** Answers a question; a fault when it was answered already, has expired, or never was. */
  async answer(id: string, answer: Answer, by: string): Promise<Approval> {
    const { decision, remember } = checked(answer)
    const { approvals, memories } = this.#options
    const approval = await this.get(id)
    if (approval.status !== 'pending' || this.#deadlines.isOver(approval)) throw answered(approval)
    const status = decision === 'allow' ? 'allowed' : 'denied'
    const scope = remember && scopeOf(approval, decision, remember)
    if (!(await approvals.decide(id, 'pending', status, { at: this.#now(), by, remember: scope })))
      throw answered(await this.get(id))
    // Only now: an answer that came too late leaves nothing behind.
    if (scope !== undefined) await memories.add(ruleFor(approval, decision, scope, this.#now(), by))
    const after = await this.get(id)
    this.#changed(after)
    if (scope !== undefined) await this.#answerAlike(approval.agent, decision, by)
    return after
  }

  /**
   * Takes back a question, or an answer that was not used; what was used or denied stays as it is. Calls that wait for it are
   * not asked about again.
   */
  async withdraw(id: string, by = 'owner'): Promise<Approval> {
    const approval = await this.get(id)
    const decision = { at: this.#now(), by }
    if (!(await this.#move(approval, 'pending', 'cancelled', decision)))
      await this.#move(approval, 'allowed', 'cancelled', decision)
    return await this.get(approval.id)
  }

  /** By its id or, while it is pending, the end of it. */
  async get(id: string): Promise<Approval> {
    // Programs need not be typed.
    if (typeof id !== 'string') throw unknown(id, false)
    const { approvals } = this.#options
    const found = await approvals.get(id)
    if (found) return this.#asItStands(found)
    const [only, another] = id.length < SHORTEST_ID ? [] : await approvals.ending(id, this.#now())
    if (only && another === undefined) return only
    throw unknown(id, another !== undefined)
  }

  /** Oldest first. What has expired is said to be. Of more than `MOST_LISTED` those that wait the longest, or the latest. */
  async list(status?: ApprovalStatus, agent?: string): Promise<Approval[]> {
    await this.#options.approvals.expire(this.#now())
    const found = await this.#options.approvals.list({
      ...(status === undefined ? {} : { status }),
      ...(agent === undefined ? {} : { agent }),
      limit: MOST_LISTED,
      first: status === 'pending',
    })
    const all = found.map((approval) => this.#asItStands(approval))
    return status === undefined ? all : all.filter((approval) => approval.status === status)
  }

  statistics(since: number): Promise<ApprovalStatistics> {
    return this.#options.approvals.statistics(since)
  }

  /** Lets everybody go who still waits. Their questions stay. */
  close(): void {
    this.#waiters.close()
  }

  // --- internal ---

  /** What was allowed and not used in time opens nothing any more. The store keeps that it was allowed, for the statistics. */
  #asItStands(approval: Approval): Approval {
    const isOpen = approval.status === 'allowed' || approval.status === 'pending'
    return isOpen && this.#deadlines.isOver(approval) ? { ...approval, status: 'expired' } : approval
  }

  #pending(approval: Approval): Fault {
    return pending(approval, this.#deadlines.left(approval))
  }

  /** A question that somebody took back is not put again; one whose call was cancelled may be. */
  async #refuseWithdrawn({ id }: Approval): Promise<void> {
    const approval = await this.#options.approvals.get(id)
    if (approval?.decidedBy !== undefined) throw withdrawn(approval)
  }

  /** What was said about later calls is said about those, too, that wait already. */
  async #answerAlike(agent: string, decision: Answer['decision'], by: string): Promise<void> {
    const { memories } = this.#options
    const status = decision === 'allow' ? 'allowed' : 'denied'
    for (const approval of await this.list('pending', agent)) {
      const rule = memories.about(agent, approval.server, approval.tool, approval.identity)
      if (rule?.decision === decision) await this.#move(approval, 'pending', status, { at: this.#now(), by })
    }
  }

  #asked(question: Question): Promise<Approval> {
    const { agent, server, tool, fingerprint, argumentsHash } = question
    const key = JSON.stringify([agent, server, tool, fingerprint, argumentsHash])
    const before = this.#asking.get(key)
    if (before) return before
    const asking = this.#findOrAsk(question).finally(() => this.#asking.delete(key))
    this.#asking.set(key, asking)
    return asking
  }

  /** The open question about a call, or a new one. */
  async #findOrAsk(question: Question): Promise<Approval> {
    for (;;) {
      const found = await this.#options.approvals.find(question, this.#now())
      if (found === undefined) return await this.#put(question)
      // A refusal is kept as long as the clock says; what could be used is not.
      if (found.status === 'denied' || !this.#deadlines.isOver(found)) return found
      await this.#move(found, found.status, 'expired')
    }
  }

  async #put(question: Question): Promise<Approval> {
    const { approvals, expiry } = this.#options
    const now = this.#now()
    // Who asks without end would keep people from what others ask.
    const account = accountOf(question.agent)
    if ((await approvals.open(account, now)) >= MOST_OPEN) throw tooMany(account, MOST_OPEN, question)
    const approval: Approval = {
      ...question,
      id: uuid7(now),
      status: 'pending',
      createdAt: now,
      expiresAt: now + expiry(),
    }
    await approvals.add(approval)
    // From here on its time runs.
    this.#deadlines.left(approval)
    this.#options.onChange(approval)
    return approval
  }

  async #awaited(
    approval: Approval,
    { until, end }: { readonly until: number; readonly end: number },
    signal: Stop | undefined,
    client: Approver | undefined,
  ): Promise<ApprovalStatus> {
    const { id } = approval
    let heard: ApprovalStatus | 'aborted' = 'pending'
    // An approver in this process is waited for as long as it takes, unless the caller said how long; what it leaves open
    // may be answered elsewhere.
    if (this.#ask(approval, client)) {
      const most = Math.min(this.#deadlines.left(approval), end - performance.now())
      heard = await this.#waiters.wait(id, Math.max(0, most), signal)
    }
    const left = until - performance.now()
    if (heard === 'pending' && left > 0) heard = await this.#waiters.wait(id, left, signal)
    return await this.#heard(approval, heard)
  }

  async #heard(approval: Approval, heard: ApprovalStatus | 'aborted'): Promise<ApprovalStatus> {
    if (heard !== 'aborted') return heard
    // Others who wait for the same answer still want it.
    if (!this.#waiters.has(approval.id)) await this.#move(approval, 'pending', 'cancelled')
    throw cancelled(approval)
  }

  /** Puts a question to those who answer here, once. Whether it is theirs to wait for: another client's dialogue is not. */
  #ask(approval: Approval, client: Approver | undefined): boolean {
    const { id } = approval
    const before = this.#thinking.get(id)
    if (before !== undefined) return before === 'program'
    if (this.#approvers.size === 0 && client === undefined) return false
    this.#thinking.set(id, client ? 'client' : 'program')
    void this.#think(approval, client).finally(() => this.#thinking.delete(id))
    return true
  }

  async #think(approval: Approval, client: Approver | undefined): Promise<void> {
    // Whoever asked is listening from the next step on.
    await Promise.resolve()
    for (const approver of client ? [client, ...this.#approvers] : [...this.#approvers])
      try {
        const answer = await approver(approval)
        if (answer === undefined) continue
        await this.answer(approval.id, answer, approver === client ? 'client' : 'program')
        return
      } catch (error) {
        if (error instanceof Fault && error.code === 'APPROVAL_UNKNOWN') return
        // Then it is as if it had left it to the others.
        this.#options.onTrouble(`an approver failed: ${messageOf(error)}`)
      }
    this.#waiters.tell(approval.id, 'pending')
  }

  async #look(id: string): Promise<ApprovalStatus> {
    const approval = await this.#options.approvals.get(id)
    return approval === undefined ? 'expired' : this.#asItStands(approval).status
  }

  async #move(
    approval: Approval,
    from: ApprovalStatus,
    to: ApprovalStatus,
    decision?: { readonly at: number; readonly by: string },
  ): Promise<boolean> {
    const moved = await this.#options.approvals.decide(approval.id, from, to, decision)
    const said = decision && { decidedAt: decision.at, decidedBy: decision.by }
    if (moved) this.#changed({ ...approval, ...said, status: to })
    return moved
  }

  #changed(approval: Approval): void {
    this.#waiters.tell(approval.id, approval.status)
    this.#options.onChange(approval)
  }
}

// --- internal ---

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Digits of an id that are enough to say which is meant; its end, since ids of one minute begin alike. */
const SHORTEST_ID = 6
