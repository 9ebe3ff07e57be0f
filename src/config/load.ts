// The whole configuration, read once: found, understood, checked, merged. Whatever is wrong is in `problems`; what is
// right is in `config`. Past this file everything is typed and whole.

import { type Environment, type Places, placesOf } from '../base/places.ts'
import { CATALOG, type CatalogEntry, catalogEntry } from './catalog.ts'
import { environmentTree, parseServerFlags } from './flags.ts'
import { type Layer, readLayers, type Source, textLayer } from './layer.ts'
import { mergeTrees } from './merge.ts'
import type { Problem } from './problem.ts'
import { type Assignment, assignments, startsByItself } from './resolve.ts'
import { type Config, settingsSchema } from './schema.ts'
import { type Agent, agentSchema } from './schema-agent.ts'
import { type Server, serverSchema } from './schema-server.ts'
import { candidates, projectRoot, rootOf } from './sources.ts'
import { type Place, plain, type Scope, subtree, type Tree, without } from './tree.ts'
import { checkComplete, checkNames } from './validate.ts'

export interface LoadOptions {
  readonly cwd?: string
  readonly env?: Environment
  readonly places?: Places
  /** `--config`: this file instead of the user's, the project's and the local one. */
  readonly config?: string | undefined
  /** `--mcp-server` flags. */
  readonly servers?: readonly string[] | undefined
}

/** A file that was looked for. */
export interface Looked {
  readonly scope: Scope
  readonly file: string
  readonly state: 'read' | 'absent' | 'broken'
  readonly format?: string
}

/** One server by name, with where it came from. */
export interface ServerEntry {
  readonly name: string
  readonly scope: Scope
  /** Where it is defined. */
  readonly place: Place
  /** As written, defaults applied, variables not expanded; undefined when it has problems. */
  readonly definition: Server | undefined
  /** The parts a person wrote, with their places; undefined for one that only stands in the catalog. */
  readonly tree: Tree | undefined
  /** Files that had a part in it. */
  readonly sources: readonly Source[]
  /** Definitions of the same name in lower layers that this one hides. */
  readonly hides: readonly Place[]
  readonly catalog: CatalogEntry | undefined
  readonly problems: readonly Problem[]
}

export interface Snapshot {
  /** The project's folder. */
  readonly root: string
  readonly env: Environment
  readonly places: Places
  readonly looked: readonly Looked[]
  readonly layers: readonly Layer[]
  readonly tree: Tree
  readonly config: Config
  readonly servers: ReadonlyMap<string, ServerEntry>
  readonly assignments: readonly Assignment[]
  /** Names of the servers that start by themselves. */
  readonly starts: ReadonlySet<string>
  readonly problems: readonly Problem[]
}

/** Reads everything. Only a mistake on the command line itself is thrown. */
export async function loadConfig(options: LoadOptions = {}): Promise<Snapshot> {
  const cwd = options.cwd ?? process.cwd()
  const env = options.env ?? process.env
  const places = options.places ?? placesOf(env)
  const found = candidates({ cwd, env, places, config: options.config })
  const asked = options.config === undefined ? undefined : found[0]
  const root = asked ? rootOf(asked.file) : projectRoot(cwd)
  const context = { root, home: places.home }
  const problems: Problem[] = []
  const looked: Looked[] = []
  const files: Layer[] = []
  const managed: Layer[] = []
  for (const candidate of found) {
    const report = await readLayers(candidate, context)
    problems.push(...report.problems)
    const format = report.layers.at(-1)?.source.format.title
    looked.push({
      scope: candidate.scope,
      file: candidate.file,
      state: report.state,
      ...(format ? { format } : {}),
    })
    ;(candidate.scope === 'managed' ? managed : files).push(...report.layers)
  }
  const flags = flagLayer(options.servers ?? [], context)
  problems.push(...flags.problems)
  const environment = environmentTree(env)
  problems.push(...environment.problems)
  const layers = [...files, ...flags.layers, ...managed]
  const trees = [
    ...[...files, ...flags.layers].map((layer) => layer.tree),
    ...(environment.tree ? [environment.tree] : []),
    ...managed.map((layer) => layer.tree),
  ]
  return assemble({ root, env, places, looked, layers }, trees, problems)
}

/** The errors of a snapshot; warnings are only said. */
export function errorsOf(snapshot: Pick<Snapshot, 'problems'>): Problem[] {
  return snapshot.problems.filter((problem) => problem.severity === 'error')
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

function flagLayer(
  flags: readonly string[],
  context: { root: string; home: string },
): { layers: Layer[]; problems: readonly Problem[] } {
  if (flags.length === 0) return { layers: [], problems: [] }
  const text = JSON.stringify({ servers: parseServerFlags(flags) })
  const { layer, problems } = textLayer('--mcp-server', 'flag', text, context)
  return { layers: layer ? [layer] : [], problems }
}

type Found = Pick<Snapshot, 'root' | 'env' | 'places' | 'looked' | 'layers'>

function assemble(found: Found, trees: readonly Tree[], read: readonly Problem[]): Snapshot {
  const empty: Tree = { kind: 'map', place: NOWHERE, entries: new Map() }
  const merged = trees.reduce(mergeTrees, empty)
  const problems = [...read]
  const settings = settingsSchema.parse(plain(without(without(merged, ['servers']), ['agents'])))
  const entries = new Map<string, ServerEntry>()
  for (const name of serverNames(merged, found.layers)) {
    const entry = serverEntry(name, merged, found.layers)
    // Problems of a layer were said when it was read.
    problems.push(...entry.problems.filter((problem) => !read.includes(problem)))
    entries.set(name, entry)
  }
  addComposio(settings, merged, entries)
  const agents = agentsOf(merged)
  problems.push(...checkNames(merged, new Set(entries.keys())))
  const configured = new Set(entries.keys())
  const known = new Set([...configured, ...CATALOG.map((entry) => entry.name)])
  const who = assignments({ ...settings, agents }, known, configured)
  for (const name of mentioned(agents, settings.defaults.servers))
    if (!entries.has(name)) addCatalogEntry(name, entries)
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
    starts: startsByItself(config, who),
    problems,
  }
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
  const top = holders.at(-1)
  const brokenTop = top?.broken.get(name)
  const tree = subtree(merged, path)
  const place: Place =
    brokenTop === undefined && tree
      ? tree.place
      : { origin: top?.source ?? NOWHERE.origin, path: brokenTop ? path : [] }
  // A broken entry never lets the one it hides run in its stead.
  const problems = brokenTop ?? checkComplete(merged, name)
  const definition = problems.length === 0 && tree ? serverSchema.parse(plain(tree)) : undefined
  const definedAt = holders.findIndex((layer) => layer.source === place.origin)
  return {
    name,
    scope: place.origin.scope,
    place,
    definition,
    tree,
    sources: holders.slice(Math.max(definedAt, 0)).map((layer) => layer.source),
    hides: holders.slice(0, Math.max(definedAt, 0)).map((layer) => ({
      origin: layer.source,
      path: subtree(layer.tree, path)?.place.path ?? path,
    })),
    catalog: catalogEntry(name),
    problems,
  }
}

function agentsOf(merged: Tree): Record<string, Agent> {
  const tree = subtree(merged, ['agents'])
  if (tree?.kind !== 'map') return {}
  return Object.fromEntries([...tree.entries].map(([name, agent]) => [name, agentSchema.parse(plain(agent))]))
}

function mentioned(agents: Readonly<Record<string, Agent>>, defaults: readonly string[]): Set<string> {
  const lists = Object.values(agents).flatMap((agent) => [agent, ...Object.values(agent.workers)])
  return new Set([...defaults, ...lists.flatMap((holder) => holder.servers)])
}

/** A catalog server that an agent's list names is there without an entry of its own. */
function addCatalogEntry(name: string, entries: Map<string, ServerEntry>): void {
  const catalog = catalogEntry(name)
  if (catalog === undefined) return
  const { command, args, env, description, category } = catalog
  const definition = serverSchema.parse({ command, args: [...args], env, description, category })
  entries.set(name, {
    name,
    scope: 'catalog',
    place: CATALOG_PLACE,
    definition,
    tree: undefined,
    sources: [],
    hides: [],
    catalog,
    problems: [],
  })
}

/** Composio is one remote server, switched on by its section. */
function addComposio(
  settings: Pick<Config, 'composio'>,
  merged: Tree,
  entries: Map<string, ServerEntry>,
): void {
  const { enabled, apiKey, url } = settings.composio
  const tree = subtree(merged, ['composio'])
  if (!enabled || !tree || entries.has('composio')) return
  const definition = serverSchema.parse({
    url,
    headers: { 'x-consumer-api-key': apiKey },
    description: 'Composio -- many services behind one server',
    category: 'gateway',
  })
  const problems: Problem[] =
    apiKey === ''
      ? [{ severity: 'error', message: 'composio is enabled but has no api_key', server: 'composio' }]
      : []
  entries.set('composio', {
    name: 'composio',
    scope: tree.place.origin.scope,
    place: tree.place,
    definition: problems.length === 0 ? definition : undefined,
    tree,
    sources: [],
    hides: [],
    catalog: undefined,
    problems,
  })
}
