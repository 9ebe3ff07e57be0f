// The person at the calling client is asked in that client's own dialogue, for agents that say that one sits there.

import { isRecord } from '../base/record.ts'
import type { Stop } from '../base/stop.ts'
import type { Asker } from '../connect/asker.ts'
import type { Approver } from '../policy/approvals.ts'
import type { Approval } from '../store/policy.ts'
import { memberValue, requestOf } from '../wire/message.ts'

/** Asks through the client that made the call. What is no clear answer leaves it to others. */
export function dialogueOf(asker: Asker, stop: Stop): Approver {
  return async (approval) => {
    const given = await asker.question(requestOf('elicitation/create', questionFor(approval)), stop)
    if (!('reply' in given) || given.reply.kind !== 'result') return undefined
    const result = memberValue(given.reply, 'result')
    const { action, content } = isRecord(result) ? result : {}
    const decision = isRecord(content) ? content['decision'] : undefined
    if (action === 'decline' || (action === 'accept' && decision === 'deny')) return { decision: 'deny' }
    return action === 'accept' && decision === 'allow' ? { decision: 'allow' } : undefined
  }
}

// --- internal ---

/** Of arguments; the whole of them is in the inbox. */
const LONGEST = 1500

function questionFor({ id, agent, server, tool, arguments: given, reason }: Approval): object {
  const text = given.length > LONGEST ? `${given.slice(0, LONGEST)}… (all of it: busbar approve list)` : given
  return {
    mode: 'form',
    message: `${agent} wants to call ${server === '' ? tool : `${server}/${tool}`}: ${reason}\n\n${text}\n\nApproval ${id}`,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'May it be called, once?', enum: ['allow', 'deny'] },
      },
      required: ['decision'],
    },
  }
}
