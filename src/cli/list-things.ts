// What `busbar resources` and `busbar prompts` have in common: ask every server that is up, show what each gives.

import { Fault } from '../base/fault.ts'
import type { AgentHandle } from '../call/handle.ts'
import type { Listed } from '../call/request.ts'
import type { Connection } from '../connect/connection.ts'
import { gather, notStarted } from './gather.ts'
import { failureLine, withHub } from './private-hub.ts'
import type { Session } from './session.ts'

interface Listing {
  /** The command, and what it lists: the key of the answer. */
  readonly command: string
  readonly key: string
  readonly capability: 'resources' | 'prompts'
  readonly server: string | undefined
  readonly agent: string | undefined
  readonly list: (handle: AgentHandle, server: string, signal: AbortSignal) => Promise<Listed[]>
  readonly headings: readonly string[]
  readonly row: (item: Listed) => readonly string[]
}

export async function listThings(session: Session, listing: Listing): Promise<void> {
  const { out, signal } = session
  const { server, agent, key } = listing
  const loaded = await session.load({ warnings: server === undefined })
  await withHub(session, loaded, { sayFailures: server === undefined }, async (hub, line) => {
    const { up, idle, reason } = await gather(session, loaded, hub, { server, agent, line })
    line.show(`asking ${up.map(({ name }) => name).join(', ')}`)
    const handle = hub.as(agent)
    const lists = await Promise.allSettled(up.map(({ name }) => listing.list(handle, name, signal)))
    line.end()
    const failed = lists.flatMap((list) => (list.status === 'rejected' ? [list.reason] : []))
    // A bug is nobody's server; and of one that was named, its fault is the answer.
    for (const error of failed) if (!(error instanceof Fault) || up.length === 1) throw error
    for (const error of failed) out.warn(failureLine(error.server ?? '', error.message, error.hint))
    const items = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []))
    const none = items.length > 0 ? undefined : (reason ?? whyNone(up, listing))
    if (out.json && none !== undefined) out.warn(none)
    if (idle.length > 0) out.warn(notStarted(idle, listing.command))
    out.answer({ [key]: items }, () => none ?? out.table(listing.headings, items.map(listing.row)))
  })
}

/** A member of what a server listed, as text. */
export function said(item: Listed, ...keys: readonly string[]): string {
  const found = keys.map((key) => item[key]).find((value) => typeof value === 'string' && value !== '')
  const text = typeof found === 'string' ? found.replace(/\s+/g, ' ').trim() : '-'
  return text.length > 90 ? `${text.slice(0, 89)}…` : text
}

// --- internal ---

function whyNone(up: readonly Connection[], { command, capability }: Listing): string {
  if (up.length === 0) return 'No server was started.'
  const names = up.map(({ name }) => name).join(', ')
  const offering = up.some(({ agreement }) => agreement?.capabilities[capability] !== undefined)
  return offering ? `${names}: no ${command} at the moment.` : `${names}: ${capability} are not offered.`
}
