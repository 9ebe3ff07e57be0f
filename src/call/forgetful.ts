// Approvals and rules of a hub that keeps nothing: as long as it lives.

import type {
  Approval,
  ApprovalFilter,
  ApprovalStatistics,
  ApprovalStatus,
  Approvals,
  ApprovedCall,
  Decision,
  Rule,
  Rules,
} from '../store/policy.ts'

export class ForgetfulApprovals implements Approvals {
  readonly #all = new Map<string, Approval>()

  async add(approval: Approval): Promise<void> {
    if (this.#all.size >= MOST_HELD)
      for (const [id, { expiresAt }] of this.#all) if (expiresAt <= approval.createdAt) this.#all.delete(id)
    this.#all.set(approval.id, approval)
  }

  async get(id: string): Promise<Approval | undefined> {
    return this.#all.get(id)
  }

  async find(call: ApprovedCall, now: number): Promise<Approval | undefined> {
    return [...this.#all.values()].findLast(
      (it) =>
        it.argumentsHash === call.argumentsHash &&
        it.fingerprint === call.fingerprint &&
        it.agent === call.agent &&
        it.server === call.server &&
        it.tool === call.tool &&
        it.expiresAt > now &&
        (it.status === 'pending' || it.status === 'allowed' || it.status === 'denied'),
    )
  }

  async list({ limit = 1000, first = false, ...filter }: ApprovalFilter): Promise<Approval[]> {
    const all = [...this.#all.values()]
      .filter(({ status }) => filter.status === undefined || filter.status === status)
      .filter(({ agent }) => filter.agent === undefined || filter.agent === agent)
    return first ? all.slice(0, limit) : all.slice(-limit)
  }

  async ending(end: string, now: number): Promise<Approval[]> {
    return this.#pending(now).filter(({ id }) => id.endsWith(end))
  }

  async open(account: string, now: number): Promise<number> {
    return this.#pending(now).filter(({ agent }) => agent === account || agent.startsWith(`${account}/`))
      .length
  }

  async statistics(since: number): Promise<ApprovalStatistics> {
    const all = [...this.#all.values()].filter(({ createdAt }) => createdAt >= since)
    const of = (...wanted: ApprovalStatus[]) => all.filter(({ status }) => wanted.includes(status))
    const times = of('allowed', 'used', 'denied')
      .map(({ createdAt, decidedAt }) => (decidedAt ?? createdAt) - createdAt)
      .sort((one, other) => one - other)
    const rate = of('allowed', 'used').length / times.length
    return {
      asked: all.length,
      allowed: of('allowed', 'used').length,
      denied: of('denied').length,
      expired: of('expired').length,
      pending: of('pending').length,
      rate: times.length === 0 ? undefined : rate,
      median: times[Math.ceil(times.length / 2) - 1],
    }
  }

  async decide(id: string, from: ApprovalStatus, to: ApprovalStatus, decision?: Decision): Promise<boolean> {
    const approval = this.#all.get(id)
    if (approval?.status !== from) return false
    const { at, by, remember } = decision ?? {}
    this.#all.set(id, {
      ...approval,
      status: to,
      decidedAt: at ?? approval.decidedAt,
      decidedBy: by ?? approval.decidedBy,
      remember: remember ?? approval.remember,
    })
    // What is over need not be held.
    if (this.#all.size > MOST_HELD)
      for (const [key, { status }] of this.#all)
        if (status !== 'pending' && status !== 'allowed') {
          this.#all.delete(key)
          break
        }
    return true
  }

  async expire(now: number): Promise<number> {
    let count = 0
    for (const [id, approval] of this.#all)
      if (approval.status === 'pending' && approval.expiresAt <= now) {
        this.#all.set(id, { ...approval, status: 'expired', decidedAt: now })
        count += 1
      }
    return count
  }

  // --- internal ---

  #pending(now: number): Approval[] {
    return [...this.#all.values()].filter(({ status, expiresAt }) => status === 'pending' && expiresAt > now)
  }
}

export class ForgetfulRules implements Rules {
  #all: Rule[] = []

  async add(rule: Rule): Promise<void> {
    this.#all.push(rule)
  }

  async list(): Promise<Rule[]> {
    return [...this.#all]
  }

  async remove(id: string): Promise<boolean> {
    const before = this.#all.length
    this.#all = this.#all.filter((rule) => rule.id !== id)
    return this.#all.length < before
  }
}

// --- internal ---

const MOST_HELD = 10_000
