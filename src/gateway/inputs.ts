// A modern server asks in its answer; a legacy client is asked in the middle of its request. From the one to the other.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Stop } from '../base/stop.ts'
import type { Asker, Given } from '../connect/asker.ts'
import { find, memberValue, type ReplyMessage, requestOf, slice } from '../wire/message.ts'
import { type RawParams, withTexts } from '../wire/params.ts'
import { scanObject } from '../wire/scan.ts'
import { refusal, step } from './translation.ts'
import { CALLS } from './translation-calls.ts'
import { SERVERS } from './translation-questions.ts'

/**
 * Asks the client what the server wants to know, if anything; the parameters for the server's next try. `params`: those that
 * the client gave.
 */
export async function answerInputs(
  asker: Asker,
  reply: ReplyMessage,
  params: RawParams,
  stop: Stop,
): Promise<RawParams> {
  const state = stop.aborted ? 'cancelled' : 'under way'
  if (!step(CALLS, state, 'question in the answer', ERAS).effects.includes('push and ask again'))
    throw new Fault('CALL_CANCELLED', 'it was cancelled before its client could be asked')
  const result = memberValue(reply, 'result')
  const requests = isRecord(result) && isRecord(result['inputRequests']) ? result['inputRequests'] : {}
  const answers = await Promise.all(
    Object.entries(requests).map(async ([key, request]) => {
      const { method, params: asked } = isRecord(request) ? request : {}
      return `${JSON.stringify(key)}:${await answerTo(asker, String(method), asked, stop)}`
    }),
  )
  const own = requestStateOf(reply)
  return withTexts(params, {
    ...(answers.length > 0 ? { inputResponses: `{${answers.join(',')}}` } : {}),
    // Byte for byte: only the server knows what it means.
    ...(own === undefined ? {} : { requestState: own }),
  })
}

// --- internal ---

const ERAS = { client: 'legacy', server: 'modern' } as const

/** The text of the answer. */
async function answerTo(asker: Asker, method: string, params: unknown, stop: Stop): Promise<string> {
  const given = await asker.question(requestOf(method, params), stop)
  const isResult = 'result' in given || ('reply' in given && given.reply.kind === 'result')
  for (const effect of step(SERVERS, 'waits', isResult ? 'result' : 'error', ERAS).effects)
    if (typeof effect === 'object')
      throw refusal({ ...effect, why: `${effect.why} ${method}: ${reasonOf(given)}` })
  if ('reply' in given) return slice(given.reply, 'result')?.toString('utf8') ?? '{}'
  return 'result' in given ? JSON.stringify(given.result) : '{}'
}

function reasonOf(given: Given): unknown {
  const error = 'reply' in given ? memberValue(given.reply, 'error') : 'error' in given && given.error
  return isRecord(error) ? error['message'] : undefined
}

function requestStateOf(reply: ReplyMessage): string | undefined {
  const result = slice(reply, 'result')
  const scan = result && scanObject(result)
  const member = scan?.ok ? find(scan.members, 'requestState') : undefined
  return member && result?.toString('utf8', member.start, member.end)
}
