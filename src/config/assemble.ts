// Layers become one configuration: merged, completed, and with every server traced to its files.

import { CATALOG, catalogEntry } from './catalog.ts'
import type { Path } from './edit/change.ts'
import { problemAt } from './issues.ts'
import type { Layer, Source } from './layer.ts'
import { mergeTrees } from './merge.ts'
import { type Problem, sortProblems } from './problem.ts'
import { assignments, startsByItself } from './resolve.ts'
import { type Config, settingsSchema } from './schema.ts'
import { type Agent, agentSchema } from './schema-agent.ts'
import { serverSchema } from './schema-server.ts'
import { sharedTokens } from './shared-tokens.ts'
import type { ServerEntry, Snapshot } from './snapshot.ts'
import { leaves, type Place, plain, subtree, type Tree, without, withoutAll } from './tree.ts'
import { checkComplete, checkNames } from './validate.ts'

type Found = Pick<
  Snapshot,
  'root' | 'env' | 'places' | 'secrets' | 'looked' | 'layers' | 'environment' | 'raisedBy'
>

/** Puts the layers, lowest first, together; the environment goes over all but the managed one. */
export function assemble(found: Found, read: readonly Problem[]): Snapshot {
  const managed = (layer: Layer) => layer.source.scope === 'managed'
  const trees = [
    ...found.layers.filter((layer) => !managed(layer)).map((layer) => layer.tree),
    ...(found.environment ? [found.environment] : []),
    ...found.layers.filter(managed).map((layer) => layer.tree),
  ]
  const empty: Tree = { kind: 'map', place: NOWHERE, entries: new Map() }
  const broken = brokenAgents(found.layers)
  const merged = withoutAll(trees.reduce(mergeTrees, empty), 'agents', broken)
  const said = new Set(read)
  const problems = [...read]
  const settings = settingsSchema.parse(plain(without(without(merged, ['servers']), ['agents'])))
  const entries = new Map<string, ServerEntry>()
  for (const name of serverNames(merged, found.layers)) {
    const entry = serverEntry(name, merged, found.layers)
    // Problems of a layer were said when it was read.
    for (const problem of entry.problems) if (!said.has(problem)) problems.push(problem)
    entries.set(name, entry)
  }
  const composio = composioEntry(settings, merged, found.layers)
  if (composio && !entries.has(composio.name)) {
    entries.set(composio.name, composio)
    problems.push(...composio.problems)
  }
  const agents = agentsOf(merged)
  const leftOut = found.layers.flatMap((layer) => layer.leftOut)
  for (const problem of checkNames(merged, leftOut, new Set(entries.keys()))) problems.push(problem)
  const ground = { env: found.env, root: found.root, home: found.places.home, secrets: found.secrets }
  problems.push(...sharedTokens(merged, agents, ground))
  const configured = new Set(entries.keys())
  const known = new Set([...configured, ...CATALOG.map((entry) => entry.name)])
  const who = assignments({ ...settings, agents }, known, configured)
  for (const [name, mention] of mentions(merged))
    if (!entries.has(name)) addCatalogEntry(name, mention, found.layers, entries)
  const servers = Object.fromEntries(
    [...entries].flatMap(([name, { definition }]) => (definition ? [[name, definition]] : [])),
  )
  const config: Config = { ...settings, servers, agents }
  return {
    ...found,
    tree: merged,
    config,
    servers: entries,
    assignments: who,
    // Where the only agents are left out, what was theirs does not become everybody's.
    starts: who.length === 0 && broken.size > 0 ? new Set() : startsByItself(config, who),
    problems: sortProblems(problems),
    waiting: new Map(),
  }
}

// --- internal ---

const NOWHERE: Place = {
  origin: { file: 'defaults', scope: 'user', position: () => undefined },
  path: [],
}
const CATALOG_PLACE: Place = {
  origin: { file: 'catalog', scope: 'catalog', position: () => undefined },
  path: [],
}

function serverNames(merged: Tree, layers: readonly Layer[]): Set<string> {
  const tree = subtree(merged, ['servers'])
  const names = new Set(tree?.kind === 'map' ? tree.entries.keys() : [])
  for (const layer of layers) for (const name of layer.broken.keys()) names.add(name)
  return names
}

function serverEntry(name: string, merged: Tree, layers: readonly Layer[]): ServerEntry {
  const path = ['servers', name]
  const holders = layers.filter((layer) => layer.broken.has(name) || subtree(layer.tree, path) !== undefined)
  const broken = brokenHolder(name, holders)
  const tree = subtree(merged, path)
  const place: Place =
    broken === undefined && tree
      ? tree.place
      : { origin: broken?.source ?? NOWHERE.origin, path: brokenPath(broken, name) }
  const problems = broken?.broken.get(name) ?? checkComplete(merged, name)
  // What one file alone says was read by the schema already.
  const [only] = holders.length === 1 ? holders : []
  const read = () => only?.parsed.get(name) ?? serverSchema.parse(tree && plain(tree))
  const definition = problems.length === 0 && tree ? read() : undefined
  const definedAt = Math.max(
    holders.findIndex((layer) => layer.source === place.origin),
    0,
  )
  return {
    name,
    scope: place.origin.scope,
    place,
    mention: place,
    definition,
    tree,
    sources: holders.slice(definedAt).map((layer) => layer.source),
    hides: holders.slice(0, definedAt).map((layer) => ({
      origin: layer.source,
      path: subtree(layer.tree, path)?.place.path ?? path,
    })),
    catalog: catalogEntry(name),
    problems,
  }
}

/** The broken entry that is in force: it never lets the one it hides run in its stead. */
function brokenHolder(name: string, holders: readonly Layer[]): Layer | undefined {
  for (const layer of holders.toReversed()) {
    if (layer.broken.has(name)) return layer
    const entry = subtree(layer.tree, ['servers', name])
    if (entry?.kind === 'map' && (entry.entries.has('command') || entry.entries.has('url'))) return undefined
  }
  return undefined
}

/** Where a broken entry stands in its file; its first problem knows, in whichever format that is. */
function brokenPath(layer: Layer | undefined, name: string): Path {
  return layer?.brokenPaths.get(name) ?? ['servers', name]
}

/** Agents with problems in a file that is in force: what a lower file says of them does not hold without what this one says. */
function brokenAgents(layers: readonly Layer[]): Set<string> {
  const trees = layers.flatMap(({ source, leftOut }) => (source.trusted ? leftOut : []))
  return new Set(
    trees.flatMap((tree) => {
      const agents = subtree(tree, ['agents'])
      return agents?.kind === 'map' ? [...agents.entries.keys()] : []
    }),
  )
}

function agentsOf(merged: Tree): Record<string, Agent> {
  const tree = subtree(merged, ['agents'])
  if (tree?.kind !== 'map') return {}
  return Object.fromEntries([...tree.entries].map(([name, agent]) => [name, agentSchema.parse(plain(agent))]))
}

/** Every name that an agent's, a worker's or the default list holds, with the place of its first mention. */
function mentions(merged: Tree): Map<string, Place> {
  const found = new Map<string, Place>()
  for (const section of ['agents', 'defaults']) {
    const tree = subtree(merged, [section])
    for (const { path, tree: list } of tree ? leaves(tree) : []) {
      if (path.at(-1) !== 'servers' || list.kind !== 'list') continue
      for (const item of list.items)
        if (item.kind === 'value' && !found.has(String(item.value))) found.set(String(item.value), item.place)
    }
  }
  return found
}

/** A catalog server that a list names is there without an entry of its own. */
function addCatalogEntry(
  name: string,
  mention: Place,
  layers: readonly Layer[],
  entries: Map<string, ServerEntry>,
): void {
  const catalog = catalogEntry(name)
  if (catalog === undefined) return
  const { command, args, env, description, category } = catalog
  const definition = serverSchema.parse({ command, args: [...args], env, description, category })
  entries.set(name, {
    name,
    scope: 'catalog',
    place: CATALOG_PLACE,
    mention,
    definition,
    tree: undefined,
    sources: sourcesAt(mention, layers),
    hides: [],
    catalog,
    problems: [],
  })
}

/** Composio is one remote server, switched on by its section. */
function composioEntry(
  { composio: { enabled, apiKey, url } }: Pick<Config, 'composio'>,
  merged: Tree,
  layers: readonly Layer[],
): ServerEntry | undefined {
  const tree = subtree(merged, ['composio'])
  if (!enabled || !tree) return undefined
  const problems =
    apiKey === ''
      ? [
          problemAt(merged, ['composio', 'apiKey'], 'is empty, and composio is enabled', {
            server: 'composio',
          }),
        ]
      : []
  const definition = serverSchema.parse({
    url,
    headers: { 'x-consumer-api-key': apiKey },
    description: 'Composio -- many services behind one server',
    category: 'gateway',
  })
  return {
    name: 'composio',
    scope: tree.place.origin.scope,
    place: tree.place,
    mention: tree.place,
    definition: problems.length === 0 ? definition : undefined,
    tree,
    // Every file that says something about it has a part in it.
    sources: layers.filter((layer) => subtree(layer.tree, ['composio'])).map((layer) => layer.source),
    hides: [],
    catalog: undefined,
    problems,
  }
}

function sourcesAt(place: Place, layers: readonly Layer[]): Source[] {
  return layers.map((layer) => layer.source).filter((source) => source === place.origin)
}
