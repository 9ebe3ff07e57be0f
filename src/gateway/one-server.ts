// `/mcp/SERVER`: one server as it is. What concerns the connection between client and gateway is answered here, from what
// the server said of itself; everything else is passed on.

import { Fault } from '../base/fault.ts'
import { announce } from '../call/announce.ts'
import type { Connection } from '../connect/connection.ts'
import type { Hub } from '../hub.ts'
import { ERROR, LEGACY_METHODS } from '../wire/era.ts'
import { type NotificationMessage, slice } from '../wire/message.ts'
import { param } from '../wire/params.ts'
import { type Asked, callerOf, type Incoming } from './asked.ts'
import { discoverResult, type Introduction, initializeResult } from './handshake.ts'
import { checkParamHeaders } from './headers.ts'
import { acceptedInstructions } from './introduction.ts'
import type { Passing } from './pass.ts'
import type { Place, Subscribing } from './subscribing.ts'

export class OneServer {
  readonly #hub: Hub
  readonly #passing: Passing
  readonly #subscribing: Subscribing

  constructor(hub: Hub, passing: Passing, subscribing: Subscribing) {
    this.#hub = hub
    this.#passing = passing
    this.#subscribing = subscribing
  }

  /** Of somebody who may reach the server. */
  async request(asked: Asked, server: string): Promise<void> {
    const connection = this.#hub.context.manager.get(server)
    if (asked.modern) await this.#modern(asked, connection)
    else await this.#legacy(asked, connection)
  }

  /** What a legacy client is told about the server. */
  async initialize(server: string, asked: Asked, version: string): Promise<object> {
    const connection = this.#hub.context.manager.get(server)
    return initializeResult(await this.#introduction(connection, asked), version)
  }

  /** A notification that means nothing to the gateway. Throws why the server is not told. */
  async told(incoming: Incoming, server: string, message: NotificationMessage): Promise<void> {
    const asking = { ...callerOf(incoming), surface: 'gateway' } as const
    const params = slice(message, 'params')?.toString()
    const { method } = message
    await announce(this.#hub.context, asking, { server, method, params, signal: incoming.gone })
  }

  // --- internal ---

  async #modern(asked: Asked, connection: Connection): Promise<void> {
    const { message, params, name, headers, reply, gone } = asked
    const { id, method } = message
    if (LEGACY_METHODS.has(method)) return notFound(asked, 404)
    if (method === 'tools/call' && name !== undefined && headers !== undefined) {
      const tool = connection.tool(name)
      const mismatch = tool && checkParamHeaders(tool, params, headers)
      if (mismatch) return reply.error(id, mismatch, 400)
    }
    if (method === 'server/discover' || method === 'subscriptions/listen') {
      // Nobody knows yet how it speaks; it finds that out when it starts.
      if (!connection.agreement) await connection.ready(gone)
      if (connection.agreement?.era === 'legacy') {
        if (method === 'subscriptions/listen')
          return await this.#subscribing.listen(asked, async (uri) => placeOn(connection.name, uri))
        return reply.result(id, discoverResult(await this.#introduction(connection, asked)))
      }
      if (method === 'subscriptions/listen') return await this.#subscribing.relay(asked, connection)
    }
    await this.#passing.pass(asked, connection.name)
  }

  async #legacy(asked: Asked, connection: Connection): Promise<void> {
    const { message, params, reply, session } = asked
    const { method, id } = message
    if (method === 'server/discover' || method.startsWith('subscriptions/')) return notFound(asked, 200)
    if (/^resources\/(?:un)?subscribe$/.test(method)) {
      if (session === undefined) return noSession(asked)
      const uri = param(params, 'uri')
      if (typeof uri !== 'string')
        return reply.error(id, { code: ERROR.invalidParams, message: 'uri must be a text' })
      return await this.#subscribing.subscribe(asked, placeOn(connection.name, uri), asked)
    }
    await this.#passing.pass(asked, connection.name)
  }

  async #introduction(connection: Connection, { gone }: Asked): Promise<Introduction> {
    if (!connection.agreement) await connection.ready(gone)
    const { agreement, name } = connection
    if (agreement === undefined) throw new Fault('SERVER_UNREACHABLE', 'the server has not answered yet')
    const { capabilities, serverInfo, instructions } = agreement
    return { capabilities, serverInfo, instructions: acceptedInstructions(this.#hub, name, instructions) }
  }
}

export function notFound({ message, reply }: Asked, status: number): void {
  const { id, method } = message
  reply.error(id, { code: ERROR.methodNotFound, message: `${method} is not known here` }, status)
}

/** Whoever cannot be told anything outside of an answer would wait for it in vain. */
export function noSession({ message, reply }: Asked): void {
  const problem = 'without a session nothing can be subscribed to; send initialize first'
  reply.error(message.id, { code: ERROR.invalidRequest, message: problem })
}

// --- internal ---

function placeOn(server: string, uri: string): Place {
  return { server, uri, shown: uri }
}
