// One request to one server, whatever state it is in: started if need be, in its turn, asked back and answered.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { Stop } from '../base/stop.ts'
import { offTheClock, type Stopwatch } from '../base/stopwatch.ts'
import { asksFirst } from '../wire/asks-first.ts'
import { ERROR } from '../wire/era.ts'
import { memberValue, type NotificationMessage, type ReplyMessage } from '../wire/message.ts'
import { type Answer, answer, type Handlers, WHO_CAN } from './answers.ts'
import { patiently } from './busy.ts'
import type { Connection } from './connection.ts'
import { overdue } from './given-up.ts'
import type { AskOptions, Link } from './link.ts'
import { abortable, inTime } from './pause.ts'
import type { Ask, Form, Receiver } from './pending.ts'
import { enter, inTurn } from './reach.ts'
import type { Leave } from './turns.ts'

export interface Sending {
  readonly method: string
  /** The inside of the parameters object, as JSON text. */
  readonly inside: string
  /** What it is about, for the headers of modern servers. */
  readonly name?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: Stop | undefined
  /** Milliseconds without progress; default: what the server's entry says. */
  readonly timeout?: number | undefined
  readonly onNotification?: ((message: NotificationMessage) => void) | undefined
  /** Called when nothing is left to wait for; what it throws keeps it from being sent. */
  readonly onSend?: (() => void) | undefined
  /** Called when nothing was done of what was sent; it is sent again, or not at all. */
  readonly onUnsent?: (() => void) | undefined
  /** What the server's work on it is timed by; it is held while somebody else is waited for. */
  readonly clock?: Stopwatch | undefined
}

/** How often a server may ask back about one request. */
const MAX_ROUNDS = 16
/** What only reads may be asked again when a server says that it is busy. */
const READING = /\/(?:list|read|get|discover)$/

export async function send(
  connection: Connection,
  sending: Sending,
  handlers: Handlers,
): Promise<ReplyMessage> {
  const { gate } = connection
  if (!connection.live || !gate.tryEnter()) await enter(connection, sending)
  try {
    return await sendInside(connection, sending, handlers)
  } finally {
    gate.leave()
  }
}

/** With a place at its gate. What is to be sent is judged last, when nothing is waited for any more: not even a start. */
async function sendInside(
  connection: Connection,
  sending: Sending,
  handlers: Handlers,
  isAgain = false,
): Promise<ReplyMessage> {
  const turn = inTurn(connection, sending, undefined)
  const { link, leave } = turn instanceof Promise ? await turn : turn
  let how: Parameters<Leave>[0] = 'given up'
  try {
    if (!sending.signal?.aborted) sending.onSend?.()
    const since = performance.now()
    const { stopping } = connection
    const reply = await ask(connection, sending)
    how = 'answered'
    const mayAsk = link.agreement.era !== 'legacy' && asksFirst(sending.method, reply)
    return mayAsk ? await afterQuestions(connection, sending, reply, handlers, since, stopping) : reply
  } catch (error) {
    // Once it has asked back, it may have done something.
    if (isAgain || how !== 'given up' || !(await link.isRefusal(error, sending.signal))) throw error
    sending.onUnsent?.()
  } finally {
    leave?.(how)
  }
  // The server speaks another era now, and nothing was done: once more, by what is agreed next.
  return await sendInside(connection, sending, handlers, true)
}

/**
 * The same where nothing has to be waited for: the server is up, has a place free, and is not asked in turns. False:
 * nothing was done. Once it is true the place is the receiver's to leave.
 */
export function sendNow(
  { gate }: Connection,
  link: Link,
  form: Form,
  value: string,
  ask: Ask,
  receiver: Receiver,
  since: number,
): boolean {
  if (link.keepsApart || ask.signal?.aborted || !gate.tryEnter()) return false
  link.sendForm(form, value, ask, receiver, since)
  return true
}

/** How long a request may take; a caller that allows more at a time allows more in all. */
export function limitsOf(
  { timeouts }: Connection['plan'],
  timeout: number | undefined,
): { readonly idle: number; readonly total: number } {
  return timeout === undefined
    ? { idle: timeouts.call, total: timeouts.total }
    : { idle: timeout, total: Math.max(timeouts.total, timeout) }
}

/** A request that is asked again with what the server wanted to know first: to who waits for it, it is one. */
export interface Repeated {
  readonly server: string
  readonly method: string
  readonly signal: Stop | undefined
  readonly limits: { readonly idle: number; readonly total: number }
  /** When it was asked first, on the monotonic clock. */
  readonly since: number
  /** See `Sending`. */
  readonly clock: Stopwatch | undefined
}

/**
 * Until a server that asks before it gives its result has given it; `answer` finds out what it wants to know, and `again`
 * asks once more with that. Both are told when nobody waits for it any longer. All of it together takes no longer than one
 * request may.
 */
export async function untilAnswered<T>(
  { server, method, signal, limits, since, clock }: Repeated,
  first: ReplyMessage | Promise<ReplyMessage>,
  answer: (question: ReplyMessage, stop: Stop) => Promise<T>,
  again: (answers: T, stop: Stop) => Promise<ReplyMessage>,
): Promise<ReplyMessage> {
  let reply = await first
  if (!asksFirst(method, reply)) return reply
  const asking = async (stop: Stop) => {
    for (let round = 0; asksFirst(method, reply); round++) {
      if (round === MAX_ROUNDS) throw new Fault('SERVER_ERROR', `${server} keeps asking back`, { server })
      reply = await again(await offTheClock(clock, answer(reply, stop)), stop)
    }
    return reply
  }
  const left = since + limits.total - performance.now()
  return await inTime(left, signal, asking, () => overdue(server, { method, ...limits }, limits.total))
}

/**
 * Answers what a server asks before it gives its result, and asks again with that. `stopping`: that of the connection when it
 * was asked first; while it drains it has another one already.
 */
export function afterQuestions(
  connection: Connection,
  sending: Sending,
  first: ReplyMessage,
  handlers: Handlers,
  since: number,
  stopping: Stop,
): Promise<ReplyMessage> {
  const { name, plan } = connection
  const { method, signal, clock } = sending
  const repeated = { server: name, method, signal, limits: limitsOf(plan, sending.timeout), since, clock }
  const answering = (question: ReplyMessage, stop: Stop) => {
    // A person may take their time, as much as there is; whoever called may not want to wait for it.
    const bounded = abortable(answered(name, sending.inside, question, handlers), stopping, name)
    return abortable(bounded, stop, name)
  }
  const again = (inside: string, stop: Stop) => ask(connection, { ...sending, inside, signal: stop })
  return untilAnswered(repeated, first, answering, again)
}

// --- internal ---

function ask(connection: Connection, sending: Sending): Promise<ReplyMessage> {
  const { plan } = connection
  const { method, inside, name, signal, headers, onNotification, clock } = sending
  const options = { signal, ...limitsOf(plan, sending.timeout), headers, onNotification, clock }
  const link = connection.live
  if (link !== undefined && (method === 'tools/call' || !READING.test(method)))
    return link.askText(method, inside, name, options)
  return askAgain(connection, sending, options)
}

function askAgain(
  connection: Connection,
  { method, inside, name, signal, clock }: Sending,
  options: AskOptions,
): Promise<ReplyMessage> {
  const ask = async () => {
    const link = connection.live ?? (await offTheClock(clock, connection.ready(signal)))
    return await link.askText(method, inside, name, options)
  }
  return READING.test(method) ? patiently(ask, signal, clock) : ask()
}

/** The same parameters with the answers to what was asked, and the server's own note, byte for byte. */
async function answered(
  server: string,
  inside: string,
  reply: ReplyMessage,
  handlers: Handlers,
): Promise<string> {
  const result = memberValue(reply, 'result') as Record<string, unknown>
  const requests = isRecord(result['inputRequests']) ? result['inputRequests'] : {}
  const responses = await Promise.all(
    Object.entries(requests).map(async ([key, request]) => {
      const { method, params } = isRecord(request) ? request : {}
      const given = await answer(server, String(method), params, handlers)
      return [key, valueOrThrow(server, String(method), given)] as const
    }),
  )
  const state = result['requestState']
  return [
    ...(inside === '' ? [] : [inside]),
    ...(responses.length > 0 ? [`"inputResponses":${JSON.stringify(Object.fromEntries(responses))}`] : []),
    ...(state === undefined ? [] : [`"requestState":${JSON.stringify(state)}`]),
  ].join(',')
}

function valueOrThrow(server: string, method: string, given: Answer): unknown {
  if ('result' in given) return given.result
  const { code, message } = given.error
  const isOffered = code !== ERROR.methodNotFound
  const why = isOffered ? message : 'nobody can be asked here'
  throw new Fault('NOT_SUPPORTED', `${server} asks for ${method}, and ${why}`, {
    server,
    hint: isOffered
      ? 'see the handlers of the program that embeds Busbar: onElicitation and onSampling'
      : `${WHO_CAN}: see onElicitation, onSampling and roots in docs/library.md`,
  })
}
