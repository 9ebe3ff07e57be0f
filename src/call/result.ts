// What a call gives: bytes for whom passes them on, data for whom looks at it, read at most once.

import { Fault } from '../base/fault.ts'
import { errorOf, memberValue, type ReplyMessage, slice } from '../wire/message.ts'

/** A result as MCP defines it; members that Busbar does not know are there too. */
export interface ToolResult {
  readonly content?: readonly Readonly<Record<string, unknown>>[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly [key: string]: unknown
}

export class CallResult {
  readonly #server: string
  readonly #reply: ReplyMessage
  #json: ToolResult | undefined

  constructor(server: string, reply: ReplyMessage) {
    this.#server = server
    this.#reply = reply
  }

  /** The result as the server wrote it. */
  get bytes(): Buffer {
    const bytes = this.#reply.kind === 'result' ? slice(this.#reply, 'result') : undefined
    return bytes ?? Buffer.from(JSON.stringify(this.json()))
  }

  /** The result as data. A protocol error of the server is a result, too: one that says that the tool failed. */
  json(): ToolResult {
    this.#json ??= this.#reply.kind === 'error' ? errorResult(this.#reply) : this.#read(this.#reply)
    return this.#json
  }

  get isError(): boolean {
    if (this.#reply.kind === 'error') return true
    // A search in bytes: most results do not have the word at all and need not be read for this.
    return this.#reply.bytes.includes(IS_ERROR) && this.json().isError === true
  }

  /** All text of it, one after the other. */
  get text(): string {
    const { content } = this.json()
    return (Array.isArray(content) ? content : [])
      .flatMap((part) => (part?.type === 'text' && typeof part.text === 'string' ? [part.text] : []))
      .join('\n')
  }

  #read(reply: ReplyMessage): ToolResult {
    const result = memberValue(reply, 'result')
    if (typeof result === 'object' && result !== null) return result as ToolResult
    throw new Fault('MESSAGE_INVALID', `${this.#server} answered with something that is no result`, {
      server: this.#server,
    })
  }
}

// --- internal ---

const IS_ERROR = Buffer.from('"isError"')

function errorResult(reply: Extract<ReplyMessage, { kind: 'error' }>): ToolResult {
  const { code, message, data } = errorOf(reply)
  return {
    content: [{ type: 'text', text: message }],
    isError: true,
    _meta: { 'busbar/error': { code, ...(data === undefined ? {} : { data }) } },
  }
}
