// After an edit that a person typed: what they typed is trusted, and settings that were trusted stay so. Judged by the
// texts the edit itself read and wrote under the lock, so that what somebody else changes meanwhile is not let in.

import { parseDocument } from './document.ts'
import { layerOf, type Source } from './layer.ts'
import { serverSchema } from './schema-server.ts'
import type { Snapshot } from './snapshot.ts'
import { realPath } from './sources.ts'
import { plain, subtree, type Tree } from './tree.ts'
import {
  HARMLESS,
  readTrust,
  recordTrust,
  type Subject,
  serverContent,
  serverKey,
  settingsSubject,
} from './trust.ts'

/** One file as it was before and after the edit. */
export interface EditedText {
  readonly file: string
  readonly before: string
  readonly after: string
}

/** Records trust for the edits. `typed`: the servers the person named. */
export async function keepTrust(
  after: Snapshot,
  edits: readonly EditedText[],
  typed: readonly string[],
): Promise<void> {
  const state = readTrust(after.places)
  const accepted: Pick<Subject, 'key' | 'content'>[] = []
  for (const { file, before, after: text } of edits) {
    const source = after.layers.find((layer) => realPath(layer.source.file) === file)?.source
    if (source === undefined || source.trusted) continue
    const [old, now] = [await treeOfText(source, before, after), await treeOfText(source, text, after)]
    if (now === undefined) continue
    for (const name of typed) accepted.push(...typedServer(name, now, source, after))
    const [earlier] = old ? settingsSubject(source, old, state) : []
    if (earlier === undefined || earlier.state === 'trusted')
      accepted.push(...settingsSubject(source, now, state))
  }
  await recordTrust(after.places, accepted)
}

// --- internal ---

/** A typed server, unless a file the person did not see has a part in it too. */
function typedServer(
  name: string,
  tree: Tree,
  source: Source,
  after: Snapshot,
): Pick<Subject, 'key' | 'content'>[] {
  const written = subtree(tree, ['servers', name])
  const entry = after.servers.get(name)
  const alone = entry?.sources.every((it) => it.trusted || it === source || isHarmless(it, name, after))
  const parsed = written && serverSchema.safeParse(plain(written))
  if (!written || !alone || !parsed?.success) return []
  const content = () => serverContent(plain(written), parsed.data, source, after)
  return [{ key: serverKey(source, name), content }]
}

/** Another file that only describes it or switches it has no part in what runs. */
function isHarmless(source: Source, name: string, snapshot: Snapshot): boolean {
  const layer = snapshot.layers.find((it) => it.source === source)
  const entry = layer && subtree(layer.tree, ['servers', name])
  return entry?.kind === 'map' && [...entry.entries.keys()].every((key) => HARMLESS.has(key))
}

async function treeOfText(source: Source, text: string, snapshot: Snapshot): Promise<Tree | undefined> {
  const reading = await parseDocument(source.file, text)
  if (reading.kind !== 'document') return undefined
  return layerOf(reading.document, source, {
    root: snapshot.root,
    home: snapshot.places.home,
    env: snapshot.env,
  })?.tree
}
