// What a status that is no success means.

import { excerptOf, MARGIN } from '../../base/excerpt.ts'
import { Fault } from '../../base/fault.ts'
import type { AnswerHeaders } from '../../wire/http-answer.ts'
import { proxyFault } from './open-socket.ts'

/** An answer that carries no messages. Of a long body only the beginning is there. */
export interface Refusal {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: Buffer
}

/** Whose answer it is, and how what is quoted of it is masked. */
interface Refuser {
  readonly place: string
  readonly mask: (text: string) => string
  /** Through which it came. */
  readonly proxy?: URL | undefined
}

/** `details.status` is always there: whoever tries older transports decides by it. */
export function refusalFault(
  { status, headers, body }: Refusal,
  { place, mask, proxy }: Refuser,
  now: number = Date.now(),
): Fault {
  // No server asks for that.
  if (status === 407 && proxy) return proxyFault(proxy, `answered 407 when asked for ${place}`, { status })
  const said = excerpt(body, headers['content-type'], mask)
  const because = said === '' ? '' : `: ${said}`
  const challenge = headers['www-authenticate']
  const details = { status, ...(challenge === undefined ? {} : { wwwAuthenticate: challenge }) }
  if (status === 401)
    return new Fault('AUTH_REQUIRED', `${place} wants a person to sign in${because}`, { details })
  if (status === 403 && challenge !== undefined && /insufficient_scope/.test(challenge))
    return new Fault('AUTH_REQUIRED', `${place} wants more rights than were given${because}`, { details })
  const wait = retryAfter(headers['retry-after'], now)
  if (isBusy(status, headers))
    return new Fault('SERVER_BUSY', `${place} has too much to do${because}`, {
      hint: wait === undefined ? undefined : `try again in ${Math.ceil(wait / 1000)} s`,
      details: { ...details, ...(wait === undefined ? {} : { retryAfter: wait }) },
    })
  if (status < 300)
    return new Fault(
      'SERVER_UNREACHABLE',
      `${place} answered with ${headers['content-type'] ?? 'no content type'} instead of a message${because}`,
      { hint: 'is the url the one of an MCP server?', details },
    )
  return new Fault('SERVER_UNREACHABLE', `${place} answered ${status}${because}`, { details })
}

/** Whether the server asks to come back later. */
export function isBusy(status: number, headers: AnswerHeaders): boolean {
  return status === 429 || (status === 503 && headers['retry-after'] !== undefined)
}

/** Milliseconds of a Retry-After header, seconds or a date, 60 s at most; undefined for what makes no sense. */
export function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  const text = value.trim()
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : /^[A-Za-z]/.test(text) ? Date.parse(text) - now : -1
  return wait >= 0 ? Math.min(wait, LONGEST_WAIT) : undefined
}

// --- internal ---

const LONGEST_WAIT = 60_000
const EXCERPT = 120

/** So much of a body is looked at. */
const MOST_READ = 128 * 1024

/** The first words of a body, for people. */
function excerpt(body: Buffer, type: string | undefined, mask: (text: string) => string): string {
  // Masked as it came, too: without its tags and blanks a secret might be another text.
  const masked = mask(body.toString('utf8', 0, MOST_READ))
  // Half a secret may stand where reading ended.
  const text = body.length > MOST_READ ? masked.slice(0, -MARGIN) : masked
  const plain = /html|xml/i.test(type ?? '') || /^\s*</.test(text) ? withoutTags(text) : text
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach a terminal
  const line = plain.replace(/[\x00-\x20\x7f-\x9f]+/g, ' ').trim()
  return excerptOf(line, { most: EXCERPT, mask })
}

function withoutTags(text: string): string {
  return text.replace(/<(style|script|head)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ').replace(/<[^>]*(?:>|$)/g, ' ')
}
