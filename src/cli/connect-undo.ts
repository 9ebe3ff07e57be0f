// `busbar connect CLIENT --undo`: the client's file as it was, or, when it was changed since, without our entry.

import { rmdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { sha256 } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import type { Places } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { writeFileAtomic } from '../base/write-file.ts'
import { type ClientText, readClientText, withoutEntry } from '../config/clients/change.ts'
import { leadsToUs } from '../config/clients/entry.ts'
import { ENTRY_NAME, type KnownClient } from '../config/clients/known.ts'
import {
  type ClientRecord,
  clientRecord,
  dropBackup,
  keepClientRecord,
  readBackup,
} from '../config/clients/record.ts'
import { parseDocument } from '../config/document.ts'
import { dig } from '../config/formats/shape.ts'
import { type ConnectOptions, withClientLock, writing } from './connect-client.ts'
import { agree, showDiff } from './connect-show.ts'
import { clientFile, clientNamed, readScope } from './connect-target.ts'
import { revokeOld } from './connect-token.ts'
import type { Session } from './session.ts'

export async function undoClient(session: Session, id: string, options: ConnectOptions): Promise<void> {
  const { out } = session
  const { snapshot, active } = await session.load({ warnings: false })
  const { places } = snapshot
  const client = clientNamed(snapshot, id)
  const { file } = clientFile(client, readScope(options.scope))
  const record = clientRecord(places, client.id, file)
  const shown = await planUndo(places, client, file, record)
  const diff = await showDiff(session, file, client.syntax, {
    before: shown.now.text,
    after: shown.text ?? '',
  })
  if (shown.text === undefined) out.note('The file was made for this, and is removed.')
  const facts = { client: client.id, file, exact: shown.exact, diff }
  if (options['dry-run']) {
    out.answer({ ...facts, written: false }, () => 'Nothing was written.')
    return
  }
  await agree(session, 'Take it back?', options.yes === true)
  const revoked = await withClientLock(places, async () => {
    // Clients write their files, too, and the question took its time.
    const undo = await planUndo(places, client, file, record)
    writing(file, () => {
      if (undo.text === undefined) removeFile(file, record?.madeFolder)
      else writeFileAtomic(file, undo.text, { mode: 0o600 })
    })
    const agent = record?.agent ?? options.agent ?? client.id
    const count = await revokeOld(session, active, { record, entry: undo.now.entry, agent })
    await keepClientRecord(places, client.id, file, undefined)
    dropBackup(places, record?.backup)
    return count
  })
  const agent = record?.agent
  out.answer({ ...facts, written: true, revoked, agent: agent ?? null }, () => [
    shown.exact
      ? `${client.title} has its file back as it was.`
      : `Busbar is out of the file of ${client.title}; what else was changed there stays.`,
    revoked > 0 ? 'The token is revoked.' : 'There was no token of this home to revoke.',
    ...(agent === undefined ? [] : [`The agent ${agent} stays: busbar agents remove ${agent}`]),
  ])
}

// --- internal ---

interface Undo {
  readonly now: ClientText
  /** Undefined: there was no such file. */
  readonly text: string | undefined
  /** Whether it is as it was before us, byte for byte. */
  readonly exact: boolean
}

async function planUndo(
  places: Places,
  client: KnownClient,
  file: string,
  record: ClientRecord | undefined,
): Promise<Undo> {
  const now = await readClientText(client, file)
  const original = record?.backup === undefined ? undefined : readBackup(places, record.backup)
  if (record !== undefined && now.exists && record.digest === sha256(now.text)) {
    if (record.backup === undefined) return { now, text: undefined, exact: true }
    if (original !== undefined) return { now, text: original, exact: true }
  }
  if (now.entry === undefined || (record === undefined && !leadsToUs(now.entry))) {
    if (record !== undefined) return { now, text: now.exists ? now.text : undefined, exact: false }
    throw new Fault('USAGE', `${client.title} is not connected: ${file} has no entry of ours`, {
      hint: 'see which are: busbar connect',
    })
  }
  const former = await formerEntry(client, file, original)
  // Without a file before us, the place for servers was ours as well.
  const bare = record !== undefined && (record.backup === undefined || former.bare)
  const text = await withoutEntry(client, file, now, { former: former.entry, bare })
  return { now, text, exact: false }
}

/** What stood in our entry's place before, and whether there was a place for it at all. */
async function formerEntry(
  client: KnownClient,
  file: string,
  original: string | undefined,
): Promise<{ entry: unknown; bare: boolean }> {
  if (original === undefined) return { entry: undefined, bare: false }
  const reading = await parseDocument(file, original, client.syntax)
  if (reading.kind !== 'document') return { entry: undefined, bare: false }
  const { value } = reading.document
  const servers = dig(value, client.container(value))
  return { entry: isRecord(servers) ? servers[ENTRY_NAME] : undefined, bare: servers === undefined }
}

/** Removes a file that we made, and the folders that were made for it as far as they are empty. */
function removeFile(file: string, madeFolder: string | undefined): void {
  rmSync(file, { force: true })
  if (madeFolder === undefined) return
  for (let folder = dirname(file); folder.startsWith(madeFolder); folder = dirname(folder))
    try {
      rmdirSync(folder)
    } catch {
      // Somebody else keeps something in it.
      return
    }
}
