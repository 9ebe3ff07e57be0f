// Questions to a person, and their answers, in SQLite.

import type {
  Approval,
  ApprovalFilter,
  ApprovalStatistics,
  ApprovalStatus,
  Approvals,
  ApprovedCall,
  Decision,
} from './policy.ts'
import type { Connection } from './sqlite-connection.ts'
import { type Nullable, withoutNulls } from './sqlite-nulls.ts'
import { where } from './sqlite-where.ts'

export class SqliteApprovals implements Approvals {
  readonly #ledger: Connection

  constructor(ledger: Connection) {
    this.#ledger = ledger
  }

  async add(approval: Approval): Promise<void> {
    await this.#ledger.run(
      'INSERT INTO approvals (id, agent, server, tool, fingerprint, identity, arguments_hash, arguments, risk, reason, surface, ' +
        'estimate, status, created_at, expires_at, decided_at, decided_by, remember) ' +
        'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      approval.id,
      approval.agent,
      approval.server,
      approval.tool,
      approval.fingerprint,
      approval.identity ?? null,
      approval.argumentsHash,
      approval.arguments,
      approval.risk ?? null,
      approval.reason ?? null,
      approval.surface ?? null,
      approval.estimate ?? null,
      approval.status,
      approval.createdAt,
      approval.expiresAt,
      approval.decidedAt ?? null,
      approval.decidedBy ?? null,
      approval.remember ?? null,
    )
  }

  async get(id: string): Promise<Approval | undefined> {
    const row = await this.#ledger.get<Nullable<Approval>>(`${SELECT} WHERE id = ?`, id)
    return row === undefined ? undefined : withoutNulls<Approval>(row)
  }

  async find(call: ApprovedCall, now: number): Promise<Approval | undefined> {
    const row = await this.#ledger.get<Nullable<Approval>>(
      `${SELECT} WHERE arguments_hash = ? AND agent = ? AND server = ? AND tool = ? AND fingerprint = ? ` +
        "AND status IN ('pending', 'allowed', 'denied') AND expires_at > ? ORDER BY created_at DESC, id DESC LIMIT 1",
      call.argumentsHash,
      call.agent,
      call.server,
      call.tool,
      call.fingerprint,
      now,
    )
    return row === undefined ? undefined : withoutNulls<Approval>(row)
  }

  async list({ status, agent, limit = 1000, first = false }: ApprovalFilter): Promise<Approval[]> {
    const { clause, values } = where([
      ['status = ?', status],
      ['agent = ?', agent],
    ])
    const rows = await this.#ledger.all<Nullable<Approval>>(
      `${SELECT} ${clause} ORDER BY ${first ? 'created_at, id' : 'created_at DESC, id DESC'} LIMIT ?`,
      ...values,
      limit,
    )
    return (first ? rows : rows.reverse()).map((row) => withoutNulls<Approval>(row))
  }

  async ending(end: string, now: number): Promise<Approval[]> {
    const rows = await this.#ledger.all<Nullable<Approval>>(
      `${SELECT} WHERE status = 'pending' AND expires_at > ? AND substr(id, -length(?)) = ? LIMIT 2`,
      now,
      end,
      end,
    )
    return rows.map((row) => withoutNulls<Approval>(row))
  }

  async open(agent: string, now: number): Promise<number> {
    const row = await this.#ledger.get<{ count: number }>(
      "SELECT COUNT(*) AS count FROM approvals WHERE status = 'pending' AND expires_at > ? " +
        "AND (agent = ? OR substr(agent, 1, length(?) + 1) = ? || '/')",
      now,
      agent,
      agent,
      agent,
    )
    return row?.count ?? 0
  }

  async statistics(since: number): Promise<ApprovalStatistics> {
    const counts = await this.#ledger.all<{ status: ApprovalStatus; count: number }>(
      'SELECT status, COUNT(*) AS count FROM approvals WHERE created_at >= ? GROUP BY status',
      since,
    )
    const of = (...wanted: ApprovalStatus[]) =>
      counts.reduce((sum, { status, count }) => (wanted.includes(status) ? sum + count : sum), 0)
    const answered = of('allowed', 'used', 'denied')
    const middle = await this.#ledger.get<{ median: number }>(
      "SELECT decided_at - created_at AS median FROM approvals WHERE created_at >= ? AND status IN ('allowed', " +
        "'used', 'denied') ORDER BY decided_at - created_at LIMIT 1 OFFSET ?",
      since,
      Math.max(0, Math.ceil(answered / 2) - 1),
    )
    return {
      asked: counts.reduce((sum, { count }) => sum + count, 0),
      allowed: of('allowed', 'used'),
      denied: of('denied'),
      expired: of('expired'),
      pending: of('pending'),
      ...(middle === undefined ? {} : { rate: of('allowed', 'used') / answered, median: middle.median }),
    }
  }

  /** What an earlier decision said (who, when) stays unless this one says it again. */
  async decide(id: string, from: ApprovalStatus, to: ApprovalStatus, decision?: Decision): Promise<boolean> {
    const changed = await this.#ledger.run(
      'UPDATE approvals SET status = ?, decided_at = COALESCE(?, decided_at), ' +
        'decided_by = COALESCE(?, decided_by), remember = COALESCE(?, remember) WHERE id = ? AND status = ?',
      to,
      decision?.at ?? null,
      decision?.by ?? null,
      decision?.remember ?? null,
      id,
      from,
    )
    return changed > 0
  }

  async expire(now: number): Promise<number> {
    const expired = await this.#ledger.run(
      "UPDATE approvals SET status = 'expired', decided_at = ? WHERE status = 'pending' AND expires_at <= ?",
      now,
      now,
    )
    // Whoever asks may ask for anything, so what nobody answered is not kept for ever.
    if (expired > 0)
      await this.#ledger.run(
        "DELETE FROM approvals WHERE status IN ('expired', 'cancelled') AND expires_at < ?",
        now - KEPT_MS,
      )
    return expired
  }
}

// --- internal ---

const SELECT =
  'SELECT id, agent, server, tool, fingerprint, identity, arguments_hash AS argumentsHash, arguments, risk, reason, ' +
  'surface, estimate, status, ' +
  'created_at AS createdAt, expires_at AS expiresAt, decided_at AS decidedAt, decided_by AS decidedBy, remember ' +
  'FROM approvals'

/** How long unanswered questions are kept: 30 days. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000
