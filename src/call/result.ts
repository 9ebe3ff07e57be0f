// What a call gives: bytes for whom passes them on, data for whom looks at it, read at most once.

import { Fault } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import type { WriteWaiting } from '../record/recorder.ts'
import {
  errorOf,
  find,
  hasObject,
  isWhole,
  LARGE,
  memberValue,
  mentions,
  type ReplyMessage,
  slice,
} from '../wire/message.ts'
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
  declare private readonly server: string
  declare private readonly reply: ReplyMessage
  declare private readonly fit: Fit | undefined
  declare private data: ToolResult | undefined
  declare private shown: { readonly limit: number | undefined; readonly text: string } | undefined

  constructor(server: string, reply: ReplyMessage, fit?: Fit) {
    this.server = server
    this.reply = reply
    this.fit = fit
    this.data = undefined
    this.shown = undefined
  }

  /** The result as the server wrote it. */
  get bytes(): Buffer {
    const reply = this.reply
    const bytes = reply.kind === 'result' ? this.named(() => slice(reply, 'result')) : undefined
    return bytes ?? Buffer.from(JSON.stringify(this.json()))
  }

  /** The result as data. A protocol error of the server is a result, too: one that says that the tool failed. */
  json(): ToolResult {
    this.data ??= this.reply.kind === 'error' ? errorResult(this.reply) : this.read(this.reply)
    return this.data
  }

  get isError(): boolean {
    if (this.reply.kind === 'error') return true
    return mayFail(this.reply) && this.json().isError === true
  }

  /** All text of it, one after the other. */
  get text(): string {
    return partsOf(this.json().content)
      .flatMap((part) =>
        isRecord(part) && part['type'] === 'text' && typeof part['text'] === 'string' ? [part['text']] : [],
      )
      .join('\n')
  }

  /**
   * What a model is given of it: its text, or its data where there is no text; other content is named, not shown. Of more
   * than `limit` bytes (default: the agent's `results.spill`, else 100 KB) the beginning, and how to read on.
   */
  forModel({ limit }: { readonly limit?: number } = {}): string {
    const { content, structuredContent } = this.json()
    const parts = partsOf(content).map(partText)
    const text =
      parts.length === 0 && structuredContent !== undefined
        ? JSON.stringify(structuredContent)
        : parts.join('\n')
    if (this.fit === undefined) return text
    // Who asks twice is given the same, and it is kept once.
    if (this.shown === undefined || this.shown.limit !== limit)
      this.shown = { limit, text: this.fit(text, limit) }
    return this.shown.text
  }

  /** @internal Writes down what came of the call. Throws when that is no result. */
  recordTo(passage: Passage, waiting?: WriteWaiting): void {
    this.named(() => {
      sound(this.server, this.reply)
      recordReply(passage, this.reply, () => this.text, waiting)
    })
  }

  private read(reply: ReplyMessage): ToolResult {
    return this.named(() => {
      refuseOther(this.server, reply)
      // An object: that was just seen.
      return memberValue(reply, 'result') as ToolResult
    })
  }

  /** Most answers are read only when somebody looks at them, and what is wrong shows then. */
  private named<T>(look: () => T): T {
    try {
      return look()
    } catch (error) {
      throw withServer(this.server, error)
    }
  }
}

/** A fault about an answer, with whose answer it is; anything else as it is. */
export function withServer(server: string, error: unknown): unknown {
  if (!(error instanceof Fault) || error.code !== 'MESSAGE_INVALID' || error.server !== undefined)
    return error
  return new Fault(error.code, `${server}: ${error.message}`, { hint: error.hint, server, cause: error })
}

/**
 * Throws for what is no answer: up to a size it is read through, so that a broken one is an error here, in the record and for
 * whoever called, and not only for whoever looks at it.
 */
export function sound(server: string, reply: ReplyMessage): void {
  // Whoever looks at its members reads it.
  if (reply.bytes.length < LARGE && !isWhole(reply)) find(reply.members, 'result')
  refuseOther(server, reply)
}

/** Throws for what has a result that MCP does not know: text, a list, null. */
function refuseOther(server: string, reply: ReplyMessage): void {
  if (reply.kind === 'error' || hasObject(reply)) return
  throw new Fault('MESSAGE_INVALID', `${server} answered with a result that is no object`, {
    hint: 'that is a mistake in the server; whether it did what it was asked is not known',
    server,
  })
}

/** The parts of a content, whatever they are; one that is no list is its only part. */
export function partsOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content
  return content === undefined || content === null ? [] : [content]
}

/** What stands for a part that MCP does not know: what it is. */
export function oddPart(part: unknown): string {
  return `[no content that can be shown: ${JSON.stringify(part)}]`
}

/** Writes down an answer. It is read only where it may say that the tool failed. */
export function recordReply(
  passage: Passage,
  reply: ReplyMessage,
  errorText: () => string,
  waiting?: WriteWaiting,
): void {
  if (reply.isPlain) passage.answered(reply, false, undefined, waiting)
  else if (reply.kind === 'error') passage.answered(reply, true, errorOf(reply).message, waiting)
  else {
    const isError = mayFail(reply) && saysError(reply)
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

/** A search in bytes: most results do not have the word at all and need not be read. It can be written with escapes. */
function mayFail(reply: ReplyMessage): boolean {
  if (reply.isPlain) return false
  if (mentions(reply, IS_ERROR)) return true
  return mentions(reply, '\\u00') && ESCAPES.some((start) => mentions(reply, start))
}

function saysError(reply: ReplyMessage): boolean {
  const result = memberValue(reply, 'result')
  return typeof result === 'object' && result !== null && (result as ToolResult).isError === true
}

function partText(part: unknown): string {
  if (!isRecord(part) || typeof part['type'] !== 'string') return oddPart(part)
  const { type, text, mimeType, data, uri, resource } = part
  if (type === 'text') return typeof text === 'string' ? text : oddPart(part)
  if (type === 'resource' && isRecord(resource) && typeof resource['text'] === 'string')
    return resource['text']
  const size = typeof data === 'string' ? `, ${Math.ceil((data.length * 3) / 4)} bytes` : ''
  const address = typeof uri === 'string' ? ` ${uri}` : ''
  return `[${type}${typeof mimeType === 'string' ? ` ${mimeType}` : ''}${size}${address}]`
}

const IS_ERROR = '"isError"'
/** Of a letter of that word. */
const ESCAPES = ['\\u004', '\\u006', '\\u007']

function errorResult(reply: Extract<ReplyMessage, { kind: 'error' }>): ToolResult {
  const { code, message, data } = errorOf(reply)
  return {
    content: [{ type: 'text', text: message }],
    isError: true,
    _meta: { 'busbar/error': { code, ...(data === undefined ? {} : { data }) } },
  }
}
