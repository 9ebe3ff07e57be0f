// One connection to the file: prepared statements kept, transactions that wait a bounded time for their turn.

import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../base/fault.ts'
import type { Database, SqlValue, Statement } from './sqlite-driver.ts'
import { isBusy, isDamage, storeFault } from './sqlite-fault.ts'
import { withoutNul } from './sqlite-text.ts'

/** What work inside a transaction may do. All of it is synchronous, so no other work comes in between. */
export interface Session {
  /** How many rows were changed. */
  run(sql: string, ...values: SqlValue[]): number
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined
  all<Row>(sql: string, ...values: SqlValue[]): Row[]
  /** Several statements in one text, none of them kept. */
  exec(sql: string): void
}

interface ConnectionOptions {
  readonly file: string
  /** How long work may wait for its turn. */
  readonly patienceMs?: number
  /** Called when the content proves damaged. */
  readonly onDamage?: () => void
}

const PATIENCE_MS = 2000

export class Connection {
  readonly #database: Database
  readonly #statements = new Map<string, Statement>()
  readonly #options: ConnectionOptions
  readonly #session: Session
  #closed = false

  constructor(database: Database, options: ConnectionOptions) {
    this.#database = database
    this.#options = options
    // The type of a row stands beside its statement, which names the columns; the tables are STRICT.
    this.#session = {
      run: (sql, ...values) => Number(this.#prepare(sql).run(...values).changes),
      get: <Row>(sql: string, ...values: SqlValue[]) => this.#prepare(sql).get(...values) as Row | undefined,
      all: <Row>(sql: string, ...values: SqlValue[]) => this.#prepare(sql).all(...values) as Row[],
      exec: (sql) => this.#database.exec(sql),
    }
  }

  /** Runs `work` as one transaction, which holds the write lock from its start. May run it again after a failure. */
  write<T>(work: (session: Session) => T): Promise<T> {
    return this.#attempt(() => this.#transaction('BEGIN IMMEDIATE', work))
  }

  /** Runs `work` on one state of the database, whoever writes meanwhile. */
  read<T>(work: (session: Session) => T): Promise<T> {
    return this.#attempt(() => this.#transaction('BEGIN', work))
  }

  /** Runs one statement; how many rows it changed. */
  run(sql: string, ...values: SqlValue[]): Promise<number> {
    const clean = values.map((value) => (typeof value === 'string' ? withoutNul(value) : value))
    return this.write((session) => session.run(sql, ...clean))
  }

  /** The first row of one statement that only reads. */
  get<Row>(sql: string, ...values: SqlValue[]): Promise<Row | undefined> {
    return this.#attempt(() => this.#session.get<Row>(sql, ...values))
  }

  /** Every row of one statement that only reads. */
  all<Row>(sql: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#attempt(() => this.#session.all<Row>(sql, ...values))
  }

  /** Runs what must not stand in a transaction. */
  exec(sql: string): Promise<void> {
    return this.#attempt(() => this.#database.exec(sql))
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#statements.clear()
    this.#database.close()
  }

  // --- internal ---

  async #attempt<T>(work: () => T): Promise<T> {
    const { file, patienceMs = PATIENCE_MS, onDamage } = this.#options
    const started = performance.now()
    for (let attempt = 1; ; attempt++) {
      if (this.#closed) throw new Fault('CLOSED', `${file} was closed`)
      try {
        return work()
      } catch (error) {
        if (isDamage(error)) onDamage?.()
        if (!isBusy(error) || performance.now() - started > patienceMs) throw storeFault(file, error)
      }
      // Random and growing, so that waiters do not try in step.
      await sleep(1 + Math.random() * Math.min(50, 5 * attempt))
    }
  }

  #transaction<T>(begin: string, work: (session: Session) => T): T {
    this.#session.run(begin)
    try {
      const result = work(this.#session)
      this.#session.run('COMMIT')
      return result
    } catch (error) {
      this.#rollback()
      throw error
    }
  }

  #rollback(): void {
    try {
      this.#session.run('ROLLBACK')
    } catch {
      // A full disk and the like end the transaction by themselves; what went wrong is already on its way up.
    }
  }

  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}
