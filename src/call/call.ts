// The path every tool call takes, whoever makes it: resolve, decide, check, write down, send, write down what came of it.
// What later asks and meters is put in here and nowhere else.

import { Fault } from '../base/fault.ts'
import type { Connection } from '../connect/connection.ts'
import { send } from '../connect/send.ts'
import type { Actor } from '../policy/access.ts'
import { memberValue, type NotificationMessage, type ReplyMessage } from '../wire/message.ts'
import { paramHeaderValues } from '../wire/param-headers.ts'
import { MAX_DEPTH } from '../wire/scan.ts'
import { type Target, targetOf } from './admit.ts'
import { askPerson } from './approve.ts'
import { argumentsProblem } from './arguments.ts'
import { badArguments, checkArguments } from './check.ts'
import type { CallContext } from './context.ts'
import { type MeantCall, meantBy } from './find-tools-call.ts'
import { callNative, replyOf } from './native-call.ts'
import { withInstance } from './own-instance.ts'
import { type Asking, Passage, type Terms } from './passage.ts'
import { CallResult, failureOf } from './result.ts'
import { findRoute, type OwnRoute, type Route, recheck } from './route.ts'
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

/** Arguments as JSON text, for whom every digit counts: 12345678901234567891 is not …7000. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    JSON.parse(text)
    this.text = text
  }
}

/** Calls `server/tool`, or a native tool. A tool that fails is a result; what prevents a result is thrown as a fault. */
export async function call(
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
  try {
    if (route === undefined) target = targetOf(context, actor, address)
    text = argumentsText(args)
    const refuse = () => refuseArguments(target, args, text)
    if (route) refuse()
    else {
      const finding = findRoute(context, actor, target, address, options, refuse)
      route = finding instanceof Promise ? await finding : finding
    }
    const checking = checkArguments(context, route.entry, text)
    if (checking) await checking
    if (route.leave.verdict === 'ask') {
      await askPerson(context, asking, target, route, text, options)
      route = await findRoute(context, actor, target, address, options, nothing)
    }
    const setting = termsFor(context, asking, target, route.leave, route.entry.tool, text)
    terms = setting instanceof Promise ? await setting : setting
  } catch (error) {
    await Passage.refused(context, asking, target, text, error)
    // Wrong arguments are for who calls to mend: a result.
    if (error instanceof Fault && error.code === 'ARGUMENTS_INVALID')
      return new CallResult(target.server, replyOf(failureOf(error)), fitFor(context, actor, target))
    throw error
  }
  const passage = Passage.begin(context, asking, target, text, terms)
  try {
    passage.proceed(await passage.written())
    const reply =
      route.kind === 'native'
        ? await callNative(route.entry, asking, text, options, passage)
        : await sendCall(context, asking, route, text, options, passage)
    const result = new CallResult(target.server, reply, fitFor(context, actor, target))
    result.recordTo(passage)
    await passage.written()
    return result
  } catch (error) {
    passage.failed(error)
    await passage.written()
    throw error
  }
}

// --- internal ---

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

/** Throws when a text cannot be the arguments of a call. */
function refuseArguments({ server, tool }: Target, args: unknown, text: string): void {
  // What was written here from data is one object without a key twice, and when it is short it is not nested deeply.
  if (!(args instanceof JsonText) && text.startsWith('{') && text.length <= MAX_DEPTH) return
  const problem = argumentsProblem(Buffer.from(text))
  if (problem !== undefined) throw badArguments(server === '' ? tool : `${server}/${tool}`, server, problem)
}

function sendCall(
  context: CallContext,
  asking: Asking,
  route: Route,
  text: string,
  options: CallOptions,
  passage: Passage,
): Promise<ReplyMessage> {
  const { connection } = route
  if (connection.instances === undefined) return sendTo(connection, context, route, text, options, passage)
  const { signal, timeout } = options
  return withInstance(connection, asking, { method: 'tools/call', signal, timeout }, (own) =>
    sendTo(own, context, route, text, options, passage),
  )
}

function sendTo(
  connection: Connection,
  context: CallContext,
  route: Route,
  text: string,
  { signal, timeout, onProgress }: CallOptions,
  passage: Passage,
): Promise<ReplyMessage> {
  const { known, target } = route
  const name = target.tool
  const headers = known.headers.length > 0 ? paramHeaderValues(known.headers, JSON.parse(text)) : undefined
  return send(
    connection,
    {
      method: 'tools/call',
      inside: `"name":${JSON.stringify(name)},"arguments":${text}`,
      name,
      headers,
      signal,
      timeout,
      onSend: () => {
        recheck(route, connection)
        passage.sent()
      },
      ...(onProgress ? { onNotification: progressTo(onProgress) } : {}),
    },
    context.handlers,
  )
}

function argumentsText(args: unknown): string {
  if (args instanceof JsonText) return args.text
  try {
    return JSON.stringify(args ?? {}) ?? '{}'
  } catch (error) {
    throw new Fault(
      'USAGE',
      `the arguments cannot be written as JSON: ${error instanceof Error ? error.message : error}`,
    )
  }
}

function progressTo(onProgress: (progress: Progress) => void) {
  return (message: NotificationMessage) => {
    if (message.method !== 'notifications/progress') return
    const { progress, total, message: text } = (memberValue(message, 'params') ?? {}) as Partial<Progress>
    const told: unknown = onProgress({
      progress: Number(progress),
      ...(total === undefined ? {} : { total }),
      ...(text === undefined ? {} : { message: text }),
    })
    // Its author may have written it as an async function; what goes wrong there must not end the process.
    if (told instanceof Promise) told.catch((error: unknown) => process.emitWarning(String(error)))
  }
}
