// JSON-RPC envelopes. A message is read once: what is decided on is parsed, the rest stays bytes.

import { isAscii, isUtf8 } from 'node:buffer'
import { Fault } from '../base/fault.ts'
import { locateResult, quickResult, resultIn, type Splice, spliced, spliceOf } from './ends.ts'
import { type Id, idFrom, idText } from './id.ts'
import { ONE_TEXT, ONE_TEXT_FIRST, SHORT } from './one-text.ts'
import { type Member, scanObject } from './scan.ts'
import { holds } from './search.ts'
import { soundResult } from './sound-result.ts'

export type { Id } from './id.ts'

/** Text or bytes of one whole message. */
export type Body = string | Buffer

interface Envelope {
  /** The message as it came. */
  readonly bytes: Buffer
  readonly members: readonly Member[]
  /** All of it, one letter for each byte, where it is a small result of which only the ends were read. */
  readonly letters?: string | undefined
  /** Whether such a one says neither that a tool failed nor that something is asked first, as most do not. */
  readonly isPlain?: boolean
  /** Whether it is one text and nothing else, and whole. */
  readonly isOneText?: boolean
}

export interface RequestMessage extends Envelope {
  readonly kind: 'request'
  readonly id: Id
  readonly method: string
}
export interface NotificationMessage extends Envelope {
  readonly kind: 'notification'
  readonly method: string
}
export interface ResultMessage extends Envelope {
  readonly kind: 'result'
  readonly id: Id
  /** There when only the ends of the message were read. */
  readonly splice?: Splice | undefined
}
export interface ErrorMessage extends Envelope {
  readonly kind: 'error'
  readonly id: Id
}
export type ReplyMessage = ResultMessage | ErrorMessage
export type Message = RequestMessage | NotificationMessage | ReplyMessage

/** Why something is no message. `id` is there where it could be read. */
export interface Invalid {
  readonly kind: 'invalid'
  readonly reason: string
  readonly id?: Id | undefined
}

/** The JSON-RPC error of an answer. */
export interface ProtocolError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** From this size on it is worth looking for the id at the ends however the message is written. */
export const LARGE: number = 64 * 1024

/**
 * Reads one message. Never throws. Of a result in one of the usual forms only the ends are read; whoever looks at its
 * members finds out whether the rest is sound.
 */
export function readMessage(bytes: Buffer): Message | Invalid {
  if (!isUtf8(bytes)) return { kind: 'invalid', reason: 'is not valid UTF-8' }
  if (!SPLICE) return sortBytes(bytes)
  const letters = bytes.length <= SMALL ? bytes.toString('latin1') : undefined
  const answer = letters && readAnswer(letters, bytes, 0)
  if (answer) return answer
  const located = quickResult(bytes) ?? (bytes.length >= LARGE ? locateResult(bytes) : undefined)
  if (located !== undefined) return new UnreadResult(bytes, 0, letters, located.id, located.splice, false)
  return sortBytes(bytes)
}

/**
 * The answer that most tools give, from its letters: one for each byte of UTF-8, the first of which is at `start` of a chunk.
 * Undefined for any other message.
 */
export function readAnswer(letters: string, chunk: Buffer, start: number): ResultMessage | undefined {
  if (letters.length > SHORT || !SPLICE) return undefined
  const id = (ONE_TEXT.exec(letters) ?? ONE_TEXT_FIRST.exec(letters))?.[1]
  return id === undefined ? undefined : new UnreadResult(chunk, start, letters, Number(id), undefined, true)
}

/** A request of our own making. */
export function requestOf(method: string, params: unknown): RequestMessage {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 0, method, ...(params === undefined ? {} : { params }) })
  const message = readMessage(Buffer.from(text))
  if (message.kind !== 'request') throw new Fault('MESSAGE_INVALID', `${method} cannot be asked`)
  return message
}

/** The bytes of a member, or undefined. */
export function slice(envelope: Envelope, key: string): Buffer | undefined {
  const member = find(envelope.members, key)
  return member && envelope.bytes.subarray(member.start, member.end)
}

/** The value of a member; undefined when it is absent. */
export function memberValue(envelope: Envelope, key: string): unknown {
  const read = key === 'result' && envelope instanceof UnreadResult ? envelope.takeRead() : undefined
  if (read !== undefined) return read
  const member = find(envelope.members, key)
  return member && parseSlice(envelope.bytes, member)
}

/** Whether a word stands somewhere in a message: a search, so that most messages are never read for it. */
export function mentions(message: Envelope, word: string): boolean {
  return message.letters?.includes(word) ?? holds(message.bytes, word)
}

/**
 * The same of a word of letters, any of which can be written as an escape: false only where it surely does not stand there,
 * nor anything that could mean it.
 */
export function mayMention(message: Envelope, word: string): boolean {
  if (mentions(message, word)) return true
  return mentions(message, '\\u00') && LETTERS.some((start) => mentions(message, start))
}

/** Whether its result is an object, as each is that MCP knows. In the usual forms that was seen before. */
export function hasObject(message: ResultMessage): boolean {
  if (message instanceof UnreadResult) return true
  const result = find(message.members, 'result')
  return result !== undefined && message.bytes[result.start] === BRACE
}

/**
 * Whether a small answer in one of the usual forms is sound from end to end, as far as that can be told at little cost;
 * where it cannot, whoever looks at its members finds out.
 */
export function isWhole(message: Envelope): boolean {
  return message instanceof UnreadResult && message.isWhole
}

/** The error an answer carries, made whole where the server left something out. */
export function errorOf(message: ErrorMessage): ProtocolError {
  const error = memberValue(message, 'error')
  if (typeof error !== 'object' || error === null) return { code: -32603, message: String(error) }
  const { code, message: text, data } = error as Record<string, unknown>
  return {
    code: typeof code === 'number' ? code : -32603,
    message: typeof text === 'string' ? text : 'the server gave no reason',
    ...(data === undefined ? {} : { data }),
  }
}

/** The same message under another id, in pieces that are sent one after the other; nothing else is touched. */
export function withId(message: ReplyMessage, id: Id): Buffer[] {
  const { bytes } = message
  if (!SPLICE) return [Buffer.from(builtAnew(bytes, id))]
  if (message.kind === 'result' && message.splice) return spliced(bytes, message.splice, id)
  const member = find(message.members, 'id')
  if (member === undefined)
    return [Buffer.from(`{"id":${idText(id)},`), bytes.subarray(bytes.indexOf('{') + 1)]
  return [bytes.subarray(0, member.start), Buffer.from(idText(id)), bytes.subarray(member.end)]
}

export function find(members: readonly Member[], key: string): Member | undefined {
  for (const member of members) if (member.key === key) return member
  return undefined
}

export function parseSlice(bytes: Buffer, { start, end }: Member): unknown {
  return JSON.parse(bytes.toString('utf8', start, end))
}

// --- internal ---

const WRONG = {
  depth: 'is nested too deeply',
  members: 'has too many members',
  syntax: 'is not one JSON object',
} as const

const BRACE = 0x7b

/** How escapes of letters begin that names and words of the protocol are made of. */
const LETTERS = ['\\u004', '\\u005', '\\u006', '\\u007']

/** `BUSBAR_WIRE=parse` builds every answer anew, for when the other way is under suspicion. */
const SPLICE = process.env['BUSBAR_WIRE'] !== 'parse'

/**
 * Up to here it costs less to make a text once than to search the bytes several times. One letter for each byte: all that is
 * looked for is ASCII, and a text with a single letter beyond Latin-1 takes twice the memory and longer to search.
 */
const SMALL = 8 * 1024

/** Words that say more than a result does; any letter of them can be written as an escape. */
const TELLING = /"isError"|"input_required"|\\u00/

/** Its members are found when somebody asks for them; then a hidden fault in the middle shows as well. */
class UnreadResult implements ResultMessage {
  declare readonly kind: 'result'
  /** What it came in, and where it begins there. */
  declare private readonly chunk: Buffer
  declare private readonly start: number
  declare private line: Buffer | undefined
  declare readonly letters: string | undefined
  declare readonly id: Id
  declare readonly isPlain: boolean
  declare readonly isOneText: boolean
  /** How it gets another id, where that was found out. */
  declare private splicing: Splice | undefined
  declare private found: readonly Member[] | undefined
  declare private whole: boolean | undefined
  /** Its result, where it had to be read to tell whether it is whole, and until somebody wants it. */
  declare private read: unknown

  constructor(
    chunk: Buffer,
    start: number,
    letters: string | undefined,
    id: Id,
    splice: Splice | undefined,
    isOneText: boolean,
  ) {
    this.kind = 'result'
    this.chunk = chunk
    this.start = start
    this.line = undefined
    this.letters = letters
    this.id = id
    this.isPlain = isOneText || (letters !== undefined && !TELLING.test(letters))
    this.isOneText = isOneText
    this.splicing = splice
    this.found = undefined
    this.whole = isOneText || undefined
    this.read = undefined
  }

  /** Cut out when somebody wants it: a program that calls through the library mostly does not. */
  get bytes(): Buffer {
    const { chunk, start, letters } = this
    this.line ??= letters === undefined ? chunk : chunk.subarray(start, start + letters.length)
    return this.line
  }

  get splice(): Splice {
    this.splicing ??= spliceOf(this.bytes)
    return this.splicing
  }

  get isWhole(): boolean {
    this.whole ??= this.isPlain && this.look(this.letters ?? '')
    return this.whole
  }

  /** What was read of it; whoever gets it owns it. */
  takeRead(): unknown {
    const { read } = this
    this.read = undefined
    return read
  }

  get members(): readonly Member[] {
    if (this.found === undefined) {
      const message = sortBytes(this.bytes)
      if (message.kind === 'invalid') throw new Fault('MESSAGE_INVALID', `the answer ${message.reason}`)
      if (message.kind !== 'result')
        throw new Fault('MESSAGE_INVALID', `the answer is a ${message.kind}, too`)
      this.found = message.members
    }
    return this.found
  }

  /** What stands before and after the result is known: where that is one value, nothing else can be there, nor be there twice. */
  private look(letters: string): boolean {
    const { start, end } = resultIn(this.splice)
    const read = soundResult(letters, start, end)
    // Beyond ASCII, letters are not what was meant by the bytes.
    if (typeof read === 'object' && isAscii(this.bytes)) this.read = read
    return read !== undefined
  }
}

function sortBytes(bytes: Buffer): Message | Invalid {
  const scan = scanObject(bytes)
  if (!scan.ok) return { kind: 'invalid', reason: WRONG[scan.reason] }
  return sortMessage({ bytes, members: scan.members })
}

function sortMessage(envelope: Envelope): Message | Invalid {
  const { bytes, members } = envelope
  let jsonrpc: Member | undefined
  let idAt: Member | undefined
  let method: Member | undefined
  let params: Member | undefined
  let result: Member | undefined
  let error: Member | undefined
  for (const member of members) {
    let before: Member | undefined
    switch (member.key) {
      case 'jsonrpc':
        before = jsonrpc
        jsonrpc = member
        break
      case 'id':
        before = idAt
        idAt = member
        break
      case 'method':
        before = method
        method = member
        break
      case 'params':
        before = params
        params = member
        break
      case 'result':
        before = result
        result = member
        break
      case 'error':
        before = error
        error = member
        break
    }
    // Two ids, or two methods: readers would differ on which one counts.
    if (before !== undefined) return { kind: 'invalid', reason: `has ${member.key} twice` }
  }
  if (jsonrpc === undefined || parseSlice(bytes, jsonrpc) !== '2.0')
    return { kind: 'invalid', reason: 'is not JSON-RPC 2.0' }
  const id = idAt && readId(bytes, idAt)
  if (idAt !== undefined && id === undefined)
    return { kind: 'invalid', reason: 'has an id that is no text and no number' }
  if (method !== undefined) {
    const name = parseSlice(bytes, method)
    if (typeof name !== 'string') return { kind: 'invalid', reason: 'has a method that is no text', id }
    return id === undefined
      ? { bytes, members, kind: 'notification', method: name }
      : { bytes, members, kind: 'request', id, method: name }
  }
  if (result === undefined && error === undefined)
    return { kind: 'invalid', reason: 'has neither a method nor one of result and error', id }
  if (result !== undefined && error !== undefined)
    return { kind: 'invalid', reason: 'has both a result and an error', id }
  // Errors to requests that could not be read have no id.
  if (id === undefined)
    return error ? { bytes, members, kind: 'error', id: null } : { kind: 'invalid', reason: 'has no id' }
  return { bytes, members, kind: result ? 'result' : 'error', id }
}

function readId(bytes: Buffer, { start, end }: Member): Id | undefined {
  return idFrom(bytes.toString('utf8', start, end))
}

function builtAnew(bytes: Buffer, id: Id): string {
  const message = JSON.parse(bytes.toString())
  if (typeof id !== 'bigint') return JSON.stringify({ ...message, id })
  const { id: _, ...rest } = message
  return `{"id":${idText(id)},${JSON.stringify(rest).slice(1)}`
}
