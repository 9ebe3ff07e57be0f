// Who uses which secret, by the configuration as it is written.

import { variablesOf } from '../config/expand.ts'
import { secretsIn } from '../config/missing.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { plain } from '../config/tree.ts'

/** For each secret that is named somewhere: servers by name, agents as `agent NAME`, the rest by its section. */
export function secretUse({ tree, servers }: Snapshot): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const note = (user: string, value: unknown) => {
    for (const name of secretsIn(variablesOf(value))) found.set(name, [...(found.get(name) ?? []), user])
  }
  for (const [name, { definition }] of servers) note(name, definition)
  for (const [section, part] of tree.kind === 'map' ? tree.entries : []) {
    // Composio is one of the servers.
    if (section === 'servers' || section === 'composio') continue
    if (section === 'agents' && part.kind === 'map')
      for (const [agent, own] of part.entries) note(`agent ${agent}`, plain(own))
    else note(section, plain(part))
  }
  return found
}
