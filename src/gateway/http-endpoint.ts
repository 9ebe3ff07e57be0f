// The MCP endpoint over HTTP: which method means what, and which headers must be there.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '../base/fault.ts'
import type { Actor } from '../policy/access.ts'
import { readBody } from './body.ts'
import { placeOf } from './event-log.ts'
import { EventSink } from './event-sink.ts'
import type { Share } from './limits.ts'
import type { McpEndpoint } from './mcp.ts'
import type { OpenAnswer } from './open-answers.ts'
import { refuse, refuseForNow, STOPPING } from './refuse.ts'
import { HttpReply } from './reply.ts'
import type { Session } from './session.ts'
import { isList, several } from './several.ts'

/** One request to the endpoint, by somebody who is known. */
export interface Visit {
  readonly endpoint: McpEndpoint
  readonly actor: Actor
  /** The one server it is for; undefined for all that the actor may use. */
  readonly scope: string | undefined
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly share: Share
  readonly open: OpenAnswer
}

export function serveMcp(visit: Visit): Promise<void> | void {
  const { request, response } = visit
  switch (request.method) {
    case 'POST':
      return post(visit)
    case 'GET':
      return openStream(visit)
    case 'DELETE':
      return endSession(visit)
    default:
      response.setHeader('allow', 'POST, GET, DELETE')
      return refuse(response, 405, `${request.method} means nothing here`)
  }
}

// --- internal ---

async function post({ endpoint, actor, scope, request, response, share, open }: Visit): Promise<void> {
  const { headers } = request
  if (!/^application\/json[ \t]*(?:;|$)/i.test(headers['content-type'] ?? ''))
    return refuse(response, 415, 'expected content-type application/json')
  const body = await readBody(request, response, share.settings.body)
  const { gone } = open
  // Also of somebody who was sent away before all of it was there.
  if (body === undefined || gone.aborted) return
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  const reply = new HttpReply(response, headers.accept)
  open.reply = reply
  const incoming = { actor, scope, headers, body, reply, gone, session: undefined }
  if (isList(body)) return await several(endpoint, incoming, share)
  await endpoint.handle(incoming)
}

/** The session that a request names; undefined, and answered, when there is none. */
function sessionOf({ endpoint, actor, scope, response }: Visit, id: string): Session | undefined {
  try {
    const session = endpoint.sessions.find(id, actor, scope)
    if (session === undefined) refuse(response, 404, 'there is no such session')
    return session
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    refuseForNow(response, 429, 'GATEWAY_LIMIT', { reason: error.message, retryAfter: 1 })
    return undefined
  }
}

/** The stream of a session, or one that its client lost. A client without a session has none. */
function openStream(visit: Visit): void {
  const { request, response } = visit
  const { headers } = request
  const id = headers['mcp-session-id']
  if (typeof id !== 'string') {
    response.setHeader('allow', 'POST')
    refuse(response, 405, 'without a session there is no stream; send initialize by POST')
  } else if (!/text\/event-stream|\*\/\*|text\/\*/.test(headers.accept ?? ''))
    refuse(response, 406, 'expected accept: text/event-stream')
  else {
    const session = sessionOf(visit, id)
    // Who waits for an answer may have lost the stream by which it comes.
    if (session && visit.endpoint.stopping && !session.underWay) {
      refuseForNow(response, 503, 'CLOSED', STOPPING)
      return
    }
    const lastId = headers['last-event-id']
    const place = placeOf(typeof lastId === 'string' ? lastId : undefined)
    if (lastId === undefined || session?.has(place)) session?.read(new EventSink(response), place)
    // Not 404: that would say that the session is over.
    else if (session) refuse(response, 400, 'what followed that event is not known any more')
  }
}

function endSession(visit: Visit): void {
  const { request, response, endpoint } = visit
  const id = request.headers['mcp-session-id']
  if (typeof id !== 'string') refuse(response, 400, 'Mcp-Session-Id says which session')
  else {
    const session = sessionOf(visit, id)
    if (session === undefined) return
    endpoint.sessions.end(session)
    response.writeHead(204).end()
  }
}
