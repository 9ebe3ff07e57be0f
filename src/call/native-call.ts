// A call of a native tool: run here, stopped like any other, its result in the form every result has.

import { Fault } from '../base/fault.ts'
import { nativeFailure, nativeResult } from '../registry/native.ts'
import type { OwnTool } from '../registry/registry.ts'
import { type ReplyMessage, readMessage } from '../wire/message.ts'
import type { CallOptions } from './call.ts'
import type { Asking } from './passage.ts'

export async function callNative(
  { name, native }: OwnTool,
  { actor, session, conversation }: Asking,
  text: string,
  { signal, timeout }: CallOptions,
  sent: () => void,
): Promise<ReplyMessage> {
  if (signal?.aborted) throw new Fault('CALL_CANCELLED', `${name} was cancelled before it began`)
  sent()
  const stop = new AbortController()
  const over = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason), { once: true })
  })
  over.catch(() => undefined)
  const cancel = () => stop.abort(new Fault('CALL_CANCELLED', `${name} was cancelled`))
  const limit = timeout === undefined ? undefined : Math.min(timeout, LONGEST)
  const timer =
    limit === undefined
      ? undefined
      : setTimeout(
          () => stop.abort(new Fault('CALL_TIMEOUT', `${name} did not end within ${limit} ms`)),
          limit,
        )
  signal?.addEventListener('abort', cancel, { once: true })
  const agent = actor.kind === 'owner' ? undefined : actor.id
  try {
    const running = run(native.run, JSON.parse(text), { agent, session, conversation, signal: stop.signal })
    return replyOf(await Promise.race([running, over]))
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}

/** A result as if a server had sent it. */
export function replyOf(result: Record<string, unknown>): ReplyMessage {
  let text: string
  try {
    text = JSON.stringify(result)
  } catch (error) {
    text = JSON.stringify(nativeFailure(error))
  }
  const message = readMessage(Buffer.from(`{"jsonrpc":"2.0","id":0,"result":${text}}`))
  if (message.kind === 'result') return message
  throw new Fault('MESSAGE_INVALID', 'the tool returned something that is no result')
}

// --- internal ---

/** More than a timer can wait. */
const LONGEST = 2 ** 31 - 1

/** What it throws is a result that says so; a refusal on the way to a server stays one. */
async function run(
  work: OwnTool['native']['run'],
  args: Readonly<Record<string, unknown>>,
  call: Parameters<OwnTool['native']['run']>[1],
): Promise<Record<string, unknown>> {
  try {
    return nativeResult(await work(args, call))
  } catch (error) {
    if (call.signal.aborted) throw error
    return nativeFailure(error)
  }
}
