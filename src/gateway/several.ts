// Several messages in one list, as version 2025-03-26 allowed, by whichever door they come.

import { messagesIn } from '../wire/batch.ts'
import { ERROR } from '../wire/era.ts'
import { isJson } from '../wire/is-json.ts'
import { type ProtocolError, readMessage } from '../wire/message.ts'
import type { Share } from './limits.ts'
import type { McpEndpoint } from './mcp.ts'
import { tooMuchError } from './refuse.ts'
import { Reply } from './reply.ts'

export function isList(body: Buffer): boolean {
  for (const byte of body) if (byte > 0x20) return byte === 0x5b
  return false
}

/** Their answers come together. `share`: what the agent may take, where that is limited. */
export async function several(
  endpoint: McpEndpoint,
  incoming: Incoming,
  share: Share | undefined,
): Promise<void> {
  const { reply } = incoming
  if (!isJson(incoming.body))
    return reply.error(null, { code: ERROR.parse, message: 'the list of messages is not JSON' }, 400)
  const bodies = messagesIn(incoming.body)
  if (bodies.length === 0 || bodies.length > MOST_MESSAGES)
    return reply.error(
      null,
      { code: ERROR.invalidRequest, message: `a list has 1 to ${MOST_MESSAGES} messages` },
      400,
    )
  const tooMuch = share?.take(bodies.length - 1)
  if (tooMuch) {
    reply.retryAfter(tooMuch.retryAfter)
    return reply.error(null, tooMuchError('GATEWAY_LIMIT', tooMuch), 429)
  }
  const gathered: Buffer[] = []
  const parts = bodies.map((body) => ({ body, reply: new GatheredReply(reply, (it) => gathered.push(it)) }))
  reply.answerAll = (why) => {
    for (const part of parts) part.reply.refuse(part.body, why)
    if (gathered.length > 0) reply.send(listed(gathered))
  }
  await inTurn(parts, share, (part) => endpoint.handle({ ...incoming, ...part }))
  if (gathered.length === 0) return reply.accepted()
  reply.send(listed(gathered))
}

// --- internal ---

type Incoming = Parameters<McpEndpoint['handle']>[0]

/** As many as one list may hold. */
const MOST_MESSAGES = 100

/** As many side by side as the agent may have requests under way, of which the list is one; the others in their turn. */
async function inTurn<T>(
  parts: readonly T[],
  share: Share | undefined,
  handle: (part: T) => Promise<void>,
): Promise<void> {
  const waiting = parts.values()
  const work = async () => {
    for (const part of waiting) await handle(part)
  }
  const working = [work()]
  while (working.length < parts.length && (share?.another() ?? true))
    working.push(work().finally(() => share?.leave(false)))
  await Promise.all(working)
}

/** One answer of several. What comes before it needs no waiting. */
class GatheredReply extends Reply {
  readonly #all: Reply
  readonly #gather: (answer: Buffer) => void
  ended = false

  constructor(all: Reply, gather: (answer: Buffer) => void) {
    super()
    this.#all = all
    this.#gather = gather
  }

  get streams(): boolean {
    return this.#all.streams
  }

  notify(body: Buffer): void {
    this.#all.notify(body)
  }

  open(): void {
    this.#all.open()
  }

  send(pieces: readonly Buffer[]): void {
    if (this.ended) return
    this.ended = true
    this.#gather(Buffer.concat(pieces))
  }

  accepted(): void {
    this.ended = true
  }

  /** Where it has no answer yet, and wants one. */
  refuse(body: Buffer, why: ProtocolError): void {
    const message = this.ended ? undefined : readMessage(body)
    if (message?.kind === 'request') this.error(message.id, why)
  }
}

function listed(answers: readonly Buffer[]): Buffer[] {
  return [
    ...answers.flatMap((answer, index) => [Buffer.from(index === 0 ? '[' : ','), answer]),
    Buffer.from(']'),
  ]
}
