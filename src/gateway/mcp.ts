// One message of a client, for one server (`/mcp/SERVER`) or for all it may use (`/mcp`). Both eras, told apart by each
// request for itself.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import { mayReach } from '../call/admit.ts'
import { consent } from '../call/consent.ts'
import { instanceKey, instanceOf } from '../call/own-instance.ts'
import type { Hub, HubEvent } from '../hub.ts'
import type { Actor } from '../policy/access.ts'
import { ERROR, isKnownNotification, LEGACY_VERSIONS } from '../wire/era.ts'
import { isJson } from '../wire/is-json.ts'
import { type Message, type NotificationMessage, readMessage, slice } from '../wire/message.ts'
import { nameIn, param, readParams } from '../wire/params.ts'
import type { Asked, Incoming } from './asked.ts'
import { Audience, type Hearer } from './audience.ts'
import { replyFault } from './faults.ts'
import { checkModern, claimsModern } from './headers.ts'
import { isLevel, Levels } from './levels.ts'
import { OneServer } from './one-server.ts'
import { Parking } from './parking.ts'
import { Passing } from './pass.ts'
import type { Forwarding } from './questions.ts'
import { refuseStopping } from './refuse.ts'
import { HttpReply } from './reply.ts'
import type { Session } from './session.ts'
import { askableOf, spokenVersion } from './session-id.ts'
import { Sessions } from './sessions.ts'
import { Subscribing } from './subscribing.ts'
import { Watches } from './watches.ts'
import { Whole } from './whole.ts'

export interface EndpointOptions {
  /** Signs the ids of sessions. */
  readonly key: Buffer
  /** How many sessions an agent may have. */
  readonly mostSessions: () => number
  /** Milliseconds after which an idle session is forgotten. */
  readonly sessionIdle: () => number
  /** Milliseconds for which a call waits for a client that has to come back with an answer. */
  readonly parked: () => number
  /** Where it is kept which sessions do not outlive this run. */
  readonly spentFile?: string | undefined
  /** Told of errors that are ours alone. */
  readonly report: (error: unknown) => void
}

export class McpEndpoint {
  readonly #hub: Hub
  readonly #options: EndpointOptions
  readonly sessions: Sessions
  /** Clients on a line, who have no id. */
  readonly #lines = new Set<Session>()
  readonly #passing: Passing
  readonly #watches: Watches
  readonly #subscribing: Subscribing
  readonly #levels: Levels
  readonly #audience: Audience
  readonly #one: OneServer
  readonly #whole: Whole
  readonly #off: () => void
  #stopping = false
  #looking: NodeJS.Timeout | undefined

  constructor(hub: Hub, options: EndpointOptions) {
    this.#hub = hub
    this.#options = options
    const { key, mostSessions: most, sessionIdle: idle, spentFile, report } = options
    this.sessions = new Sessions({ key, most, idle, forwarding: this.forwarding, spentFile, report })
    const people = { [Symbol.iterator]: () => this.#people() }
    this.#levels = new Levels(hub, people)
    const parking = new Parking({
      key,
      forwarding: this.forwarding,
      patience: options.parked,
      // Who waits has as long as a call may take, and has to get its turn within that.
      shortPatience: (server) => ((hub.context.manager.find(server)?.plan.timeouts.call ?? 60_000) * 3) / 4,
    })
    this.#passing = new Passing(hub, parking, this.#levels)
    this.#watches = new Watches(hub)
    this.#subscribing = new Subscribing(hub, this.#passing, this.#watches)
    this.#audience = new Audience(hub, this.#passing, () => this.#hearers())
    this.#one = new OneServer(hub, this.#passing, this.#subscribing)
    this.#whole = new Whole(hub, this.#passing, this.#subscribing)
    this.#off = hub.on((event) => {
      this.#watches.hear(event)
      this.#levels.hear(event)
      this.#audience.hear(event)
      if (event.type === 'instance-status') this.#started(event)
    })
  }

  /** How questions of servers get to clients, and who agrees to that. */
  get forwarding(): Forwarding {
    const { context } = this.#hub
    return {
      consent: (actor, server, params, stop) =>
        consent(context, { actor, surface: 'gateway' }, server, params, stop),
      tell: (server, message, caller) =>
        instanceOf(context.manager.find(server), caller)?.live?.notify(
          message.method,
          slice(message, 'params')?.toString(),
        ),
      rootsChanged: (caller) => {
        for (const connection of context.manager.connections)
          if (connection.plan.share !== 'process') instanceOf(connection, caller)?.live?.rootsChanged()
      },
      gone: (session) => context.manager.endInstances((holder) => holder.session === session),
    }
  }

  /** A client on a line comes, and goes when the returned function is called. */
  join(session: Session): () => void {
    this.#lines.add(session)
    return () => {
      this.#lines.delete(session)
      session.close()
    }
  }

  /** Answers one message. Never throws. */
  async handle(incoming: Incoming): Promise<void> {
    const { actor, scope, headers, body, reply, gone, session } = incoming
    const message = readMessage(body)
    if (message.kind === 'invalid') {
      const code = isJson(body) ? ERROR.invalidRequest : ERROR.parse
      return reply.error(message.id ?? null, { code, message: `the message ${message.reason}` }, 400)
    }
    if (message.kind === 'request' && message.id === null) return reply.error(null, NULL_ID, 400)
    if (message.kind !== 'request') return this.#told(incoming, message)
    reply.requestId = message.id
    const params = readParams(slice(message, 'params'))
    if (typeof params === 'string')
      return reply.error(message.id, { code: ERROR.invalidParams, message: params }, 400)
    const modern = claimsModern(headers, params, LEGACY_VERSIONS)
    const name = nameIn(message.method, params)
    // Written out, here and below: objects that are put together from others have a shape of their own each time.
    const asked = { actor, scope, headers, body, reply, gone, session, message, params, name, modern }
    try {
      if (this.#stopping && !this.#belongs(asked)) refuseStopping(reply, message.id)
      // The path refuses it, and writes that down.
      else if (asked.scope !== undefined && !this.#isThere(asked.actor, asked.scope))
        await this.#passing.pass(asked, asked.scope)
      else if (modern) await this.#modern(asked)
      else await this.#legacy(asked)
    } catch (error) {
      if (!(error instanceof Fault)) this.#options.report(error)
      replyFault(reply, message.id, message.method, modern ? 'modern' : 'legacy', error)
    }
  }

  /** To be called before rules change, and `recheck` after. */
  remember(): void {
    this.#audience.remember()
  }

  /** Ends what is open for those who may not use it any more, and tells the others that they may see something else. */
  recheck(isKnown: (actor: Actor) => boolean): void {
    const mayHear = ({ actor, scope }: Hearer) =>
      isKnown(actor) && (scope === undefined || mayReach(this.#hub.context, actor, scope))
    this.#passing.recheck(isKnown)
    this.#subscribing.recheck(mayHear)
    for (const session of this.sessions) {
      if (mayHear(session)) continue
      // What is under way with a server that went may finish, as at `/mcp`.
      if (isKnown(session.actor)) session.whenFree(() => mayHear(session) || this.sessions.end(session))
      else this.sessions.end(session)
    }
    this.#audience.rulesChanged()
  }

  /** Whether nothing new is begun any more. */
  get stopping(): boolean {
    return this.#stopping
  }

  /** Nothing new is begun; servers go, and nobody need hear of it. */
  windDown(): void {
    if (this.#stopping) return
    this.#stopping = true
    this.#audience.windDown()
    this.#passing.endUnattended()
    // As often as it is looked whether anything is under way still.
    this.#looking = setInterval(() => this.#passing.endUnattended(), 20).unref()
  }

  close(): void {
    clearInterval(this.#looking)
    this.#off()
    this.sessions.close()
    for (const session of this.#lines) session.close()
    this.#subscribing.close()
    this.#watches.close()
    this.#passing.close()
  }

  // --- internal ---

  *#people(): Generator<Session> {
    yield* this.sessions
    yield* this.#lines
  }

  *#hearers(): Generator<Hearer> {
    yield* this.#people()
    yield* this.#subscribing.hearers()
  }

  /** A process for one session alone: what it keeps there would not come back with its id. */
  #started({ server, instance, connected }: Extract<HubEvent, { type: 'instance-status' }>): void {
    const connection = this.#hub.context.manager.find(server)
    if (!connected || connection?.plan.share !== 'session') return
    for (const session of this.sessions)
      if (instanceKey(connection, session.caller) === instance) session.hasInstance()
  }

  /** Whether a request begins nothing: it finishes a call that is under way, or asks whether anybody is there. */
  #belongs(asked: Asked): boolean {
    return asked.message.method === 'ping' || (asked.modern && this.#passing.isParked(asked))
  }

  /** A notification, or an answer to something that the client was asked. */
  #told(incoming: Incoming, message: Exclude<Message, { kind: 'request' }>): Promise<void> | void {
    const { reply } = incoming
    let session: Session | 'gone' | undefined
    try {
      session = this.#sessionOf(incoming)
    } catch (error) {
      replyFault(reply, null, '', 'legacy', error)
      return
    }
    if (session === 'gone') reply.error(null, NO_SESSION, 404)
    else {
      if (message.kind !== 'notification') session?.answered(message)
      else if (isKnownNotification(message.method)) session?.heard(message)
      else return this.#passOn({ ...incoming, session }, message)
      reply.accepted()
    }
  }

  /** A notification of the client's own kind; of several servers nobody can tell which one it is for. */
  async #passOn(incoming: Incoming, message: NotificationMessage): Promise<void> {
    const { scope, reply } = incoming
    try {
      if (scope !== undefined && !this.#stopping) await this.#one.told(incoming, scope, message)
    } catch (error) {
      // Nothing answers it; why it was refused stands in the record.
      if (!(error instanceof Fault)) this.#options.report(error)
    }
    reply.accepted()
  }

  #modern(asked: Asked): Promise<void> | void {
    const { message, name, params, headers, reply, scope } = asked
    const wrong = checkModern(message.method, name, params, headers)
    if (wrong) return reply.error(message.id, wrong, 400)
    if (message.method === 'subscriptions/listen') {
      if (!isRecord(param(params, 'notifications'))) return reply.error(message.id, NOTHING_TO_HEAR, 400)
      // An answer that stays open is a stream or it is nothing.
      if (!reply.streams) return reply.error(message.id, NO_STREAM, 406)
    }
    return scope === undefined ? this.#whole.request(asked) : this.#one.request(asked, scope)
  }

  #legacy(before: Asked): Promise<void> | void {
    const { actor, scope, headers, body, reply, gone, message, params, name, modern } = before
    if (message.method === 'initialize') return this.#initialize(before)
    const session = this.#sessionOf(before)
    if (session === 'gone') return reply.error(message.id, NO_SESSION, 404)
    if (session && reply instanceof HttpReply) reply.keepBy(session)
    if (message.method === 'ping') return reply.result(message.id, {})
    if (message.method === 'logging/setLevel') {
      const level = param(params, 'level')
      if (!isLevel(level)) return reply.error(message.id, UNKNOWN_LEVEL)
      if (session) {
        session.level = level
        this.#levels.changed(session)
      }
      return reply.result(message.id, {})
    }
    const asked = { actor, scope, headers, body, reply, gone, session, message, params, name, modern }
    return scope === undefined ? this.#whole.request(asked) : this.#one.request(asked, scope)
  }

  async #initialize(asked: Asked): Promise<void> {
    const { actor, scope, reply, params, message, session } = asked
    const version = spokenVersion(param(params, 'protocolVersion'))
    const askable = askableOf(param(params, 'capabilities'))
    const result =
      scope === undefined
        ? await this.#whole.initialize(asked, version)
        : await this.#one.initialize(scope, asked, version)
    if (session) session.agree(version, askable)
    else if (reply instanceof HttpReply)
      reply.welcome(this.sessions.create(actor, scope, { version, askable }).id)
    reply.result(message.id, result)
  }

  #isThere(actor: Actor, server: string): boolean {
    const { context } = this.#hub
    return context.manager.find(server) !== undefined && mayReach(context, actor, server)
  }

  #sessionOf({ session, headers, actor, scope }: Incoming): Session | 'gone' | undefined {
    if (session) return session
    const id = headers?.['mcp-session-id']
    if (typeof id !== 'string') return undefined
    return this.sessions.find(id, actor, scope) ?? 'gone'
  }
}

const NULL_ID = { code: ERROR.invalidRequest, message: 'a request has an id that is not null' }
const NOTHING_TO_HEAR = { code: ERROR.invalidParams, message: 'notifications must say what is to be heard' }
const NO_STREAM = { code: ERROR.invalidRequest, message: 'expected accept: text/event-stream' }
const NO_SESSION = { code: -32001, message: 'there is no such session; begin anew with initialize' }
const UNKNOWN_LEVEL = { code: ERROR.invalidParams, message: 'level is none of those that there are' }
