// A question as a person sees it: what would be called, with which arguments, and what is different from the last time.

import { isRecord } from '../base/record.ts'
import type { Invocations } from '../store/invocation.ts'
import type { Approval } from '../store/policy.ts'

/** Something that differs between two sets of arguments; what is absent on one side is left out. */
export interface ArgumentChange {
  /** `labels/0` */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

export interface ApprovalView extends Omit<Approval, 'fingerprint' | 'argumentsHash'> {
  /** `server/tool` */
  readonly address: string
  /** The last call of this tool by this agent that went well. */
  readonly lastCall?: { readonly at: number; readonly changes: readonly ArgumentChange[] } | undefined
}

export async function approvalView(
  { fingerprint: _, argumentsHash: __, ...approval }: Approval,
  calls: Invocations | undefined,
): Promise<ApprovalView> {
  const { agent, server, tool } = approval
  const address = server === '' ? tool : `${server}/${tool}`
  const [last] =
    approval.status === 'pending' && calls
      ? await calls.list({ agent, server, tool, outcome: 'ok', limit: 1 })
      : []
  const changes = last && changesOf(last.arguments, approval.arguments)
  return {
    ...approval,
    address,
    ...(last && changes ? { lastCall: { at: last.startedAt, changes } } : {}),
  }
}

/** What differs, down to single values; undefined when one of them was cut and cannot be compared. */
function changesOf(before: string | undefined, after: string): ArgumentChange[] | undefined {
  // Numbers that data cannot hold would be compared as others.
  if (before === undefined || LOSSY.test(before) || LOSSY.test(after)) return undefined
  const [one, other] = [parsed(before), parsed(after)]
  if (!isRecord(one) || !isRecord(other)) return undefined
  const changes: ArgumentChange[] = []
  compare(one, other, [], changes)
  return changes.slice(0, MOST_CHANGES)
}

// --- internal ---

/** What may be a number whose digits do not survive being read; a text that looks like one only costs the comparison. */
const LOSSY = /\d{16}|\d[eE][+-]?\d|\.\d*0(?!\d)/

const MOST_CHANGES = 100
const DEEPEST = 8

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function compare(before: unknown, after: unknown, path: readonly string[], changes: ArgumentChange[]): void {
  if (JSON.stringify(before) === JSON.stringify(after)) return
  const isBoth = (test: (value: unknown) => boolean) => test(before) && test(after)
  if (path.length < DEEPEST && (isBoth(isRecord) || isBoth(Array.isArray))) {
    const [one, other] = [before, after] as [Record<string, unknown>, Record<string, unknown>]
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const inside = [...path, key]
      if (!Object.hasOwn(one, key)) changes.push({ path: inside.join('/'), after: other[key] })
      else if (!Object.hasOwn(other, key)) changes.push({ path: inside.join('/'), before: one[key] })
      else compare(one[key], other[key], inside, changes)
    }
    return
  }
  changes.push({ path: path.join('/'), before, after })
}
