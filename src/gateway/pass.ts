// A request on its way to one server and its answer on the way back, with all that comes in between.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import { Stopper } from '../base/stop.ts'
import { verdictOn } from '../call/admit.ts'
import { consent } from '../call/consent.ts'
import { forward } from '../call/forward.ts'
import type { Hub } from '../hub.ts'
import type { Actor } from '../policy/access.ts'
import { ASKING_METHODS, type Era } from '../wire/era.ts'
import { errorOf, memberValue, mentions, type ReplyMessage } from '../wire/message.ts'
import type { RawParams } from '../wire/params.ts'
import type { Asked } from './asked.ts'
import { statusOf } from './faults.ts'
import { TaskBook } from './tasks.ts'
import { judgedPage } from './tool-page.ts'
import { answerFor, notificationFor } from './translate.ts'

/** What is asked of the server, where that is not word for word what the client asked. */
export interface Renamed {
  readonly params: RawParams
  readonly name: string | undefined
}

export interface Answered {
  readonly reply: ReplyMessage
  /** The era of the server. */
  readonly era: Era
}

interface Stream {
  readonly actor: Actor
  readonly server: string
  readonly stop: Stopper
}

export class Passing {
  readonly #hub: Hub
  readonly #streams = new Set<Stream>()
  readonly tasks: TaskBook = new TaskBook()

  constructor(hub: Hub) {
    this.#hub = hub
  }

  /** Answers with what the server answers. Throws why it does not. */
  async pass(asked: Asked, server: string, renamed: Renamed = asked): Promise<void> {
    const { message, modern, reply } = asked
    const { reply: answer, era: from } = await this.ask(asked, server, renamed)
    const status = modern && answer.kind === 'error' ? statusOf(errorOf(answer)) : 200
    const era = modern ? 'modern' : 'legacy'
    reply.send(answerFor(era, from, message.method, message.id, answer), status)
  }

  /** What the server answers; what comes before that goes to the client at once. */
  async ask(asked: Asked, server: string, { params, name }: Renamed = asked): Promise<Answered> {
    const { actor, message, modern, reply, session } = asked
    const { id, method } = message
    const era = modern ? 'modern' : 'legacy'
    const progressToken = params.meta?.['progressToken']
    const stop = session?.begin(id, reply, server) ?? new Stopper()
    stopWith(asked, stop)
    const stream = method === 'subscriptions/listen' ? { actor, server, stop } : undefined
    if (stream) {
      reply.open()
      this.#streams.add(stream)
    }
    try {
      this.tasks.check(actor, server, method, params)
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
            if (notification.method === 'notifications/progress' && progressToken === undefined) return
            if (session?.wants(notification) === false) return
            reply.notify(notificationFor(notification, { id, progressToken }))
          },
          asker: modern ? undefined : session?.asker(server),
        },
      )
      if (from === 'modern') await this.#agreed(actor, server, method, answer, stop)
      return { reply: this.#judged(asked, server, answer), era: from }
    } finally {
      session?.finish(id, stop)
      if (stream) this.#streams.delete(stream)
    }
  }

  /** Ends the streams of those who may not use their server any more. */
  recheck(): void {
    for (const { actor, server, stop } of this.#streams)
      if (verdictOn(this.#hub.context, actor, { server, tool: undefined }).verdict === 'deny') stop.abort()
  }

  // --- internal ---

  #judged({ actor, message }: Asked, server: string, answer: ReplyMessage): ReplyMessage {
    switch (message.method) {
      case 'tools/list':
        return judgedPage(this.#hub, actor, server, answer)
      case 'tools/call':
        this.tasks.note(actor, server, answer)
        return answer
      case 'tasks/list':
        return this.tasks.own(actor, server, answer)
      default:
        return answer
    }
  }

  /** A modern server asks for the use of a model in its answer; a person agrees before the client reads that. */
  async #agreed(
    actor: Actor,
    server: string,
    method: string,
    answer: ReplyMessage,
    stop: Stopper,
  ): Promise<void> {
    if (answer.kind !== 'result' || !ASKING_METHODS.has(method)) return
    // A word can be written with escapes, so that a search does not find it; then it is read.
    if (!mentions(answer, '"input_required"') && !mentions(answer, '\\u')) return
    const result = memberValue(answer, 'result')
    if (!isRecord(result) || result['resultType'] !== 'input_required') return
    const requests = isRecord(result['inputRequests']) ? result['inputRequests'] : {}
    for (const request of Object.values(requests)) {
      if (!isRecord(request) || request['method'] !== 'sampling/createMessage') continue
      const asking = { actor, surface: 'gateway' } as const
      const text = JSON.stringify(request['params'] ?? {})
      const consented = await consent(this.#hub.context, asking, server, text, stop)
      // What the model says goes straight back to the server, with the next request.
      await consented.answered(answer)
    }
  }
}

// --- internal ---

/**
 * A modern client that goes away has cancelled. A legacy one says so, and may come back for the answer; without a session
 * it could not say so in a way that means this request and no other.
 */
function stopWith({ modern, gone }: Asked, stop: Stopper): void {
  if (!modern) return
  if (gone.aborted) stop.abort()
  gone.addEventListener('abort', () => stop.abort())
}

/** What is answered to a request about something that nobody has. */
export function unknownName(what: string, name: unknown): Fault {
  return new Fault('TOOL_UNKNOWN', `there is no ${what} ${JSON.stringify(name ?? null)}`, {
    hint: 'list what there is; what one server alone has is at /mcp/SERVER, too',
  })
}
