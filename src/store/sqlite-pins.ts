// Tools' accepted definitions in SQLite.

import type { Pin, Pins } from './policy.ts'
import type { Connection, Session } from './sqlite-connection.ts'
import { withoutNul } from './sqlite-text.ts'

export class SqlitePins implements Pins {
  readonly #ledger: Connection

  constructor(ledger: Connection) {
    this.#ledger = ledger
  }

  save(pins: readonly Pin[]): Promise<Pin[]> {
    return this.#ledger.write((session) => pins.flatMap((pin) => saveOne(session, pin) ?? []))
  }

  async list(server?: string): Promise<Pin[]> {
    const rows =
      server === undefined
        ? await this.#ledger.all<PinRow>('SELECT * FROM pins ORDER BY server, tool')
        : await this.#ledger.all<PinRow>('SELECT * FROM pins WHERE server = ? ORDER BY tool', server)
    return rows.map(toPin)
  }

  async accept(server: string, tool: string, fingerprint: string, at: number): Promise<boolean> {
    const accepted = await this.#ledger.run(
      'UPDATE pins SET fingerprint = pending_fingerprint, definition = pending_definition, accepted_at = ?, ' +
        'pending_fingerprint = NULL, pending_definition = NULL, pending_seen_at = NULL ' +
        'WHERE server = ? AND tool = ? AND pending_fingerprint = ?',
      at,
      server,
      storedName(tool),
      fingerprint,
    )
    return accepted > 0
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

/** The pin that is there instead, if it is of another definition. */
function saveOne(session: Session, pin: Pin): Pin | undefined {
  const server = withoutNul(pin.server)
  const tool = storedName(pin.tool)
  const written = session.run(
    'INSERT INTO pins (server, tool, fingerprint, definition, first_seen, accepted_at, pending_fingerprint, ' +
      'pending_definition, pending_seen_at, removed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ' +
      'ON CONFLICT (server, tool) DO UPDATE SET pending_fingerprint = excluded.pending_fingerprint, ' +
      'pending_definition = excluded.pending_definition, pending_seen_at = excluded.pending_seen_at, ' +
      'removed_at = excluded.removed_at WHERE pins.fingerprint = excluded.fingerprint',
    server,
    tool,
    pin.fingerprint,
    withoutNul(pin.definition),
    pin.firstSeen,
    pin.acceptedAt,
    pin.pending?.fingerprint ?? null,
    pin.pending === undefined ? null : withoutNul(pin.pending.definition),
    pin.pending?.seenAt ?? null,
    pin.removedAt ?? null,
  )
  if (written > 0) return undefined
  const row = session.get<PinRow>('SELECT * FROM pins WHERE server = ? AND tool = ?', server, tool)
  return row && toPin(row)
}

function toPin(row: PinRow): Pin {
  const { pending_fingerprint: fingerprint, pending_definition: definition, pending_seen_at: seenAt } = row
  const pending =
    fingerprint === null || definition === null || seenAt === null
      ? undefined
      : { fingerprint, definition, seenAt }
  return {
    server: row.server,
    tool: givenName(row.tool),
    fingerprint: row.fingerprint,
    definition: row.definition,
    firstSeen: row.first_seen,
    acceptedAt: row.accepted_at ?? row.first_seen,
    pending,
    removedAt: row.removed_at ?? undefined,
  }
}

/**
 * As JSON escapes it: a name with a NUL or half a surrogate pair would come back as another one, and whoever can choose
 * names could have a tool that is seen for the first time again and again.
 */
function storedName(tool: string): string {
  return JSON.stringify(tool).slice(1, -1)
}

function givenName(stored: string): string {
  try {
    return JSON.parse(`"${stored}"`)
  } catch {
    // Written by hand; it fits no tool then.
    return stored
  }
}
