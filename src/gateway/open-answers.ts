// Answers under way to those who showed a token, streams among them. Whose token opens nothing any more is told so before
// the connection ends, whatever they wait for.

import type { ServerResponse } from 'node:http'
import { Fault } from '../base/fault.ts'
import { faultError } from './faults.ts'
import { Gone } from './gone.ts'
import { ASK_AGAIN } from './identify.ts'
import { json } from './json.ts'
import type { HttpReply } from './reply.ts'

/** What is known of one: who answers is known once the request was read. */
export interface OpenAnswer {
  reply: HttpReply | undefined
  readonly gone: Gone
}

export class OpenAnswers {
  readonly #all = new Map<ServerResponse, OpenAnswer>()

  add(response: ServerResponse): OpenAnswer {
    const open = { reply: undefined, gone: new Gone() }
    this.#all.set(response, open)
    return open
  }

  delete(response: ServerResponse): void {
    this.#all.delete(response)
  }

  /** Ends those of whom that is true by what they showed. */
  sendAway(isOut: (authorization: string | undefined) => boolean): void {
    for (const [response, open] of this.#all)
      if (isOut(response.req.headers.authorization)) sendAway(response, open)
  }
}

/** What somebody is told whose token was revoked, or whose agent is off or gone. */
export const TOKEN_OVER: Fault = new Fault('NO_ACCESS', 'this token is not valid any more', {
  hint: ASK_AGAIN,
})

// --- internal ---

function sendAway(response: ServerResponse, { reply, gone }: OpenAnswer): void {
  const why = faultError(TOKEN_OVER)
  // First the answer: what is cancelled would give another one.
  if (!response.headersSent) {
    response.setHeader('www-authenticate', 'Bearer realm="busbar"')
    response.setHeader('connection', 'close')
  }
  if (reply) reply.sendAway(why)
  else if (!response.headersSent) json(response, 401, { jsonrpc: '2.0', id: null, error: why })
  else response.end()
  gone.sendAway(why)
  // One that ended as it should leaves a connection that its client may be using again.
  setImmediate(() => {
    if (!response.writableEnded) response.socket?.destroySoon()
  })
}
