// The lists of several servers as one, pure: nothing stands in it twice, and every name and URI in it leads back to where
// it came from.

import { isRecord } from '../base/record.ts'
import { type Effort, UriTemplate } from '../base/uri-template.ts'
import type { Part } from './kept-list.ts'
import type { Item } from './request.ts'

/** Something that a server calls by a name or a URI of its own. */
export interface Origin {
  readonly server: string
  readonly own: string
}

export interface Merged {
  readonly items: readonly Item[]
  /** By the name or URI under which it is listed. */
  readonly origins: ReadonlyMap<string, Origin>
}

/** The same object as long as nothing in it changed. */
export interface Listing {
  readonly items: readonly object[]
  /** Servers that did not answer in time or failed. What they listed the last time is in the list. */
  readonly leftOut: readonly { readonly server: string; readonly reason: string }[]
}

/** Prompts under the names that `nameOf` gives them, in the order of these. One without a name cannot be asked for. */
export function mergePrompts(parts: readonly Part[], nameOf: (origin: Origin) => string): Merged {
  const listed = new Map<string, { item: Item; origin: Origin }>()
  for (const { server, items } of parts)
    for (const item of items) {
      const own = item['name']
      if (typeof own !== 'string' || own === '') continue
      const name = nameOf({ server, own })
      if (listed.has(name)) continue
      const _meta = metaOf(item, { [SERVER]: server, 'busbar/prompt': own })
      listed.set(name, { item: { ...item, name, _meta }, origin: { server, own } })
    }
  const sorted = [...listed].sort(([one], [other]) => (one < other ? -1 : 1))
  return {
    items: sorted.map(([, { item }]) => item),
    origins: new Map(sorted.map(([name, { origin }]) => [name, origin])),
  }
}

/** Resources, or templates of such. Whoever comes first keeps a URI as it is; for others it says whose it is. */
export function mergeUris(parts: readonly Part[], key: 'uri' | 'uriTemplate'): Merged {
  const items: Item[] = []
  const origins = new Map<string, Origin>()
  const keepers = new Map<string, string>()
  for (const { server, items: given } of parts)
    for (const item of given) {
      const own = item[key]
      if (typeof own !== 'string' || own === '') continue
      const uri = isKept(keepers, key, server, own) ? own : ownedUri(server, own)
      if (origins.has(uri)) continue
      origins.set(uri, { server, own })
      // A list in which one thing has no name would be refused as a whole by most clients.
      const name = typeof item['name'] === 'string' ? item['name'] : own
      const _meta = metaOf(item, { [SERVER]: server, ...(uri === own ? {} : { 'busbar/uri': own }) })
      items.push({ ...item, [key]: uri, name, _meta })
    }
  return { items, origins }
}

/** Back from `busbar:SERVER:URI`; undefined for every other URI. `server` is undefined when it cannot be read. */
export function originOf(uri: string): { server: string | undefined; own: string } | undefined {
  if (!isOwned(uri)) return undefined
  const end = uri.indexOf(':', OWNED.length)
  if (end < 0) return { server: undefined, own: '' }
  const own = uri.slice(end + 1)
  try {
    return { server: decodeURIComponent(uri.slice(OWNED.length, end)), own }
  } catch {
    return { server: undefined, own }
  }
}

/** `busbar:SERVER:URI`, also of a template, which still is one. */
export function ownedUri(server: string, own: string): string {
  return `${OWNED}${encodeURIComponent(server.replace(LONE, '\ufffd'))}:${own}`
}

/** The parts of one list put together. */
export class Combined {
  readonly merged: Merged
  readonly listing: Listing
  readonly #parts: readonly Part[]
  #templates: Templates | undefined

  constructor(parts: readonly Part[], merged: Merged) {
    this.#parts = parts
    this.merged = merged
    this.listing = {
      items: merged.items,
      leftOut: parts.flatMap(({ server, reason }) => (reason === undefined ? [] : [{ server, reason }])),
    }
  }

  /** Whether it was made from these. */
  isOf(parts: readonly Part[]): boolean {
    return (
      parts.length === this.#parts.length &&
      parts.every(({ server, items, reason }, index) => {
        const own = this.#parts[index]
        return own?.server === server && own.items === items && own.reason === reason
      })
    )
  }

  /** For templates: the server of one that a URI fits. */
  serverOf(uri: string): string | undefined {
    this.#templates ??= new Templates(this.merged)
    return this.#templates.serverOf(uri)
  }
}

// --- internal ---

const SERVER = 'busbar/server'
const OWNED = 'busbar:'
/** Steps for the templates of one server, some milliseconds. */
const EFFORT = 2_000_000
/** Half a pair; what cannot be encoded. */
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

function isOwned(uri: string): boolean {
  return uri.slice(0, OWNED.length).toLowerCase() === OWNED
}

/** Whether a URI can stay as it is. One that looks like ours would lead to another server. */
function isKept(
  keepers: Map<string, string>,
  key: 'uri' | 'uriTemplate',
  server: string,
  own: string,
): boolean {
  if (isOwned(own)) return false
  // Templates that expand to the same URIs are the same, whatever they call their variables.
  const identity = key === 'uri' ? own : (UriTemplate.read(own)?.shape ?? own)
  const keeper = keepers.get(identity) ?? server
  keepers.set(identity, keeper)
  return keeper === server
}

function metaOf({ _meta }: Item, ours: Readonly<Record<string, string>>): Record<string, unknown> {
  return { ...(isRecord(_meta) ? _meta : {}), ...ours }
}

/** Templates in the form in which URIs are held against them. */
class Templates {
  readonly #byServer = new Map<string, UriTemplate[]>()

  constructor({ origins }: Merged) {
    for (const { server, own } of origins.values()) {
      const template = UriTemplate.read(own)
      if (template === undefined) continue
      const all = this.#byServer.get(server) ?? []
      all.push(template)
      this.#byServer.set(server, all)
    }
  }

  /** The server whose template a URI fits; of several, the one that says most of it literally. */
  serverOf(uri: string): string | undefined {
    let best: { server: string; literals: number } | undefined
    for (const [server, templates] of this.#byServer) {
      // For each server its own, so that none can use up that of the others.
      const effort: Effort = { left: EFFORT }
      for (const template of templates)
        if (template.literals > (best?.literals ?? -1) && template.fits(uri, effort))
          best = { server, literals: template.literals }
    }
    return best?.server
  }
}
