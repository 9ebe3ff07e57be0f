// A modern server may want to know something before it gives its result.

import { isRecord } from '../base/record.ts'
import { ASKING_METHODS } from './era.ts'
import { memberValue, mentions, type ReplyMessage } from './message.ts'

/** Whether this answer is a question. */
export function asksFirst(method: string, reply: ReplyMessage): boolean {
  if (reply.isPlain) return false
  if (reply.kind !== 'result' || !ASKING_METHODS.has(method) || !mayAsk(reply)) return false
  const result = memberValue(reply, 'result')
  return isRecord(result) && result['resultType'] === 'input_required'
}

// --- internal ---

/** A search, so that most answers are never read for it. The word can be written with escapes; then it is read. */
function mayAsk(reply: ReplyMessage): boolean {
  if (mentions(reply, '"input_required"')) return true
  return mentions(reply, '\\u00') && ['\\u005', '\\u006', '\\u007'].some((start) => mentions(reply, start))
}
