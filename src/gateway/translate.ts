// Between the eras, as far as single answers go: what one era wants in a result and the other does not have.

import { isRecord } from '../base/record.ts'
import { ERROR, type Era, META } from '../wire/era.ts'
import { type Id, idText } from '../wire/id.ts'
import {
  type ErrorMessage,
  errorOf,
  mayMention,
  memberValue,
  type NotificationMessage,
  parseSlice,
  type ReplyMessage,
  type ResultMessage,
  slice,
  withId,
} from '../wire/message.ts'
import { membersIn, withOwn } from '../wire/put.ts'
import type { Member } from '../wire/scan.ts'

/** Lists and contents that may be kept for a while; we promise nothing for a server that did not. */
const CACHEABLE =
  /^(?:server\/discover|(?:tools|prompts|resources|resources\/templates)\/list|resources\/read)$/

/** The answer under the client's id and in the client's era, in pieces. */
export function answerFor(client: Era, server: Era, method: string, id: Id, reply: ReplyMessage): Buffer[] {
  if (client !== server && reply.kind === 'error' && method === 'resources/read')
    return recoded(client, id, reply)
  if (reply.kind === 'error') return withId(reply, id)
  if (server === 'modern') return privately(reply, method, id)
  return client === 'legacy' ? withId(reply, id) : completed(reply, method, id)
}

/** A notification as the client expects it: with its own progress token and its own subscription. */
export function notificationFor(
  message: NotificationMessage,
  client: { readonly id: Id; readonly progressToken: unknown },
): Buffer {
  const params = { ...(memberValue(message, 'params') as Record<string, unknown> | undefined) }
  if (message.method === 'notifications/progress') params['progressToken'] = client.progressToken
  const meta = params['_meta'] as Record<string, unknown> | undefined
  return meta?.[META.subscription] === undefined
    ? Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: message.method, params }))
    : subscribed(message.method, params, client.id)
}

/** Something that a client hears because it listens, with the id of the request by which it does. */
export function subscribed(method: string, params: Readonly<Record<string, unknown>>, id: Id): Buffer {
  const { _meta, ...rest } = params
  const { [META.subscription]: _, ...others } = isRecord(_meta) ? _meta : {}
  const meta = withText(JSON.stringify(others), `${JSON.stringify(META.subscription)}:${idText(id)}`)
  const given = withText(JSON.stringify(rest), `"_meta":${meta}`)
  return Buffer.from(`{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${given}}`)
}

// --- internal ---

/** What each era says of a resource that there is not. */
const UNKNOWN_RESOURCE = { legacy: ERROR.resourceNotFound, modern: ERROR.invalidParams } as const

/** An error with the code by which the client's era says it. */
function recoded(client: Era, id: Id, reply: ErrorMessage): Buffer[] {
  const error = errorOf(reply)
  const said = client === 'legacy' ? UNKNOWN_RESOURCE.modern : UNKNOWN_RESOURCE.legacy
  if (error.code !== said) return withId(reply, id)
  const text = JSON.stringify({ ...error, code: UNKNOWN_RESOURCE[client] })
  return [Buffer.from(`{"jsonrpc":"2.0","id":${idText(id)},"error":${text}}`)]
}

/** An object with one more member, both as JSON. */
function withText(object: string, member: string): string {
  return object === '{}' ? `{${member}}` : `${object.slice(0, -1)},${member}}`
}

/**
 * What a server may say to everybody is one agent's alone once it came through here: access and lists are per agent. So
 * nobody keeps it for others. How long it may be kept stays the server's word: what the agent may see and changes here is
 * told (`list_changed`), and whatever somebody still remembers is judged anew when it is called or read.
 */
function privately(reply: ResultMessage, method: string, id: Id): Buffer[] {
  // Nobody keeps what tools answer, and there is no call that need be searched for it.
  if (method === 'tools/call') return withId(reply, id)
  if (!mayMention(reply, '"public"') || !mayMention(reply, '"cacheScope"')) return withId(reply, id)
  const result = resultOf(reply)
  const members = membersIn(result)
  const isPublic = members.some(
    (member) => member.key === 'cacheScope' && parseSlice(result, member) === 'public',
  )
  if (!isPublic) return withId(reply, id)
  return enveloped(id, withOwn(result, { cacheScope: 'private' }, members))
}

/** A legacy result made a modern one: what is missing is put in front of what is there. */
function completed(reply: ResultMessage, method: string, id: Id): Buffer[] {
  const result = resultOf(reply)
  const own = {
    resultType: 'complete',
    ...(CACHEABLE.test(method) ? { ttlMs: 0, cacheScope: 'private' } : {}),
  }
  // Its own era knows none of these words: what it means by them need not be what they say to a modern client.
  const isThere = Object.keys(own).some((key) => mayMention(reply, `"${key}"`))
  if (!isThere) return enveloped(id, withOwn(result, own, []))
  const members = membersIn(result)
  const missing = Object.entries(own).filter(([key, value]) => !says(result, members, key, value))
  if (missing.length === 0) return withId(reply, id)
  return enveloped(id, withOwn(result, Object.fromEntries(missing), members))
}

/** Whether a member has that value, for every reader. */
function says(result: Buffer, members: readonly Member[], key: string, value: unknown): boolean {
  const found = members.filter((member) => member.key === key)
  const [only] = found
  return found.length === 1 && only !== undefined && parseSlice(result, only) === value
}

function resultOf(reply: ResultMessage): Buffer {
  return slice(reply, 'result') ?? Buffer.from('{}')
}

function enveloped(id: Id, result: readonly Buffer[]): Buffer[] {
  return [Buffer.from(`{"jsonrpc":"2.0","id":${idText(id)},"result":`), ...result, Buffer.from('}')]
}
