// Whether a refusal means that the server does not know the session any more.

import { ERROR } from '../../wire/era.ts'
import { type ErrorMessage, errorOf, readMessage } from '../../wire/message.ts'
import { isSameId } from './answer.ts'
import type { Refusal } from './refusal.ts'

/**
 * `sure`: the status says so, as the protocol wants it. `likely`: the words of a 400 do, as official SDKs and many servers
 * have it. Nothing was done in either case.
 */
export function sessionLoss(
  refusal: Refusal,
  error: ErrorMessage | undefined,
  id: number | undefined,
): 'sure' | 'likely' | undefined {
  if (error && id !== undefined && isSameId(error.id, id) && READ_ERRORS.has(errorOf(error).code))
    return undefined
  if (refusal.status === 404) return 'sure'
  // Who gives back our id has read the request, and may have done it: only what sessions are refused with means that one.
  const isOwn = error !== undefined && id !== undefined && isSameId(error.id, id)
  if (isOwn && !LOSS_ERRORS.has(errorOf(error).code)) return undefined
  return refusal.status === 400 && WORDS.test(refusal.body.toString('utf8', 0, 4096)) ? 'likely' : undefined
}

export function errorIn({ body }: Refusal): ErrorMessage | undefined {
  const message = readMessage(body)
  return message.kind === 'error' ? message : undefined
}

// --- internal ---

/** Errors that only a server gives which read the message. */
const READ_ERRORS: ReadonlySet<number> = new Set([ERROR.methodNotFound, ERROR.invalidParams])

/** With which servers refuse a session that they do not know. */
const LOSS_ERRORS: ReadonlySet<number> = new Set([-32000, -32001, ERROR.invalidRequest])

/** A server that was started anew may know of no session at all, and say that it waits for the first. */
const WORDS =
  /session|\b(?:server|transport|connection|client)\b[\w ]{0,20}\bnot (?:yet |been )*initiali[sz]ed/i
