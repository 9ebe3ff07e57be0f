// Conversations and their messages in SQLite.

import type { Connection } from './sqlite-connection.ts'
import { type Nullable, withoutNulls } from './sqlite-nulls.ts'
import { where } from './sqlite-where.ts'
import type { Conversation, ConversationFilter, Conversations, Message } from './work.ts'

export class SqliteConversations implements Conversations {
  readonly #ledger: Connection
  readonly #records: Connection

  constructor(ledger: Connection, records: Connection) {
    this.#ledger = ledger
    this.#records = records
  }

  async add({ id, agent, title, createdAt, updatedAt, state }: Conversation): Promise<void> {
    await this.#ledger.run(
      'INSERT INTO conversations (id, agent, title, created_at, updated_at, state) VALUES (?, ?, ?, ?, ?, ?)',
      id,
      agent,
      title ?? null,
      createdAt,
      updatedAt,
      state,
    )
  }

  async get(id: string): Promise<Conversation | undefined> {
    const row = await this.#ledger.get<Nullable<Conversation>>(`${SELECT} WHERE id = ?`, id)
    return row === undefined ? undefined : withoutNulls<Conversation>(row)
  }

  async list({ agent, status, before, limit = ALL }: ConversationFilter = {}): Promise<Conversation[]> {
    const last = before === undefined ? undefined : await this.get(before)
    if (before !== undefined && last === undefined) return []
    const { clause, values } = where([
      ['agent = ?', agent],
      [`${STATUS} IN (SELECT value FROM json_each(?))`, status && JSON.stringify(status)],
      // Lets the index find the place; of those of the same moment, the ids behind it.
      ['updated_at <= ?', last?.updatedAt],
      [BEHIND, last?.id],
    ])
    const rows = await this.#ledger.all<Nullable<Conversation>>(
      `${SELECT} ${clause} ORDER BY updated_at DESC, id LIMIT ?`,
      ...values,
      limit,
    )
    return rows.map((row) => withoutNulls<Conversation>(row))
  }

  async update(
    id: string,
    change: { readonly title?: string; readonly state?: string; readonly updatedAt: number },
  ): Promise<boolean> {
    const changed = await this.#ledger.run(
      'UPDATE conversations SET title = COALESCE(?, title), state = COALESCE(?, state), updated_at = ? WHERE id = ?',
      change.title ?? null,
      change.state ?? null,
      change.updatedAt,
      id,
    )
    return changed > 0
  }

  async remove(id: string): Promise<boolean> {
    return (await this.#ledger.run('DELETE FROM conversations WHERE id = ?', id)) > 0
  }

  say(
    id: string,
    message: Omit<Message, 'conversation' | 'seq'>,
    { lasting = true }: { readonly lasting?: boolean } = {},
  ): Promise<number | undefined> {
    return (lasting ? this.#ledger : this.#records).write((session) => {
      const touched = session.run(
        'UPDATE conversations SET updated_at = ? WHERE id = ?',
        message.createdAt,
        id,
      )
      if (touched === 0) return undefined
      const added = session.get<{ seq: number }>(
        'INSERT INTO messages (conversation, seq, role, content, created_at) ' +
          'SELECT ?, COALESCE(MAX(seq), 0) + 1, ?, ?, ? FROM messages WHERE conversation = ? RETURNING seq',
        id,
        message.role,
        message.content,
        message.createdAt,
        id,
      )
      return added?.seq
    })
  }

  async messages(
    id: string,
    { after = 0, limit = ALL }: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<Message[]> {
    const rows = await this.#ledger.all<Message>(
      'SELECT conversation, seq, role, content, created_at AS createdAt FROM messages ' +
        'WHERE conversation = ? AND seq > ? ORDER BY seq LIMIT ?',
      id,
      after,
      limit,
    )
    return rows.map((row) => ({ ...row }))
  }
}

// --- internal ---

const ALL = Number.MAX_SAFE_INTEGER

const STATUS = "COALESCE(CASE WHEN json_valid(state) THEN json_extract(state, '$.status') END, 'working')"

const BEHIND =
  'EXISTS (SELECT 1 FROM conversations AS last WHERE last.id = ? ' +
  'AND (conversations.updated_at < last.updated_at OR conversations.id > last.id))'

const SELECT =
  'SELECT id, agent, title, created_at AS createdAt, updated_at AS updatedAt, state FROM conversations'
