// What is known about a request before it is decided on: who asks, for what, and what the configuration says of both.

import type { CatalogEntry } from '../config/catalog.ts'
import type { Path } from '../config/edit/change.ts'
import type { Assignment } from '../config/resolve.ts'
import type { Config } from '../config/schema.ts'
import type { Agent } from '../config/schema-agent.ts'
import type { Server } from '../config/schema-server.ts'
import type { Snapshot } from '../config/snapshot.ts'
import type { Actor } from './access.ts'

export type Preset = Config['defaults']['approval']
export type RuleVerdict = 'allow' | 'ask' | 'deny'

/** A pattern with where it was written. */
export interface Pattern {
  readonly text: string
  readonly path: Path
}

/** What the configuration grants to one agent or worker. */
export interface Grants {
  readonly id: string
  /** The part of the configuration that switches it off. */
  readonly off: Path | undefined
  readonly servers: ReadonlySet<string>
  /** Where its servers are listed. */
  readonly listed: Path
  readonly allow: readonly Pattern[] | undefined
  readonly deny: readonly Pattern[]
  readonly approval: Preset
  readonly approvalAt: Path
  readonly naming: Agent['naming']
  readonly approver: Agent['approver']
  readonly surface: Agent['surface']
  /** Bytes of text beyond which a result is kept in a file. */
  readonly spill: Agent['results']['spill']
}

/** What the configuration says about one server. */
export interface ServerFacts {
  readonly name: string
  readonly include: readonly Pattern[]
  readonly exclude: readonly Pattern[]
  /** One preset for all of it, or rules by pattern. */
  readonly approval: Preset | readonly (Pattern & { readonly verdict: RuleVerdict })[] | undefined
  readonly trustAnnotations: boolean
  readonly readOnlyTools: ReadonlySet<string>
}

/** The configuration in the form in which it is asked about every call. Built once for each configuration. */
export class Rulebook {
  readonly enabled: boolean
  readonly #grants = new Map<string, Grants>()
  readonly #servers = new Map<string, ServerFacts>()

  constructor({ config, assignments, servers }: Pick<Snapshot, 'config' | 'assignments' | 'servers'>) {
    this.enabled = config.enabled
    for (const assignment of assignments) this.#grants.set(assignment.id, grantsOf(config, assignment))
    for (const [name, { definition, catalog }] of servers)
      this.#servers.set(name, serverFacts(name, definition, catalog))
  }

  /** Undefined for the owner, to whom no rule applies. */
  grants(actor: Actor): Grants | undefined {
    return actor.kind === 'owner' ? undefined : (this.#grants.get(actor.id) ?? nothing(actor.id))
  }

  /** Whether some of a server's tools may be kept from somebody; else its list can be passed on as it is. */
  hides(actor: Actor, server: string): boolean {
    const grants = this.grants(actor)
    const facts = this.#servers.get(server)
    if (facts === undefined) return true
    const { approval, include, exclude } = facts
    return (
      exclude.length > 0 ||
      !include.some(({ text }) => text === '*') ||
      (grants !== undefined &&
        (grants.deny.length > 0 ||
          grants.allow !== undefined ||
          (typeof approval === 'object' && approval.some(({ verdict }) => verdict === 'deny'))))
    )
  }

  server(name: string): ServerFacts | undefined {
    return this.#servers.get(name)
  }
}

/** Before the configuration was read nobody may do anything. */
export const NO_RULES: Rulebook = new Rulebook({
  config: { enabled: false } as Snapshot['config'],
  assignments: [],
  servers: new Map(),
})

// --- internal ---

const NO_TOOLS: ReadonlySet<string> = new Set()

function nothing(id: string): Grants {
  const path = ['agents', id]
  return {
    id,
    off: path,
    servers: NO_TOOLS,
    listed: path,
    allow: [],
    deny: [],
    approval: 'always',
    approvalAt: path,
    naming: 'mcp__s__t',
    approver: 'console',
    surface: 'auto',
    spill: undefined,
  }
}

function grantsOf(config: Config, { id, agent, worker, enabled, servers, from }: Assignment): Grants {
  const definition = config.agents[agent]
  const own = worker === undefined ? definition : definition?.workers[worker]
  const path: Path = worker === undefined ? ['agents', agent] : ['agents', agent, 'workers', worker]
  const off = definition?.enabled === false ? ['agents', agent, 'enabled'] : [...path, 'enabled']
  return {
    id,
    off: enabled ? undefined : off,
    servers: new Set(servers),
    listed: from === 'own' ? [...path, 'servers'] : ['defaults', 'servers'],
    allow: own?.allow && patterns(own.allow, [...path, 'allow']),
    // What an agent may not, its workers may not either: else it would only have to ask one of them.
    deny: [
      ...patterns(definition?.deny ?? [], ['agents', agent, 'deny']),
      ...(worker === undefined ? [] : patterns(own?.deny ?? [], [...path, 'deny'])),
    ],
    approval: definition?.approval ?? config.defaults.approval,
    approvalAt: definition?.approval ? ['agents', agent, 'approval'] : ['defaults', 'approval'],
    naming: definition?.naming ?? 'mcp__s__t',
    approver: definition?.approver ?? 'console',
    surface: definition?.surface ?? 'auto',
    spill: definition?.results.spill,
  }
}

function serverFacts(name: string, server: Server | undefined, entry: CatalogEntry | undefined): ServerFacts {
  const approval = server?.approval
  return {
    name,
    include: patterns(server?.tools.include ?? ['*'], ['servers', name, 'tools', 'include']),
    exclude: patterns(server?.tools.exclude ?? [], ['servers', name, 'tools', 'exclude']),
    approval:
      typeof approval === 'object'
        ? Object.entries(approval).map(([text, verdict]) => ({
            text,
            verdict,
            path: ['servers', name, 'approval', text],
          }))
        : approval,
    trustAnnotations: server?.trustAnnotations ?? false,
    readOnlyTools: entry && runsCatalogEntry(server, entry) ? new Set(entry.readOnlyTools) : NO_TOOLS,
  }
}

function patterns(texts: readonly string[], path: Path): Pattern[] {
  return texts.map((text, index) => ({ text, path: [...path, index] }))
}

/** A name is no proof: the catalog was checked for what it would run itself, of whatever version. */
function runsCatalogEntry(server: Server | undefined, entry: CatalogEntry): boolean {
  const { command, args = [] } = server ?? {}
  if (command !== entry.command || args.length !== entry.args.length) return false
  return entry.args.every((wanted, index) => {
    const given = args[index] ?? ''
    return (
      given === wanted || wanted.startsWith('${') || (isPackage(wanted, entry) && isPackage(given, entry))
    )
  })
}

function isPackage(argument: string, entry: CatalogEntry): boolean {
  return argument === entry.package.name || argument.startsWith(`${entry.package.name}@`)
}
