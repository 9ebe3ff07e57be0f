// What a call gives: bytes for whom passes them on, data for whom looks at it, read at most once.

import { Fault } from '../base/fault.ts'
import type { WriteWaiting } from '../record/recorder.ts'
import { errorOf, isPlain, memberValue, mentions, type ReplyMessage, slice } from '../wire/message.ts'
import type { Passage } from './passage.ts'

/** A result as MCP defines it; members that Busbar does not know are there too. */
export interface ToolResult {
  readonly content?: readonly Readonly<Record<string, unknown>>[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly [key: string]: unknown
}

/** Makes a text fit, and says how to read on. */
export type Fit = (text: string, limit: number | undefined) => string

export class CallResult {
  readonly #server: string
  readonly #reply: ReplyMessage
  readonly #fit: Fit | undefined
  #json: ToolResult | undefined
  #shown: { readonly limit: number | undefined; readonly text: string } | undefined

  constructor(server: string, reply: ReplyMessage, fit?: Fit) {
    this.#server = server
    this.#reply = reply
    this.#fit = fit
    this.#json = undefined
    this.#shown = undefined
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
    return mentions(this.#reply, IS_ERROR) && this.json().isError === true
  }

  /** All text of it, one after the other. */
  get text(): string {
    const { content } = this.json()
    return (Array.isArray(content) ? content : [])
      .flatMap((part) => (part?.type === 'text' && typeof part.text === 'string' ? [part.text] : []))
      .join('\n')
  }

  /**
   * What a model is given of it: its text, or its data where there is no text; other content is named, not shown. Of more
   * than `limit` bytes (default: the agent's `results.spill`, else 100 KB) the beginning, and how to read on.
   */
  forModel({ limit }: { readonly limit?: number } = {}): string {
    const { content, structuredContent } = this.json()
    const parts = (Array.isArray(content) ? content : []).map(partText)
    const text =
      parts.length === 0 && structuredContent !== undefined
        ? JSON.stringify(structuredContent)
        : parts.join('\n')
    if (this.#fit === undefined) return text
    // Who asks twice is given the same, and it is kept once.
    if (this.#shown === undefined || this.#shown.limit !== limit)
      this.#shown = { limit, text: this.#fit(text, limit) }
    return this.#shown.text
  }

  /** @internal Writes down what came of the call. */
  recordTo(passage: Passage, waiting?: WriteWaiting): void {
    recordReply(passage, this.#reply, () => this.text, waiting)
  }

  #read(reply: ReplyMessage): ToolResult {
    const result = memberValue(reply, 'result')
    if (typeof result === 'object' && result !== null) return result as ToolResult
    throw new Fault('MESSAGE_INVALID', `${this.#server} answered with something that is no result`, {
      server: this.#server,
    })
  }
}

/** Writes down an answer. It is read only where it may say that the tool failed. */
export function recordReply(
  passage: Passage,
  reply: ReplyMessage,
  errorText: () => string,
  waiting?: WriteWaiting,
): void {
  if (isPlain(reply)) passage.answered(reply, false, undefined, waiting)
  else if (reply.kind === 'error') passage.answered(reply, true, errorOf(reply).message, waiting)
  else {
    const isError = mentions(reply, IS_ERROR) && saysError(reply)
    passage.answered(reply, isError, isError ? errorText() : undefined, waiting)
  }
}

/** A fault as a result that a model can act on. */
export function failureOf({ code, message, hint }: Fault): Record<string, unknown> {
  return {
    content: [{ type: 'text', text: hint === undefined ? message : `${message} — ${hint}` }],
    isError: true,
    _meta: { 'busbar/fault': { code, ...(hint === undefined ? {} : { hint }) } },
  }
}

// --- internal ---

function saysError(reply: ReplyMessage): boolean {
  const result = memberValue(reply, 'result')
  return typeof result === 'object' && result !== null && (result as ToolResult).isError === true
}

function partText(part: Readonly<Record<string, unknown>>): string {
  const { type, text, mimeType, data, uri, resource } = part ?? {}
  if (type === 'text' && typeof text === 'string') return text
  if (type === 'resource' && typeof resource === 'object' && resource !== null && 'text' in resource)
    return String(resource.text)
  const size = typeof data === 'string' ? `, ${Math.ceil((data.length * 3) / 4)} bytes` : ''
  const address = typeof uri === 'string' ? ` ${uri}` : ''
  return `[${String(type)}${typeof mimeType === 'string' ? ` ${mimeType}` : ''}${size}${address}]`
}

const IS_ERROR = '"isError"'

function errorResult(reply: Extract<ReplyMessage, { kind: 'error' }>): ToolResult {
  const { code, message, data } = errorOf(reply)
  return {
    content: [{ type: 'text', text: message }],
    isError: true,
    _meta: { 'busbar/error': { code, ...(data === undefined ? {} : { data }) } },
  }
}
