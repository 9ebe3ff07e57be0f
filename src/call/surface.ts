// What one agent sees of all its servers as if they were one: tools and prompts by names that say whose they are,
// resources by their URIs. The way back from each leads to a server; whether it may be used is decided on the call path.

import type { Places } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import type { Stop } from '../base/stop.ts'
import type { Connection } from '../connect/connection.ts'
import type { ManagerEvent } from '../connect/manager.ts'
import { pause } from '../connect/pause.ts'
import { type Actor, agentOf } from '../policy/access.ts'
import { pairOf } from '../registry/names.ts'
import type { Era } from '../wire/era.ts'
import type { ReplyMessage } from '../wire/message.ts'
import { type Target, verdictOn } from './admit.ts'
import type { CallContext } from './context.ts'
import { searchHint } from './find-tools.ts'
import { LISTS, type ListKind, type Part } from './kept-list.ts'
import { mentionsUri, withShownUris } from './shown-uris.ts'
import { joinInstructions } from './surface-instructions.ts'
import {
  Combined,
  type Listing,
  type Merged,
  mergePrompts,
  mergeUris,
  originOf,
  ownedUri,
} from './surface-items.ts'
import { FRESH, type ListChange, ServerLists } from './surface-lists.ts'
import { taskCapabilities } from './surface-tasks.ts'
import { type ToolsPage, toolsPage } from './surface-tools.ts'
import { isForAll, type View } from './view.ts'

export class Surfaces {
  readonly #context: CallContext
  readonly #lists: ServerLists
  /** Whatever may change a surface brings a new view. */
  readonly #kept = new WeakMap<View, Surface>()
  /** What each was listed when it was last told that this changed, or first asked. */
  readonly #listed = new Map<string, Buffer>()

  /** `tell`: hears of lists that changed without their server saying so. */
  constructor(context: CallContext, places: Places, tell: (change: ListChange) => void) {
    this.#context = context
    this.#lists = new ServerLists(context.manager, places, tell)
  }

  /** To be told before anybody else. */
  hear(event: ManagerEvent): void {
    this.#lists.hear(event)
  }

  /** To be asked for anew with each request. */
  of(actor: Actor): Surface {
    const view = this.#context.views.of(actor)
    const surface = this.#kept.get(view) ?? new Surface(this.#context, this.#lists, actor, view)
    this.#kept.set(view, surface)
    return surface
  }

  /** The list of tools, for somebody who asks for it. */
  list(actor: Actor): ToolsPage {
    const page = this.of(actor).toolsPage()
    const key = agentOf(actor)
    if (!this.#listed.has(key)) this.#listed.set(key, page.bytes)
    return page
  }

  /** Whether that list is another one than the last time this was asked. Who never saw one cannot tell. */
  listChanged(actor: Actor): boolean {
    const { bytes } = this.of(actor).toolsPage()
    const before = this.#listed.get(agentOf(actor))
    this.#listed.set(agentOf(actor), bytes)
    return before === undefined || !(before === bytes || before.equals(bytes))
  }
}

export class Surface {
  readonly #context: CallContext
  readonly #lists: ServerLists
  readonly #actor: Actor
  readonly view: View
  readonly #merged = new Map<ListKind, Combined>()
  #page: ToolsPage | undefined
  #instructions: { readonly text: string | undefined } | undefined

  constructor(context: CallContext, lists: ServerLists, actor: Actor, view: View) {
    this.#context = context
    this.#lists = lists
    this.#actor = actor
    this.view = view
  }

  /** What its servers said that they have, now or the last time, as far as it can be passed on to a client of that era. */
  capabilities(era: Era): Record<string, object> {
    // Ours can change at any time, whatever servers tell.
    const all: Record<string, object> = { tools: { listChanged: true } }
    for (const [name, { method, details }] of Object.entries(CAPABILITIES))
      for (const { agreement } of this.#servers(method)) {
        const capability = agreement?.capabilities[name]
        if (!isRecord(capability)) continue
        const said = details.filter((detail) => capability[detail] === true)
        all[name] = { ...all[name], ...Object.fromEntries(said.map((detail) => [detail, true])) }
      }
    // Likewise; and who is told that there are none never asks, also when they come.
    for (const { capability } of Object.values(LISTS))
      if (all[capability] || this.#servers(CAPABILITIES[capability].method).some(isUnknown))
        all[capability] = { ...all[capability], listChanged: true }
    const agreements = this.#servers('tasks/get').map(({ agreement }) => agreement)
    return { ...all, ...taskCapabilities(era, agreements) }
  }

  /** What its servers tell models of themselves, as long as that is what was accepted; first how tools are found. */
  instructions(): string | undefined {
    this.#instructions ??= { text: joinInstructions(this.#told(), searchHint(this.view)) }
    return this.#instructions.text
  }

  /** All tools that may be listed for clients. The same buffer until something changes. */
  toolsPage(): ToolsPage {
    this.#page ??= toolsPage(this.#context, this.#actor, this.view)
    return this.#page
  }

  /**
   * The tool of a name: of one that was listed, or that reads as one of a server that may be used, or `server/tool`. What is not there any
   * more is refused, with the reason and a record, where it is called. A native tool's server is empty.
   */
  tool(name: string): Target | undefined {
    const entry = this.view.named(name)
    if (entry) return isForAll(entry) ? { server: entry.server, tool: entry.name } : undefined
    const pair = pairOf(this.view.scheme, name) ?? addressed(name)
    return pair && this.#servers().some((server) => server.name === pair.server) ? pair : undefined
  }

  /** Waits for servers that were never seen before and are on their way up; never for those that are known. */
  async settled(limit: number = SETTLE): Promise<void> {
    const first = this.#servers().filter(({ known }) => !known)
    if (first.length === 0) return
    const enough = new AbortController()
    const up = Promise.all(first.map((connection) => connection.settled()))
    await Promise.race([up, pause(limit, enough.signal)])
    enough.abort()
  }

  async prompts(signal?: Stop): Promise<Listing> {
    return (await this.#combined('prompts', FRESH, signal)).listing
  }

  async resources(signal?: Stop): Promise<Listing> {
    return (await this.#combined('resources', FRESH, signal)).listing
  }

  async templates(signal?: Stop): Promise<Listing> {
    return (await this.#combined('templates', FRESH, signal)).listing
  }

  /** The prompt of a name, likewise. */
  async prompt(name: string, signal?: Stop): Promise<{ server: string; name: string } | undefined> {
    const found = await this.#find('prompts', name, signal)
    if (found) return { server: found.server, name: found.own }
    const pair = pairOf(this.view.scheme, name)
    const offered = pair && this.#offering('prompts').some((server) => server.name === pair.server)
    return offered ? { server: pair.server, name: pair.tool } : undefined
  }

  /** The server of a URI, and the URI as that server knows it. */
  async resource(uri: string, signal?: Stop): Promise<{ server: string; uri: string } | undefined> {
    const offering = this.#offering('resources').map(({ name }) => name)
    const owned = originOf(uri)
    if (owned)
      return owned.server !== undefined && offering.includes(owned.server)
        ? { server: owned.server, uri: owned.own }
        : undefined
    const found = await this.#find('resources', uri, signal)
    if (found) return { server: found.server, uri: found.own }
    const templates = await this.#combined('templates', FRESH, signal)
    const server = templates.serverOf(uri) ?? (offering.length === 1 ? offering[0] : undefined)
    return server === undefined ? undefined : { server, uri }
  }

  /** The same for a template, or for whatever else a request for suggestions may name. */
  async template(uriTemplate: string, signal?: Stop): Promise<{ server: string; uri: string } | undefined> {
    const found = originOf(uriTemplate) ? undefined : await this.#find('templates', uriTemplate, signal)
    return found ? { server: found.server, uri: found.own } : await this.resource(uriTemplate, signal)
  }

  /** An answer of a server with addresses that lead back to it: those that would lead to another say whose they are. */
  shown(server: string, reply: ReplyMessage): ReplyMessage | Promise<ReplyMessage> {
    if (!mentionsUri(reply) || this.#offering('resources').length < 2) return reply
    return withShownUris(reply, async () => {
      // Lists of a minute ago will do, see #find; what was never listed is asked for, and waited for as lists are.
      const [resources, templates] = await Promise.all([
        this.#combined('resources', Number.POSITIVE_INFINITY, undefined),
        this.#combined('templates', Number.POSITIVE_INFINITY, undefined),
      ])
      return (uri) => {
        const leadsTo = originOf(uri)
          ? undefined
          : (resources.merged.origins.get(uri)?.server ?? templates.serverOf(uri) ?? server)
        return leadsTo === server ? uri : ownedUri(server, uri)
      }
    })
  }

  // --- internal ---

  /** Those it may use for that, in the order of the configuration, whatever order they were started in. */
  #servers(method?: string): Connection[] {
    const { active, manager } = this.#context
    return [...active().servers.keys()].flatMap((name) => {
      const connection = manager.find(name)
      if (connection === undefined) return []
      const question = { server: name, tool: method === undefined ? undefined : `#${method}` }
      return verdictOn(this.#context, this.#actor, question).verdict === 'deny' ? [] : [connection]
    })
  }

  /** Those that have some of a kind, or of which nothing is known yet. What may not be used is not listed either. */
  #listing(kind: ListKind): Connection[] {
    const { method, capability } = LISTS[kind]
    const usable = new Set(this.#servers(CAPABILITIES[capability].method))
    return this.#servers(method).filter(
      (connection) =>
        usable.has(connection) &&
        (connection.agreement === undefined || isRecord(connection.agreement.capabilities[capability])),
    )
  }

  #offering(capability: 'resources' | 'prompts'): Connection[] {
    return this.#servers(CAPABILITIES[capability].method).filter(({ agreement }) =>
      isRecord(agreement?.capabilities[capability]),
    )
  }

  #told(): { server: string; text: string }[] {
    const pins = this.#context.brakes()?.pins
    return this.#servers().flatMap(({ name, agreement }) => {
      const text = agreement?.instructions
      const changed = text !== undefined && pins?.instructionsVerdict(name, text) === 'changed'
      return text === undefined || changed ? [] : [{ server: name, text }]
    })
  }

  /** Where something that was listed comes from. Lists of a minute ago will do, as it is they that were shown. */
  async #find(kind: ListKind, name: string, signal: Stop | undefined) {
    const known = (await this.#combined(kind, Number.POSITIVE_INFINITY, signal)).merged.origins.get(name)
    return known ?? (await this.#combined(kind, FRESH, signal)).merged.origins.get(name)
  }

  async #combined(kind: ListKind, age: number, signal: Stop | undefined): Promise<Combined> {
    const asked = this.#listing(kind).map((connection) => this.#lists.of(connection, kind, age, signal))
    const parts = await Promise.all(asked)
    // Meanwhile somebody may have lost a server.
    const still = new Set(this.#listing(kind).map(({ name }) => name))
    const shown = parts.filter(({ server }) => still.has(server))
    const before = this.#merged.get(kind)
    if (before?.isOf(shown)) return before
    const combined = new Combined(shown, this.#merge(kind, shown))
    this.#merged.set(kind, combined)
    return combined
  }

  #merge(kind: ListKind, parts: readonly Part[]): Merged {
    if (kind === 'prompts')
      return mergePrompts(parts, ({ server, own }) => this.view.nameOf({ server, name: own }))
    return mergeUris(parts, kind === 'resources' ? 'uri' : 'uriTemplate')
  }
}

// --- internal ---

function addressed(name: string): Target | undefined {
  const cut = name.indexOf('/')
  return cut > 0 && cut < name.length - 1
    ? { server: name.slice(0, cut), tool: name.slice(cut + 1) }
    : undefined
}

function isUnknown({ agreement }: Connection): boolean {
  return agreement === undefined
}

/** Milliseconds. */
const SETTLE = 2_000

/** What can be passed on: the request that uses it, and what may be said of it. */
const CAPABILITIES = {
  prompts: { method: 'prompts/get', details: [] },
  resources: { method: 'resources/read', details: ['subscribe'] },
  completions: { method: 'completion/complete', details: [] },
  logging: { method: 'logging/setLevel', details: [] },
} as const
