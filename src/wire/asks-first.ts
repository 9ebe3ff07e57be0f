// A modern server may want to know something before it gives its result.

import { isRecord } from '../base/record.ts'
import { ASKING_METHODS } from './era.ts'
import { mayMention, memberValue, type ReplyMessage } from './message.ts'

/** Whether this answer is a question. */
export function asksFirst(method: string, reply: ReplyMessage): boolean {
  if (reply.isPlain) return false
  if (reply.kind !== 'result' || !ASKING_METHODS.has(method)) return false
  // A search, so that most answers are never read for it.
  if (!mayMention(reply, '"input_required"')) return false
  const result = memberValue(reply, 'result')
  return isRecord(result) && result['resultType'] === 'input_required'
}
