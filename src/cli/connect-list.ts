// `busbar connect` alone: which clients are here, and which of them lead to Busbar.

import { existsSync } from 'node:fs'
import { Fault } from '../base/fault.ts'
import { readClientText } from '../config/clients/change.ts'
import { type OwnEntry, readOwnEntry } from '../config/clients/entry.ts'
import type { ClientScope, KnownClient } from '../config/clients/known.ts'
import { readClientRecords } from '../config/clients/record.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { realPath } from '../config/sources.ts'
import { clientsHere } from './connect-target.ts'
import { nearPath } from './describe.ts'
import type { Session } from './session.ts'

/** A client's file, and what it says about us. */
export interface ClientState {
  readonly client: KnownClient
  readonly scope: ClientScope
  readonly file: string
  readonly found: boolean
  readonly entry?: OwnEntry
  /** By which agent this home connected it. */
  readonly agent?: string
  /** Why the file cannot be read. */
  readonly trouble?: Fault
}

/** Every client with its user's file, and with the project's where that is there. */
export async function clientStates(snapshot: Snapshot): Promise<ClientState[]> {
  const records = readClientRecords(snapshot.places)
  const states: ClientState[] = []
  for (const client of clientsHere(snapshot))
    for (const { scope, file, mark } of client.files) {
      if (scope === 'project' && !existsSync(file)) continue
      const found = existsSync(file) || existsSync(mark)
      const agent = records.find((it) => it.client === client.id && it.file === realPath(file))?.agent
      const common = { client, scope, file, found, ...(agent === undefined ? {} : { agent }) }
      try {
        const entry = readOwnEntry((await readClientText(client, file)).entry)
        states.push({ ...common, ...(entry === undefined ? {} : { entry }) })
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        states.push({ ...common, trouble: error })
      }
    }
  return states
}

export async function listClients(session: Session): Promise<void> {
  const { out } = session
  const { snapshot } = await session.load({ warnings: false })
  const states = (await clientStates(snapshot)).filter((it) => it.scope === 'user' || it.entry)
  const rows = states.map(({ client, scope, file, found, entry, agent, trouble }) => ({
    client: client.id,
    title: client.title,
    found,
    connected: entry !== undefined,
    scope,
    file,
    ...(entry === undefined ? {} : { transport: entry.kind, agent: agent ?? null, url: entry.url ?? null }),
    ...(trouble === undefined ? {} : { error: trouble.message }),
  }))
  out.answer({ clients: rows }, () => [
    ...out.table(
      ['CLIENT', 'FOUND', 'CONNECTED', 'FILE'],
      rows.map((row) => [
        row.client,
        row.found ? 'yes' : 'no',
        row.error === undefined ? connectedText(row) : 'cannot be read',
        nearPath(row.file),
      ]),
    ),
    '',
    'Connect one: busbar connect CLIENT',
  ])
}

// --- internal ---

function connectedText(row: { connected: boolean; agent?: string | null; url?: string | null }): string {
  if (!row.connected) return 'no'
  const who = row.agent ? ` as ${row.agent}` : ', not by this home'
  return `yes${who}${row.url ? ` (${row.url})` : ' (stdio)'}`
}
