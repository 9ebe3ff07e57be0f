// Agents' tokens in SQLite, as hashes.

import type { Agents, Token } from './policy.ts'
import type { Connection } from './sqlite-connection.ts'
import { type Nullable, withoutNulls } from './sqlite-nulls.ts'

export class SqliteAgents implements Agents {
  readonly #ledger: Connection

  constructor(ledger: Connection) {
    this.#ledger = ledger
  }

  async add({ agent, hash, createdAt, expiresAt, revokedAt }: Token): Promise<void> {
    await this.#ledger.run(
      'INSERT INTO tokens (agent, hash, created_at, expires_at, revoked_at) VALUES (?, ?, ?, ?, ?)',
      agent,
      hash,
      createdAt,
      expiresAt ?? null,
      revokedAt ?? null,
    )
  }

  async list(agent: string): Promise<Token[]> {
    const rows = await this.#ledger.all<Nullable<Token>>(
      `${SELECT} WHERE agent = ? ORDER BY created_at, hash`,
      agent,
    )
    return rows.map((row) => withoutNulls<Token>(row))
  }

  async active(now: number): Promise<Token[]> {
    const rows = await this.#ledger.all<Nullable<Token>>(
      `${SELECT} WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) ORDER BY agent, created_at, hash`,
      now,
    )
    return rows.map((row) => withoutNulls<Token>(row))
  }

  revoke(agent: string, now: number, hashPrefix = ''): Promise<number> {
    return this.#ledger.run(
      'UPDATE tokens SET revoked_at = ? WHERE agent = ? AND revoked_at IS NULL AND substr(hash, 1, ?) = ?',
      now,
      agent,
      hashPrefix.length,
      hashPrefix,
    )
  }
}

// --- internal ---

const SELECT =
  'SELECT agent, hash, created_at AS createdAt, expires_at AS expiresAt, revoked_at AS revokedAt FROM tokens'
