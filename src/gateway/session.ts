// A legacy client over time: what it has asked and not yet been answered, what it was asked, and the streams by which
// something reaches it outside of an answer.

import { randomHex } from '../base/digest.ts'
import { type Stop, Stopper } from '../base/stop.ts'
import type { Told } from '../call/forward.ts'
import type { Caller } from '../call/own-instance.ts'
import type { Asker, Given } from '../connect/asker.ts'
import type { Actor } from '../policy/access.ts'
import { type Id, idFrom } from '../wire/id.ts'
import type { NotificationMessage, ReplyMessage, RequestMessage } from '../wire/message.ts'
import { memberValue, slice } from '../wire/message.ts'
import { readParams } from '../wire/params.ts'
import type { Hearer, List } from './audience.ts'
import { EventLog, type Place, type Sink } from './event-log.ts'
import { type Level, passes } from './levels.ts'
import { type Forwarding, forwardQuestion, type Question } from './questions.ts'
import type { Reply } from './reply.ts'
import { type Askable, askableOf, canBeAsked, capabilitiesFrom } from './session-id.ts'

/** Streams that ended and are kept for a client that lost them. */
const MOST_ENDED = 8
/** Bytes that all of them may take. */
const MOST_BYTES = 2 * 1024 * 1024

type Way = Pick<Reply, 'streams' | 'notify'>

/** Clients come back to a stream within seconds, if they do. */
const QUESTION_PATIENCE = 30_000

interface Running {
  readonly server: string
  readonly reply: Reply
  readonly stop: Stopper
}

export interface SessionOptions {
  readonly id: string
  readonly actor: Actor
  /** The one server it is about; undefined for all that the actor may use. */
  readonly scope: string | undefined
  readonly version: string
  readonly askable: Askable
  readonly forwarding: Forwarding
  /** Whether it may be told something already; on a line, not before it has introduced itself. */
  readonly introduced: boolean
  /** Told whenever it came to have something that its id does not say. */
  readonly grew?: (() => void) | undefined
  /** Milliseconds for which a client that went away in the middle of a question is waited for. */
  readonly questionPatience?: number | undefined
}

export class Session implements Hearer {
  readonly id: string
  readonly actor: Actor
  /** As what servers know it that keep an instance for each session. */
  readonly caller: Caller & { readonly session: string }
  readonly scope: string | undefined
  #version: string
  #askable: Askable
  readonly #forwarding: Forwarding
  readonly #grew: () => void
  #level: Level | undefined
  /** Ways to end what it has subscribed to, by server and address. */
  readonly #subscriptions = new Map<string, () => void>()
  readonly #askers = new Map<string, Asker>()
  readonly #running = new Map<Id, Running>()
  readonly #questions = new Map<Id, Question>()
  readonly #epoch = randomHex(4)
  /** By number; 0 is the one that belongs to no request. */
  readonly #logs = new Map<number, EventLog>([[0, new EventLog(0, this.#epoch)]])
  /** Lists that changed while it did not listen. */
  readonly #missed = new Set<List>()
  #nextStream = 1
  #nextQuestion = 1
  readonly #questionPatience: number
  #patience: NodeJS.Timeout | undefined
  /** It had streams, and reads none of them now. */
  #away = false
  /** On the monotonic clock. */
  used = performance.now()
  #told: Told | undefined
  #introduced: boolean
  #closed = false
  #whenFree: (() => void) | undefined

  constructor(options: SessionOptions) {
    const { id, actor, scope, version, askable, forwarding, introduced } = options
    this.#introduced = introduced
    this.#questionPatience = options.questionPatience ?? QUESTION_PATIENCE
    this.id = id
    this.actor = actor
    this.caller = { actor, session: randomHex(8) }
    this.scope = scope
    this.#version = version
    this.#askable = askable
    this.#forwarding = forwarding
    this.#grew = options.grew ?? (() => undefined)
  }

  /** Whether it is in use at this moment: by a stream, or a request under way. */
  get busy(): boolean {
    return this.underWay || this.#standing.read
  }

  /** The lowest level of what servers say that it wants to hear; undefined until it asked for one. */
  get level(): Level | undefined {
    return this.#level
  }

  set level(level: Level) {
    this.#level = level
    this.#grew()
  }

  /** It hears of a resource from now on, by whatever key, until `end` is called. */
  subscribe(key: string, end: () => void): void {
    this.#subscriptions.set(key, end)
    this.#grew()
  }

  isSubscribed(key: string): boolean {
    return this.#subscriptions.has(key)
  }

  unsubscribe(key: string): void {
    this.#subscriptions.get(key)?.()
    this.#subscriptions.delete(key)
  }

  /** A server keeps a process for it alone, and in it whatever it likes. */
  hasInstance(): void {
    this.#grew()
  }

  /** What it said of itself, where that is known only later: on a line. */
  agree(version: string, askable: Askable): void {
    this.#version = version
    this.#askable = askable
    this.#told = undefined
  }

  /** Nothing comes from its client any more, so it answers nothing. */
  silent(): void {
    this.agree(this.#version, askableOf(undefined))
    this.#unanswered()
  }

  get canBeAsked(): boolean {
    return canBeAsked(this.#askable)
  }

  /** What a modern server is told of it. */
  get told(): Told | undefined {
    if (!this.canBeAsked && this.level === undefined) return undefined
    if (this.#told?.logLevel !== this.level || this.#told === undefined)
      this.#told = { capabilities: capabilitiesFrom(this.#askable), logLevel: this.level }
    return this.#told
  }

  // --- requests of the client ---

  /** A request is under way; `stop` fires when the client cancels it. */
  begin(id: Id, reply: Reply, server: string): Stopper {
    const stop = new Stopper()
    this.used = performance.now()
    this.#running.set(id, { reply, stop, server })
    return stop
  }

  finish(id: Id, stop: Stopper): void {
    if (this.#running.get(id)?.stop === stop) this.#running.delete(id)
    this.used = performance.now()
    if (this.#whenFree === undefined || this.underWay) return
    // Not before the answer went out.
    setImmediate(this.#whenFree)
    this.#whenFree = undefined
  }

  /** Calls back when nothing that it asked for is under way. */
  whenFree(then: () => void): void {
    if (this.underWay) this.#whenFree = then
    else then()
  }

  /** Whether something that it asked for is. */
  get underWay(): boolean {
    return this.#running.size > 0
  }

  /** A notification of the client. */
  heard(message: NotificationMessage): void {
    if (message.method === 'notifications/initialized') this.#introduced = true
    else if (message.method === 'notifications/cancelled') {
      const requestId = cancelledBy(message)
      if (requestId !== undefined) this.#running.get(requestId)?.stop.abort()
    } else if (message.method === 'notifications/roots/list_changed')
      this.#forwarding.rootsChanged(this.caller)
    else if (message.method === 'notifications/progress') {
      const { progressToken } = (memberValue(message, 'params') ?? {}) as { progressToken?: unknown }
      for (const question of this.#questions.values())
        if (question.progressToken === progressToken && progressToken !== undefined)
          question.progress(message)
    }
  }

  /** An answer of the client to something it was asked. */
  answered(reply: ReplyMessage): void {
    const event = reply.kind === 'result' ? 'client answers' : 'client fails'
    this.#questions.get(reply.id)?.tell(event, { reply })
  }

  // --- what reaches the client ---

  /** The one through whom a server asks this client; the same for all its requests to that server. */
  asker(server: string): Asker {
    let asker = this.#askers.get(server)
    if (asker === undefined) {
      const canAnswer = () => this.canBeAsked
      asker = {
        client: this.caller.session,
        // On a line that is known only later.
        get canAnswer() {
          return canAnswer()
        },
        question: (message, stop) => this.#question(server, message, stop),
        remark: (message) => {
          if (!this.wants(message)) return
          const way = this.#way(server)
          if (way) way.notify(message.bytes)
          else this.push(message.bytes)
        },
      }
      this.#askers.set(server, asker)
    }
    return asker
  }

  /** Whether it wants to hear what a server says: of its log, what is important enough. */
  wants(message: NotificationMessage): boolean {
    return message.method !== 'notifications/message' || passes(message, this.level)
  }

  remark(message: NotificationMessage): void {
    // What is said to everybody, and to nobody who listens, is over.
    if (this.#introduced && this.#standing.read && this.wants(message)) this.push(message.bytes)
  }

  listChanged(list: List): void {
    // Whoever has not introduced themselves has not listed anything.
    if (!this.#introduced) return
    if (this.#standing.read) this.push(listNotice(list))
    else this.#missed.add(list)
  }

  /** Sends something outside of an answer; without a reader it is kept until there is one. */
  push(body: Buffer): void {
    if (!this.#closed) this.#standing.write([body])
  }

  /** A stream for one request, which its reader can come back to. */
  newStream(): EventLog {
    this.#away = false
    const log = new EventLog(this.#nextStream++, this.#epoch)
    this.#logs.set(log.number, log)
    this.#tidy()
    return log
  }

  /** Whether a stream can be gone on with: its own always, those of requests while they are known. */
  has(place: Place | undefined): boolean {
    if (place === undefined) return false
    return place.stream === 0 || (place.epoch === this.#epoch && this.#logs.has(place.stream))
  }

  /** The client reads: the stream of its own, or one that it lost. */
  read(sink: Sink, place: Place | undefined): void {
    this.used = performance.now()
    this.#away = false
    const log = this.#logs.get(place?.stream ?? 0)
    log?.attach(sink, place?.epoch === this.#epoch ? place.sequence : undefined, this.marked)
    if (log === this.#standing) {
      for (const list of this.#missed) this.push(listNotice(list))
      this.#missed.clear()
    }
    sink.onClose(() => this.left())
  }

  /** A stream of its client ended. One that has questions open, and comes back to none, does not answer them any more. */
  left(): void {
    this.used = performance.now()
    this.#away = !this.#isReading
    if (this.#questions.size === 0 || this.#patience !== undefined) return
    this.#patience = setTimeout(() => {
      this.#patience = undefined
      if (!this.#isReading) this.#unanswered()
    }, this.#questionPatience)
    this.#patience.unref()
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Whether its version knows streams that begin with nothing but a number. */
  get marked(): boolean {
    return this.#version >= '2025-11-25'
  }

  close(): void {
    this.#closed = true
    for (const end of this.#subscriptions.values()) end()
    this.#subscriptions.clear()
    clearTimeout(this.#patience)
    this.#unanswered()
    for (const { stop } of this.#running.values()) stop.abort()
    for (const log of this.#logs.values()) log.end()
    this.#forwarding.gone(this.caller.session)
  }

  // --- internal ---

  get #isReading(): boolean {
    return [...this.#logs.values()].some(({ read }) => read)
  }

  get #standing(): EventLog {
    const log = this.#logs.get(0)
    if (log === undefined) throw new Error('a session without its own stream')
    return log
  }

  /** How what belongs to a request to a server reaches the client now: before its answer, or else by the client's stream. */
  #way(server: string): Way | undefined {
    if (this.#closed) return undefined
    // The last one first: what a server says now is likely to be about what it was asked last.
    const running = [...this.#running.values()].reverse()
    const found = running.find((one) => one.server === server && one.reply.streams)
    if (found) return found.reply
    return this.#standing.read ? { streams: true, notify: (body) => this.push(body) } : undefined
  }

  #unanswered(): void {
    for (const question of this.#questions.values())
      question.tell('client is gone', { reason: 'the client has gone' })
  }

  #question(server: string, message: RequestMessage, stop: Stop): Promise<Given> {
    // What follows a question takes the same way.
    let way: Way | undefined
    return forwardQuestion(this.#forwarding, {
      server,
      client: 'legacy',
      caller: this.caller,
      askable: this.#askable,
      message,
      stop,
      id: this.#nextQuestion++,
      show: (body) => {
        if (!way?.streams) way = this.#way(server)
        way?.notify(body)
        return way !== undefined
      },
      expect: (id, question) => {
        this.#questions.set(id, question)
        if (this.#away) this.left()
      },
      forget: (id) => this.#questions.delete(id),
    })
  }

  #tidy(): void {
    const ended = [...this.#logs.values()].filter((log) => log.number > 0 && log.ended)
    let bytes = ended.reduce((sum, log) => sum + log.bytes, 0)
    for (const log of ended.slice(0)) {
      if (ended.length - ended.indexOf(log) <= MOST_ENDED && bytes <= MOST_BYTES) break
      bytes -= log.bytes
      this.#logs.delete(log.number)
    }
  }
}

/** The request that a client wants no answer to any more. */
function cancelledBy(message: NotificationMessage): Id | undefined {
  const params = readParams(slice(message, 'params'))
  if (typeof params === 'string') return undefined
  const at = params.members.find(({ key }) => key === 'requestId')
  return at && idFrom(params.bytes.toString('utf8', at.start, at.end))
}

function listNotice(list: List): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`)
}
