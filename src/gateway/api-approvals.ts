// Questions to a person, for the owner: seen and answered. An agent's token opens none of this.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import { approvalView, approvalViews } from '../call/approval-view.ts'
import type { Hub } from '../hub.ts'
import type { ApprovalStatus } from '../store/policy.ts'
import type { Answer as ApiAnswer, ApprovalAnswer } from './api-types.ts'

/** `GET /api/approvals?status=&agent=`; without a status those that are pending, `all` for every one. */
export async function listApprovals(
  hub: Hub,
  query: URLSearchParams,
): Promise<ApiAnswer<'GET /api/approvals'>> {
  const status = query.get('status') ?? 'pending'
  if (status !== 'all' && !isStatus(status)) throw wrong(`there is no status ${status}`)
  await hub.flush()
  const agent = query.get('agent') ?? undefined
  const approvals = await hub.approvals.list(status === 'all' ? undefined : status, agent)
  // Of an agent that is gone there may be questions left.
  if (agent !== undefined && approvals.length === 0) hub.actor(agent)
  return { approvals: await approvalViews(approvals, hub.record) }
}

/** `GET /api/approvals/ID` */
export async function showApproval(hub: Hub, id: string): Promise<ApiAnswer<'GET /api/approvals/ID'>> {
  await hub.flush()
  return { approval: await approvalView(await hub.approvals.get(id), hub.record) }
}

/** `POST /api/approvals/ID {decision: allow|deny, remember?: tool|server, by?}` */
export async function answerApproval(
  hub: Hub,
  id: string,
  body: Buffer,
): Promise<ApiAnswer<'POST /api/approvals/ID'>> {
  const { by, ...answer } = answerIn(body)
  const { id: whole } = await hub.approvals.get(id)
  return { approval: await approvalView(await hub.approvals.answer(whole, answer, by), undefined) }
}

/** `DELETE /api/approvals/ID` */
export async function withdrawApproval(hub: Hub, id: string): Promise<ApiAnswer<'DELETE /api/approvals/ID'>> {
  return { approval: await approvalView(await hub.approvals.withdraw(id), undefined) }
}

/** `GET /api/approvals/rules` */
export async function listRules(hub: Hub): Promise<ApiAnswer<'GET /api/approvals/rules'>> {
  await hub.brakes.memories.refresh()
  return { rules: hub.brakes.memories.all }
}

/** `DELETE /api/approvals/rules/ID` */
export async function removeRule(hub: Hub, id: string): Promise<ApiAnswer<'DELETE /api/approvals/rules/ID'>> {
  return { rule: await hub.brakes.memories.remove(id) }
}

/** `GET /api/approvals/statistics?since=` */
export async function approvalStatistics(
  hub: Hub,
  query: URLSearchParams,
): Promise<ApiAnswer<'GET /api/approvals/statistics'>> {
  const since = Number(query.get('since') ?? 0)
  if (!Number.isFinite(since)) throw wrong('since is no number')
  return { statistics: await hub.approvals.statistics(since) }
}

// --- internal ---

const LONGEST_NAME = 100

function answerIn(body: Buffer): ApprovalAnswer & { by: string } {
  let said: unknown
  try {
    said = JSON.parse(body.toString('utf8'))
  } catch {
    throw wrong('the body is no JSON')
  }
  const { decision, remember, by } = isRecord(said) ? said : {}
  if (decision !== 'allow' && decision !== 'deny') throw wrong('decision is allow or deny')
  if (remember !== undefined && remember !== 'tool' && remember !== 'server')
    throw wrong('remember is tool or server, or is left out')
  if (by !== undefined && (typeof by !== 'string' || by === '')) throw wrong('by is a name, or is left out')
  return { decision, remember, by: by?.slice(0, LONGEST_NAME) ?? 'owner' }
}

const STATUSES: ReadonlySet<string> = new Set<ApprovalStatus>([
  'pending',
  'allowed',
  'denied',
  'used',
  'expired',
  'cancelled',
])

function isStatus(text: string): text is ApprovalStatus {
  return STATUSES.has(text)
}

function wrong(message: string): Fault {
  return new Fault('USAGE', message, { hint: 'see docs/approvals.md' })
}
