// What one agent sees of all tools, and the names its model knows them by. Made anew only when something changed.

import type { Actor } from '../policy/access.ts'
import type { Rulebook } from '../policy/facts.ts'
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
  readonly #reserved: ReadonlySet<string>
  #tools: readonly RegisteredTool[] | undefined
  #names: ReadonlyMap<string, RegisteredTool> | undefined
  #index: ToolSearch | undefined
  #addresses: ReadonlyMap<string, RegisteredTool> = new Map()

  constructor(see: () => readonly RegisteredTool[], scheme: NamingScheme, reserved: ReadonlySet<string>) {
    this.#see = see
    this.scheme = scheme
    this.#reserved = reserved
  }

  /** Found out when it is asked for the first time: who only calls needs no list. */
  get tools(): readonly RegisteredTool[] {
    this.#tools ??= this.#see()
    return this.#tools
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

  /** The tools that fit some words, best first. */
  search(query: string, limit: number): { entry: RegisteredTool; score: number }[] {
    if (this.#index === undefined) {
      this.#index = new ToolSearch(this.tools.map(searchable))
      this.#addresses = new Map(this.tools.map((entry) => [entry.address, entry]))
    }
    return this.#index.search(query, limit).flatMap(({ id, score }) => {
      const entry = this.#addresses.get(id)
      return entry ? [{ entry, score }] : []
    })
  }
}

export class Views {
  readonly #registry: Registry
  readonly #rules: () => Rulebook
  readonly #version: () => number
  readonly #sees: (actor: Actor, tool: RegisteredTool) => boolean
  readonly #kept = new Map<string, { version: number; rules: Rulebook; view: View }>()

  constructor(
    registry: Registry,
    rules: () => Rulebook,
    version: () => number,
    sees: (actor: Actor, tool: RegisteredTool) => boolean,
  ) {
    this.#registry = registry
    this.#rules = rules
    this.#version = version
    this.#sees = sees
  }

  of(actor: Actor): View {
    const key = actor.kind === 'owner' ? '' : actor.id
    const rules = this.#rules()
    const version = this.#registry.version + this.#version()
    const kept = this.#kept.get(key)
    if (kept?.version === version && kept.rules === rules) return kept.view
    const see = () => this.#registry.all.filter((tool) => this.#sees(actor, tool))
    const view = new View(see, rules.grants(actor)?.naming ?? 'mcp__s__t', this.#registry.nativeNames)
    this.#kept.set(key, { version, rules, view })
    return view
  }
}

/** Whether it is in every list, and not only in those that are written for models. */
export function isForAll(entry: RegisteredTool): boolean {
  return entry.kind === 'server' || entry.native.forModels !== true
}

// --- internal ---

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
