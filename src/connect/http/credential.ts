// How requests to a server are signed, and what is done when the server does not take the signature.

import type { AnswerHeaders } from '../../wire/http-answer.ts'
import type { Refusal } from './refusal.ts'

/** What stands in a request's headers, as a flat list of names and values. */
export interface Signature {
  readonly headers: readonly string[]
  /** Tells one token from the next. */
  readonly token: unknown
}

export interface Credential {
  /** Another one when there is another token, so that who was turned away knows when to come back. */
  readonly version: unknown
  /** A promise only where a token has to be fetched first. Throws or rejects with what the caller is to be told. */
  sign(method: string, url: URL): Signature | Promise<Signature>
  /**
   * A request with this signature was not taken. Resolves to whether it may be sent again with a new one; rejects with
   * what the caller is to be told instead of the refusal. `attempt` counts from one.
   */
  refused(refusal: Refusal, signature: Signature, attempt: number): Promise<boolean>
  /** What it knows may be of yesterday: it is looked at again before the next request. */
  recall?(): void
  /** Something came back that was no refusal of the signature; its headers may matter for the next one. */
  answered?(headers: AnswerHeaders, url: URL): void
}

/** Whether a status is about who asks. Nothing was done then, so even a call of a tool may be sent again. */
export function isAboutSignature({ status, headers }: Pick<Refusal, 'status' | 'headers'>): boolean {
  if (status === 401) return true
  const challenge = headers['www-authenticate']
  return status === 403 && challenge !== undefined && /insufficient_scope/.test(challenge)
}

/** As often is a request sent again for want of a better signature. */
export const MOST_ATTEMPTS = 3
