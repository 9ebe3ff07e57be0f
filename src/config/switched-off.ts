// What files switch off or remove, also while something else in them keeps them from being in force: that takes from somebody,
// gives nothing to anybody, and needs nobody's trust where the file had a say before.

import { nearest } from '../base/suggest.ts'
import type { Layer } from './layer.ts'
import { errorsOf } from './load.ts'
import { pathText } from './problem.ts'
import type { Server } from './schema-server.ts'
import type { ServerEntry, Snapshot } from './snapshot.ts'
import { subtree, type Tree } from './tree.ts'
import type { Subject } from './trust.ts'

/** What is written now, and what of it is trusted. */
interface Written {
  readonly snapshot: Snapshot
  readonly subjects: readonly Subject[]
}

/** What may be acted on, without what is switched off as it is written now, and without what a person has removed there. */
export function withoutThoseOff(active: Snapshot, written: Written): Snapshot {
  const { config, servers } = active
  const pages = pagesOf(written.snapshot)
  const settings = pages.filter(({ source }) => source.trusted || hadSettings(active, source.file))
  const isOff = (path: readonly string[]) =>
    said(settings, [...path, 'enabled']) === false || isRemoved(path, active, written, settings)
  const agents = namesWhere(config.agents, ({ enabled }, name) => enabled && isOff(['agents', name]))
  const workers = Object.entries(config.agents).flatMap(([agent, { workers: own }]) =>
    namesWhere(own, ({ enabled }, name) => enabled && isOff(['agents', agent, 'workers', name])).map(
      (name) => `${agent}/${name}`,
    ),
  )
  const gone = new Set([...agents, ...workers])
  const still = new Set(
    [...servers.values()]
      .filter((entry) => isServerOff(entry, pages, written.snapshot))
      .map(({ name }) => name),
  )
  const isAllOff = config.enabled && isWholeOff(pages, new Set(settings))
  if (gone.size === 0 && still.size === 0 && !isAllOff) return active
  return {
    ...active,
    config: {
      ...config,
      enabled: config.enabled && !isAllOff,
      agents: agentsBut(gone, config.agents),
      servers: Object.fromEntries(
        Object.entries(config.servers).map(([name, server]) => [
          name,
          still.has(name) ? disabled(server) : server,
        ]),
      ),
    },
    servers: new Map(
      [...servers].map(([name, entry]) => [
        name,
        still.has(name) && entry.definition ? { ...entry, definition: disabled(entry.definition) } : entry,
      ]),
    ),
    assignments: active.assignments
      .filter(({ id, agent }) => !gone.has(id) && !gone.has(agent))
      .map((it) => (isAllOff ? { ...it, servers: [] } : it)),
    starts: new Set(isAllOff ? [] : [...active.starts].filter((name) => !still.has(name))),
  }
}

// --- internal ---

/** Lowest first, as they are merged. */
function pagesOf({ layers }: Snapshot): readonly Layer[] {
  const isManaged = ({ source }: Layer) => source.scope === 'managed'
  return [...layers.filter((layer) => !isManaged(layer)), ...layers.filter(isManaged)]
}

/** All that a file says, also where an entry of it is left out for something wrong in it. */
function treesOf({ tree, leftOut }: Layer): readonly Tree[] {
  return [tree, ...leftOut]
}

function hadSettings(active: Snapshot, file: string): boolean {
  return active.layers.some(
    ({ source, tree }) =>
      source.file === file &&
      tree.kind === 'map' &&
      [...tree.entries.keys()].some((key) => key !== 'servers' && key !== 'version'),
  )
}

/** What the highest of them says, where one says it. */
function said(pages: readonly Layer[], path: readonly string[]): unknown {
  let value: unknown
  for (const page of pages)
    for (const tree of treesOf(page)) {
      const found = subtree(tree, path)
      if (found?.kind === 'value') value = found.value
    }
  return value
}

function holds(page: Layer, path: readonly string[]): boolean {
  return treesOf(page).some((tree) => subtree(tree, path) !== undefined)
}

/**
 * Whether it is in none of the files any more in which it stood, each of which is trusted as it is. A file that is gone, empty
 * or cannot be read removes nobody, and neither does one in which its section is called otherwise by mistake.
 */
function isRemoved(
  path: readonly string[],
  active: Snapshot,
  { snapshot, subjects }: Written,
  settings: readonly Layer[],
): boolean {
  const files = new Set(active.layers.filter((layer) => holds(layer, path)).map(({ source }) => source.file))
  if (files.size === 0 || settings.some((page) => holds(page, path))) return false
  return [...files].every((file) => {
    const page = settings.find(({ source }) => source.file === file)
    if (page === undefined || !isLeftOut(path, page, snapshot)) return false
    const subject = subjects.find((it) => it.kind === 'settings' && it.file === file)
    return page.source.trusted || subject === undefined || subject.state === 'trusted'
  })
}

/** Whether a file says something, and not this: neither is its section there, nor something that was meant to be it. */
function isLeftOut(path: readonly string[], page: Layer, snapshot: Snapshot): boolean {
  if (page.tree.kind !== 'map' || page.tree.entries.size === 0) return false
  const isMap = (it: readonly string[]) => treesOf(page).some((tree) => subtree(tree, it)?.kind === 'map')
  const section = path.slice(0, -1)
  const depth = section.findIndex((_, at) => !isMap(section.slice(0, at + 1)))
  if (depth < 0) return true
  const missing = section[depth] ?? ''
  const above = depth === 0 ? '' : `${pathText(section.slice(0, depth))}.`
  return errorsOf(snapshot).every(({ file, path: place = '' }) => {
    if (file !== page.source.file || !place.startsWith(above)) return true
    const [key = ''] = place.slice(above.length).split(/[.[]/)
    return nearest(key, [missing]) === undefined
  })
}

function isServerOff(
  { name, definition, tree, sources }: ServerEntry,
  pages: readonly Layer[],
  snapshot: Snapshot,
): boolean {
  if (!definition?.enabled) return false
  const path = ['servers', name]
  const own = pages.filter(({ source }) => source.trusted || sources.some(({ file }) => file === source.file))
  if (said(own, [...path, 'enabled']) === false) return true
  // Of the catalog alone: it goes with the list that names it.
  if (tree === undefined || own.some((page) => page.broken.has(name) || holds(page, path))) return false
  return sources.every(({ file }) =>
    own.some((page) => page.source.file === file && isLeftOut(path, page, snapshot)),
  )
}

/** A file may always switch everything off; on, only where it has a say. */
function isWholeOff(pages: readonly Layer[], settings: ReadonlySet<Layer>): boolean {
  let isOff = false
  for (const page of pages) {
    const enabled = said([page], ['enabled'])
    if (enabled === false) isOff = true
    else if (enabled === true && settings.has(page)) isOff = false
  }
  return isOff
}

function agentsBut(
  gone: ReadonlySet<string>,
  agents: Snapshot['config']['agents'],
): Snapshot['config']['agents'] {
  return Object.fromEntries(
    Object.entries(agents)
      .filter(([name]) => !gone.has(name))
      .map(([name, agent]) => {
        const workers = Object.entries(agent.workers).filter(([worker]) => !gone.has(`${name}/${worker}`))
        return [name, { ...agent, workers: Object.fromEntries(workers) }]
      }),
  )
}

function namesWhere<T>(
  things: Readonly<Record<string, T>>,
  is: (thing: T, name: string) => boolean,
): string[] {
  return Object.entries(things).flatMap(([name, thing]) => (is(thing, name) ? [name] : []))
}

function disabled(server: Server): Server {
  return { ...server, enabled: false }
}
