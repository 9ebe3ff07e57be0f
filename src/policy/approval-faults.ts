// Why a call that a person has to allow is not made, in the words its caller reads.

import { Fault } from '../base/fault.ts'
import { leftText } from '../base/time-text.ts'
import type { Approval } from '../store/policy.ts'

type Called = Pick<Approval, 'server' | 'tool'>

/** `left`: milliseconds. */
export function pending(approval: Approval, left: number): Fault {
  return new Fault(
    'APPROVAL_PENDING',
    `a person has to allow ${addressOf(approval)} first; the question is ${approval.id} and can be answered for ` +
      `${leftText(left)}: retry the very same call later`,
    { hint: `a person answers with: busbar approve allow ${approval.id}`, ...about(approval) },
  )
}

export function tooMany(agent: string, count: number, call: Called): Fault {
  return new Fault(
    'APPROVALS_FULL',
    `${agent} has ${count} questions open, so nobody is asked about ${addressOf(call)}`,
    {
      hint: `a person answers them first: busbar approve list --agent ${agent}`,
      ...(call.server === '' ? {} : { server: call.server }),
    },
  )
}

export function denied(approval: Approval): Fault {
  return new Fault('APPROVAL_DENIED', `a person did not allow ${addressOf(approval)} with these arguments`, {
    hint: 'do not retry the same call',
    ...about(approval),
  })
}

export function answered({ id, status }: Approval): Fault {
  const isOver = status === 'pending' || status === 'expired'
  const what = isOver ? 'has expired' : `is ${status} already`
  return new Fault('APPROVAL_UNKNOWN', `${id} ${what}`, {
    hint: 'run: busbar approve list',
    details: { approval: id, status },
  })
}

/** Somebody took the question back, or its agent or server is gone. */
export function withdrawn(call: Called): Fault {
  return new Fault(
    'CALL_CANCELLED',
    `the question about ${addressOf(call)} was taken back, so it is not made`,
    {
      hint: 'whoever took it back can say why; made again, it is asked about again',
      ...(call.server === '' ? {} : { server: call.server }),
    },
  )
}

export function cancelled(call: Called): Fault {
  return new Fault('CALL_CANCELLED', `${addressOf(call)} was cancelled while a person was asked`, {
    ...(call.server === '' ? {} : { server: call.server }),
  })
}

/** `several`: the end of an id was given, and fits more than one. */
export function unknown(id: unknown, several: boolean): Fault {
  return several
    ? new Fault('APPROVAL_UNKNOWN', `several questions have ids that end with ${JSON.stringify(id)}`, {
        hint: 'write more of the id',
      })
    : new Fault('APPROVAL_UNKNOWN', `no approval has the id ${JSON.stringify(id)}`, {
        hint: 'run: busbar approve list',
      })
}

// --- internal ---

function addressOf({ server, tool }: Called): string {
  return server === '' ? tool : `${server}/${tool}`
}

function about({ id, server, expiresAt }: Approval): { server?: string; details: Record<string, unknown> } {
  return {
    ...(server === '' ? {} : { server }),
    details: { approval: id, expiresAt: new Date(expiresAt).toISOString() },
  }
}
