// What happens, as a stream for the owner: `GET /api/events`. The latest events are kept, so that who was away for a moment
// gets what was missed. Nothing is kept, and no call is told of, while nobody has looked for a while.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { randomHex } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { maskText } from '../base/redact.ts'
import type { Hub, HubEvent } from '../hub.ts'
import { EVENT_COMMENT } from '../wire/events.ts'
import type { ApiEvent } from './api-types.ts'

export class EventFeed {
  readonly #hub: Hub
  readonly #readers = new Set<ServerResponse>()
  /** Another one whenever what was kept before is gone. */
  #epoch = ''
  /** The number of the latest. */
  #last = 0
  #kept: Buffer[] = []
  #size = 0
  #off: (() => void) | undefined
  #leaving: NodeJS.Timeout | undefined
  #breath: NodeJS.Timeout | undefined
  #closed = false

  constructor(hub: Hub) {
    this.#hub = hub
  }

  /** Answers a request with what happens from now on, after what was missed since its `Last-Event-ID`. */
  serve(request: IncomingMessage, response: ServerResponse): void {
    if (this.#readers.size >= MOST_READERS)
      throw new Fault('GATEWAY_LIMIT', `${MOST_READERS} streams of events are open already`, {
        hint: 'close one, and come back',
      })
    this.#begin()
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      // Proxies would hold events back otherwise.
      'x-accel-buffering': 'no',
    })
    const last = request.headers['last-event-id']
    // Without data it is no event, but whoever comes back says it.
    if (last === undefined) response.write(`id: ${this.#epoch}.${this.#last}\n\n`)
    else for (const text of this.#missed(String(last))) response.write(text)
    this.#readers.add(response)
    response.once('close', () => this.#leave(response))
    // Somebody who went away in the middle of a write is gone, and nothing else.
    response.on('error', () => this.#leave(response))
  }

  /** Ends every stream. */
  close(): void {
    this.#closed = true
    for (const response of this.#readers) response.end()
    this.#forget()
  }

  // --- internal ---

  #begin(): void {
    clearTimeout(this.#leaving)
    if (this.#off !== undefined || this.#closed) return
    this.#epoch = randomHex(4)
    this.#last = 0
    const offs = [
      this.#hub.on((event) => this.#hear(event)),
      this.#hub.onCall((call) => this.#tell({ type: 'call', ...call })),
    ]
    this.#off = () => {
      for (const off of offs) off()
    }
    this.#breath = setInterval(() => {
      for (const response of this.#readers) response.write(EVENT_COMMENT)
    }, KEEP_ALIVE).unref()
  }

  #leave(response: ServerResponse): void {
    this.#readers.delete(response)
    if (this.#readers.size === 0 && !this.#closed) {
      clearTimeout(this.#leaving)
      this.#leaving = setTimeout(() => this.#forget(), LINGER).unref()
    }
  }

  #forget(): void {
    clearTimeout(this.#leaving)
    clearInterval(this.#breath)
    this.#off?.()
    this.#off = undefined
    this.#kept = []
    this.#size = 0
  }

  #hear(event: HubEvent): void {
    const told = toldOf(event)
    if (told) this.#tell(told)
    // The last there is.
    if (event.type === 'closed') this.close()
  }

  #tell({ type, ...data }: ApiEvent): void {
    this.#last += 1
    const { scrub } = this.#hub.context.recording() ?? {}
    const clean = (_: string, value: unknown) => (scrub && typeof value === 'string' ? scrub(value) : value)
    // JSON has no line breaks of its own, so whatever a text says, it stays data.
    const text = Buffer.from(
      `id: ${this.#epoch}.${this.#last}\nevent: ${type}\ndata: ${JSON.stringify(data, clean)}\n\n`,
    )
    this.#keep(text)
    for (const response of this.#readers) {
      // Who does not read is let go, and can come back for what was missed.
      if (response.writableLength <= UNREAD_LIMIT) response.write(text)
      else {
        this.#leave(response)
        response.destroy()
      }
    }
  }

  #keep(text: Buffer): void {
    this.#kept.push(text)
    this.#size += text.length
    while (this.#kept.length > MOST_KEPT || this.#size > MOST_BYTES)
      this.#size -= this.#kept.shift()?.length ?? 0
  }

  /** What happened since an id; after one that says nothing here, first of all that things were missed. */
  #missed(id: string): readonly (string | Buffer)[] {
    const [epoch, number] = id.split('.', 2)
    const missed = this.#last - Number(number)
    if (epoch === this.#epoch && /^\d+$/.test(number ?? '') && missed >= 0 && missed <= this.#kept.length)
      return missed === 0 ? [EVENT_COMMENT] : this.#kept.slice(-missed)
    return [`id: ${this.#epoch}.${this.#last}\nevent: reset\ndata: {}\n\n`]
  }
}

// --- internal ---

const MOST_READERS = 32
const MOST_KEPT = 1000
const MOST_BYTES = 4 * 1024 * 1024
/** Bytes that may wait for one reader. */
const UNREAD_LIMIT = 1024 * 1024
/** Milliseconds. */
const KEEP_ALIVE = 15_000
/** How long events are kept for somebody who may come back. */
const LINGER = 5 * 60_000

/** An event as it is told; undefined for what is between a server and its clients. */
function toldOf(event: HubEvent): ApiEvent | undefined {
  switch (event.type) {
    case 'server-status': {
      // Tools and configuration can be many pages; they are there to be asked for.
      const { tools, config: _, instructions: __, ...status } = event.status
      return { type: event.type, server: event.server, status: { ...status, tools: tools.length } }
    }
    case 'approval': {
      const { fingerprint: _, argumentsHash: __, ...approval } = event.approval
      const { server, tool } = approval
      const address = server === '' ? tool : `${server}/${tool}`
      return { type: event.type, approval: { ...approval, address } }
    }
    case 'trouble':
      return { type: event.type, message: maskText(event.message) }
    case 'notification':
    case 'instance-status':
    case 'closed':
      return undefined
    default:
      return event
  }
}
