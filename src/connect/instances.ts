// A configuration that a program gives, in which a server may be an object of that program.

import { isRecord } from '../base/record.ts'
import type { Path } from '../config/edit/change.ts'
import { type Problem, pathText, valueText } from '../config/problem.ts'
import type { ServerInput } from '../config/schema-server.ts'
import type { Snapshot } from '../config/snapshot.ts'
import type { Program } from '../config/tree.ts'
import type { InProcessServer } from './in-process.ts'

/** A server as a program gives it: an entry, or an SDK server object that lives in this process. */
export type HubServer = ServerInput | { readonly type: 'sdk'; readonly instance: InProcessServer }

/** One of a list of servers, which says itself what it is called. */
export type ListedHubServer = HubServer & { readonly name?: string; readonly id?: string }

type HubServers = Readonly<Record<string, HubServer>> | readonly ListedHubServer[]

export interface HubConfig {
  readonly servers?: HubServers
  /** The same under the name it has elsewhere. */
  readonly mcpServers?: HubServers
  readonly [key: string]: unknown
}

interface Separated {
  readonly config: HubConfig
  readonly instances: Readonly<Record<string, InProcessServer>>
  readonly problems: readonly Problem[]
}

/** Server objects cannot be written down; they are kept aside and the rest is checked like any configuration. */
export function withoutInstances(config: HubConfig, by: Program): Separated {
  const instances: Record<string, InProcessServer> = {}
  const problems: Problem[] = []
  /** The entry without its object. What is no entry is left for the schema to name. */
  const plain = (entry: unknown, name: unknown, path: Path): unknown => {
    if (!isRecord(entry) || !('instance' in entry)) return entry
    const { instance, ...rest } = entry
    if (isServerObject(instance)) instances[String(name)] = instance
    else problems.push(noServerObject(by, String(name), [...path, 'instance'], instance))
    return rest
  }
  const read = (section: string): unknown => {
    const given = config[section]
    if (Array.isArray(given))
      return given.map((entry: unknown, index) => plain(entry, listedName(entry), [section, index]))
    if (!isRecord(given)) return given
    return Object.fromEntries(
      Object.entries(given).map(([name, entry]) => [name, plain(entry, name, [section, name])]),
    )
  }
  const sections = SECTIONS.filter((section) => section in config).map((section) => [section, read(section)])
  return { config: { ...config, ...Object.fromEntries(sections) }, instances, problems }
}

/** Everything of a configuration but its servers. */
export function settingsOf({ config: { servers: _, ...settings } }: Snapshot): HubConfig {
  return settings
}

// --- internal ---

const SECTIONS = ['servers', 'mcpServers']

/** As the reader of lists names it. */
function listedName(entry: unknown): unknown {
  return isRecord(entry) ? (entry['id'] ?? entry['name']) : undefined
}

function isServerObject(instance: unknown): instance is InProcessServer {
  return isRecord(instance) && ['connect', 'close'].every((method) => typeof instance[method] === 'function')
}

function noServerObject(file: Program, server: string, path: Path, instance: unknown): Problem {
  return {
    severity: 'error',
    file,
    path: pathText(path),
    message: `is ${valueText(instance)}; expected a server object of the SDK, with connect and close`,
    server,
  }
}
