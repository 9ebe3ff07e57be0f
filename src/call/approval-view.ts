// A question as a person sees it: what would be called, with which arguments, and what is different from the last time.

import type { Invocations } from '../store/invocation.ts'
import type { Approval } from '../store/policy.ts'
import { type Comparison, compareArguments } from './argument-changes.ts'

export interface ApprovalView extends Omit<Approval, 'fingerprint' | 'identity' | 'argumentsHash'> {
  /** `server/tool` */
  readonly address: string
  /** The last call of this tool by this agent that went well. */
  readonly lastCall?: ({ readonly at: number } & Comparison) | undefined
}

export async function approvalView(
  { fingerprint: _, identity: __, argumentsHash: digest, ...approval }: Approval,
  calls: Invocations | undefined,
): Promise<ApprovalView> {
  const { agent, server, tool, arguments: text } = approval
  const address = server === '' ? tool : `${server}/${tool}`
  const [last] =
    approval.status === 'pending' && calls
      ? await calls.list({ agent, server, tool, outcome: 'ok', limit: 1 })
      : []
  if (last === undefined) return { ...approval, address }
  const comparison = compareArguments({ text: last.arguments, bytes: last.requestBytes }, { text, digest })
  return { ...approval, address, lastCall: { at: last.startedAt, ...comparison } }
}
