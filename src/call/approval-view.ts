// A question as a person sees it: what would be called, with which arguments, and what is different from the last time.

import type { Invocations, RecordedInvocation } from '../store/invocation.ts'
import type { Approval } from '../store/policy.ts'
import { type Comparison, compareArguments } from './argument-changes.ts'

export interface ApprovalView extends Omit<Approval, 'fingerprint' | 'identity' | 'argumentsHash'> {
  /** `server/tool` */
  readonly address: string
  /** The last call of this tool by this agent that went well. */
  readonly lastCall?: ({ readonly at: number } & Comparison) | undefined
}

type Calls = Pick<Invocations, 'list'>

export async function approvalView(approval: Approval, calls: Calls | undefined): Promise<ApprovalView> {
  return viewOf(approval, isCompared(approval) ? await lastCall(approval, calls) : undefined)
}

/** The same of many: an agent's last call of a tool is looked up once, however often it asks. */
export async function approvalViews(
  approvals: readonly Approval[],
  calls: Calls | undefined,
): Promise<ApprovalView[]> {
  const found = new Map<string, RecordedInvocation | undefined>()
  const views: ApprovalView[] = []
  for (const approval of approvals) {
    const { agent, server, tool } = approval
    const key = JSON.stringify([agent, server, tool])
    if (isCompared(approval) && !found.has(key) && found.size < MOST_LOOKED_UP)
      found.set(key, await lastCall(approval, calls))
    views.push(viewOf(approval, isCompared(approval) ? found.get(key) : undefined))
  }
  return views
}

// --- internal ---

/** Looks at the record for one list: each may go through many rows. */
const MOST_LOOKED_UP = 100

/** What is answered needs nothing to judge it by. */
function isCompared({ status }: Approval): boolean {
  return status === 'pending'
}

async function lastCall(
  { agent, server, tool }: Approval,
  calls: Calls | undefined,
): Promise<RecordedInvocation | undefined> {
  const [last] = (await calls?.list({ agent, server, tool, outcome: 'ok', limit: 1 })) ?? []
  return last
}

function viewOf(
  { fingerprint: _, identity: __, argumentsHash: digest, ...approval }: Approval,
  last: RecordedInvocation | undefined,
): ApprovalView {
  const { server, tool, arguments: text } = approval
  const address = server === '' ? tool : `${server}/${tool}`
  if (last === undefined) return { ...approval, address }
  const comparison = compareArguments({ text: last.arguments, bytes: last.requestBytes }, { text, digest })
  return { ...approval, address, lastCall: { at: last.startedAt, ...comparison } }
}
