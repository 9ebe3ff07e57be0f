// What can go wrong while signing in, in words for people. What an authorization server says is data: short, plain,
// without secrets.

import { excerptOf } from '../../base/excerpt.ts'
import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import { maskText, scrubLearned } from '../../base/redact.ts'

export function signInFailed(message: string, hint?: string, cause?: unknown): Fault {
  return new Fault('SIGN_IN_FAILED', message, { hint, cause })
}

/** The error an authorization server answered with, by its own code; undefined for anything else that was thrown. */
export function oauthCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'OAuthError' || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Whether it is worth trying again later: nobody said no. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Fault) return error.code === 'SERVER_UNREACHABLE' || error.code === 'CONNECTION_LOST'
  const code = oauthCode(error)
  return code === 'server_error' || code === 'temporarily_unavailable' || code === 'too_many_requests'
}

/** One line of what somebody else said. */
export function said(text: unknown): string {
  if (typeof text !== 'string') return ''
  return excerptOf(scrubLearned(text).replace(UNSEEN, ' ').trim(), { most: LONGEST, mask: maskText })
}

/** Anything thrown while signing in, as a fault. */
export function asSignInFault(error: unknown, what: string): Fault {
  if (error instanceof Fault) return error
  const code = oauthCode(error)
  const message = error instanceof Error ? error.message : String(error)
  // The library quotes whole pages; the first words say enough.
  const words = said(message.replace(/\. Raw body: [\s\S]*$/, ''))
  if (isPassing(error))
    return new Fault('SERVER_UNREACHABLE', `${what}: ${words}`, { hint: 'try again later', cause: error })
  const named = said(code)
  const spoken = named === '' || words.includes(named) ? words : `${named}: ${words}`
  return signInFailed(`${what}: ${spoken}`, undefined, error)
}

/** A JSON object, or a fault that says whose answer is none. */
export async function jsonObject(response: Response, what: string): Promise<Record<string, unknown>> {
  const value: unknown = await response.json().catch(() => undefined)
  if (isRecord(value)) return value
  throw signInFailed(`${what} is no JSON object`)
}

// --- internal ---

const LONGEST = 240
// biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach a terminal
const UNSEEN = /[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/g
