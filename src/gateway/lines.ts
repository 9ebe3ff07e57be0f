// The gateway on a pair of streams, a message a line: for clients that start what they talk to.

import type { Readable, Writable } from 'node:stream'
import { isRecord } from '../base/record.ts'
import type { Actor } from '../policy/access.ts'
import { withoutMark } from '../wire/byte-mark.ts'
import { requestIdOfCut } from '../wire/ends.ts'
import { LEGACY_VERSIONS } from '../wire/era.ts'
import { LineReader, oneLine } from '../wire/lines.ts'
import type { Id, ProtocolError } from '../wire/message.ts'
import type { Sink } from './event-log.ts'
import { Gone } from './gone.ts'
import type { McpEndpoint } from './mcp.ts'
import { Reply } from './reply.ts'
import { Session } from './session.ts'
import { askableOf } from './session-id.ts'
import { isList, several } from './several.ts'

/** Bytes of one message of a client. */
const LARGEST = 16 * 1024 * 1024
/** Bytes that may wait for a client before nothing more is read from it. */
const UNREAD = 16 * 1024 * 1024
/** Milliseconds that requests under way have when nothing more comes in. */
const DRAIN = 5_000

export interface LineClient {
  readonly actor: Actor
  /** The one server it is for; undefined for all that the actor may use. */
  readonly scope: string | undefined
  readonly input: Readable
  readonly output: Writable
  /** Fires when it is sent away. */
  readonly gone?: Gone
  /** What is added to a refusal because the gateway stops, so that a server cannot give the same one. */
  readonly word?: string
}

/** Resolves when the client has gone, or the signal fired, and what was under way has ended. */
export async function serveLines(
  endpoint: McpEndpoint,
  { actor, scope, input, output, gone = new Gone(), word }: LineClient,
  signal: AbortSignal,
): Promise<void> {
  const underWay = new Map<Reply, Promise<void>>()
  // First of all who listen: what is cancelled would give another answer.
  gone.addEventListener('abort', () => {
    if (gone.why) for (const reply of underWay.keys()) reply.sendAway(gone.why)
  })
  const session = new Session({
    id: '',
    actor,
    scope,
    version: LEGACY_VERSIONS[0] ?? '',
    askable: askableOf(undefined),
    forwarding: endpoint.forwarding,
    introduced: false,
  })
  const leave = endpoint.join(session)
  session.read(new LineSink(output), undefined)
  const reader = new LineReader(LARGEST, {
    line: (line) => {
      const body = withoutMark(line)
      if (body.length === 0) return
      const reply = new LineReply(output, word)
      const incoming = { actor, scope, headers: undefined, body, reply, gone, session }
      const handling = isList(body) ? several(endpoint, incoming, undefined) : endpoint.handle(incoming)
      underWay.set(
        reply,
        handling.finally(() => underWay.delete(reply)),
      )
    },
    oversized: (size, head, tail) => {
      const id = requestIdOfCut(withoutMark(head), tail) ?? null
      new LineReply(output).error(id, { code: -32600, message: `a message of ${size} bytes is too large` })
    },
  })
  const read = (chunk: Buffer) => {
    reader.push(chunk)
    if (output.writableLength > UNREAD) {
      input.pause()
      output.once('drain', () => input.resume())
    }
  }
  try {
    input.on('data', read)
    await ended(input, output, signal, gone)
    if (input.readableEnded) reader.end()
    // What was asked before the end is still answered; what is asked of the client is not, any more.
    session.silent()
    if (!signal.aborted && !gone.aborted && !output.destroyed) await drained([...underWay.values()])
  } finally {
    input.off('data', read)
    gone.abort()
    leave()
    await Promise.all(underWay.values())
  }
}

// --- internal ---

/** An answer on a line. In the modern era, too, several requests share it. */
class LineReply extends Reply {
  readonly #output: Writable
  readonly #word: string | undefined
  #sent = false

  constructor(output: Writable, word?: string) {
    super()
    this.#output = output
    this.#word = word
  }

  get ended(): boolean {
    return this.#sent || this.#output.destroyed
  }

  get streams(): boolean {
    return !this.ended
  }

  notify(body: Buffer): void {
    if (!this.ended) writeLine(this.#output, [body])
  }

  open(): void {
    // It is open already.
  }

  send(pieces: readonly Buffer[]): void {
    if (this.ended) return
    this.#sent = true
    writeLine(this.#output, pieces)
  }

  override unavailable(id: Id, { data, ...error }: ProtocolError, seconds: number): void {
    const word = this.#word
    super.unavailable(id, { ...error, data: isRecord(data) && word ? { ...data, word } : data }, seconds)
  }

  accepted(): void {
    this.#sent = true
  }
}

class LineSink implements Sink {
  readonly #output: Writable

  constructor(output: Writable) {
    this.#output = output
  }

  get closed(): boolean {
    return this.#output.destroyed || this.#output.writableEnded
  }

  event(pieces: readonly Buffer[]): void {
    writeLine(this.#output, pieces)
  }

  mark(): void {
    // Lines have no numbers.
  }

  end(): void {
    // The client ends it.
  }

  onClose(listener: () => void): void {
    this.#output.once('close', listener)
  }
}

function writeLine(output: Writable, pieces: readonly Buffer[]): void {
  if (output.destroyed || output.writableEnded) return
  output.cork()
  for (const piece of pieces) output.write(oneLine(piece))
  output.write('\n')
  output.uncork()
}

function ended(input: Readable, output: Writable, signal: AbortSignal, gone: Gone): Promise<void> {
  return new Promise((resolve) => {
    const done = () => resolve()
    if (signal.aborted) done()
    signal.addEventListener('abort', done, { once: true })
    gone.addEventListener('abort', done)
    for (const event of ['end', 'close', 'error']) input.once(event, done)
    for (const event of ['close', 'error']) output.once(event, done)
  })
}

async function drained(underWay: readonly Promise<void>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, DRAIN)
  })
  await Promise.race([Promise.all(underWay), over])
  clearTimeout(timer)
}
