// Questions about what was recorded: asked of the running gateway, which is the one who writes, else of the store itself.

import type { Snapshot } from '../config/snapshot.ts'
import type {
  ErrorPattern,
  InvocationFilter,
  RecordedInvocation,
  ServerTotals,
  Usage,
  UsageFilter,
  Verification,
} from '../store/invocation.ts'
import type { ApprovalStatistics } from '../store/policy.ts'
import type { Store } from '../store/store.ts'
import { askGateway, gatewayRuns } from './gateway-client.ts'
import type { Session } from './session.ts'

export interface Asked {
  usage(
    filter: UsageFilter,
  ): Promise<{ rows: Usage[]; patterns: ErrorPattern[]; approvals: ApprovalStatistics }>
  calls(filter: InvocationFilter): Promise<{ calls: RecordedInvocation[] }>
  verify(): Promise<Verification>
  totals(): Promise<{ servers: ServerTotals[] }>
}

/** Runs `work` with whoever can answer. */
export async function recorded(
  session: Session,
  active: Snapshot,
  work: (asked: Asked) => Promise<void>,
): Promise<void> {
  const { places } = active
  if (await gatewayRuns(places, session.signal)) {
    const get = <T extends object>(path: string) =>
      askGateway<T>(places, { method: 'GET', path, signal: session.signal })
    await work({
      usage: (filter) => get(`/api/usage?${queryOf(filter)}`),
      calls: (filter) => get(`/api/calls?${queryOf(filter)}`),
      verify: () => get('/api/usage/verify'),
      totals: () => get('/api/usage/totals'),
    })
    return
  }
  await withStore(session, active, async (store) => {
    const { invocations, servers } = store
    await work({
      usage: async (filter) => ({
        rows: await invocations.usage(filter),
        patterns: await invocations.patterns({ since: filter.since }),
        approvals: await store.approvals.statistics(filter.since ?? 0),
      }),
      calls: async (filter) => ({ calls: await invocations.list(filter) }),
      verify: () => invocations.verify(),
      totals: async () => ({ servers: await servers.totals() }),
    })
  })
}

/** The store itself, with what a killed run left in its journal taken over first. */
export async function withStore(
  session: Session,
  active: Snapshot,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const { Records } = await import('../record/records.ts')
  const records = await Records.open(active, (message) => session.out.warn(message))
  const { unknown } = records.recorder.recovered
  if (unknown > 0)
    session.out.warn(`${unknown} calls were under way when Busbar was killed; what became of them is unknown`)
  try {
    await work(records.store)
  } finally {
    await records.close()
  }
}

// --- internal ---

function queryOf(filter: object): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  return new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)])).toString()
}
