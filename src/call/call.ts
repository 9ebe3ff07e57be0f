// The path every tool call takes, whoever makes it: resolve, decide, check, write down, send, write down what came of it.
// What later asks and meters is put in here and nowhere else.

import { Fault } from '../base/fault.ts'
import type { Actor } from '../policy/access.ts'
import { type Target, targetOf } from './admit.ts'
import { type Allowed, askPerson } from './approve.ts'
import { argumentsText, isSimple, JsonText, refuseArguments } from './argument-text.ts'
import { checkArguments } from './check.ts'
import type { CallContext } from './context.ts'
import { type MeantCall, meantBy } from './find-tools-call.ts'
import { depart } from './flight.ts'
import { callNative, replyOf } from './native-call.ts'
import { type Asking, Passage, type Terms } from './passage.ts'
import { CallResult, failureOf } from './result.ts'
import { findRoute, type OwnRoute, type Route } from './route.ts'
import { sendCall, sendingOf } from './send-call.ts'
import { termsFor } from './terms.ts'
import { CALL_TOOL, READ_RESULT } from './view.ts'

export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds without progress until the call is cancelled. */
  readonly timeout?: number | undefined
  /** Called in order, and always before the result. Must not throw. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** The conversation it belongs to, for the record. */
  readonly conversation?: string | undefined
  /** Milliseconds to wait for a person where one is asked; without it the caller is told at once to retry. */
  readonly approvalWait?: number | undefined
}

/** Calls `server/tool`, or a native tool. A tool that fails is a result; what prevents a result is thrown as a fault. */
export function call(
  context: CallContext,
  asking: Asking,
  address: string,
  args: unknown,
  options?: CallOptions,
): Promise<CallResult> {
  try {
    const outcome = depart(context, asking, address, args, options)
    if (outcome !== undefined) return outcome
  } catch {
    // The long way says why.
  }
  return callFirst(context, asking, address, args, options)
}

// --- internal ---

async function callFirst(
  context: CallContext,
  asking: Asking,
  address: string,
  args: unknown,
  options: CallOptions = {},
): Promise<CallResult> {
  const { actor } = asking
  const meant = address === CALL_TOOL ? meantIn(context, actor, args) : undefined
  if (meant) return await call(context, asking, meant.name, new JsonText(String(meant.args)), options)
  let route: Route | OwnRoute | undefined = context.views.of(actor).routes.get(address)
  let target: Target = route?.target ?? { server: '', tool: String(address) }
  let text = '{}'
  let terms: Terms
  let allowed: Allowed | undefined
  try {
    if (route === undefined) target = targetOf(context, actor, address)
    text = argumentsText(args)
    const refuse = () => {
      if (args instanceof JsonText || !isSimple(text)) refuseArguments(target, text)
    }
    if (route) refuse()
    else {
      const finding = findRoute(context, actor, target, address, options, refuse)
      route = finding instanceof Promise ? await finding : finding
    }
    const checking = checkArguments(context, route.entry, text)
    if (checking) await checking
    if (route.leave.verdict === 'ask') {
      allowed = await askPerson(context, asking, target, route, text, options)
      route = await findRoute(context, actor, target, address, options, nothing)
    }
    const setting = termsFor(context, asking, target, route.leave, route.tariff, text)
    terms = setting instanceof Promise ? await setting : setting
  } catch (error) {
    await allowed?.giveBack()
    await Passage.refused(context, asking, target, text, error)
    // Wrong arguments are for who calls to mend: a result.
    if (error instanceof Fault && error.code === 'ARGUMENTS_INVALID')
      return new CallResult(target.server, replyOf(failureOf(error)), fitFor(context, actor, target))
    throw error
  }
  const passage = Passage.begin(context, asking, target, text, terms)
  let isSent = false
  const sent = () => {
    isSent = true
    passage.sent()
  }
  const unsent = () => {
    isSent = false
    passage.unsent()
  }
  try {
    passage.proceed(await passage.written())
    const reply =
      route.kind === 'native'
        ? await callNative(route.entry, asking, text, options, sent)
        : await sendCall(context, asking, route, sendingOf(route, text, options), passage.clock, sent, unsent)
    const result = new CallResult(target.server, reply, fitFor(context, actor, target))
    result.recordTo(passage)
    await passage.written()
    return result
  } catch (error) {
    if (!isSent) await allowed?.giveBack()
    passage.failed(error)
    await passage.written()
    throw error
  }
}

function nothing(): void {}

/** The call that `call_tool` is given; what cannot even be written down is refused with the rest. */
function meantIn(context: CallContext, actor: Actor, args: unknown): MeantCall | undefined {
  try {
    return meantBy(context, actor, Buffer.from(argumentsText(args)))
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

/** How its text is made to fit; a page of one that was too large fits already. */
function fitFor({ spill }: CallContext, actor: Actor, { server, tool }: Target) {
  if (server === '' && tool === READ_RESULT) return undefined
  return (text: string, limit: number | undefined) => spill.fit(actor, text, limit)
}
