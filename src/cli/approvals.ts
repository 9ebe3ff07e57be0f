// Questions to a person, wherever they are kept: asked of the running gateway, which has the calls that wait, else of the
// store itself, where calls find the answer when they are made again.

import type { ApprovalView } from '../call/approval-view.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { actorOf } from '../policy/access.ts'
import type { Answer } from '../policy/approval-answer.ts'
import type { Approval, ApprovalStatistics, Rule } from '../store/policy.ts'
import type { Store } from '../store/store.ts'
import { askGateway, gatewayRuns } from './gateway-client.ts'
import { withStore } from './recorded.ts'
import type { Session } from './session.ts'

export interface Desk {
  list(status: Approval['status'] | 'all', agent?: string): Promise<ApprovalView[]>
  get(id: string): Promise<ApprovalView>
  answer(id: string, answer: Answer): Promise<ApprovalView>
  /** Takes back a question, or an answer that was not used. */
  withdraw(id: string): Promise<ApprovalView>
  rules(): Promise<readonly Rule[]>
  removeRule(id: string): Promise<Rule>
  statistics(since: number): Promise<ApprovalStatistics>
}

/** Runs `work` with whoever has the questions. */
export async function withDesk(
  session: Session,
  active: Snapshot,
  work: (desk: Desk) => Promise<void>,
): Promise<void> {
  if (await gatewayRuns(active.places, session.signal)) await work(remoteDesk(session, active))
  else await withStore(session, active, async (store) => await withOwnDesk(session, active, store, work))
}

// --- internal ---

/** Who answers at the terminal. */
const BY = `terminal${process.env['USER'] ? ` (${process.env['USER']})` : ''}`

function remoteDesk({ signal }: Session, { places }: Snapshot): Desk {
  const ask = <T extends object>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
    askGateway<T>(places, { method, path, signal, body: body && JSON.stringify(body) })
  return {
    list: async (status, agent) => {
      const query = new URLSearchParams({ status, ...(agent === undefined ? {} : { agent }) })
      return (await ask<{ approvals: ApprovalView[] }>('GET', `/api/approvals?${query}`)).approvals
    },
    get: async (id) =>
      (await ask<{ approval: ApprovalView }>('GET', `/api/approvals/${encodeURIComponent(id)}`)).approval,
    answer: async (id, answer) => {
      const path = `/api/approvals/${encodeURIComponent(id)}`
      return (await ask<{ approval: ApprovalView }>('POST', path, { ...answer, by: BY })).approval
    },
    withdraw: async (id) =>
      (await ask<{ approval: ApprovalView }>('DELETE', `/api/approvals/${encodeURIComponent(id)}`)).approval,
    rules: async () => (await ask<{ rules: Rule[] }>('GET', '/api/approvals/rules')).rules,
    removeRule: async (id) =>
      (await ask<{ rule: Rule }>('DELETE', `/api/approvals/rules/${encodeURIComponent(id)}`)).rule,
    statistics: async (since) => {
      const path = `/api/approvals/statistics?since=${since}`
      return (await ask<{ statistics: ApprovalStatistics }>('GET', path)).statistics
    },
  }
}

async function withOwnDesk(
  { out }: Session,
  active: Snapshot,
  store: Store,
  work: (desk: Desk) => Promise<void>,
): Promise<void> {
  const [{ Brakes }, { approvalView, approvalViews }] = await Promise.all([
    import('../call/brakes.ts'),
    import('../call/approval-view.ts'),
  ])
  const brakes = await Brakes.open({
    store,
    expiry: () => active.config.approvals.expire,
    onApproval: () => undefined,
    onTrouble: (message) => out.warn(message),
  })
  const { desk, memories } = brakes
  const own: Desk = {
    list: async (status, agent) => {
      const approvals = await desk.list(status === 'all' ? undefined : status, agent)
      // Of an agent that is gone there may be questions left.
      if (agent !== undefined && approvals.length === 0) actorOf(agent, active)
      return await approvalViews(approvals, store.invocations)
    },
    get: async (id) => await approvalView(await desk.get(id), store.invocations),
    answer: async (id, answer) => {
      const { id: whole } = await desk.get(id)
      return await approvalView(await desk.answer(whole, answer, BY), undefined)
    },
    withdraw: async (id) => await approvalView(await desk.withdraw(id), undefined),
    rules: async () => memories.all,
    removeRule: async (id) => await memories.remove(id),
    statistics: async (since) => await desk.statistics(since),
  }
  try {
    await work(own)
  } finally {
    // Else it would look at a store that is closed.
    brakes.close()
  }
}
