// A server over a WebSocket, one message a frame. No version of the protocol describes it; servers that offer it agree
// on the subprotocol `mcp`.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { WebSocket } from 'ws'
import { excerptOf } from '../base/excerpt.ts'
import { Fault } from '../base/fault.ts'
import { eachMessage } from '../wire/batch.ts'
import { idOfCut } from '../wire/ends.ts'
import type { AnswerHeaders } from '../wire/http-answer.ts'
import { type Credential, isAboutSignature, MOST_ATTEMPTS } from './http/credential.ts'
import { maskWith } from './http/dial.ts'
import { type Refusal, refusalFault } from './http/refusal.ts'
import { breakageOf, lost, tooLarge } from './http/trouble.ts'
import type { Diagnosis, OpenTransport, Outgoing, Transport, TransportEvents } from './transport.ts'
import { type WebSocketDialOptions, webSocketDialer } from './websocket-dial.ts'

export interface WebSocketOptions extends WebSocketDialOptions {
  readonly credential?: Credential | undefined
  /** Takes the server's secrets out of a text. */
  readonly scrub?: ((text: string) => string) | undefined
}

/** What is sent before the handshake is over waits; that it fails is told by `closed`. */
export function openWebSocket(options: WebSocketOptions): OpenTransport {
  return async (events) => {
    const { url, place, dial } = await webSocketDialer(options)
    const { credential } = options
    let signature = await credential?.sign('GET', url)
    let attempt = 0
    const again = async (refusal: Refusal): Promise<WebSocket | undefined> => {
      attempt += 1
      if (!credential || !signature || attempt > MOST_ATTEMPTS) return undefined
      if (!(await credential.refused(refusal, signature, attempt))) return undefined
      signature = await credential.sign('GET', url)
      return dial(signature)
    }
    const { limit, scrub } = options
    return new WebSocketTransport(dial(signature), { place, limit, mask: maskWith(scrub) }, events, again)
  }
}

// --- internal ---

/** How long the other side may take to say goodbye. */
const FAREWELL = 1_000
const GOING_AWAY = 1001
const LONGEST_ADDRESS = 200
const OPENING = 0
const OPEN = 1
const CLOSED = 3

/** Whom we speak with. */
interface Far {
  readonly place: string
  /** Bytes a message may have. */
  readonly limit: number
  readonly mask: (text: string) => string
}

class WebSocketTransport implements Transport {
  readonly streams = false
  #socket: WebSocket
  readonly #place: string
  readonly #limit: number
  readonly #mask: Far['mask']
  readonly #events: TransportEvents
  readonly #again: (refusal: Refusal) => Promise<WebSocket | undefined>
  #early: Outgoing[] = []
  #answered = false
  #ended = false

  /** `again`: another handshake after a refusal that is about the signature, where a better one can be had. */
  constructor(
    socket: WebSocket,
    { place, limit, mask }: Far,
    events: TransportEvents,
    again: (refusal: Refusal) => Promise<WebSocket | undefined>,
  ) {
    this.#socket = socket
    this.#place = place
    this.#limit = limit
    this.#mask = mask
    this.#events = events
    this.#again = again
    this.#attach(socket)
  }

  send(outgoing: Outgoing): void {
    if (this.#ended) return
    if (this.#socket.readyState === OPENING) this.#early.push(outgoing)
    else if (this.#socket.readyState === OPEN) this.#write(outgoing)
  }

  drop(id: number): void {
    this.#early = this.#early.filter((outgoing) => outgoing.id !== id)
  }

  agree(): void {}

  diagnosis(): Diagnosis {
    return {}
  }

  async close(): Promise<void> {
    this.#ended = true
    this.#early = []
    const socket = this.#socket
    if (socket.readyState === CLOSED) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => socket.terminate(), FAREWELL)
      socket.once('close', () => {
        clearTimeout(timer)
        resolve()
      })
      socket.close(GOING_AWAY)
    })
  }

  /** What a socket says counts only as long as it is the one. */
  #attach(socket: WebSocket): void {
    const isOurs = () => socket === this.#socket && !this.#ended
    socket.on('open', () => isOurs() && this.#open())
    socket.on('message', (data: Buffer, binary: boolean) => {
      if (isOurs()) this.#message(data, binary)
    })
    socket.on('unexpected-response', (_request, response) => this.#refused(response))
    socket.on('error', (error) => isOurs() && this.#end(this.#faultOf(error)))
    socket.on('close', (code, reason) => {
      if (isOurs()) this.#end(lost(`${this.#place} closed the connection${this.#farewell(code, reason)}`))
    })
  }

  /** Why it says that it closed: 1005 stands for nothing. The protocol allows 123 bytes. */
  #farewell(code: number, reason: Buffer): string {
    if (code === 1005) return ''
    const line = this.#mask(reason.toString())
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim()
    return line === '' ? ` (${code})` : ` (${code}: ${line})`
  }

  #message(data: Buffer, binary: boolean): void {
    const { length } = data
    // Some servers send their messages as bytes; whatever begins with a brace may be one.
    if (binary && !/^\s*[{[]/.test(data.toString('latin1', 0, 64)))
      this.#events.noise(`a binary frame of ${length} bytes`)
    // Thrown away, but it costs only the call it belongs to.
    else if (length > this.#limit)
      this.#events.oversized(length, idOfCut(data.subarray(0, 4096), data.subarray(-4096)))
    else eachMessage(data, (message) => this.#events.message(message))
  }

  #open(): void {
    this.#answered = true
    for (const outgoing of this.#early) this.#write(outgoing)
    this.#early = []
  }

  #write({ body }: Outgoing): void {
    // A failure shows as an error of the socket.
    this.#socket.send(body, { binary: false }, () => undefined)
    if (this.#socket.bufferedAmount <= UNREAD_LIMIT) return
    this.#end(new Fault('CONNECTION_LOST', `${this.#place} does not read what it is sent`))
    this.#socket.terminate()
  }

  #refused(response: IncomingMessage): void {
    const parts: Buffer[] = []
    let size = 0
    let isOver = false
    const done = () => {
      if (isOver) return
      isOver = true
      const { statusCode: status = 0, headers } = response
      const body = Buffer.concat(parts)
      const { location } = headers
      const refusal = { status, headers: single(headers), body }
      const fault =
        location === undefined
          ? refusalFault(refusal, { place: this.#place, mask: this.#mask })
          : new Fault(
              'ADDRESS_REFUSED',
              `${this.#place} wants to send us on to ${excerptOf(location, { most: LONGEST_ADDRESS, mask: this.#mask })}`,
              {
                details: { status },
              },
            )
      if (!isAboutSignature(refusal)) return this.#giveUp(fault)
      this.#again(refusal).then(
        (next) => (next ? this.#replace(next) : this.#giveUp(fault)),
        (error) => this.#giveUp(error instanceof Fault ? error : fault),
      )
    }
    response.on('data', (chunk: Buffer) => {
      parts.push(chunk)
      size += chunk.length
      if (size > REFUSAL_LIMIT) done()
    })
    response.on('end', done)
    response.on('error', done)
  }

  /** What was to be sent goes through the next socket. */
  #replace(next: WebSocket): void {
    const before = this.#socket
    this.#socket = next
    this.#attach(next)
    before.terminate()
    if (this.#ended) next.terminate()
  }

  #giveUp(fault: Fault): void {
    this.#end(fault)
    this.#socket.terminate()
  }

  #faultOf(error: NodeJS.ErrnoException): Fault {
    if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return tooLarge(this.#place, this.#limit)
    if (error.code?.startsWith('WS_ERR_'))
      return new Fault('MESSAGE_INVALID', `${this.#place} sent what is no WebSocket frame: ${error.message}`)
    const { kind, fault } = breakageOf(error, this.#place, this.#answered ? 'answering' : 'opening')
    // Before the handshake is over nothing was sent whose outcome could be unknown.
    if (this.#answered || kind !== 'lost') return fault
    if (/subprotocol/.test(error.message))
      return new Fault('SERVER_UNREACHABLE', `${this.#place} wants to speak another subprotocol than mcp`, {
        hint: 'is the url the one of an MCP server?',
        cause: error,
      })
    return new Fault('SERVER_UNREACHABLE', `${this.#place} does not speak WebSocket: ${error.message}`, {
      cause: error,
    })
  }

  #end(fault: Fault): void {
    if (this.#ended) return
    this.#ended = true
    this.#early = []
    this.#events.closed(fault)
  }
}

/** Bytes that may wait for a server that does not read. */
const UNREAD_LIMIT = 64 * 1024 * 1024
const REFUSAL_LIMIT = 256 * 1024

/** None of those that count comes twice. */
function single(headers: IncomingHttpHeaders): AnswerHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
