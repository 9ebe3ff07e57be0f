// What `busbar resources` and `busbar prompts` have in common: ask every server that is up, show what each gives.

import type { Listed } from '../call/request.ts'
import { faultFrom } from '../gateway/api-fault.ts'
import type { Kind } from '../gateway/api-lists.ts'
import { notStarted, tellServers, type UpServer } from './gather.ts'
import { failureLine } from './private-hub.ts'
import { withServers } from './servers.ts'
import type { Session } from './session.ts'

interface Listing {
  /** The command, and what it lists: the key of the answer. */
  readonly command: string
  readonly kind: Kind
  readonly capability: 'resources' | 'prompts'
  readonly server: string | undefined
  readonly agent: string | undefined
  readonly headings: readonly string[]
  readonly row: (item: Listed) => readonly string[]
}

export async function listThings(session: Session, listing: Listing): Promise<void> {
  const { out } = session
  const { server, agent, kind } = listing
  const loaded = await session.load({ warnings: server === undefined })
  await withServers(session, loaded, async (servers) => {
    const answer = await servers.list(kind, { server, agent })
    const { items, failures } = answer
    const { up, idle, reason } = tellServers(session, loaded, agent, answer.servers)
    const [failure] = failures
    // Of the only one that could be asked, its fault is the answer.
    if (failure && up.length === 1) throw faultFrom(failure, 'it could not be listed')
    for (const { server: name = '', message, hint } of failures) out.warn(failureLine(name, message, hint))
    const none = items.length > 0 ? undefined : (reason ?? whyNone(up, listing))
    if (out.json && none !== undefined) out.warn(none)
    if (idle.length > 0) out.warn(notStarted(idle, listing.command))
    out.answer({ [kind]: items }, () => none ?? out.table(listing.headings, items.map(listing.row)))
  })
}

/** A member of what a server listed, as text. */
export function said(item: Listed, ...keys: readonly string[]): string {
  const found = keys.map((key) => item[key]).find((value) => typeof value === 'string' && value !== '')
  const text = typeof found === 'string' ? found.replace(/\s+/g, ' ').trim() : '-'
  return text.length > 90 ? `${text.slice(0, 89)}…` : text
}

// --- internal ---

function whyNone(up: readonly UpServer[], { command, capability }: Listing): string {
  if (up.length === 0) return 'No server was started.'
  const names = up.map(({ name }) => name).join(', ')
  const offering = up.some(({ offers }) => offers.includes(capability))
  return offering ? `${names}: no ${command} at the moment.` : `${names}: ${capability} are not offered.`
}
