// What may be acted on: the configuration without anything a person has not accepted. Whatever starts, listens, lists or
// calls uses this; what is merely shown uses the whole.

import { assemble } from './assemble.ts'
import type { Layer } from './layer.ts'
import type { Problem } from './problem.ts'
import type { ServerEntry, Snapshot } from './snapshot.ts'
import { placeOf, type Tree } from './tree.ts'
import { isTrusted, type Subject } from './trust.ts'

/**
 * The snapshot as it may be acted on. Untrusted settings are gone, except that a file may always switch everything off;
 * an untrusted server is there without a definition, and the one it hides does not come back in its stead.
 */
export function effective(snapshot: Snapshot, subjects: readonly Subject[]): Snapshot {
  // Without an answer there is no trust, also when the answers could not be read.
  const accepted = new Set(
    subjects.filter((it) => it.kind === 'settings' && it.state === 'trusted').map((it) => it.file),
  )
  const layers = snapshot.layers.map((layer) =>
    layer.source.trusted || accepted.has(layer.source.file) || !hasSettings(layer)
      ? layer
      : { ...layer, tree: onlyServers(layer.tree) },
  )
  const made = layers.some((layer, index) => layer !== snapshot.layers[index])
    ? assemble({ ...snapshot, layers }, [])
    : snapshot
  const servers = new Map(
    [...made.servers].map(([name, entry]) =>
      isTrusted(entry, subjects)
        ? [name, entry]
        : [name, { ...entry, definition: undefined, problems: whyNot(entry) }],
    ),
  )
  const blocked = (name: string) => servers.get(name)?.definition === undefined
  const definitions = Object.fromEntries(
    Object.entries(made.config.servers).filter(([name]) => !blocked(name)),
  )
  return {
    ...made,
    servers,
    config: { ...made.config, servers: definitions },
    starts: new Set([...made.starts].filter((name) => !blocked(name))),
    problems: snapshot.problems,
    waiting: waitingAgents(snapshot, made),
  }
}

// --- internal ---

function hasSettings({ tree }: Layer): boolean {
  return tree.kind === 'map' && [...tree.entries.keys()].some((key) => key !== 'servers' && key !== 'version')
}

function onlyServers(tree: Tree): Tree {
  if (tree.kind !== 'map') return tree
  const kept = [...tree.entries].filter(
    ([key, value]) =>
      key === 'servers' || (key === 'enabled' && value.kind === 'value' && value.value === false),
  )
  return { ...tree, entries: new Map(kept) }
}

function waitingAgents(whole: Snapshot, made: Snapshot): Map<string, string> {
  const acting = new Set(made.assignments.map(({ id }) => id))
  return new Map(
    whole.assignments
      .filter(({ id }) => !acting.has(id))
      .map(({ id, agent, worker }) => {
        const path = worker === undefined ? ['agents', agent] : ['agents', agent, 'workers', worker]
        return [id, placeOf(whole.tree, path).origin.file]
      }),
  )
}

/** One that is broken cannot be trusted as it is, so that is not what it waits for. */
function whyNot({ name, problems }: ServerEntry): readonly Problem[] {
  return problems.length > 0 ? problems : [notTrusted(name)]
}

function notTrusted(name: string): Problem {
  return {
    severity: 'warning',
    code: 'NOT_TRUSTED',
    message: `${name} is not trusted yet`,
    hint: `run: busbar trust ${name}`,
    server: name,
  }
}
