// Answers to requests that are not even looked at.

import type { ServerResponse } from 'node:http'
import { type Code, Fault } from '../base/fault.ts'
import type { Id, ProtocolError } from '../wire/message.ts'
import { apiFault } from './api-fault.ts'
import { OWN_ERROR } from './faults.ts'
import { json } from './json.ts'
import type { TooMuch } from './limits.ts'
import type { Reply } from './reply.ts'

export function refuse(response: ServerResponse, status: number, message: string): void {
  json(response, status, { error: message })
}

/** The same where `/api/*` was asked, whose refusals are all faults; elsewhere in one sentence. */
export function refuseAt(path: string, response: ServerResponse, status: number, fault: Fault): void {
  if (path.startsWith('/api/')) json(response, status, apiFault(fault))
  else refuse(response, status, fault.hint === undefined ? fault.message : `${fault.message}; ${fault.hint}`)
}

/** Later, perhaps. In a form that a client of the protocol understands, though nobody knows which request it was. */
export function refuseForNow(
  response: ServerResponse,
  status: 429 | 503,
  code: Code,
  { reason, retryAfter }: TooMuch,
): void {
  response.setHeader('retry-after', retryAfter)
  if (status === 503) response.setHeader('connection', 'close')
  json(response, status, { jsonrpc: '2.0', id: null, error: tooMuchError(code, { reason, retryAfter }) })
}

/** Another gateway may be there then. */
export const STOPPING = { reason: 'the gateway is stopping', retryAfter: 5 } as const

/** Nothing is taken at this path any more. */
export function refuseStoppingAt(path: string, response: ServerResponse): void {
  if (!path.startsWith('/api/')) {
    refuseForNow(response, 503, 'CLOSED', STOPPING)
    return
  }
  response.setHeader('retry-after', STOPPING.retryAfter)
  response.setHeader('connection', 'close')
  json(response, 503, apiFault(new Fault('CLOSED', STOPPING.reason)))
}

/** The same of a request that was read. */
export function refuseStopping(reply: Reply, id: Id): void {
  reply.unavailable(id, tooMuchError('CLOSED', STOPPING), STOPPING.retryAfter)
}

/** The same as an error of the protocol. */
export function tooMuchError(code: Code, { reason, retryAfter }: TooMuch): ProtocolError {
  return { code: OWN_ERROR, message: reason, data: { code, retryAfter } }
}
