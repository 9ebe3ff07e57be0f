// A result on its way to a client whose agent wants no large ones: its text cut, all else as it was.

import { isRecord } from '../base/record.ts'
import type { Actor } from '../policy/access.ts'
import { type ReplyMessage, readMessage, slice } from '../wire/message.ts'
import type { Spill } from './spill.ts'

/**
 * The same reply when it is small enough. What is structured repeats the text and goes with it, except where the client
 * was told its schema (`promised`) and would refuse a result without.
 */
export function spilledReply(
  spill: Spill,
  actor: Actor,
  reply: ReplyMessage,
  promised: boolean,
): ReplyMessage {
  const limit = spill.limitForClients(actor)
  // Before its parts are looked for, which takes reading all of it.
  if (limit === undefined || reply.bytes.length <= limit) return reply
  const result = reply.kind === 'result' ? slice(reply, 'result') : undefined
  if (result === undefined) return reply
  const cut = spilledBytes(spill, actor, result, promised)
  if (cut === result) return reply
  const start = Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(reply.id)},"result":`)
  return readMessage(Buffer.concat([start, cut, Buffer.from('}')])) as ReplyMessage
}

/** The same for a result alone. */
export function spilledBytes(spill: Spill, actor: Actor, bytes: Buffer, promised = false): Buffer {
  const limit = spill.limitForClients(actor)
  if (limit === undefined || bytes.length <= limit) return bytes
  const result: unknown = JSON.parse(bytes.toString('utf8'))
  const cut = isRecord(result) && cutResult(result, promised, (text) => spill.fit(actor, text, limit))
  return cut ? Buffer.from(JSON.stringify(cut)) : bytes
}

// --- internal ---

/** Undefined when nothing is cut. */
function cutResult(
  result: Record<string, unknown>,
  promised: boolean,
  fitted: (text: string) => string,
): Record<string, unknown> | undefined {
  const { content, structuredContent, ...rest } = result
  const parts = Array.isArray(content) ? content.filter(isRecord) : []
  const texts = parts.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
  const said = texts.join('\n')
  const data = structuredContent === undefined ? '' : JSON.stringify(structuredContent)
  // Most servers repeat as text what is structured. Where they do not, the data is what is large.
  const whole = !promised && data.length > 2 * said.length ? `${said}${said && '\n'}${data}` : said
  const shown = fitted(whole)
  if (shown === whole) return undefined
  const others = parts.filter(({ type }) => type !== 'text')
  return {
    ...rest,
    content: [{ type: 'text', text: shown }, ...others],
    ...(promised && structuredContent !== undefined ? { structuredContent } : {}),
  }
}
