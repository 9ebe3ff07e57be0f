// `busbar connect CLIENT --undo`: the client's file as it was, or, when it was changed since, without our entry.

import { mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { sha256 } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import type { Places } from '../base/places.ts'
import { writeFileAtomic } from '../base/write-file.ts'
import { type ClientText, readClientText } from '../config/clients/change.ts'
import { leadsToUs } from '../config/clients/entry.ts'
import { withoutUs } from '../config/clients/former.ts'
import type { KnownClient } from '../config/clients/known.ts'
import {
  type ClientRecord,
  clientRecord,
  dropBackup,
  keepClientRecord,
  readBackup,
} from '../config/clients/record.ts'
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
  if (shown.text === undefined && shown.now.exists) out.note('The file was made for this, and is removed.')
  if (shown.text !== undefined && !shown.now.exists) out.note('The file is gone, and is made again.')
  const facts = { client: client.id, file, exact: shown.exact, diff }
  if (options['dry-run']) {
    out.answer({ ...facts, written: false }, () => 'Nothing was written.')
    return
  }
  await agree(session, 'Take it back?', options.yes === true)
  const { undo, revoked } = await withClientLock(places, async () => {
    // Clients write their files, too, and the question took its time.
    const undo = await planUndo(places, client, file, record)
    writing(file, () => {
      if (undo.text === undefined) removeFile(file, record?.madeFolder)
      else {
        // The file may have vanished, and its folder with it.
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
        writeFileAtomic(file, undo.text, { mode: 0o600 })
      }
    })
    const agent = record?.agent ?? options.agent ?? client.id
    const count = await revokeOld(session, active, { record, entry: undo.now.entry, agent })
    await keepClientRecord(places, client.id, file, undefined)
    dropBackup(places, record?.backup)
    return { undo, revoked: count }
  })
  const agent = record?.agent
  out.answer({ ...facts, exact: undo.exact, written: true, revoked, agent: agent ?? null }, () => [
    outcome(client, undo),
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

/** What became of the client's file. */
function outcome({ title }: KnownClient, { now, text, exact }: Undo): string {
  if (text === undefined)
    return now.exists
      ? `${title} has no such file any more, as before.`
      : `The file of ${title} was gone already.`
  if (!exact) return `Busbar is out of the file of ${title}; what else was changed there stays.`
  return `${title} has its file back as it was.`
}

async function planUndo(
  places: Places,
  client: KnownClient,
  file: string,
  record: ClientRecord | undefined,
): Promise<Undo> {
  const now = await readClientText(client, file)
  const original = record?.backup === undefined ? undefined : readBackup(places, record.backup)
  // Of a file that vanished since, what we keep is the only copy.
  if (record !== undefined && (!now.exists || record.digest === sha256(now.text))) {
    if (record.backup === undefined) return { now, text: undefined, exact: true }
    if (original !== undefined) return { now, text: original, exact: record.rebuilt !== true }
  }
  if (now.entry === undefined || (record === undefined && !leadsToUs(now.entry))) {
    if (record !== undefined) return { now, text: now.exists ? now.text : undefined, exact: false }
    throw new Fault('USAGE', `${client.title} is not connected: ${file} has no entry of ours`, {
      hint: 'see which are: busbar connect',
    })
  }
  return { now, text: await withoutUs(places, client, now, { file, record }), exact: false }
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
