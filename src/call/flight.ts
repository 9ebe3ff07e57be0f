// The way of a call about which nothing is left to decide: its tool was called before, its arguments are as they should be,
// and there is energy for it. The steps are those of every call (call.ts): written down, sent, written down again. But a
// promise for each step costs more than the step, so here the journal and the server tell when it goes on.

import type { Fault } from '../base/fault.ts'
import type { Receiver } from '../connect/pending.ts'
import { afterQuestions, sendNow } from '../connect/send.ts'
import type { WriteWaiting } from '../record/recorder.ts'
import { asksFirst } from '../wire/asks-first.ts'
import { isPlain, type ReplyMessage } from '../wire/message.ts'
import type { CallOptions } from './call.ts'
import type { CallContext } from './context.ts'
import { type Asking, Passage, type Terms } from './passage.ts'
import { CallResult } from './result.ts'
import { type Route, recheck } from './route.ts'
import { sendCall, sendingOf } from './send-call.ts'

/** Makes the call. Rejects with what prevents a result. */
export function fly(
  context: CallContext,
  asking: Asking,
  route: Route,
  text: string,
  options: CallOptions,
  terms: Terms,
): Promise<CallResult> {
  return new Promise((resolve, reject) => {
    const flight = new Flight(context, asking, route, text, options, terms, resolve, reject)
    if (!flight.passage.isRecorded) flight.written(undefined)
  })
}

// --- internal ---

class Flight implements WriteWaiting, Receiver {
  readonly passage: Passage
  readonly #context: CallContext
  readonly #asking: Asking
  readonly #route: Route
  readonly #text: string
  readonly #options: CallOptions
  readonly #resolve: (result: CallResult) => void
  readonly #reject: (error: unknown) => void
  /** Whether it has a place at the server's gate. */
  #isInside = false
  #result: CallResult | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(
    context: CallContext,
    asking: Asking,
    route: Route,
    text: string,
    options: CallOptions,
    terms: Terms,
    resolve: (result: CallResult) => void,
    reject: (error: unknown) => void,
  ) {
    this.#context = context
    this.#asking = asking
    this.#route = route
    this.#text = text
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
    this.passage = Passage.begin(context, asking, route.target, text, terms, this)
  }

  /** That it is about to be made is written down; or, later, what came of it. */
  written(fault: Fault | undefined): void {
    if (this.#result !== undefined) this.#resolve(this.#result)
    else if (this.#failure !== undefined) this.#reject(this.#failure.error)
    else {
      try {
        this.passage.proceed(fault)
        this.#send()
      } catch (error) {
        this.failed(error)
      }
    }
  }

  answered(reply: ReplyMessage): void {
    try {
      const { connection } = this.#route
      // A modern server may want to know something first.
      if (isPlain(reply) || connection.agreement?.era === 'legacy' || !asksFirst('tools/call', reply))
        this.#arrive(reply)
      else {
        const sending = sendingOf(this.#route, this.#text, this.#options)
        this.#go(afterQuestions(connection, sending, reply, this.#context.handlers))
      }
    } catch (error) {
      // What cannot be read is this call's trouble, and nobody else's.
      this.failed(error)
    }
  }

  failed(error: unknown): void {
    if (this.#isInside) this.#leave()
    this.#failure = { error }
    this.passage.failed(error, this)
  }

  // --- internal ---

  #send(): void {
    const route = this.#route
    const { connection } = route
    recheck(route, connection)
    const sending = sendingOf(route, this.#text, this.#options)
    // Before it is sent, because it may be told at once that it cannot be.
    this.#isInside = true
    if (connection.instances === undefined && sendNow(connection, sending, this)) this.passage.sent()
    else {
      this.#isInside = false
      this.#go(sendCall(this.#context, this.#asking, route, sending, this.passage))
    }
  }

  #go(coming: Promise<ReplyMessage>): void {
    coming.then(
      (reply) => this.#arrive(reply),
      (error: unknown) => this.failed(error),
    )
  }

  #arrive(reply: ReplyMessage): void {
    const { spill } = this.#context
    const { actor } = this.#asking
    if (this.#isInside) this.#leave()
    const result = new CallResult(this.#route.target.server, reply, (text, limit) =>
      spill.fit(actor, text, limit),
    )
    this.#result = result
    try {
      result.recordTo(this.passage, this)
    } catch (error) {
      // It is no result.
      this.#result = undefined
      this.failed(error)
    }
  }

  #leave(): void {
    this.#isInside = false
    this.#route.connection.gate.leave()
  }
}
