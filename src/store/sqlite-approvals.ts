// Questions to a person, and their answers, in SQLite.

import type { Approval, ApprovalStatus, Approvals, Decision } from './policy.ts'
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
      'INSERT INTO approvals (id, agent, server, tool, fingerprint, arguments_hash, arguments, estimate, status, ' +
        'created_at, expires_at, decided_at, decided_by, remember) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      approval.id,
      approval.agent,
      approval.server,
      approval.tool,
      approval.fingerprint,
      approval.argumentsHash,
      approval.arguments,
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

  async list({ status, agent }: { status?: ApprovalStatus; agent?: string }): Promise<Approval[]> {
    const { clause, values } = where([
      ['status = ?', status],
      ['agent = ?', agent],
    ])
    const rows = await this.#ledger.all<Nullable<Approval>>(
      `${SELECT} ${clause} ORDER BY created_at, id`,
      ...values,
    )
    return rows.map((row) => withoutNulls<Approval>(row))
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

  expire(now: number): Promise<number> {
    return this.#ledger.run(
      "UPDATE approvals SET status = 'expired', decided_at = ? WHERE status = 'pending' AND expires_at <= ?",
      now,
      now,
    )
  }
}

// --- internal ---

const SELECT =
  'SELECT id, agent, server, tool, fingerprint, arguments_hash AS argumentsHash, arguments, estimate, status, ' +
  'created_at AS createdAt, expires_at AS expiresAt, decided_at AS decidedAt, decided_by AS decidedBy, remember ' +
  'FROM approvals'
