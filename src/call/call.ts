// The path every tool call takes, whoever makes it: resolve, decide, check, write down, send, write down what came of it.
// What later asks and meters is put in here and nowhere else.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Connection } from '../connect/connection.ts'
import { awake, send } from '../connect/send.ts'
import type { KnownTool } from '../connect/tool-list.ts'
import type { Actor } from '../policy/access.ts'
import { serverTool } from '../registry/registry.ts'
import { memberValue, type NotificationMessage, type ReplyMessage } from '../wire/message.ts'
import { paramHeaderValues } from '../wire/param-headers.ts'
import { type Admitted, admit, type Target, targetOf, unknownTool } from './admit.ts'
import { argumentsProblem } from './arguments.ts'
import { badArguments, checkArguments } from './check.ts'
import type { CallContext } from './context.ts'
import { callNative, replyOf } from './native-call.ts'
import { type Asking, Passage } from './passage.ts'
import { CallResult, failureOf } from './result.ts'

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
  const target = targetOf(context, asking.actor, address)
  const text = argumentsText(args)
  const found = await settled(context, asking, target, text, options)
  if (found instanceof CallResult) return found
  const passage = Passage.begin(context, asking, target, text, found.mayWrite)
  try {
    const reply =
      found.kind === 'native'
        ? await callNative(found.entry, asking, text, options)
        : await sendCall(context, found, target.tool, text, options)
    const result = new CallResult(target.server, reply)
    result.recordTo(passage)
    return result
  } catch (error) {
    passage.failed(error)
    throw error
  }
}

/** A tool that is not known yet: of a server that was never up, or whose list is old. */
export async function findTool(
  context: CallContext,
  actor: Actor,
  connection: Connection,
  name: string,
  { signal, timeout }: { readonly signal?: Stop | undefined; readonly timeout?: number | undefined },
): Promise<KnownTool> {
  await awake(connection, { method: 'tools/call', signal, timeout })
  if (connection.tool(name) === undefined) await connection.relist()
  const known = connection.tool(name)
  if (known === undefined) throw unknownTool(context, actor, connection, name)
  return known
}

// --- internal ---

type Found =
  | Extract<Admitted, { kind: 'native' }>
  | (Extract<Admitted, { kind: 'server' }> & { readonly known: KnownTool })

/** Resolved, allowed and checked; a refusal is written down, too. Wrong arguments are for who calls to mend: a result. */
async function settled(
  context: CallContext,
  asking: Asking,
  target: Target,
  text: string,
  options: CallOptions,
): Promise<Found | CallResult> {
  try {
    const problem = argumentsProblem(Buffer.from(text))
    const admitted = admit(context, asking.actor, target)
    const address = target.server === '' ? target.tool : `${target.server}/${target.tool}`
    if (problem !== undefined) throw badArguments(address, target.server, problem)
    if (admitted.kind === 'native') {
      await checkArguments(context, admitted.entry, text)
      return admitted
    }
    const { connection } = admitted
    const known =
      connection.tool(target.tool) ??
      (await findTool(context, asking.actor, connection, target.tool, options))
    const pending = checkArguments(context, serverTool(connection, known.tool), text)
    if (pending) await pending
    return { ...admitted, known }
  } catch (error) {
    Passage.refused(context, asking, target, text, error)
    if (error instanceof Fault && error.code === 'ARGUMENTS_INVALID')
      return new CallResult(target.server, replyOf(failureOf(error)))
    throw error
  }
}

function sendCall(
  context: CallContext,
  { connection, known }: Extract<Found, { kind: 'server' }>,
  name: string,
  text: string,
  { signal, timeout, onProgress }: CallOptions,
): Promise<ReplyMessage> {
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
