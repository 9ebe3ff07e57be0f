// Tools' accepted definitions in SQLite.

import type { PendingPin, Pin, Pins } from './policy.ts'
import type { Connection } from './sqlite-connection.ts'

export class SqlitePins implements Pins {
  readonly #ledger: Connection

  constructor(ledger: Connection) {
    this.#ledger = ledger
  }

  async add(pin: Pin): Promise<boolean> {
    const added = await this.#ledger.run(
      'INSERT INTO pins (server, tool, fingerprint, definition, first_seen, accepted_at, pending_fingerprint, ' +
        'pending_definition, pending_seen_at, removed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      pin.server,
      pin.tool,
      pin.fingerprint,
      pin.definition,
      pin.firstSeen,
      pin.acceptedAt ?? null,
      pin.pending?.fingerprint ?? null,
      pin.pending?.definition ?? null,
      pin.pending?.seenAt ?? null,
      pin.removedAt ?? null,
    )
    return added > 0
  }

  async get(server: string, tool: string): Promise<Pin | undefined> {
    const row = await this.#ledger.get<PinRow>(
      'SELECT * FROM pins WHERE server = ? AND tool = ?',
      server,
      tool,
    )
    return row === undefined ? undefined : toPin(row)
  }

  async list(server?: string): Promise<Pin[]> {
    const rows =
      server === undefined
        ? await this.#ledger.all<PinRow>('SELECT * FROM pins ORDER BY server, tool')
        : await this.#ledger.all<PinRow>('SELECT * FROM pins WHERE server = ? ORDER BY tool', server)
    return rows.map(toPin)
  }

  async propose(server: string, tool: string, pending: PendingPin | undefined): Promise<boolean> {
    const changed = await this.#ledger.run(
      'UPDATE pins SET pending_fingerprint = ?, pending_definition = ?, pending_seen_at = ? ' +
        'WHERE server = ? AND tool = ?',
      pending?.fingerprint ?? null,
      pending?.definition ?? null,
      pending?.seenAt ?? null,
      server,
      tool,
    )
    return changed > 0
  }

  /** Of the pending definition, or of a first one that nobody has accepted yet. */
  accept(server: string, tool: string, fingerprint: string, at: number): Promise<boolean> {
    return this.#ledger.write((session) => {
      const replaced = session.run(
        'UPDATE pins SET fingerprint = pending_fingerprint, definition = pending_definition, accepted_at = ?, ' +
          'pending_fingerprint = NULL, pending_definition = NULL, pending_seen_at = NULL ' +
          'WHERE server = ? AND tool = ? AND pending_fingerprint = ?',
        at,
        server,
        tool,
        fingerprint,
      )
      if (replaced > 0) return true
      const accepted = session.run(
        'UPDATE pins SET accepted_at = ? WHERE server = ? AND tool = ? AND fingerprint = ? AND accepted_at IS NULL',
        at,
        server,
        tool,
        fingerprint,
      )
      return accepted > 0
    })
  }

  async setRemoved(server: string, tool: string, at: number | undefined): Promise<boolean> {
    const changed = await this.#ledger.run(
      'UPDATE pins SET removed_at = ? WHERE server = ? AND tool = ?',
      at ?? null,
      server,
      tool,
    )
    return changed > 0
  }
}

// --- internal ---

interface PinRow {
  readonly server: string
  readonly tool: string
  readonly fingerprint: string
  readonly definition: string
  readonly first_seen: number
  readonly accepted_at: number | null
  readonly pending_fingerprint: string | null
  readonly pending_definition: string | null
  readonly pending_seen_at: number | null
  readonly removed_at: number | null
}

function toPin(row: PinRow): Pin {
  const { pending_fingerprint: fingerprint, pending_definition: definition, pending_seen_at: seenAt } = row
  const pending =
    fingerprint === null || definition === null || seenAt === null
      ? undefined
      : { fingerprint, definition, seenAt }
  return {
    server: row.server,
    tool: row.tool,
    fingerprint: row.fingerprint,
    definition: row.definition,
    firstSeen: row.first_seen,
    acceptedAt: row.accepted_at ?? undefined,
    pending,
    removedAt: row.removed_at ?? undefined,
  }
}
