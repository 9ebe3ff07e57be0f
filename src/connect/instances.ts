// A configuration that a program gives, in which a server may be an object of that program.

import { isRecord } from '../base/record.ts'
import type { ServerInput } from '../config/schema-server.ts'
import type { Snapshot } from '../config/snapshot.ts'
import type { InProcessServer } from './in-process.ts'

/** A server as a program gives it: an entry, or an SDK server object that lives in this process. */
export type HubServer = ServerInput | { readonly type: 'sdk'; readonly instance: InProcessServer }

export interface HubConfig {
  readonly servers?: Readonly<Record<string, HubServer>>
  readonly [key: string]: unknown
}

/** Server objects cannot be written down; they are kept aside and the rest is checked like any configuration. */
export function withoutInstances(config: HubConfig): {
  config: HubConfig
  instances: Record<string, InProcessServer>
} {
  const instances: Record<string, InProcessServer> = {}
  const servers = Object.entries(config.servers ?? {}).map(([name, server]) => {
    if (!isRecord(server) || !('instance' in server)) return [name, server]
    const { instance, ...rest } = server
    instances[name] = instance
    return [name, rest]
  })
  return { config: { ...config, servers: Object.fromEntries(servers) }, instances }
}

/** Everything of a configuration but its servers. */
export function settingsOf({ config: { servers: _, ...settings } }: Snapshot): HubConfig {
  return settings
}
