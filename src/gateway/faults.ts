// Faults as clients see them. A tool call that could not be made is a result that says so, because that is what a model
// can act on; anything else is an error of the protocol.

import { type Code, Fault } from '../base/fault.ts'
import { maskText } from '../base/redact.ts'
import { ERROR, type Era } from '../wire/era.ts'
import type { Id, ProtocolError } from '../wire/message.ts'
import type { Reply } from './reply.ts'

/** Ours lie outside of what JSON-RPC and MCP keep for themselves. */
export const OWN_ERROR = 4000

export function replyFault(reply: Reply, id: Id, method: string, era: Era, error: unknown): void {
  const fault =
    error instanceof Fault
      ? error
      : new Fault('INTERNAL', 'something went wrong in Busbar itself; its log says what')
  const { message: text, data } = faultError(fault)
  if (fault.code === 'NO_ACCESS' || fault.code === 'SERVER_UNKNOWN' || fault.code === 'TOOL_UNKNOWN') {
    // An endpoint that is not there is 404. To a client with a session that would say that the session is over, so what it
    // asks for by name there is not.
    const isNamed = era === 'legacy' && NAMING.test(method)
    const status = isNamed || fault.code === 'TOOL_UNKNOWN' ? 200 : 404
    reply.error(id, { code: ERROR.invalidParams, message: text, data }, status)
    return
  }
  // A client without a session gets nothing done; the status says so to those who read nothing else.
  if (fault.code === 'GATEWAY_LIMIT') {
    reply.retryAfter(1)
    reply.error(id, { code: OWN_ERROR, message: text, data: { ...data, retryAfter: 1 } }, 429)
    return
  }
  if (fault.code === 'REQUEST_STATE_INVALID') {
    reply.error(id, { code: ERROR.invalidParams, message: text, data }, 400)
    return
  }
  if (method === 'tools/call') {
    reply.result(id, {
      ...(era === 'modern' ? { resultType: 'complete' } : {}),
      content: [{ type: 'text', text }],
      isError: true,
      _meta: { 'busbar/fault': data },
    })
    return
  }
  reply.error(id, { code: OWN_ERROR, message: text, data })
}

/** A fault as an error of the protocol, with the next step in words and as data. */
export function faultError({ code, message, hint, details }: Fault): Described {
  const approval = details?.['approval']
  return {
    code: OWN_ERROR,
    message: maskText([message, hint].filter(Boolean).join(' — ')),
    data: {
      code,
      ...(hint === undefined ? {} : { hint: maskText(hint) }),
      ...(typeof approval === 'string' ? { approval } : {}),
    },
  }
}

interface Described extends ProtocolError {
  readonly data: { readonly code: Code; readonly hint?: string; readonly approval?: string }
}

/** What names a tool, a resource or a prompt, of one server or another. */
const NAMING = /^(?:tools\/call|resources\/(?:read|subscribe|unsubscribe)|prompts\/get|completion\/complete)$/

/** The HTTP status that goes with an error of a modern server. */
export function statusOf({ code }: ProtocolError): number {
  switch (code) {
    case ERROR.methodNotFound:
      return 404
    case ERROR.headerMismatch:
    case ERROR.missingCapability:
    case ERROR.unsupportedVersion:
      return 400
    default:
      return 200
  }
}
