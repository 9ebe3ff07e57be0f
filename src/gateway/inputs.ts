// A modern server asks in its answer; a legacy client is asked in the middle of its request. From the one to the other.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Stop } from '../base/stop.ts'
import type { Asker } from '../connect/asker.ts'
import { find, memberValue, type ReplyMessage, requestOf, slice } from '../wire/message.ts'
import { type RawParams, withTexts } from '../wire/params.ts'
import { scanObject } from '../wire/scan.ts'

/** Asks the client what the server wants to know; the parameters for the server's next try. */
export async function answerInputs(
  asker: Asker,
  reply: ReplyMessage,
  params: RawParams,
  stop: Stop,
): Promise<RawParams> {
  const result = memberValue(reply, 'result')
  const requests = isRecord(result) && isRecord(result['inputRequests']) ? result['inputRequests'] : {}
  const answers = await Promise.all(
    Object.entries(requests).map(async ([key, request]) => {
      const { method, params: asked } = isRecord(request) ? request : {}
      return `${JSON.stringify(key)}:${await answerTo(asker, String(method), asked, stop)}`
    }),
  )
  const state = requestStateOf(reply)
  return withTexts(params, {
    inputResponses: `{${answers.join(',')}}`,
    // Byte for byte: only the server knows what it means.
    ...(state === undefined ? {} : { requestState: state }),
  })
}

// --- internal ---

/** The text of the answer. */
async function answerTo(asker: Asker, method: string, params: unknown, stop: Stop): Promise<string> {
  const given = await asker.question(requestOf(method, params), stop)
  if ('reply' in given && given.reply.kind === 'result')
    return slice(given.reply, 'result')?.toString('utf8') ?? '{}'
  if ('result' in given) return JSON.stringify(given.result)
  const error = 'error' in given ? given.error : memberValue(given.reply, 'error')
  const reason = isRecord(error) ? error['message'] : undefined
  throw new Fault('NOT_SUPPORTED', `the server asks for ${method}, and the client cannot answer: ${reason}`)
}

function requestStateOf(reply: ReplyMessage): string | undefined {
  const result = slice(reply, 'result')
  const scan = result && scanObject(result)
  const member = scan?.ok ? find(scan.members, 'requestState') : undefined
  return member && result?.toString('utf8', member.start, member.end)
}
