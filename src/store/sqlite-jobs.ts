// The queue of jobs in SQLite.

import type { Connection } from './sqlite-connection.ts'
import { type Nullable, withoutNulls } from './sqlite-nulls.ts'
import { where } from './sqlite-where.ts'
import type { Job, JobChange, JobStatus, Jobs } from './work.ts'

export class SqliteJobs implements Jobs {
  readonly #ledger: Connection

  constructor(ledger: Connection) {
    this.#ledger = ledger
  }

  async add(job: Job): Promise<void> {
    await this.#ledger.run(
      'INSERT INTO jobs (id, kind, params, priority, status, progress, message, result, error, energy, created_at, ' +
        'updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      job.id,
      job.kind,
      job.params,
      job.priority,
      job.status,
      job.progress,
      job.message ?? null,
      job.result ?? null,
      job.error ?? null,
      job.energy,
      job.createdAt,
      job.updatedAt,
    )
  }

  async get(id: string): Promise<Job | undefined> {
    const row = await this.#ledger.get<Nullable<Job>>(`SELECT ${COLUMNS} FROM jobs WHERE id = ?`, id)
    return row === undefined ? undefined : withoutNulls<Job>(row)
  }

  async list(status?: JobStatus): Promise<Job[]> {
    const { clause, values } = where([['status = ?', status]])
    const rows = await this.#ledger.all<Nullable<Job>>(
      `SELECT ${COLUMNS} FROM jobs ${clause} ${TURN}`,
      ...values,
    )
    return rows.map((row) => withoutNulls<Job>(row))
  }

  claim(now: number, kind?: string): Promise<Job | undefined> {
    const { clause, values } = where([
      ['status = ?', 'queued'],
      ['kind = ?', kind],
    ])
    return this.#ledger.write((session) => {
      const row = session.get<Nullable<Job>>(
        `UPDATE jobs SET status = 'running', updated_at = ? ` +
          `WHERE id = (SELECT id FROM jobs ${clause} ${TURN} LIMIT 1) RETURNING ${COLUMNS}`,
        now,
        ...values,
      )
      return row === undefined ? undefined : withoutNulls<Job>(row)
    })
  }

  async update(id: string, from: JobStatus, change: JobChange): Promise<boolean> {
    const changed = await this.#ledger.run(
      'UPDATE jobs SET status = COALESCE(?, status), priority = COALESCE(?, priority), ' +
        'progress = COALESCE(?, progress), message = COALESCE(?, message), result = COALESCE(?, result), ' +
        'error = COALESCE(?, error), energy = COALESCE(?, energy), updated_at = ? WHERE id = ? AND status = ?',
      change.status ?? null,
      change.priority ?? null,
      change.progress ?? null,
      change.message ?? null,
      change.result ?? null,
      change.error ?? null,
      change.energy ?? null,
      change.updatedAt,
      id,
      from,
    )
    return changed > 0
  }
}

// --- internal ---

const COLUMNS =
  'id, kind, params, priority, status, progress, message, result, error, energy, created_at AS createdAt, ' +
  'updated_at AS updatedAt'

const TURN = 'ORDER BY priority DESC, created_at, id'
