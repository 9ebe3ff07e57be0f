// Which agent may use which servers, and what therefore starts by itself. Pure: the same function feeds the prompt, the
// lists and the gate, so they cannot disagree.

import { isGlob, matchesGlob } from '../base/glob.ts'
import type { Config } from './schema.ts'
import type { Agent, Worker } from './schema-agent.ts'

/** An agent, or a worker of one, with the servers it may use. */
export interface Assignment {
  /** `cto`, or `cto/reviewer` for a worker. */
  readonly id: string
  readonly agent: string
  readonly worker?: string
  readonly enabled: boolean
  /** Names that stand for a server; empty for a disabled one. */
  readonly servers: readonly string[]
  /** Names in its list that stand for none. */
  readonly unknown: readonly string[]
  /** Whether the list is its own or the default one. */
  readonly from: 'own' | 'defaults'
}

type Access = Pick<Config, 'enabled' | 'agents' | 'defaults'>

/**
 * Every agent and worker with its servers. `known`: all names that stand for a server; `configured`: those that `*`
 * and patterns cover (a catalog entry must be named).
 */
export function assignments(
  config: Access,
  known: ReadonlySet<string>,
  configured: ReadonlySet<string>,
): Assignment[] {
  const resolve = (holder: Agent | Worker, enabled: boolean) => {
    const from = holder.servers.length > 0 ? ('own' as const) : ('defaults' as const)
    const list = from === 'own' ? holder.servers : config.defaults.servers
    const servers = new Set<string>()
    const unknown = new Set<string>()
    for (const name of list) {
      const matches = isGlob(name)
        ? [...configured].filter((candidate) => matchesGlob(name, candidate))
        : [name].filter((candidate) => known.has(candidate))
      for (const match of matches) servers.add(match)
      if (matches.length === 0 && name !== '*') unknown.add(name)
    }
    const active = enabled && config.enabled
    return { enabled, servers: active ? [...servers] : [], unknown: [...unknown], from }
  }
  return Object.entries(config.agents).flatMap(([agent, definition]): Assignment[] => [
    { id: agent, agent, ...resolve(definition, definition.enabled) },
    ...Object.entries(definition.workers).map(([worker, own]) => ({
      id: `${agent}/${worker}`,
      agent,
      worker,
      ...resolve(own, definition.enabled && own.enabled),
    })),
  ])
}

/** The servers that start with Busbar: those of enabled agents where there are agents, else every enabled one. */
export function startsByItself(
  config: Config,
  who: readonly Assignment[],
  configured: Iterable<string> = Object.keys(config.servers),
): Set<string> {
  if (!config.enabled) return new Set()
  const wanted = who.length > 0 ? who.flatMap((assignment) => assignment.servers) : [...configured]
  return new Set(
    wanted.filter((name) => {
      const server = config.servers[name]
      return server === undefined || (server.enabled && server.start === 'eager')
    }),
  )
}
