// What a failed request to a model means: try again, the conversation is too long, or somebody must change something.

import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import { maskText, scrubLearned } from '../../base/redact.ts'
import type { ModelChoice } from './choose.ts'

export interface Trouble {
  readonly fault: Fault
  /** Whether the same request could work in a moment. */
  readonly again: boolean
  /** Milliseconds that the endpoint asks to wait. */
  readonly wait?: number | undefined
}

/** Whatever the packages threw or streamed as an error. Nothing of it is kept but the endpoint's words, masked. */
export function troubleOf(error: unknown, choice: ModelChoice, now: number = Date.now()): Trouble {
  const fault = faultIn(error)
  if (fault !== undefined) return ownTrouble(fault, choice)
  const { status, code, said, headers } = factsOf(error)
  const who = `${choice.provider}/${choice.name}`
  const because = said === '' ? '' : `: ${said}`
  if (status === 413 || OVERFLOW.test(`${code} ${said}`))
    return final(new Fault('MODEL_OVERFLOW', `the conversation is too long for ${who}${because}`))
  if (status === 401 || status === 403)
    return final(refused(`${who} refuses the key`, because, keyHint(choice)))
  if (status === 404)
    return final(
      refused(`${who} is not there`, because, 'correct `agent.model.name`, BUSBAR_MODEL or the base URL'),
    )
  if (status === 402 || /insufficient_quota|billing|credit balance/i.test(`${code} ${said}`))
    return final(
      refused(`${who} wants to be paid`, because, `check the account that ${choice.keyVariable} belongs to`),
    )
  if (status !== undefined && status < 500 && status !== 408 && status !== 409 && status !== 429)
    return final(refused(`${who} refuses the request (${status})`, because))
  const wait = waitOf(headers, now)
  const sentence = status === undefined ? `${who} gave no whole answer` : `${who} answered ${status}`
  return { fault: unavailable(`${sentence}${because}`, wait), again: true, wait }
}

/** The end of trying. */
export function unavailable(message: string, wait?: number): Fault {
  return new Fault('MODEL_UNAVAILABLE', message, {
    hint: wait === undefined ? 'try again later' : `try again in ${Math.ceil(wait / 1000)} s`,
    ...(wait === undefined ? {} : { details: { retryAfter: wait } }),
  })
}

// --- internal ---

/** How the services, and the programs that run models on one's own machine, say it. */
const OVERFLOW =
  /context_length_exceeded|exceed_context_size|request_too_large|prompt is too long|maximum context length|context (?:length|limit|window|size)[^.]{0,40}exceed|exceeds? (?:the )?(?:available |model's |maximum )?(?:context|number of tokens)|input (?:is )?too long|reduce the length of the (?:messages|prompt)|greater than the context length/i

const MOST_READ = 16_384
const MOST_SAID = 300

interface Facts {
  readonly status: number | undefined
  readonly code: string
  readonly said: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** Errors of a request, and those in the middle of a stream, which are bare objects. */
function factsOf(error: unknown): Facts {
  const all = isRecord(error) || error instanceof Error ? (error as unknown as Record<string, unknown>) : {}
  const data = isRecord(all['data']) && isRecord(all['data']['error']) ? all['data']['error'] : all
  const status = typeof all['statusCode'] === 'number' ? all['statusCode'] : undefined
  const text = typeof data['message'] === 'string' ? data['message'] : String(all['message'] ?? '')
  return {
    // A stream that cannot be read came with a status of success.
    status: status !== undefined && status >= 400 ? status : STATUSES[String(data['type'])],
    code: `${data['type'] ?? ''} ${data['code'] ?? ''}`,
    said: excerpt(text),
    headers: isRecord(all['responseHeaders']) ? all['responseHeaders'] : {},
  }
}

/** What an error in the middle of a stream would have had as its status. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 529,
}

function faultIn(error: unknown): Fault | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++)
    if (at instanceof Fault) return at
  return undefined
}

/** What went wrong on our side of the wire. */
function ownTrouble(fault: Fault, { provider, name }: ModelChoice): Trouble {
  if (fault.code === 'MODEL_REFUSED') return final(fault)
  if (fault.code === 'ADDRESS_REFUSED' || fault.code === 'CONFIG_INVALID' || fault.code === 'MESSAGE_INVALID')
    return final(refused(fault.message, '', fault.hint))
  const { message, hint = 'try again later' } = fault
  return { fault: new Fault('MODEL_UNAVAILABLE', `${provider}/${name}: ${message}`, { hint }), again: true }
}

function final(fault: Fault): Trouble {
  return { fault, again: false }
}

function refused(sentence: string, because: string, hint?: string): Fault {
  return new Fault('MODEL_REFUSED', `${sentence}${because}`, { hint })
}

function keyHint({ key, keyVariable }: ModelChoice): string {
  return key === undefined
    ? `set ${keyVariable}, or \`agent.model.key\``
    : `check the key in ${keyVariable} or \`agent.model.key\``
}

function waitOf(headers: Facts['headers'], now: number): number | undefined {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (exact >= 0) return exact
  const text = String(headers['retry-after'] ?? '').trim()
  const wait = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return wait >= 0 ? wait : undefined
}

/** Endpoints repeat what they were sent. */
function excerpt(text: string): string {
  // Before it is cut: the beginning of a secret is one, too.
  const line = scrubLearned(text)
    .slice(0, MOST_READ)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  const clean = maskText(line)
  return clean.length > MOST_SAID ? `${clean.slice(0, MOST_SAID)}…` : clean
}
