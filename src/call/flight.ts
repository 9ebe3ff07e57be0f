// The way of a call about which nothing is left to decide: its tool was called before, its arguments are as they should be,
// and there is energy for it. The steps are those of every call (call.ts): written down, sent, written down again. But a
// promise for each step costs more than the step, so here the journal and the server tell when it goes on.

import { changes } from '../base/changes.ts'
import type { Fault } from '../base/fault.ts'
import { uuid7 } from '../base/uuid.ts'
import type { Ask, Receiver } from '../connect/pending.ts'
import { afterQuestions, limitsOf, sendNow } from '../connect/send.ts'
import type { Reservation } from '../policy/energy.ts'
import type { OpenCall, WriteWaiting } from '../record/recorder.ts'
import { argumentsForRecord } from '../record/summary.ts'
import type { CallSpan } from '../record/trace.ts'
import { asksFirst } from '../wire/asks-first.ts'
import type { ReplyMessage } from '../wire/message.ts'
import type { CallOptions } from './call.ts'
import type { Lane } from './lane.ts'
import { type Asking, Passage, rounded, saidIn, spanFor } from './passage.ts'
import { CallResult, withServer } from './result.ts'
import { recheck } from './route.ts'
import { sendCall, sendingOf } from './send-call.ts'
import { CallTerms, charge } from './terms.ts'

/** Makes the call. Rejects with what prevents a result. */
export function fly(
  lane: Lane,
  asking: Asking,
  text: string,
  options: CallOptions | undefined,
  reserved: Reservation | undefined,
): Promise<CallResult> {
  return new Promise((resolve, reject) => {
    const flight = new Flight(lane, asking, text, options, reserved, resolve, reject)
    if (lane.recording === undefined) flight.written(undefined)
  })
}

// --- internal ---

class Flight implements WriteWaiting, Receiver {
  readonly #lane: Lane
  readonly #asking: Asking
  readonly #text: string
  readonly #options: CallOptions | undefined
  readonly #reserved: Reservation | undefined
  readonly #resolve: (result: CallResult) => void
  readonly #reject: (error: unknown) => void
  readonly #started: number
  readonly #span: CallSpan | undefined
  readonly #call: OpenCall | undefined
  /** Whether it has a place at the server's gate. */
  #isInside: boolean
  #isSent: boolean
  #result: CallResult | undefined
  #failure: { readonly error: unknown } | undefined

  /** Says that it is about to be made; it goes on when that is written down. */
  constructor(
    lane: Lane,
    asking: Asking,
    text: string,
    options: CallOptions | undefined,
    reserved: Reservation | undefined,
    resolve: (result: CallResult) => void,
    reject: (error: unknown) => void,
  ) {
    const { recording, tracing, names } = lane
    this.#lane = lane
    this.#asking = asking
    this.#text = text
    this.#options = options
    this.#reserved = reserved
    this.#resolve = resolve
    this.#reject = reject
    this.#started = performance.now()
    this.#span = tracing?.isOn ? spanFor(tracing, names) : undefined
    this.#isInside = false
    this.#isSent = false
    this.#result = undefined
    this.#failure = undefined
    const now = Date.now()
    this.#call = recording?.recorder.begin(
      {
        id: uuid7(now),
        names,
        conversation: asking.conversation,
        startedAt: now,
        requestBytes: Buffer.byteLength(text),
        arguments: argumentsForRecord(recording.level, text, recording.scrub),
        reserved: reserved?.amount,
      },
      this,
    )
  }

  /** That it is about to be made is written down; or, later, what came of it. */
  written(fault: Fault | undefined): void {
    if (this.#result !== undefined) this.#resolve(this.#result)
    else if (this.#failure !== undefined) this.#reject(this.#failure.error)
    else {
      try {
        if (fault !== undefined) this.#passage().proceed(fault)
        this.#send()
      } catch (error) {
        this.failed(error)
      }
    }
  }

  /** Nearly every answer says that all went well, and nothing else; then that is all there is to write down. */
  answered(reply: ReplyMessage, at: number): void {
    const { recording, route, fit, loops } = this.#lane
    const { tariff, target, connection } = route
    const call = this.#call
    const reserved = this.#reserved
    const said = recording && reply.isPlain ? saidIn(recording, reply) : undefined
    if (call === undefined || said === undefined || !loops.isCalm) {
      this.#look(reply)
      return
    }
    this.#isInside = false
    connection.gate.leave()
    this.#span?.end('ok', undefined)
    const duration = rounded(at - this.#started)
    const energy =
      reserved && tariff && recording?.energy
        ? charge(recording.energy, tariff, reserved, duration)
        : undefined
    this.#result = new CallResult(target.server, reply, fit)
    recording?.recorder.end(
      call,
      { duration, outcome: 'ok', energy, resultBytes: reply.bytes.length, said },
      this,
    )
  }

  failed(error: unknown): void {
    if (this.#isInside) this.#leave()
    this.#failure = { error }
    this.#passage().failed(error, this)
  }

  // --- internal ---

  #send(): void {
    const { route, link, form, ask, count } = this.#lane
    const { connection } = route
    const isCurrent = count === changes.count
    if (!isCurrent) recheck(route, connection)
    const asked = this.#options === undefined && route.known.headers.length === 0 ? ask : this.#ownAsk()
    // Before it is sent, because it may be told at once that it cannot be.
    this.#isInside = true
    if (
      (isCurrent || connection.live === link) &&
      sendNow(connection, link, form, this.#text, asked, this, this.#started)
    )
      this.#isSent = true
    else {
      this.#isInside = false
      this.#sendLater()
    }
  }

  /** What is asked by a call that brings more than arguments. */
  #ownAsk(): Ask {
    const { route, ask } = this.#lane
    const { headers, onNotification } = sendingOf(route, this.#text, this.#options)
    const { signal, timeout } = this.#options ?? {}
    return { ...ask, ...limitsOf(route.connection.plan, timeout), headers, signal, onNotification }
  }

  /** There is something to wait for. */
  #sendLater(): void {
    const { context, route } = this.#lane
    const onSend = () => {
      this.#isSent = true
    }
    this.#go(sendCall(context, this.#asking, route, sendingOf(route, this.#text, this.#options), onSend))
  }

  /** At an answer that is not like most. */
  #look(reply: ReplyMessage): void {
    try {
      const { context, route } = this.#lane
      const { connection } = route
      // A modern server may want to know something first.
      if (connection.agreement?.era === 'legacy' || !asksFirst('tools/call', reply)) this.#arrive(reply)
      else {
        const sending = sendingOf(route, this.#text, this.#options)
        this.#go(afterQuestions(connection, sending, reply, context.handlers, this.#started))
      }
    } catch (error) {
      // What cannot be read is this call's trouble, and nobody else's.
      this.failed(withServer(this.#lane.route.target.server, error))
    }
  }

  #go(coming: Promise<ReplyMessage>): void {
    coming.then(
      (reply) => this.#arrive(reply),
      (error: unknown) => this.failed(error),
    )
  }

  #arrive(reply: ReplyMessage): void {
    const { route, fit } = this.#lane
    if (this.#isInside) this.#leave()
    const result = new CallResult(route.target.server, reply, fit)
    this.#result = result
    try {
      result.recordTo(this.#passage(), this)
    } catch (error) {
      // It is no result.
      this.#result = undefined
      this.failed(error)
    }
  }

  /** For all else that can become of it. */
  #passage(): Passage {
    const { context, route, recording } = this.#lane
    const { target, leave, tariff } = route
    const terms = new CallTerms(context, this.#asking, target, leave, tariff, this.#reserved, this.#text)
    return Passage.under(recording, this.#call, this.#span, terms, this.#started, this.#isSent)
  }

  #leave(): void {
    this.#isInside = false
    this.#lane.route.connection.gate.leave()
  }
}
