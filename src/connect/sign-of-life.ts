// What it means when a server does not answer the question for a sign of life as it should.

import { Fault } from '../base/fault.ts'
import { ERROR } from '../wire/era.ts'

/**
 * Whether it may only not know the question, or not what to say to it: a bare status, an answer without a message, an error
 * that stands for something else. What it has answered before shows more.
 */
export function isPuzzled(error: unknown): boolean {
  if (!(error instanceof Fault)) return false
  const { code, details } = error
  if (code === 'MESSAGE_INVALID' || code === 'CONNECTION_LOST') return true
  if (details?.['status'] === undefined) return false
  // "There is no such method" is an answer.
  return (
    code === 'SERVER_UNREACHABLE' || (code === 'SERVER_ERROR' && details['code'] !== ERROR.methodNotFound)
  )
}

/** The refusal of what it has answered before: somebody is there, but does not do what it should. */
export function refusedAfterAll(error: unknown): unknown {
  if (!(error instanceof Fault) || error.code !== 'SERVER_ERROR' || error.details?.['status'] === undefined)
    return error
  const { message, details, server } = error
  return new Fault('SERVER_UNREACHABLE', message, { details, server, cause: error })
}
