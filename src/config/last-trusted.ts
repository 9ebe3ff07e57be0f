// A file whose settings were edited and are not trusted again yet: what a person trusted of it last goes on, as long as that
// very content is still trusted. Its servers are each a question of their own and not kept.

import { assemble } from './assemble.ts'
import { canonical } from './canonical.ts'
import type { Layer } from './layer.ts'
import type { Snapshot } from './snapshot.ts'
import { subtree, type Tree, without } from './tree.ts'
import type { Subject } from './trust.ts'

/** What is written now, and what of it is trusted. */
interface Judged {
  readonly snapshot: Snapshot
  readonly subjects: readonly Subject[]
}

/** The snapshot with the settings that were in force before in place of changed ones; `files` says of which files. */
export function keepTrusted(now: Judged, before: Judged): { snapshot: Snapshot; files: readonly string[] } {
  const files: string[] = []
  const layers = now.snapshot.layers.flatMap((layer): Layer[] => {
    const { file } = layer.source
    const isChanged = stateOf(now.subjects, file) === 'changed'
    const old =
      isChanged && stateOf(before.subjects, file) === 'trusted' && !switchesOff(layer.tree)
        ? before.snapshot.layers.find((it) => it.source.file === file && hasSettings(it.tree))
        : undefined
    if (old === undefined) return [layer]
    files.push(file)
    const none = { broken: new Map(), brokenPaths: new Map(), parsed: new Map() }
    return [
      { ...layer, tree: onlyServers(layer.tree), leftOut: [] },
      { ...old, ...none, tree: without(old.tree, ['servers']) },
    ]
  })
  if (files.length === 0) return { snapshot: now.snapshot, files }
  const { problems } = now.snapshot
  return { snapshot: { ...assemble({ ...now.snapshot, layers }, []), problems }, files }
}

/**
 * The subjects of what is in force. Whoever trusts a newer content takes nothing from what was trusted before, which stays in
 * force until that newer one can be: nor does whoever edits it. Whoever trusts the file no more does, and so does whoever
 * changes what does not stand in the file, such as a server's program. `before`: as they were when it was taken over.
 */
export function stillTrusted(now: readonly Subject[], before: readonly Subject[]): readonly Subject[] {
  return now.map((subject) => {
    if (subject.state !== 'changed') return subject
    const taken = before.find(({ key, state }) => key === subject.key && state === 'trusted')
    const isSame = taken && canonical(taken.content().parts) === canonical(subject.content().parts)
    return isSame ? { ...subject, state: 'trusted', changed: [] } : subject
  })
}

// --- internal ---

function stateOf(subjects: readonly Subject[], file: string): Subject['state'] | undefined {
  return subjects.find((it) => it.kind === 'settings' && it.file === file)?.state
}

/** A file may always switch everything off. */
function switchesOff(tree: Tree): boolean {
  const enabled = subtree(tree, ['enabled'])
  return enabled?.kind === 'value' && enabled.value === false
}

function hasSettings(tree: Tree): boolean {
  return tree.kind === 'map' && [...tree.entries.keys()].some((key) => key !== 'servers' && key !== 'version')
}

function onlyServers(tree: Tree): Tree {
  if (tree.kind !== 'map') return tree
  return { ...tree, entries: new Map([...tree.entries].filter(([key]) => key === 'servers')) }
}
