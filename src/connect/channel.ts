// Requests and answers over one transport: ids, order, deadlines, cancellation. It knows JSON-RPC, not MCP's methods.

import { Fault } from '../base/fault.ts'
import { Numbered } from '../base/numbered.ts'
import type { Stopwatch } from '../base/stopwatch.ts'
import { idOfCut } from '../wire/ends.ts'
import { ASKING_METHODS } from '../wire/era.ts'
import { idText } from '../wire/id.ts'
import {
  type Id,
  type Invalid,
  type Message,
  memberValue,
  type NotificationMessage,
  type ReplyMessage,
  type RequestMessage,
  readAnswer,
  readMessage,
} from '../wire/message.ts'
import { Addressees, type Meant } from './addressee.ts'
import type { Given } from './asker.ts'
import { Deadlines } from './deadlines.ts'
import { cancelled, overdue } from './given-up.ts'
import { subjectOf } from './habits.ts'
import { isUnread } from './other-era.ts'
import { type Ask, type Form, Pending, type Receiver } from './pending.ts'
import { shortened } from './process/last-word.ts'
import { ServerQuestions } from './server-questions.ts'
import { Silence } from './silence.ts'
import { subscriptionOf } from './subscription.ts'
import type { Diagnosis, OpenTransport, Transport, TransportEvents } from './transport.ts'
import { Turns } from './turns.ts'

/** Whom it is about. */
export interface Subject {
  readonly server: string
  /** Takes the server's secrets out of a text. */
  readonly scrub: (text: string) => string
  /** Whether it is for one agent or session alone. */
  readonly own?: boolean | undefined
}

export interface ChannelEvents {
  request(message: RequestMessage, respond: (given: Given) => void): void
  /** `asker`: whom it concerns, where that can be told. */
  notification(message: NotificationMessage, meant: Meant): void
  /** Something a healthy server does not send. */
  oddity(text: string): void
  closed(fault: Fault): void
}

export class Channel implements TransportEvents {
  readonly #events: ChannelEvents
  readonly #server: string
  readonly #scrub: (text: string) => string
  readonly #pending = new Numbered<Pending>()
  #transport: Transport | undefined
  readonly #deadlines = new Deadlines((now) => this.#expire(now))
  #nextId = 1
  readonly #questions: ServerQuestions
  readonly #silence = new Silence()
  readonly #addressees: Addressees
  #closed: Fault | undefined
  #modern = false
  /** Whether a tool was ever called. */
  #called = false

  /** Who may be asked back, one after the other. */
  readonly turns: Turns

  /** Called when the server may speak another era now. */
  onDoubt: (() => void) | undefined

  /** When the last message came in, on the monotonic clock. */
  lastHeard = performance.now()

  private constructor({ server, scrub, own = false }: Subject, events: ChannelEvents) {
    this.#server = server
    this.#scrub = scrub
    this.#events = events
    this.turns = new Turns(server)
    this.#addressees = new Addressees(this.#pending, this.turns, own)
    this.#questions = new ServerQuestions({
      addressees: this.#addressees,
      turns: this.turns,
      streams: () => this.streams,
      ask: (message, respond) => events.request(message, respond),
      send: (body) => this.#transport?.send({ body, method: '' }),
    })
  }

  static async open(subject: Subject, open: OpenTransport, events: ChannelEvents): Promise<Channel> {
    const channel = new Channel(subject, events)
    channel.#transport = await open(channel)
    if (channel.#closed) await channel.#transport.close()
    return channel
  }

  get inFlight(): number {
    return this.#waiting().length
  }

  /** Whether a request under way may be what keeps it silent; `patience`: milliseconds once others waited in vain. */
  isBusy(patience: number): boolean {
    const waiting = this.#waiting()
    if (waiting.length === 0) return false
    const since = this.#silence.since(Math.min(...waiting), this.lastHeard)
    // While it waits for our answer it owes us none.
    return since === undefined || this.#questions.size > 0 || performance.now() - since < patience
  }

  /** Whether each request has a stream of its own. */
  get streams(): boolean {
    return this.#transport?.streams === true
  }

  /** From now on somebody can be asked; those who called before could not. */
  watchTurns(idle: number): void {
    const { turns } = this
    if (turns.watched) return
    turns.watched = true
    turns.taken = !this.streams
    if (this.#called) turns.aftermath.heard(this.lastHeard, idle)
  }

  get ended(): boolean {
    return this.#closed !== undefined
  }

  get diagnosis(): Diagnosis {
    return this.#transport?.diagnosis() ?? {}
  }

  get pid(): number | undefined {
    return this.#transport?.pid
  }

  agree(agreement: { readonly modern: boolean; readonly version: string }): void {
    this.#modern = agreement.modern
    this.#transport?.agree(agreement)
  }

  /** The id of the next request, for whom needs it beforehand: it serves as the progress token, too. */
  nextId(): number {
    return this.#nextId++
  }

  /** Sends a request. Resolves to its answer, be it a result or an error; what prevents an answer is thrown. */
  request(ask: Ask, id: number = this.#nextId++, clock?: Stopwatch): Promise<ReplyMessage> {
    return new Promise((answered, failed) => this.send(ask, { answered, failed, clock }, id))
  }

  /** The same for whom a promise is one too many. Tells at once when it cannot be sent. */
  send(ask: Ask, receiver: Receiver, id: number): void {
    const { method, params } = ask
    const tail = params === undefined ? '}' : `,"params":${params}}`
    this.#post(
      ask,
      receiver,
      id,
      performance.now(),
      `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${tail}`,
    )
  }

  /** The same for what is asked again and again; its id is its progress token, too. */
  sendForm({ before, after }: Form, value: string, ask: Ask, receiver: Receiver, since: number): void {
    const id = this.#nextId++
    this.#post(ask, receiver, id, since, `{"jsonrpc":"2.0","id":${id}${before}${value}${after}${id}}}}`)
  }

  #post(ask: Ask, receiver: Receiver, id: number, since: number, body: string): void {
    const { method, signal, name, headers } = ask
    if (this.#closed !== undefined || signal?.aborted) {
      receiver.failed(this.#closed ?? cancelled(this.#server, method))
      return
    }
    const pending = new Pending(ask, receiver, since)
    if (method === 'tools/call') this.#called = true
    this.#pending.set(id, pending)
    this.#deadlines.expect(pending.due)
    if (signal) pending.onAbort(() => this.#giveUp(id, cancelled(this.#server, method)))
    this.#transport?.send({ body, method, id, name, headers })
  }

  notify(method: string, params?: string): void {
    const tail = params === undefined ? '}' : `,"params":${params}}`
    this.#transport?.send({ body: `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${tail}`, method })
  }

  /** Ends the transport; requests that still wait are given up as lost. */
  async close(reason?: Fault): Promise<void> {
    this.#end(
      reason ?? new Fault('CONNECTION_LOST', `${this.#server} ${DISCONNECTED}`, { server: this.#server }),
    )
    await this.#transport?.close()
  }

  // --- what the transport tells ---

  message(bytes: Buffer, stream?: number): void {
    const now = performance.now()
    this.lastHeard = now
    try {
      const message = readMessage(bytes)
      // Nearly every message is the answer to a request of ours.
      const pending =
        message.kind === 'result' && typeof message.id === 'number'
          ? this.#pending.take(message.id)
          : undefined
      if (pending) pending.settle(message as ReplyMessage, now)
      else this.#handle(message, bytes, stream)
    } catch (error) {
      this.#broken(error)
    }
  }

  letters(message: string, chunk: Buffer, start: number): boolean {
    const reply = readAnswer(message, chunk, start)
    const pending = reply && this.#pending.take(reply.id as number)
    if (pending === undefined) return false
    const now = performance.now()
    this.lastHeard = now
    try {
      pending.settle(reply as ReplyMessage, now)
    } catch (error) {
      this.#broken(error)
    }
    return true
  }

  /** What a server sends must never end more than its own connection. */
  #broken(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    this.closed(new Fault('MESSAGE_INVALID', `a message could not be handled: ${reason}`))
  }

  #handle(message: Message | Invalid, bytes: Buffer, stream: number | undefined): void {
    switch (message.kind) {
      case 'result':
      case 'error':
        this.#answer(message, stream)
        return
      case 'notification':
        this.#notification(message, stream)
        return
      case 'request':
        this.#questions.take(message, stream)
        return
      case 'invalid':
        this.#invalid(message.reason, message.id ?? idOfCut(bytes, bytes), stream)
    }
  }

  oversized(size: number, id: unknown, stream?: number): void {
    const pending = this.#take(id) ?? this.#take(stream)
    this.#events.oddity(`a message of ${size} bytes was thrown away`)
    pending?.fail(
      new Fault('MESSAGE_TOO_LARGE', `${this.#server} answered with ${size} bytes, more than its limit`, {
        hint: `raise limits.message of ${this.#server}`,
        server: this.#server,
      }),
    )
  }

  noise(text: string): void {
    this.#events.oddity(this.#scrub(text))
  }

  failed(id: number, fault: Fault): void {
    if (isUnread(fault)) this.onDoubt?.()
    this.#take(id)?.fail(this.#named(fault))
  }

  closed(fault: Fault): void {
    if (this.#closed) return
    const named = this.#named(fault)
    this.#end(named)
    this.#events.closed(named)
  }

  // --- internal ---

  /** A transport knows addresses and may repeat what it was told; people know the server by its name. */
  #named(fault: Fault): Fault {
    const { code, details, server } = fault
    const hint = fault.hint ?? (code === 'AUTH_REQUIRED' ? `run: busbar login ${this.#server}` : undefined)
    const message = shortened(
      this.#scrub(server === undefined ? `${this.#server}: ${fault.message}` : fault.message),
    )
    return new Fault(code, message, { hint, details: this.#clean(details), server: this.#server })
  }

  /** What a transport was told goes along with its fault: headers, addresses, what a process wrote. */
  #clean(details: Fault['details']): Fault['details'] {
    if (details === undefined) return undefined
    return Object.fromEntries(
      Object.entries(details).map(([name, it]) => [name, typeof it === 'string' ? this.#scrub(it) : it]),
    )
  }

  #answer(message: ReplyMessage, stream: number | undefined): void {
    const pending =
      this.#take(message.id) ?? (message.id === null ? this.#take(stream ?? this.#only()) : undefined)
    if (pending) pending.settle(message, this.lastHeard)
    else {
      this.turns.aftermath.answeredLate(message.id)
      this.#events.oddity(`an answer came for ${idText(message.id)}, which nobody waits for`)
    }
  }

  #invalid(reason: string, id: Id | undefined, stream: number | undefined): void {
    const pending = this.#take(id) ?? this.#take(stream)
    this.#events.oddity(`a message ${reason}`)
    pending?.fail(
      new Fault('MESSAGE_INVALID', `${this.#server} answered with a message that ${reason}`, {
        server: this.#server,
      }),
    )
  }

  #notification(message: NotificationMessage, stream: number | undefined): void {
    if (message.method === 'notifications/progress') {
      const params = memberValue(message, 'params') as { progressToken?: unknown } | undefined
      const pending = this.#pending.get(Number(params?.progressToken))
      if (pending) pending.alive(message)
      else this.#events.oddity('progress came for a call that nobody waits for')
      return
    }
    // Its number means something only between the server and us.
    if (message.method === 'notifications/cancelled') {
      this.#questions.withdraw(message)
      return
    }
    const pending = this.#pending.get(stream ?? subscriptionOf(message) ?? 0)
    if (pending?.ask.onNotification) pending.alive(message)
    else this.#events.notification(message, this.#addressees.ofRemark())
  }

  /** The one request that waits: an error without an id can only mean that one. */
  #only(): number | undefined {
    const waiting = this.#waiting()
    return waiting.length === 1 ? waiting[0] : undefined
  }

  /** The ids of requests that wait for an answer; a stream that is listened to is none. */
  #waiting(): number[] {
    return this.#pending
      .entries()
      .flatMap(([id, { ask }]) => (ask.method === 'subscriptions/listen' ? [] : [id]))
  }

  /** Some servers send ids back as text; ours are numbers and unique, so that is no risk. */
  #take(id: unknown): Pending | undefined {
    const key = typeof id === 'string' && /^[1-9]\d*$/.test(id) ? Number(id) : id
    if (typeof key !== 'number') return undefined
    return this.#pending.take(key)
  }

  /** Cancels a request that nobody waits for any more. Only its own stream tells a modern server so. */
  #giveUp(id: number, fault: Fault): void {
    const pending = this.#take(id)
    if (!pending) return
    pending.fail(fault)
    this.#silence.add(id, pending.since, this.lastHeard)
    const { asker, idle, method } = pending.ask
    if (ASKING_METHODS.has(method))
      this.turns.aftermath.gaveUp(id, { subject: subjectOf(pending.ask), client: asker?.client, idle })
    const { streams } = this.#transport ?? { streams: false }
    if (!(streams && this.#modern) && !pending.ask.quiet)
      this.notify('notifications/cancelled', JSON.stringify({ requestId: id, reason: fault.message }))
    if (streams) this.#transport?.drop(id)
  }

  /** Gives up what is overdue; returns when the next one will be. */
  #expire(now: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const [id, pending] of this.#pending.entries()) {
      // While the server waits for an answer of the one who called it cannot be idle; only the last deadline counts.
      if (this.#questions.isAsking(pending.ask.asker)) pending.postpone(now)
      if (pending.due <= now) this.#giveUp(id, overdue(this.#server, pending.ask, pending.reached(now)))
      else next = Math.min(next, pending.due)
    }
    return next
  }

  #end(fault: Fault): void {
    this.#closed ??= fault
    this.#deadlines.stop()
    const waiting = this.#pending.values()
    this.#pending.clear()
    for (const pending of waiting) pending.fail(fault)
    this.#questions.end()
  }
}

// --- internal ---

const DISCONNECTED = 'was disconnected before it answered: the outcome is unknown'
