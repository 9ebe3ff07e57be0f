// What one agent sees of all tools, and the names its model knows them by. Made anew only when something changed.

import { changes } from '../base/changes.ts'
import { type Actor, agentOf } from '../policy/access.ts'
import type { Grants, Rulebook } from '../policy/facts.ts'
import { type NamingScheme, projectedName } from '../registry/names.ts'
import type { RegisteredTool, Registry } from '../registry/registry.ts'
import { type SearchDocument, ToolSearch } from '../registry/search.ts'
import type { Route } from './route.ts'

export class View {
  /** What was called by it, by the address that was used. */
  readonly routes: Map<string, Route> = new Map()
  readonly #see: () => readonly RegisteredTool[]
  /** How names are written for this agent. */
  readonly scheme: NamingScheme
  readonly #surface: Grants['surface']
  readonly #reserved: ReadonlySet<string>
  /** Whether there may be results to read on. */
  readonly #reads: boolean
  #seen: readonly RegisteredTool[] | undefined
  #tools: readonly RegisteredTool[] | undefined
  #names: ReadonlyMap<string, RegisteredTool> | undefined
  #index: Index | undefined
  /** That of the view before this one: most changes are of something else than tools. */
  readonly #before: Index | undefined

  constructor(
    see: () => readonly RegisteredTool[],
    { naming, surface }: Pick<Grants, 'naming' | 'surface'>,
    reserved: ReadonlySet<string>,
    reads: boolean,
    before: View | undefined,
  ) {
    this.#before = before && (before.#index ?? before.#before)
    this.#see = see
    this.#reads = reads
    this.scheme = naming
    this.#surface = surface
    this.#reserved = reserved
  }

  /** Found out when it is asked for the first time: who only calls needs no list. Without those that serve the others. */
  get tools(): readonly RegisteredTool[] {
    this.#tools ??= this.#all.filter((entry) => !isService(entry))
    return this.#tools
  }

  /** Whether tools are found by words, and not listed. */
  get searches(): boolean {
    if (this.#surface !== 'auto') return this.#surface === 'search'
    return this.tools.filter(isForAll).length > MOST_LISTED
  }

  /** What is listed for clients; for models also what is there for them alone. */
  listed(forModels: boolean): readonly RegisteredTool[] {
    const isOffered = (name: string) => (name === READ_RESULT ? this.#reads : this.searches)
    const services = this.#all.filter((entry) => isService(entry) && isOffered(entry.name))
    const own = forModels ? this.tools : this.tools.filter(isForAll)
    return [...services, ...(this.searches ? own.filter((entry) => !isForAll(entry)) : own)]
  }

  /** The name a model sees. Native tools keep theirs. */
  nameOf(
    { server, name }: Pick<RegisteredTool, 'server' | 'name'>,
    scheme: NamingScheme = this.scheme,
  ): string {
    return server === '' ? name : projectedName(scheme, server, name, this.#reserved)
  }

  /** The tool that a model means. */
  named(name: string): RegisteredTool | undefined {
    this.#names ??= new Map(this.tools.map((tool) => [this.nameOf(tool), tool]))
    return this.#names.get(name)
  }

  get #all(): readonly RegisteredTool[] {
    this.#seen ??= this.#see()
    return this.#seen
  }

  /** The tools that fit some words, best first. */
  search(query: string, limit: number): { entry: RegisteredTool; score: number }[] {
    this.#index ??= this.#before?.isOf(this.tools) ? this.#before : new Index(this.tools)
    return this.#index.search(query, limit)
  }
}

export class Views {
  readonly #registry: Registry
  readonly #rules: () => Rulebook
  readonly #sees: (actor: Actor, tool: RegisteredTool) => boolean
  readonly #reads: (actor: Actor) => boolean
  /** What was made, and at which count of changes. */
  readonly #kept = new Map<string, { readonly count: number; readonly view: View }>()

  constructor(
    registry: Registry,
    rules: () => Rulebook,
    sees: (actor: Actor, tool: RegisteredTool) => boolean,
    reads: (actor: Actor) => boolean,
  ) {
    this.#reads = reads
    this.#registry = registry
    this.#rules = rules
    this.#sees = sees
  }

  of(actor: Actor): View {
    const kept = this.#kept.get(agentOf(actor))
    return kept?.count === changes.count ? kept.view : this.#make(actor, kept?.view)
  }

  // --- internal ---

  #make(actor: Actor, before: View | undefined): View {
    const { count } = changes
    const see = () => this.#registry.all.filter((tool) => this.#sees(actor, tool))
    // Whoever looks at everything is shown everything.
    const grants = this.#rules().grants(actor) ?? { naming: 'mcp__s__t', surface: 'full' }
    const view = new View(see, grants, this.#registry.nativeNames, this.#reads(actor), before)
    this.#kept.set(agentOf(actor), { count, view })
    return view
  }
}

/** Whether it is in every list, and not only in those that are written for models. */
export function isForAll(entry: RegisteredTool): boolean {
  return entry.kind === 'server' || entry.native.forModels !== true
}

/** The tools by which an agent with the search surface finds and calls all others. */
export const SEARCH_TOOLS = 'search_tools'
export const DESCRIBE_TOOL = 'describe_tool'
export const CALL_TOOL = 'call_tool'
/** The tool by which a result that was too large is read on. */
export const READ_RESULT = 'read_result'

// --- internal ---

/** With more than these, `auto` is `search`: models choose worse from long lists, and pay for them with every turn. */
const MOST_LISTED = 40

function isService(entry: RegisteredTool): boolean {
  return entry.kind === 'native' && entry.native.service === true
}

/** Some tools in the form in which they are found by words. Making it takes time: 30 ms for a thousand. */
class Index {
  readonly #tools: readonly RegisteredTool[]
  readonly #search: ToolSearch
  readonly #addresses: ReadonlyMap<string, RegisteredTool>

  constructor(tools: readonly RegisteredTool[]) {
    this.#tools = tools
    this.#search = new ToolSearch(tools.map(searchable))
    this.#addresses = new Map(tools.map((entry) => [entry.address, entry]))
  }

  isOf(tools: readonly RegisteredTool[]): boolean {
    return tools.length === this.#tools.length && tools.every((tool, at) => tool === this.#tools[at])
  }

  search(query: string, limit: number): { entry: RegisteredTool; score: number }[] {
    return this.#search.search(query, limit).flatMap(({ id, score }) => {
      const entry = this.#addresses.get(id)
      return entry ? [{ entry, score }] : []
    })
  }
}

function searchable({ address, server, name, tool }: RegisteredTool): SearchDocument {
  const { properties } = tool.inputSchema
  return {
    id: address,
    server,
    name,
    ...(typeof tool.title === 'string' ? { title: tool.title } : {}),
    ...(typeof tool.description === 'string' ? { description: tool.description } : {}),
    parameters: typeof properties === 'object' && properties !== null ? Object.keys(properties) : [],
  }
}
