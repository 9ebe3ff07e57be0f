// The headers of every request, as the lines they are sent as.

import { validateHeaderName, validateHeaderValue } from 'node:http'
import { Fault } from '../../base/fault.ts'
import { MODERN_VERSION } from '../../wire/era.ts'
import { headerLine, headerLines } from '../../wire/http-request.ts'
import { encodeHeader } from '../../wire/param-headers.ts'
import type { Outgoing } from '../transport.ts'

export type HeaderMap = Readonly<Record<string, string>>

export interface Agreement {
  readonly modern: boolean
  readonly version: string
}

/** What somebody configured, where it does not stand in the way of the protocol, over what is ours. */
export function headersOf(
  own: ReadonlyMap<string, string>,
  configured: HeaderMap = {},
): ReadonlyMap<string, string> {
  const headers = new Map([['user-agent', 'busbar'], ...own])
  for (const [name, value] of Object.entries(configured)) {
    check(name, value)
    if (!PROTOCOL_HEADERS.has(name.toLowerCase())) headers.set(name.toLowerCase(), value)
  }
  return headers
}

export class HeaderBook {
  readonly #always: string
  #agreement: Agreement | undefined
  #session: string | undefined
  #post = ''

  /** Throws a fault on a header that cannot be sent; its value is not shown. */
  constructor(own: ReadonlyMap<string, string>, configured?: HeaderMap) {
    this.#always = `${headerLines([...headersOf(own, configured)].flat())}connection: keep-alive\r\n`
    this.#rebuild()
  }

  get session(): string | undefined {
    return this.#session
  }

  set session(session: string | undefined) {
    this.#session = session
    this.#rebuild()
  }

  get agreement(): Agreement | undefined {
    return this.#agreement
  }

  agree(agreement: Agreement): void {
    this.#agreement = agreement
    this.#rebuild()
  }

  /** Whether a message goes by the rules of the modern era. Before the two sides agreed, its method says so. */
  isModern(method: string): boolean {
    return this.#agreement ? this.#agreement.modern : method === 'server/discover'
  }

  /** May throw, as all of these do, on what no header can have. */
  post(outgoing: Outgoing): string {
    const { method, body, name, headers } = outgoing
    const length = `content-length: ${typeof body === 'string' ? Buffer.byteLength(body) : body.length}\r\n`
    // A session begins here, whatever came before it.
    if (method === 'initialize') return this.#always + JSON_BOTH + length
    let lines = this.#post + length
    if (!this.isModern(method)) return lines
    if (this.#agreement === undefined) lines += headerLine('mcp-protocol-version', MODERN_VERSION)
    if (method !== '') lines += headerLine('mcp-method', method)
    if (name !== undefined) lines += headerLine('mcp-name', encodeHeader(name))
    if (headers) for (const key in headers) lines += headerLine(key, headers[key] ?? '')
    return lines
  }

  /** For a stream of events: the one that stands by, or the rest of one that broke off. */
  get(lastId?: string): string {
    const lines = `${this.#always}accept: text/event-stream\r\n${this.#state()}`
    // Ids are text in UTF-8; a head has a character for each byte.
    return lastId === undefined
      ? lines
      : lines + headerLine('last-event-id', Buffer.from(lastId).toString('latin1'))
  }

  /** For a request beside the protocol. */
  plain(more: HeaderMap): string {
    return this.#always + headerLines(Object.entries(more).flat())
  }

  delete(): string {
    return this.#always + this.#state()
  }

  #state(): string {
    const { modern, version } = this.#agreement ?? {}
    return (
      (version === undefined ? '' : headerLine('mcp-protocol-version', version)) +
      (this.#session === undefined || modern ? '' : headerLine('mcp-session-id', this.#session))
    )
  }

  #rebuild(): void {
    this.#post = this.#always + JSON_BOTH + this.#state()
  }
}

// --- internal ---

const JSON_BOTH = 'content-type: application/json\r\naccept: application/json, text/event-stream\r\n'

/** A configured header of these names would break the protocol, or let a body in that nobody counted. */
const PROTOCOL_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

function check(name: string, value: string): void {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  } catch (cause) {
    throw new Fault('CONFIG_INVALID', `the header ${JSON.stringify(name)} cannot be sent`, {
      hint: 'headers are one line of ASCII',
      cause,
    })
  }
}
