// A file whose settings were edited and are not trusted again yet: what a person trusted of it last goes on, as long as that
// very content is still trusted. Its servers are each a question of their own and not kept.

import { assemble } from './assemble.ts'
import type { Layer } from './layer.ts'
import { errorsOf } from './load.ts'
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
 * The subjects of what is in force while newer files are refused. Whoever trusts what is written there takes nothing from what
 * they had trusted before, which stays in force; whoever trusts the file no more does.
 */
export function stillTrusted(
  now: readonly Subject[],
  before: readonly Subject[],
  written: readonly Subject[],
): readonly Subject[] {
  const isTrusted = (subjects: readonly Subject[], key: string) =>
    subjects.some((it) => it.key === key && it.state === 'trusted')
  return now.map((subject) =>
    subject.state === 'changed' && isTrusted(before, subject.key) && isTrusted(written, subject.key)
      ? { ...subject, state: 'trusted', changed: [] }
      : subject,
  )
}

/**
 * What may be acted on, without the agents that are to go as it is written now: one that is switched off needs nobody's trust
 * to be, and none of what else is wrong there keeps it on. One that is not there any more is gone when a person trusts that.
 */
export function withoutThoseOff(active: Snapshot, { snapshot: now, subjects }: Judged): Snapshot {
  const { agents } = active.config
  const isWhole = subjects.every(({ kind, state }) => kind !== 'settings' || state === 'trusted')
  const isOff = (name: string) =>
    now.config.agents[name] === undefined ? isWhole && isRemoved(name, now) : isDisabled(now, name)
  const off = Object.keys(agents).filter(isOff)
  if (off.every((name) => isDisabled(active, name))) return active
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

function isDisabled({ config }: Snapshot, name: string): boolean {
  return config.agents[name]?.enabled === false
}

/** Not there, and not because its entry, or the file in which it may stand, cannot be read. */
function isRemoved(name: string, now: Snapshot): boolean {
  const own = `agents.${name}`
  return errorsOf(now).every(
    ({ agent, path = 'agents' }) =>
      agent !== name && path !== 'agents' && path !== own && !path.startsWith(`${own}.`),
  )
}
