// The way of a call about which nothing is left to decide: its tool was called before, its arguments are as they should be,
// and there is energy for it. The steps are those of every call (call.ts): written down, sent, written down again. But a
// promise for each step costs more than the step, so here the journal and the server tell when it goes on.

import { changes } from '../base/changes.ts'
import type { Fault } from '../base/fault.ts'
import { Stopwatch } from '../base/stopwatch.ts'
import { uuid7 } from '../base/uuid.ts'
import { isUnread } from '../connect/other-era.ts'
import type { Ask, Receiver } from '../connect/pending.ts'
import { afterQuestions, limitsOf, sendNow } from '../connect/send.ts'
import type { Reservation } from '../policy/energy.ts'
import type { OpenCall, WriteWaiting } from '../record/recorder.ts'
import { argumentsForRecord } from '../record/summary.ts'
import type { CallSpan } from '../record/trace.ts'
import { asksFirst } from '../wire/asks-first.ts'
import { isWhole, type ReplyMessage } from '../wire/message.ts'
import { isSimple, JsonText, refuseArguments } from './argument-text.ts'
import type { CallOptions } from './call.ts'
import type { CallContext } from './context.ts'
import { type Lane, newLane } from './lane.ts'
import { type Asking, Passage, rounded, spanFor } from './passage.ts'
import { CallResult, withServer } from './result.ts'
import { recheck } from './route.ts'
import { sendCall, sendingOf } from './send-call.ts'
import { CallTerms, refuseLoop } from './terms.ts'

/**
 * Makes a call. Undefined, or a fault, where something is to be found out, asked or refused first: nothing was done. (A
 * record that was closed meanwhile refuses it last; then the energy that was set aside goes back with the lease.) It is one
 * function, because each that it calls is compiled by itself and along with it, and in a process that makes a few thousand
 * calls that is most of what they take.
 */
export function depart(
  context: CallContext,
  asking: Asking,
  address: string,
  args: unknown,
  options: CallOptions | undefined,
): Promise<CallResult> | undefined {
  const route = context.views.of(asking.actor).routes.get(address)
  if (route === undefined) return undefined
  if (route.lane?.names.surface !== asking.surface) route.lane = newLane(context, asking, route)
  const lane = route.lane
  if (lane === undefined) return undefined
  const isText = args instanceof JsonText
  const text = isText ? args.text : JSON.stringify(args ?? {})
  if (isText || !isSimple(text)) refuseArguments(route.target, text)
  const { acceptor, loops, names, recording, tracing } = lane
  if (!acceptor.isValid(JSON.parse(text))) return undefined
  if (!loops.isCalm) refuseLoop(loops, names.agent, route.target, text)
  const energy = recording?.energy
  let reserved: Reservation | undefined
  if (route.tariff !== undefined && energy !== undefined) {
    reserved = energy.reserveNow(names.agent, route.tariff.energy)
    if (reserved === undefined) return undefined
  }
  const span = tracing?.isOn ? spanFor(tracing, names) : undefined
  const flight = new Flight(lane, asking, text, options, reserved, span, performance.now())
  if (recording !== undefined) {
    const now = Date.now()
    const start = {
      id: uuid7(now),
      names,
      conversation: asking.conversation,
      startedAt: now,
      requestBytes: Buffer.byteLength(text),
      arguments: argumentsForRecord(recording.level, text, recording.scrub),
      reserved: reserved?.amount,
    }
    flight.call = recording.recorder.begin(start, flight)
  }
  return new Promise((resolve, reject) => {
    flight.resolve = resolve
    flight.reject = reject
    if (recording === undefined) flight.written(undefined)
  })
}

// --- internal ---

/** Its fields are plain: private ones would be made twice, and found by more steps, for every call. */
class Flight implements WriteWaiting, Receiver {
  declare private readonly lane: Lane
  declare private readonly asking: Asking
  declare private readonly text: string
  declare private readonly options: CallOptions | undefined
  declare private readonly reserved: Reservation | undefined
  declare private readonly span: CallSpan | undefined
  declare private readonly started: number
  /** Its record; it goes on when that is written down. */
  declare call: OpenCall | undefined
  /** Whoever waits for it. Told a result, or what prevents one. */
  declare resolve: ((result: CallResult) => void) | undefined
  declare reject: ((error: unknown) => void) | undefined
  /** There when something else than the server's work was waited for, or may be. */
  declare private watch: Stopwatch | undefined
  /** Whether it has a place at the server's gate. */
  declare private isInside: boolean
  declare private isSent: boolean
  declare private result: CallResult | undefined
  declare private failure: { readonly error: unknown } | undefined

  constructor(
    lane: Lane,
    asking: Asking,
    text: string,
    options: CallOptions | undefined,
    reserved: Reservation | undefined,
    span: CallSpan | undefined,
    started: number,
  ) {
    this.lane = lane
    this.asking = asking
    this.text = text
    this.options = options
    this.reserved = reserved
    this.span = span
    this.started = started
    this.call = undefined
    this.resolve = undefined
    this.reject = undefined
    this.watch = undefined
    this.isInside = false
    this.isSent = false
    this.result = undefined
    this.failure = undefined
  }

  /** That it is about to be made is written down; or, later, what came of it. */
  written(fault: Fault | undefined): void {
    if (this.result !== undefined) this.resolve?.(this.result)
    else if (this.failure !== undefined) this.reject?.(this.failure.error)
    else {
      try {
        if (fault !== undefined) this.passage().proceed(fault)
        this.send()
      } catch (error) {
        this.failed(error)
      }
    }
  }

  /** Nearly every answer is whole, says that all went well, and nothing else; then that is all there is to write down. */
  answered(reply: ReplyMessage, at: number): void {
    const { recording, route, fit, loops } = this.lane
    const { tariff, target, connection } = route
    const call = this.call
    const reserved = this.reserved
    const said = recording?.level === 'preview' ? reply.letters : undefined
    const isUsual = said !== undefined && (reply.isOneText || isPlainText(reply))
    if (call === undefined || !isUsual || !loops.isCalm || this.watch !== undefined) {
      this.look(reply)
      return
    }
    this.isInside = false
    connection.gate.leave()
    this.span?.end('ok', undefined)
    const duration = rounded(at - this.started)
    const energy = reserved && tariff && recording?.energy?.settle(reserved, tariff.spent(duration))
    this.result = new CallResult(target.server, reply, fit)
    recording?.recorder.end(call, { duration, outcome: 'ok', energy, resultBytes: said.length, said }, this)
  }

  /** Most are not waited for by anybody else, and need none: what they took is what the server worked. */
  get clock(): Stopwatch {
    if (this.watch === undefined) {
      this.watch = new Stopwatch()
      this.watch.start(this.started)
    }
    return this.watch
  }

  failed(error: unknown): void {
    if (!isUnread(error)) {
      this.end(error)
      return
    }
    if (this.isInside) this.leave()
    // Nothing was done; where that is because the server speaks another era now, it is asked again.
    const again = (isRefusal: boolean) => {
      if (!isRefusal) throw error
      this.isSent = false
      this.sendLater()
    }
    this.lane.link
      .isRefusal(error, this.options?.signal)
      .then(again)
      .catch((reason: unknown) => this.end(reason))
  }

  // --- internal ---

  private end(error: unknown): void {
    if (this.isInside) this.leave()
    this.failure = { error }
    this.passage().failed(error, this)
  }

  private send(): void {
    const { route, link, form, ask, count } = this.lane
    const { connection } = route
    const isCurrent = count === changes.count
    if (!isCurrent) recheck(route, connection)
    const asked = this.options === undefined && route.known.headers.length === 0 ? ask : this.ownAsk()
    // Before it is sent, because it may be told at once that it cannot be.
    this.isInside = true
    if (
      (isCurrent || connection.live === link) &&
      sendNow(connection, link, form, this.text, asked, this, this.started)
    )
      this.isSent = true
    else {
      this.isInside = false
      this.sendLater()
    }
  }

  /** What is asked by a call that brings more than arguments. */
  private ownAsk(): Ask {
    const { route, ask } = this.lane
    const { headers, onNotification } = sendingOf(route, this.text, this.options)
    const { signal, timeout } = this.options ?? {}
    return { ...ask, ...limitsOf(route.connection.plan, timeout), headers, signal, onNotification }
  }

  /** There is something to wait for. */
  private sendLater(): void {
    const { context, route } = this.lane
    const clock = new Stopwatch()
    this.watch = clock
    const onSend = () => {
      this.isSent = true
      clock.start()
      goOn?.()
    }
    let goOn: (() => void) | undefined
    const onUnsent = () => {
      this.isSent = false
      goOn = clock.hold()
    }
    const sending = sendingOf(route, this.text, this.options)
    this.go(sendCall(context, this.asking, route, sending, clock, onSend, onUnsent))
  }

  /** At an answer that is not like most. */
  private look(reply: ReplyMessage): void {
    try {
      const { context, route, stopping } = this.lane
      const { connection } = route
      // A modern server may want to know something first.
      if (connection.agreement?.era === 'legacy' || !asksFirst('tools/call', reply)) this.arrive(reply)
      else {
        const sending = { ...sendingOf(route, this.text, this.options), clock: this.clock }
        this.go(afterQuestions(connection, sending, reply, context.handlers, this.started, stopping))
      }
    } catch (error) {
      // What cannot be read is this call's trouble, and nobody else's.
      this.failed(withServer(this.lane.route.target.server, error))
    }
  }

  private go(coming: Promise<ReplyMessage>): void {
    coming.then(
      (reply) => this.arrive(reply),
      (error: unknown) => this.end(error),
    )
  }

  private arrive(reply: ReplyMessage): void {
    const { route, fit } = this.lane
    if (this.isInside) this.leave()
    const result = new CallResult(route.target.server, reply, fit)
    this.result = result
    try {
      result.recordTo(this.passage(), this)
    } catch (error) {
      // It is no result.
      this.result = undefined
      this.failed(error)
    }
  }

  /** For all else that can become of it. */
  private passage(): Passage {
    const { context, route, recording } = this.lane
    const { target, leave, tariff } = route
    const terms = new CallTerms(context, this.asking, target, leave, tariff, this.reserved, this.text)
    return Passage.under(recording, this.call, this.span, terms, this.started, this.clock, this.isSent)
  }

  private leave(): void {
    this.isInside = false
    this.lane.route.connection.gate.leave()
  }
}

/** Whether it is sound, has text in it, and says nothing beside its result. */
function isPlainText(reply: ReplyMessage): boolean {
  return reply.isPlain === true && reply.letters?.includes('"text"') === true && isWhole(reply)
}
