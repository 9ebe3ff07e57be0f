// Remembered decisions in SQLite.

import type { Rule, Rules } from './policy.ts'
import type { Connection } from './sqlite-connection.ts'
import { type Nullable, withoutNulls } from './sqlite-nulls.ts'

export class SqliteRules implements Rules {
  readonly #ledger: Connection

  constructor(ledger: Connection) {
    this.#ledger = ledger
  }

  async add({ id, agent, server, tool, identity, decision, createdAt, note }: Rule): Promise<void> {
    await this.#ledger.run(
      'INSERT INTO rules (id, agent, server, tool, identity, decision, created_at, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      id,
      agent ?? null,
      server,
      tool ?? null,
      identity ?? null,
      decision,
      createdAt,
      note ?? null,
    )
  }

  async list(): Promise<Rule[]> {
    const rows = await this.#ledger.all<Nullable<Rule>>(
      'SELECT id, agent, server, tool, identity, decision, created_at AS createdAt, note FROM rules ' +
        'ORDER BY created_at, id',
    )
    return rows.map((row) => withoutNulls<Rule>(row))
  }

  async remove(id: string): Promise<boolean> {
    return (await this.#ledger.run('DELETE FROM rules WHERE id = ?', id)) > 0
  }
}
