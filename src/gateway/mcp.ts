// One message of a client to one server: `/mcp/SERVER`. Both eras, told apart by each request for itself.

import type { IncomingHttpHeaders } from 'node:http'
import { Fault } from '../base/fault.ts'
import { type Stop, Stopper } from '../base/stop.ts'
import { mayReach, verdictOn } from '../call/admit.ts'
import { forward } from '../call/forward.ts'
import type { Connection } from '../connect/connection.ts'
import type { Hub } from '../hub.ts'
import type { Actor } from '../policy/access.ts'
import { type Agreement, ERROR, LEGACY_METHODS, LEGACY_VERSIONS, META, MODERN_VERSION } from '../wire/era.ts'
import { errorOf, type RequestMessage, readMessage, slice } from '../wire/message.ts'
import { nameIn, param, type RawParams, readParams } from '../wire/params.ts'
import { replyFault, statusOf } from './faults.ts'
import { checkModern, checkParamHeaders, claimsModern } from './headers.ts'
import type { Reply } from './reply.ts'
import { judgedPage } from './tool-page.ts'
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
  /** What it is about. */
  readonly name: string | undefined
  readonly modern: boolean
}

export class McpEndpoint {
  readonly #hub: Hub
  readonly #report: (error: unknown) => void
  readonly #streams = new Set<Stream>()

  constructor(hub: Hub, report: (error: unknown) => void) {
    this.#hub = hub
    this.#report = report
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
    // Whatever a client tells everybody concerns sessions, which there are none of.
    if (message.kind === 'notification') return reply.accepted()
    if (typeof params === 'string')
      return reply.error(message.id, { code: ERROR.invalidParams, message: params }, 400)
    const modern = claimsModern(headers, params, LEGACY_VERSIONS)
    try {
      await this.#request({ ...incoming, message, params, name: nameIn(message.method, params), modern })
    } catch (error) {
      if (!(error instanceof Fault)) this.#report(error)
      replyFault(reply, message.id, message.method, modern ? 'modern' : 'legacy', error)
    }
  }

  // --- internal ---

  async #request(asked: Asked): Promise<void> {
    const { actor, server, message, params, name, modern, reply, headers } = asked
    const { context } = this.#hub
    const connection = context.manager.find(server)
    // The path refuses it, and writes that down.
    if (connection === undefined || !mayReach(context, actor, server)) return await this.#pass(asked)
    if (modern) {
      const wrong = checkModern(message.method, name, params, headers)
      if (wrong) return reply.error(message.id, wrong, 400)
      if (LEGACY_METHODS.has(message.method)) return notFound(reply, message)
      const tool = message.method === 'tools/call' && name !== undefined ? connection.tool(name) : undefined
      const mismatch = tool && checkParamHeaders(tool, params, headers)
      if (mismatch) return reply.error(message.id, mismatch, 400)
      if (message.method === 'server/discover') {
        // Nobody knows yet how it speaks; it finds that out when it starts.
        if (!connection.agreement) await connection.ready(asked.gone)
        const { agreement } = connection
        if (agreement?.era === 'legacy')
          return reply.result(message.id, discovered(agreement, this.#instructions(connection)))
      }
    } else {
      if (message.method === 'initialize')
        return reply.result(message.id, await this.#initialize(connection, asked))
      if (message.method === 'ping' || message.method === 'logging/setLevel')
        return reply.result(message.id, {})
      if (message.method === 'server/discover' || message.method.startsWith('subscriptions/'))
        return notFound(reply, message, 200)
    }
    await this.#pass(asked)
  }

  async #pass(asked: Asked): Promise<void> {
    const { actor, server, message, params, name, modern, reply, gone } = asked
    const era = modern ? 'modern' : 'legacy'
    const { id, method } = message
    const progressToken = params.meta?.['progressToken']
    const stays = method === 'subscriptions/listen'
    // A modern client that goes away has cancelled. A legacy one says so by an id, which without sessions could be
    // another client's: it is not listened to.
    const stop = new Stopper()
    if (modern) {
      if (gone.aborted) stop.abort()
      gone.addEventListener('abort', () => stop.abort())
    }
    const stream = { actor, server, stop }
    if (stays) {
      reply.open()
      this.#streams.add(stream)
    }
    try {
      const { reply: answer, era: from } = await forward(
        this.#hub.context,
        { actor, surface: 'gateway' },
        {
          server,
          era,
          method,
          params,
          name,
          signal: stop,
          onNotification: (notification) => {
            if (notification.method !== 'notifications/progress' || progressToken !== undefined)
              reply.notify(notificationFor(notification, { id, progressToken }))
          },
        },
      )
      const status = modern && answer.kind === 'error' ? statusOf(errorOf(answer)) : 200
      const judged = method === 'tools/list' ? judgedPage(this.#hub, actor, server, answer) : answer
      reply.send(answerFor(era, from, method, id, judged), status)
    } finally {
      this.#streams.delete(stream)
    }
  }

  /** What concerns the connection between the two is answered here, from what the server said of itself. */
  async #initialize(connection: Connection, { params, gone }: Asked): Promise<object> {
    if (!connection.agreement) await connection.ready(gone)
    return initialized(connection.agreement, this.#instructions(connection), param(params, 'protocolVersion'))
  }

  /** What a server tells models of itself, as long as that is what was accepted. */
  #instructions({ name, agreement }: Connection): { instructions?: string } {
    const { instructions } = agreement ?? {}
    if (instructions === undefined) return {}
    return this.#hub.pins.instructionsVerdict(name, instructions) === 'changed' ? {} : { instructions }
  }

  /** Ends the streams of those who may not use their server any more. */
  recheck(): void {
    for (const { actor, server, stop } of this.#streams)
      if (verdictOn(this.#hub.context, actor, { server, tool: undefined }).verdict === 'deny') stop.abort()
  }
}

interface Stream {
  readonly actor: Actor
  readonly server: string
  readonly stop: Stopper
}

// --- internal ---

function notFound(reply: Reply, { id, method }: RequestMessage, status = 404): void {
  reply.error(id, { code: ERROR.methodNotFound, message: `${method} is not known here` }, status)
}

/** Without sessions nothing can be pushed, so nothing is promised that would need it. */
function offered(capabilities: Agreement['capabilities']): Record<string, object> {
  const kept = ['tools', 'resources', 'prompts', 'completions', 'logging'] as const
  return Object.fromEntries(kept.filter((name) => capabilities[name] !== undefined).map((name) => [name, {}]))
}

function initialized(
  agreement: Agreement | undefined,
  instructions: { instructions?: string },
  requested: unknown,
): object {
  if (agreement === undefined) throw new Fault('SERVER_UNREACHABLE', 'the server has not answered yet')
  const version = typeof requested === 'string' && LEGACY_VERSIONS.includes(requested) ? requested : undefined
  return {
    protocolVersion: version ?? LEGACY_VERSIONS[0],
    capabilities: offered(agreement.capabilities),
    serverInfo: agreement.serverInfo ?? { name: 'unknown', version: '' },
    ...instructions,
  }
}

function discovered(agreement: Agreement, instructions: { instructions?: string }): object {
  const { logging: _, ...capabilities } = offered(agreement.capabilities)
  return {
    resultType: 'complete',
    supportedVersions: [MODERN_VERSION],
    capabilities,
    ...instructions,
    ttlMs: 0,
    cacheScope: 'private',
    ...(agreement.serverInfo ? { _meta: { [META.server]: agreement.serverInfo } } : {}),
  }
}
