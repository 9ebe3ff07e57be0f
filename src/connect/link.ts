// A live connection to one server: transport opened, era agreed, ready to be asked.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Stop } from '../base/stop.ts'
import type { Stopwatch } from '../base/stopwatch.ts'
import { type Agreement, ASKING_METHODS, type Era, type Implementation, nameOfRequest } from '../wire/era.ts'
import { memberValue, type NotificationMessage, type ReplyMessage } from '../wire/message.ts'
import { modernMeta } from '../wire/params.ts'
import { isDoubt } from './addressee.ts'
import { answer, capabilitiesOf, declaredTo, type Handlers } from './answers.ts'
import type { Asker } from './asker.ts'
import { patiently } from './busy.ts'
import { Channel } from './channel.ts'
import { type List, type ListMethod, listAll, resultOf } from './definitions.ts'
import { unfinished } from './given-up.ts'
import { subjectOf } from './habits.ts'
import { negotiate } from './negotiate.ts'
import { EraDoubt, isStill } from './other-era.ts'
import { rootsFrom } from './own-roots.ts'
import { inTime } from './pause.ts'
import type { Ask, Form, Receiver } from './pending.ts'
import { lastWord, shortened } from './process/last-word.ts'
import { isPuzzled, refusedAfterAll } from './sign-of-life.ts'
import type { Diagnosis, OpenTransport } from './transport.ts'
import type { Leave } from './turns.ts'

export interface LinkOptions {
  readonly server: string
  readonly client: Implementation
  readonly open: OpenTransport
  /** Tried where the server refuses the first one with a bare status: old HTTP+SSE behind an http address. */
  readonly fallback?: OpenTransport | undefined
  /** Whether a server that dies of the first question, or hangs up, is started once more and asked the old one. */
  readonly respawn: boolean
  readonly expected?: Era | undefined
  /** The one era that can be spoken this way. */
  readonly only?: Era | undefined
  readonly patience: number
  readonly deadline: number
  readonly signal: AbortSignal
  readonly handlers: Handlers
  /** Bytes a list may have, all pages together. */
  readonly limit: number
  /** Whether it is for one agent or session alone. */
  readonly own?: boolean | undefined
  /** The only client that it is for, where there is one. */
  readonly whose?: (() => Asker | undefined) | undefined
  /** Takes the server's secrets out of a text. */
  readonly scrub: (text: string) => string
  readonly events: LinkEvents
}

export interface LinkEvents {
  /** A list of the server's changed. */
  changed(what: 'tools' | 'resources' | 'prompts'): void
  /** Anything else it tells everybody. */
  notification(message: NotificationMessage): void
  oddity(text: string): void
  closed(fault: Fault): void
}

export interface AskOptions
  extends Pick<Ask, 'signal' | 'idle' | 'total' | 'onNotification' | 'headers'>,
    Timed {}

export type ListOptions = Pick<Ask, 'signal' | 'idle'>

export type PassOptions = Omit<Ask, 'method' | 'params'> & Timed

interface Timed {
  /** What the server's work on it is timed by. */
  readonly clock?: Stopwatch | undefined
}

export class Link {
  readonly #server: string
  readonly #channel: Channel
  readonly #meta: string
  readonly #limit: number
  readonly #doubt: EraDoubt
  readonly agreement: Agreement
  /** Who we are to the server. */
  readonly client: Implementation

  private constructor({ server, client, limit }: LinkOptions, opened: Opened) {
    const { channel, agreement, capabilities } = opened
    this.#server = server
    this.#channel = channel
    this.#limit = limit
    this.agreement = agreement
    this.client = client
    this.#doubt = new EraDoubt(
      server,
      async () => isStill(await this.ask('server/discover', undefined, { idle: DOUBTFUL }), agreement),
      (fault) => this.abandon(fault),
    )
    channel.onDoubt = () => void this.#doubt.raise()
    // Open at its end, so that a progress token can follow.
    const meta = JSON.stringify(modernMeta(client, capabilities)).slice(0, -1)
    this.#meta = agreement.era === 'modern' ? `${meta},` : '{'
  }

  /** Connects, with the second tries that some servers need. Never are two processes alive at a time. */
  static async connect(options: LinkOptions): Promise<Link> {
    return new Link(options, await openWith(options))
  }

  get lastHeard(): number {
    return this.#channel.lastHeard
  }

  /** Whether a request under way may be what keeps it silent; `patience`: milliseconds once others waited in vain. */
  isBusy(patience: number): boolean {
    return this.#channel.isBusy(patience)
  }

  get closed(): boolean {
    return this.#channel.ended
  }

  /** Of a process of ours. */
  get pid(): number | undefined {
    return this.#channel.pid
  }

  /** Asks with parameters that are data. */
  ask(method: string, params: Readonly<Record<string, unknown>> | undefined, options: AskOptions = {}) {
    const text = params === undefined ? '' : JSON.stringify(params).slice(1, -1)
    return this.askText(method, text, nameOfRequest(method, params ?? {}), options)
  }

  /** Asks with the inside of a parameters object as text; `_meta` and a progress token are put in here. */
  askText(
    method: string,
    inside: string,
    name: string | undefined,
    options: AskOptions = {},
  ): Promise<ReplyMessage> {
    const { idle, total, headers, signal, onNotification, clock } = options
    const id = this.#channel.nextId()
    const before = inside === '' ? '' : `${inside},`
    const params = `{${before}"_meta":${this.#meta}"progressToken":${id}}}`
    const ask = { method, params, name, headers, signal, idle, total, onNotification }
    return this.#channel.request(ask, id, clock)
  }

  /** A request whose last parameter differs each time; `open`: the inside of its parameters, up to that one's value. */
  form(method: string, open: string): Form {
    return {
      before: `,"method":${JSON.stringify(method)},"params":{${open}`,
      after: `,"_meta":${this.#meta}"progressToken":`,
    }
  }

  /** Asks that with a value, as JSON text, for whom a promise is one too many. */
  sendForm(form: Form, value: string, ask: Ask, receiver: Receiver, since: number): void {
    this.#channel.sendForm(form, value, ask, receiver, since)
  }

  /** Asks with whole parameters as they are, for what is only passed on. The function gets the progress token. */
  pass(
    method: string,
    params: (token: number) => string | undefined,
    options: PassOptions,
  ): Promise<ReplyMessage> {
    const id = this.#channel.nextId()
    const { signal, idle, total, onNotification, headers, name, asker, clock } = options
    const ask = { method, name, params: params(id), signal, idle, total, onNotification, headers, asker }
    return this.#channel.request(ask, id, clock)
  }

  /** Whether questions of the server must be told apart by who calls. */
  takesTurns(asker: Asker | undefined): boolean {
    if (this.agreement.era === 'modern') return false
    const { turns } = this.#channel
    return !turns.areOver && (turns.watched || asker !== undefined)
  }

  /** Whether calls are made one after the other for that. */
  get keepsApart(): boolean {
    const { turns } = this.#channel
    return turns.taken && this.takesTurns(undefined)
  }

  /** Waits until a request may ask back without it being taken for somebody else's. Undefined: there is no need to. */
  turn(
    about: { readonly method: string; readonly name?: string | undefined },
    asker: Asker | undefined,
    idle: number,
    signal: Stop,
  ): Promise<Leave> | undefined {
    if (asker) this.#channel.watchTurns(idle)
    return ASKING_METHODS.has(about.method)
      ? this.#channel.turns.enter(subjectOf(about), asker, idle, signal)
      : undefined
  }

  /** Tells a server of the older era that the folders of the client that it is for are others now. */
  rootsChanged(): void {
    if (this.agreement.era === 'legacy') this.notify('notifications/roots/list_changed')
  }

  notify(method: string, params?: string): void {
    this.#channel.notify(method, params)
  }

  /** `idle` is for all pages together: a server that gives one after the other must come to an end, too. */
  async list(method: ListMethod, { idle, signal }: ListOptions = {}): Promise<List> {
    let pages = 0
    const work = (stop: Stop | undefined) =>
      listAll(this.#server, method, this.#limit, async (cursor) => {
        const params = cursor === undefined ? undefined : { cursor }
        const page = await patiently(() => this.ask(method, params, { signal: stop }), stop)
        pages += 1
        return page
      })
    if (idle === undefined) return await work(signal)
    return await inTime(idle, signal, work, () => unfinished(this.#server, method, idle, pages))
  }

  /** Asks for a sign of life. Any answer is one, also an error. */
  async ping(idle: number): Promise<void> {
    const modern = this.agreement.era === 'modern'
    try {
      const reply = await this.ask(modern ? 'server/discover' : 'ping', undefined, { idle })
      if (modern && !isStill(reply, this.agreement)) void this.#doubt.raise()
    } catch (error) {
      const list = LISTED.find((it) => this.offers(it))
      if (list === undefined || this.closed || !isPuzzled(error)) throw error
      await this.ask(`${list}/list`, undefined, { idle }).catch((again) => {
        throw refusedAfterAll(again)
      })
    }
  }

  /** Whether the server said that it has this: `tools`, or `tools.listChanged`. */
  offers(what: 'tools' | 'resources' | 'prompts' | 'completions', detail?: string): boolean {
    const capability = this.agreement.capabilities[what]
    if (!isRecord(capability)) return false
    return detail === undefined || capability[detail] === true
  }

  /** A modern server tells changes only to whom listens. Ends when the server ends it. */
  async listen(signal: AbortSignal, onChange: (method: string) => void): Promise<void> {
    const notifications = {
      ...(this.offers('tools', 'listChanged') ? { toolsListChanged: true } : {}),
      ...(this.offers('prompts', 'listChanged') ? { promptsListChanged: true } : {}),
      ...(this.offers('resources', 'listChanged') ? { resourcesListChanged: true } : {}),
    }
    const reply = await this.ask(
      'subscriptions/listen',
      { notifications },
      {
        signal,
        onNotification: ({ method }) => onChange(method),
      },
    )
    resultOf(this.#server, 'subscriptions/listen', reply)
  }

  /**
   * Whether nothing was done of a request that failed so, and the link was given up because its server speaks another era
   * now. Then the request may be made again, by the next link.
   */
  isRefusal(error: unknown, signal?: Stop): Promise<boolean> {
    return this.#doubt.isRefusal(error, signal)
  }

  /** Treats it as lost: it is there and does not answer. */
  abandon(fault?: Fault): void {
    const message = `${this.#server} stopped answering`
    this.#channel.closed(fault ?? new Fault('CONNECTION_LOST', message, { server: this.#server }))
  }

  async close(reason?: Fault): Promise<void> {
    await this.#channel.close(reason)
  }
}

/** Which list a notification is about. */
export function changedList(method: string): 'tools' | 'resources' | 'prompts' | undefined {
  switch (method) {
    case 'notifications/tools/list_changed':
      return 'tools'
    case 'notifications/resources/list_changed':
      return 'resources'
    case 'notifications/prompts/list_changed':
      return 'prompts'
    default:
      return undefined
  }
}

/** Say themselves what they are about, and need not concern whoever calls at that moment. */
const SELF_EVIDENT = /^notifications\/(?:resources\/updated$|tasks\b)/

// --- internal ---

/** Milliseconds for the question whether a server still speaks its era. */
const DOUBTFUL = 10_000

const LISTED = ['tools', 'resources', 'prompts'] as const

interface Opened {
  readonly channel: Channel
  /** See `negotiate`. */
  readonly held: boolean
  readonly agreement: Agreement
  readonly capabilities: object
}

async function openWith(options: LinkOptions): Promise<Opened> {
  try {
    const opened = await attempt(options, options.open, options.only ?? options.expected, options.only)
    if (!opened.held || !options.respawn || options.expected === 'modern') return opened
    await opened.channel.close()
    return await attempt(options, options.open, 'modern')
  } catch (error) {
    if (!(error instanceof Fault) || options.signal.aborted) throw error
    if (options.respawn && options.expected !== 'legacy' && error.code === 'CONNECTION_LOST')
      return await attempt(options, options.open, 'legacy')
    if (options.respawn && options.expected === undefined && options.only === undefined && isWedged(error))
      return await attempt(options, options.open, 'legacy').catch((again) => {
        throw withHint(again, error)
      })
    const status = error.details?.['status']
    if (options.fallback && (status === 400 || status === 404 || status === 405))
      return await attempt(options, options.fallback, 'legacy', 'legacy')
    throw error
  }
}

async function attempt(
  options: LinkOptions,
  open: OpenTransport,
  expected: Era | undefined,
  only?: Era,
): Promise<Opened> {
  const { server, client, handlers, events, scrub, own } = options
  const capabilities = capabilitiesOf(handlers)
  const channel = await Channel.open({ server, scrub, own }, open, {
    request: (message, respond) => {
      const { method } = message
      const whose = method === 'roots/list' ? options.whose?.() : undefined
      const answering = async () =>
        (whose && (await rootsFrom(whose, message))) ??
        (await answer(server, method, memberValue(message, 'params'), handlers))
      void answering().then(respond)
    },
    notification: (message, meant) => {
      const list = changedList(message.method)
      if (list) return events.changed(list)
      if (meant === undefined || SELF_EVIDENT.test(message.method)) events.notification(message)
      // What belongs to one of several callers is for none of the others.
      else if (!isDoubt(meant)) meant.remark?.(message)
    },
    oddity: events.oddity,
    closed: events.closed,
  })
  try {
    const intro = { ...options, client, capabilities, declared: declaredTo(handlers, own), expected, only }
    const { agreement, held } = await negotiate(channel, server, intro)
    return { channel, agreement, held, capabilities }
  } catch (error) {
    await channel.close()
    throw explained(error, channel.diagnosis, options.scrub)
  }
}

/** Whether the first question may have left a process unable to answer any other, which it would do had it not been asked. */
function isWedged({ code, details }: Fault): boolean {
  return code === 'CONNECT_TIMEOUT' || details?.['refused'] === 'initialize'
}

/** What came of the second try, with what a person can do so that there is only one. */
function withHint(error: unknown, { hint }: Fault): unknown {
  if (!(error instanceof Fault) || hint === undefined) return error
  const { code, message, server, details, cause } = error
  return new Fault(code, message, { hint, server, details, cause })
}

/** A fault with what the process said before it died; nobody can act on "connection closed" alone. */
function explained(
  error: unknown,
  { stderr, exitCode, signal }: Diagnosis,
  scrub: (text: string) => string,
): unknown {
  if (!(error instanceof Fault)) return error
  const said = stderr?.trim()
  const last = error.details?.['stderr'] || !said ? undefined : lastWord(said)
  const message = last ? `${error.message}; it said: ${last}` : error.message
  // Cut only now: half of a secret would not be found.
  return new Fault(error.code, shortened(scrub(message)), {
    hint: error.hint,
    server: error.server,
    details: { ...error.details, exitCode, signal, ...(said ? { stderr: said } : {}) },
    cause: error.cause,
  })
}
