// A file whose settings were edited and are not trusted again yet: what a person trusted of it last goes on, as long as that
// very content is still trusted. Its servers are each a question of their own and not kept.

import { assemble } from './assemble.ts'
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

/** An agent that is switched off needs nobody's trust to be: what may be acted on, without those that are off as written now. */
export function withoutThoseOff(active: Snapshot, now: Snapshot): Snapshot {
  const { agents } = active.config
  const off = Object.keys(agents).filter((name) => now.config.agents[name]?.enabled === false)
  if (off.every((name) => agents[name]?.enabled === false)) return active
  const isOn = (id: string) => !off.some((name) => id === name || id.startsWith(`${name}/`))
  const left = Object.fromEntries(Object.entries(agents).filter(([name]) => isOn(name)))
  return {
    ...active,
    config: { ...active.config, agents: left },
    assignments: active.assignments.filter(({ id }) => isOn(id)),
  }
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
