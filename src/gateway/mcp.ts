// One message of a client to one server: `/mcp/SERVER`. Both eras, told apart by each request for itself.

import type { IncomingHttpHeaders } from 'node:http'
import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import { reach } from '../call/call.ts'
import { forward } from '../call/forward.ts'
import type { Connection } from '../connect/connection.ts'
import type { Hub } from '../hub.ts'
import type { Actor } from '../policy/access.ts'
import { type Agreement, ERROR, LEGACY_METHODS, LEGACY_VERSIONS, META, MODERN_VERSION } from '../wire/era.ts'
import {
  errorOf,
  type Id,
  LARGE,
  type ReplyMessage,
  type RequestMessage,
  readMessage,
  slice,
} from '../wire/message.ts'
import { param, type RawParams, readParams } from '../wire/params.ts'
import { Cancellations } from './cancellations.ts'
import { replyFault, statusOf } from './faults.ts'
import { checkModern, checkParamHeaders, claimsModern } from './headers.ts'
import type { Reply } from './reply.ts'
import { answerFor, notificationFor } from './translate.ts'

export interface Incoming {
  readonly actor: Actor
  readonly server: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly reply: Reply
  /** Fires when the client has gone. */
  readonly gone: Stop
}

interface Asked extends Incoming {
  readonly message: RequestMessage
  readonly params: RawParams
  readonly modern: boolean
}

export class McpEndpoint {
  readonly #hub: Hub
  readonly #cancellations = new Cancellations()

  constructor(hub: Hub) {
    this.#hub = hub
  }

  /** Answers one message. Never throws. */
  async handle(incoming: Incoming): Promise<void> {
    const { body, reply, headers } = incoming
    const message = readMessage(body)
    if (message.kind === 'invalid') {
      const code = message.reason.includes('JSON object') ? ERROR.parse : ERROR.invalidRequest
      return reply.error(message.id ?? null, { code, message: `the message ${message.reason}` }, 400)
    }
    if (message.kind === 'result' || message.kind === 'error') return reply.accepted()
    const params = readParams(slice(message, 'params'))
    if (message.kind === 'notification') return this.#notified(incoming, message.method, params)
    if (typeof params === 'string')
      return reply.error(message.id, { code: ERROR.invalidParams, message: params }, 400)
    const modern = claimsModern(headers, params, LEGACY_VERSIONS)
    try {
      await this.#request({ ...incoming, message, params, modern })
    } catch (error) {
      replyFault(reply, message.id, message.method, modern ? 'modern' : 'legacy', error)
    }
  }

  // --- internal ---

  async #request(asked: Asked): Promise<void> {
    const { actor, server, message, params, modern, reply, headers } = asked
    const connection = reach(this.#hub.context, actor, server)
    if (modern) {
      const wrong = checkModern(message.method, params, headers)
      if (wrong) return reply.error(message.id, wrong, 400)
      if (LEGACY_METHODS.has(message.method)) return notFound(reply, message)
      const tool =
        message.method === 'tools/call' ? connection.tool(String(param(params, 'name'))) : undefined
      const mismatch = tool && checkParamHeaders(tool, params, headers)
      if (mismatch) return reply.error(message.id, mismatch, 400)
      if (message.method === 'server/discover' && connection.agreement?.era === 'legacy')
        return reply.result(message.id, discovered(connection.agreement))
    } else {
      const answer = await this.#legacy(connection, asked)
      if (answer !== undefined) return reply.result(message.id, answer)
      if (message.method === 'server/discover' || message.method.startsWith('subscriptions/'))
        return notFound(reply, message, 200)
    }
    await this.#pass(asked)
  }

  /** What the gateway answers a legacy client itself, because it concerns the connection between the two. */
  async #legacy(connection: Connection, { message, params, gone }: Asked): Promise<object | undefined> {
    switch (message.method) {
      case 'initialize': {
        if (!connection.agreement) await connection.ready(gone)
        return initialized(connection.agreement, param(params, 'protocolVersion'))
      }
      case 'ping':
      case 'logging/setLevel':
        return {}
      default:
        return undefined
    }
  }

  async #pass(asked: Asked): Promise<void> {
    const { actor, server, message, params, modern, reply, gone } = asked
    const era = modern ? 'modern' : 'legacy'
    const { id, method } = message
    // A modern client that goes away has cancelled; a legacy one says so.
    const cancellation = modern ? undefined : this.#cancellations.open(actor, server, id)
    const signal = cancellation?.signal ?? gone
    const progressToken = params.meta?.['progressToken']
    if (method === 'subscriptions/listen') reply.open()
    try {
      const { reply: answer, era: from } = await forward(this.#hub.context, actor, {
        server,
        era,
        method,
        params,
        signal,
        onNotification: (notification) => {
          if (notification.method !== 'notifications/progress' || progressToken !== undefined)
            reply.notify(notificationFor(notification, { id, progressToken }))
        },
      })
      sound(answer)
      const status = modern && answer.kind === 'error' ? statusOf(errorOf(answer)) : 200
      reply.send(answerFor(era, from, method, id, answer), status)
    } finally {
      cancellation?.close()
    }
  }

  #notified({ actor, server, reply }: Incoming, method: string, params: RawParams | string): void {
    if (method === 'notifications/cancelled' && typeof params !== 'string')
      this.#cancellations.cancel(actor, server, param(params, 'requestId') as Id)
    reply.accepted()
  }
}

// --- internal ---

/** Reads a small answer through, so that a broken one becomes an error here and not in the client. */
function sound(answer: ReplyMessage): void {
  if (answer.bytes.length < LARGE) void answer.members
}

function notFound(reply: Reply, { id, method }: RequestMessage, status = 404): void {
  reply.error(id, { code: ERROR.methodNotFound, message: `${method} is not known here` }, status)
}

/** Without sessions nothing can be pushed, so nothing is promised that would need it. */
function offered(capabilities: Agreement['capabilities']): Record<string, object> {
  const kept = ['tools', 'resources', 'prompts', 'completions', 'logging'] as const
  return Object.fromEntries(kept.filter((name) => capabilities[name] !== undefined).map((name) => [name, {}]))
}

function initialized(agreement: Agreement | undefined, requested: unknown): object {
  if (agreement === undefined) throw new Fault('SERVER_UNREACHABLE', 'the server has not answered yet')
  const version = typeof requested === 'string' && LEGACY_VERSIONS.includes(requested) ? requested : undefined
  return {
    protocolVersion: version ?? LEGACY_VERSIONS[0],
    capabilities: offered(agreement.capabilities),
    serverInfo: agreement.serverInfo ?? { name: 'unknown', version: '' },
    ...(agreement.instructions === undefined ? {} : { instructions: agreement.instructions }),
  }
}

function discovered(agreement: Agreement): object {
  const { logging: _, ...capabilities } = offered(agreement.capabilities)
  return {
    resultType: 'complete',
    supportedVersions: [MODERN_VERSION],
    capabilities,
    ...(agreement.instructions === undefined ? {} : { instructions: agreement.instructions }),
    ttlMs: 0,
    cacheScope: 'private',
    ...(agreement.serverInfo ? { _meta: { [META.server]: agreement.serverInfo } } : {}),
  }
}
