// Between the eras, as far as single answers go: what one era wants in a result and the other does not have.

import { type Era, META } from '../wire/era.ts'
import {
  find,
  type Id,
  memberValue,
  type NotificationMessage,
  type ReplyMessage,
  type ResultMessage,
  slice,
  withId,
} from '../wire/message.ts'

/** Lists and contents that may be kept for a while; we promise nothing for a server that did not. */
const CACHEABLE =
  /^(?:server\/discover|(?:tools|prompts|resources|resources\/templates)\/list|resources\/read)$/

/** The answer under the client's id and in the client's era, in pieces. */
export function answerFor(client: Era, server: Era, method: string, id: Id, reply: ReplyMessage): Buffer[] {
  if (client === server || client === 'legacy' || reply.kind === 'error') return withId(reply, id)
  return [...completed(reply, method, id)]
}

/** A notification as the client expects it: with its own progress token and its own subscription. */
export function notificationFor(
  message: NotificationMessage,
  client: { readonly id: Id; readonly progressToken: unknown },
): Buffer {
  const params = { ...(memberValue(message, 'params') as Record<string, unknown> | undefined) }
  if (message.method === 'notifications/progress') params['progressToken'] = client.progressToken
  const meta = params['_meta'] as Record<string, unknown> | undefined
  if (meta?.[META.subscription] !== undefined) params['_meta'] = { ...meta, [META.subscription]: client.id }
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: message.method, params }))
}

// --- internal ---

/** A legacy result made a modern one: what is missing is put in front of what is there. */
function* completed(reply: ResultMessage, method: string, id: Id): Generator<Buffer> {
  const result = slice(reply, 'result') ?? Buffer.from('{}')
  const extra = {
    resultType: 'complete',
    ...(CACHEABLE.test(method) ? { ttlMs: 0, cacheScope: 'private' } : {}),
  }
  const start = result.indexOf('{') + 1
  const rest = result.subarray(start)
  const empty = find(reply.members, 'result') === undefined || /^\s*\}/.test(rest.toString('latin1', 0, 64))
  yield Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`)
  yield Buffer.from(`${JSON.stringify(extra).slice(0, -1)}${empty ? '' : ','}`)
  yield rest
  yield Buffer.from('}')
}
