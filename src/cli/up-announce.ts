// What `busbar up` says when it is ready: where it is, by which addresses, and who can come.

import { shellWord } from '../base/shell-word.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { ownerTokenFile } from '../gateway/identify.ts'
import type { Hub } from '../hub.ts'
import { asTyped } from './as-typed.ts'
import { oneLine } from './review.ts'
import type { Session } from './session.ts'

export function announce({ out }: Session, hub: Hub, { url, agents: known }: Gateway): void {
  const servers = hub.servers.status().map(({ name }) => name)
  const { agents: all } = hub.snapshot.config
  const agents = Object.keys(all).filter((name) => all[name]?.enabled)
  const without = agents.filter((name) => !known.includes(name))
  const { waiting } = hub.snapshot
  const facts = {
    url,
    endpoint: `${url}/mcp`,
    pid: process.pid,
    servers,
    agents,
    withoutToken: without,
    untrusted: [...waiting.keys()],
  }
  if (out.json) {
    process.stdout.write(`${JSON.stringify(facts)}\n`)
    return
  }
  const names = (list: readonly string[]) => oneLine(list.join(', '))
  const space = ' '.repeat('/SERVER'.length)
  const lines = [
    `${out.style('bold', 'Busbar listens on')} ${url}`,
    `  ${url}/mcp${space}  all servers of an agent`,
    `  ${url}/mcp/SERVER  one of them${servers.length > 0 ? `: ${names(servers)}` : ''}`,
    ...(known.length > 0 ? [`Agents sign in with their tokens: ${names(known)}.`] : []),
    ...without.map((name) => `${oneLine(name)} has no token yet: busbar agents token ${shellWord(name)}`),
    ...[...waiting].map(
      ([name, file]) => `${oneLine(name)} stands in ${oneLine(file)}, which is not trusted yet: busbar trust`,
    ),
    ...(agents.length + waiting.size === 0
      ? [`No agents yet: busbar agents add NAME; yours is in ${ownerPlace(hub)}.`]
      : []),
    servers.length === 0 ? 'No servers yet. Run: busbar add NAME -- COMMAND' : 'Ctrl-C stops it.',
  ]
  out.answer(facts, () => lines.map((line) => asTyped(line)))
}

// --- internal ---

function ownerPlace({ snapshot, places }: Hub): string {
  return snapshot.env['BUSBAR_ADMIN_TOKEN'] ? 'BUSBAR_ADMIN_TOKEN' : ownerTokenFile(places)
}
