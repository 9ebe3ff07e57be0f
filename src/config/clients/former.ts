// A client's file as it would be had we never come, by what is kept of it from before.

import type { Places } from '../../base/places.ts'
import { isRecord } from '../../base/record.ts'
import { parseDocument } from '../document.ts'
import { dig } from '../formats/shape.ts'
import { type ClientText, withoutEntry } from './change.ts'
import { ENTRY_NAME, type KnownClient } from './known.ts'
import { type ClientRecord, readBackup } from './record.ts'

/** The text without our entry: what stood under its name comes back, and the place that was made for it goes. */
export async function withoutUs(
  places: Places,
  client: KnownClient,
  now: ClientText,
  { file, record }: { readonly file: string; readonly record: ClientRecord | undefined },
): Promise<string> {
  const original = record?.backup === undefined ? undefined : readBackup(places, record.backup)
  const former = await formerEntry(client, file, original)
  // Without a file before us, the place for servers was ours as well.
  const bare = record !== undefined && (record.backup === undefined || former.bare)
  return await withoutEntry(client, file, now, { former: former.entry, bare })
}

// --- internal ---

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
