// A request on its way to one server and its answer on the way back, with all that comes in between.

import { Fault } from '../base/fault.ts'
import { Stopper } from '../base/stop.ts'
import { verdictOn } from '../call/admit.ts'
import { forward } from '../call/forward.ts'
import { instanceKey, instanceOf } from '../call/own-instance.ts'
import type { Asker } from '../connect/asker.ts'
import type { Hub } from '../hub.ts'
import type { Actor } from '../policy/access.ts'
import { asksFirst } from '../wire/asks-first.ts'
import { ERROR, type Era, META } from '../wire/era.ts'
import { errorOf, type NotificationMessage, type ReplyMessage } from '../wire/message.ts'
import type { RawParams } from '../wire/params.ts'
import { type Asked, callerOf, clientOf } from './asked.ts'
import { statusOf } from './faults.ts'
import { answerInputs } from './inputs.ts'
import { judgedIntroduction } from './introduction.ts'
import { isHeard, type Levels } from './levels.ts'
import type { ParkedCall } from './parked-call.ts'
import type { Parking } from './parking.ts'
import { cannotAnswer } from './questions.ts'
import { SamplingConsents } from './sampling-consents.ts'
import { TaskBook, taskTold } from './tasks.ts'
import { judgedPage } from './tool-page.ts'
import { answerFor, notificationFor } from './translate.ts'
import { step } from './translation.ts'
import { CALLS } from './translation-calls.ts'

/** What is asked of the server, where that is not word for word what the client asked. */
export interface Renamed {
  readonly params: RawParams
  readonly name: string | undefined
  /** What the client is given of the answer; default: all of it, word for word. */
  readonly shown?: ((answer: ReplyMessage) => ReplyMessage | Promise<ReplyMessage>) | undefined
  /** Told what comes before the answer, where that is not for the client as it is. Must not throw. */
  readonly heard?: ((notification: NotificationMessage) => void) | undefined
}

export interface Answered {
  readonly reply: ReplyMessage
  /** The era of the server. */
  readonly era: Era
  /** Whether it is a question. */
  readonly asks: boolean
}

interface Stream {
  readonly actor: Actor
  readonly server: string
  readonly stop: Stopper
}

export class Passing {
  readonly #hub: Hub
  readonly #streams = new Set<Stream>()
  readonly tasks: TaskBook
  readonly consents: SamplingConsents
  readonly #parking: Parking
  readonly #levels: Levels

  constructor(hub: Hub, parking: Parking, levels: Levels) {
    this.#hub = hub
    this.#parking = parking
    this.#levels = levels
    this.consents = new SamplingConsents(hub)
    this.tasks = new TaskBook((server, caller) => {
      const connection = hub.context.manager.find(server)
      const instance = connection && instanceKey(connection, caller)
      return { instance, run: instanceOf(connection, caller)?.agreement }
    })
  }

  /** Answers with what the server answers. Throws why it does not. */
  pass(asked: Asked, server: string, renamed: Renamed = asked): Promise<void> {
    const gives = this.#hub.context.manager.find(server)?.agreement?.era !== 'legacy'
    const call = asked.modern ? this.#parking.callOf(asked, server, gives) : undefined
    if (call) return this.#parkable(call, asked, server, renamed)
    return this.ask(asked, server, renamed).then((answered) => answer(asked, answered))
  }

  /** Whether its client comes back to a call that waits here. */
  isParked(asked: Asked): boolean {
    return this.#parking.has(asked)
  }

  /** What the server answers; what comes before that goes to the client at once. */
  async ask(
    asked: Asked,
    server: string,
    { params, name, shown, heard }: Renamed = asked,
    call?: ParkedCall,
  ): Promise<Answered> {
    const { actor, message, modern, session } = asked
    const { id, method } = message
    // A call that may be parked listens by itself, to whoever waits for it.
    const begun = call ? undefined : session?.begin(id, asked.reply, server)
    const stop = call?.stop ?? begun ?? new Stopper()
    const forget = call ? undefined : stopWith(asked, stop)
    const asker = call?.asker ?? (modern ? hearerOf(asked) : session?.asker(server))
    const stream = method === 'subscriptions/listen' ? { actor, server, stop } : undefined
    if (stream) {
      asked.reply.open()
      this.#streams.add(stream)
    }
    try {
      const caller = callerOf(asked)
      this.tasks.check(caller, server, method, params)
      const level = modern ? params.meta?.[META.logLevel] : undefined
      if (level !== undefined) await this.#levels.wish(server, caller, level)
      const { reply: answer, era: from } = await forward(
        this.#hub.context,
        { actor, surface: 'gateway', session: session?.caller.session },
        {
          server,
          era: modern ? 'modern' : 'legacy',
          method,
          params: stream ? this.tasks.heardBy(caller, server, params) : params,
          name,
          signal: stop,
          onNotification: (notification) => {
            // It may have become somebody's since it was asked for.
            const isOthers = this.tasks.isOthers(caller, server, taskTold(notification))
            if (isOthers || !this.consents.mayTell(actor, server, notification)) return
            if (heard) heard(notification)
            else tell(call?.asked ?? asked, notification)
          },
          asker,
          told: modern ? undefined : session?.told,
          // Also for a client that cannot be asked: the server may only want to be asked again.
          answers: isPushed(modern)
            ? (reply, before, until) => answerInputs(asker ?? SILENT, reply, before, until)
            : undefined,
        },
      )
      const asks = from === 'modern' && modern && asksFirst(method, answer)
      if (asks) await this.consents.ofAnswer(actor, server, answer, stop)
      else if (modern && method === 'tasks/get') await this.consents.ofTask(actor, server, answer, stop)
      const judged = this.#judged(asked, server, params, from, answer)
      const given = shown ? shown(judged) : judged
      return { reply: given instanceof Promise ? await given : given, era: from, asks }
    } finally {
      forget?.()
      if (begun) session?.finish(id, begun)
      if (stream) this.#streams.delete(stream)
    }
  }

  /** Ends the streams of those who may not use their server any more, and what is parked for those who may not come back. */
  recheck(isKnown: (actor: Actor) => boolean): void {
    this.#parking.recheck(isKnown)
    for (const { actor, server, stop } of this.#streams)
      if (verdictOn(this.#hub.context, actor, { server, tool: undefined }).verdict === 'deny') stop.abort()
  }

  /** Ends what is parked for clients that are not there, once nothing else is under way with any server. */
  endUnattended(): void {
    const { connections } = this.#hub.context.manager
    const inside = connections.reduce((sum, { gate }) => sum + gate.inside, 0)
    if (inside <= this.#parking.unattended) this.#parking.endUnattended()
  }

  close(): void {
    this.#parking.close()
  }

  // --- internal ---

  /** A request whose client may have to be asked first: then that is the answer, and it comes back with what it knows. */
  async #parkable(call: ParkedCall, asked: Asked, server: string, renamed: Renamed): Promise<void> {
    const forward = () => this.ask(asked, server, renamed, call)
    const reached = await this.#parking.reached(call, asked, forward)
    if ('reply' in reached) answer(asked, reached)
    else asked.reply.result(asked.message.id, { resultType: 'input_required', ...reached })
  }

  #judged(asked: Asked, server: string, params: RawParams, from: Era, answer: ReplyMessage): ReplyMessage {
    const { method } = asked.message
    switch (method) {
      case 'tools/list':
        return judgedPage(this.#hub, asked.actor, server, answer)
      case 'server/discover':
        return judgedIntroduction(this.#hub, server, answer)
      case 'tools/call':
        this.tasks.note(callerOf(asked), server, from, answer)
        return answer
      case 'tasks/list':
        return this.tasks.own(callerOf(asked), server, answer)
      default:
        // While it was asked about, the server may have given its id to somebody else's.
        this.tasks.check(callerOf(asked), server, method, params)
        return answer
    }
  }
}

// --- internal ---

/** What comes before the answer. */
function tell({ message, params, session, reply, modern }: Asked, notification: NotificationMessage): void {
  const progressToken = params.meta?.['progressToken']
  if (notification.method === 'notifications/progress' && progressToken === undefined) return
  if (modern ? !isHeard(notification, params.meta) : session?.wants(notification) === false) return
  reply.notify(notificationFor(notification, { id: message.id, progressToken }))
}

const declined: Asker['question'] = async ({ method }) => ({
  error: { code: ERROR.methodNotFound, message: cannotAnswer(method) },
})

/** Whoever calls and wants to hear of no log: that is for nobody else either, and what else is said goes before the answer. */
const SILENT: Asker = { client: '', canAnswer: false, question: declined }

/** A modern client that cannot be asked: it hears what is logged about its request, if it asked for that. */
function hearerOf(asked: Asked): Asker {
  const { params, reply } = asked
  if (params.meta?.[META.logLevel] === undefined) return SILENT
  return {
    client: clientOf(asked),
    canAnswer: false,
    question: declined,
    remark: (message) => {
      if (isHeard(message, params.meta)) reply.notify(message.bytes)
    },
  }
}

/** Whether a client's going away means that it wants no answer any more; as the table has it. */
const CANCELS_BY_LEAVING = { legacy: cancelsByLeaving('legacy'), modern: cancelsByLeaving('modern') }

function cancelsByLeaving(client: Era): boolean {
  return step(CALLS, 'under way', 'client leaves', { client, server: 'legacy' }).effects.includes('cancel')
}

/** Whether what a modern server asks in its answer is put to the client in the middle of its request. */
const PUSHED = { legacy: pushes('legacy'), modern: pushes('modern') }

function pushes(client: Era): boolean {
  const { effects } = step(CALLS, 'under way', 'question in the answer', { client, server: 'modern' })
  return effects.includes('push and ask again')
}

function isPushed(modern: boolean): boolean {
  return modern ? PUSHED.modern : PUSHED.legacy
}

/**
 * Stops with the client, where its going away means that. A legacy one says so, and may come back for the answer, unless it
 * was sent away; without a session it could not say so in a way that means this request and no other.
 */
function stopWith({ modern, gone }: Asked, stop: Stopper): () => void {
  return gone.onOver(modern ? CANCELS_BY_LEAVING.modern : CANCELS_BY_LEAVING.legacy, () => stop.abort())
}

/** In the client's era, and under its id. */
export function answer({ message, modern, reply }: Asked, { reply: given, era: from }: Answered): void {
  const status = modern && given.kind === 'error' ? statusOf(errorOf(given)) : 200
  reply.send(answerFor(modern ? 'modern' : 'legacy', from, message.method, message.id, given), status)
}

/** What is answered to a request about something that nobody has. */
export function unknownName(what: string, name: unknown): Fault {
  return new Fault('TOOL_UNKNOWN', `there is no ${what} ${JSON.stringify(name ?? null)}`, {
    hint: 'list what there is; what one server alone has is at /mcp/SERVER, too',
  })
}
