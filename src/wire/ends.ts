// Answers of which only the two ends are looked at. Every server known writes the id before the result or as the very
// last member; where neither holds, the whole is read.

import type { Id } from './message.ts'
import { scanHead } from './scan.ts'

/** How an answer gets another id without its middle being read. */
export type Splice =
  /** The id is the last member: it is replaced in its place. */
  | { readonly at: 'end'; readonly start: number; readonly end: number }
  /** The id is among the first members: these bytes are taken out, and the new one goes before the last brace. */
  | { readonly at: 'start'; readonly start: number; readonly end: number; readonly brace: number }

export interface Located {
  readonly id: Id
  readonly splice: Splice
}

/**
 * The two forms that nearly all servers write, without a space in them: `{"jsonrpc":"2.0","id":7,"result":{…}}` and
 * `{"result":{…},"jsonrpc":"2.0","id":7}`. Looks at a few dozen bytes and makes nothing.
 */
export function quickResult(bytes: Buffer): Located | undefined {
  const brace = bytes.length - 1
  if (bytes[brace] !== BRACE_CLOSE) return undefined
  if (startsWith(bytes, ID_FIRST, 0)) {
    let at = ID_FIRST.length
    let id = 0
    for (let byte = bytes[at] ?? 0; isDigit(byte); byte = bytes[++at] ?? 0) id = id * 10 + byte - ZERO
    const digits = at - ID_FIRST.length
    if (digits === 0 || digits > 15 || !startsWith(bytes, RESULT_NEXT, at)) return undefined
    if (digits > 1 && bytes[ID_FIRST.length] === ZERO) return undefined
    // Where something small comes last, it may be a second id: that is read in full.
    if (bytes[brace - 1] !== BRACE_CLOSE) return undefined
    return { id, splice: { at: 'start', start: ID_FIRST.length - 5, end: at + 1, brace } }
  }
  if (!startsWith(bytes, RESULT_FIRST, 0)) return undefined
  let at = brace
  let id = 0
  for (let unit = 1; isDigit(bytes[at - 1] ?? 0) && unit < 1e15; unit *= 10)
    id += ((bytes[--at] ?? 0) - ZERO) * unit
  if (at === brace || !startsWith(bytes, ID_LAST, at - ID_LAST.length)) return undefined
  if (brace - at > 1 && bytes[at] === ZERO) return undefined
  return { id, splice: { at: 'end', start: at, end: brace } }
}

/** Finds the id of an answer with a result by its ends, however it is spaced, or gives up. */
export function locateResult(bytes: Buffer): Located | undefined {
  const head = scanHead(bytes.subarray(0, ENDS))
  // Nothing but these may come before the result: anything else is read in full.
  if (!head.every(({ key }) => key === 'jsonrpc' || key === 'id' || key === 'result')) return undefined
  if (head.at(-1)?.key !== 'result' || head.at(-1)?.end !== -1) return undefined
  const ending = VERSION_LAST.exec(endOf(bytes))
  const versions = head.filter(({ key }) => key === 'jsonrpc')
  if (versions.length + (ending ? 1 : 0) !== 1) return undefined
  if (!versions.every(({ start, end }) => bytes.toString('latin1', start, end) === '"2.0"')) return undefined
  const last = idAtEnd(bytes)
  const first = head.filter(({ key }) => key === 'id')
  if (last !== undefined)
    // Two ids are ambiguous, and whoever reads both ends has to see that.
    return first.length === 0
      ? { id: JSON.parse(last.text), splice: { at: 'end', start: last.start, end: last.end } }
      : undefined
  const [id] = first
  if (id === undefined || first.length > 1) return undefined
  // Anything small after the result may be a second id, unless it is the version.
  if (ending ? ending[1] !== undefined : !NESTED_LAST.test(endOf(bytes))) return undefined
  const brace = bytes.lastIndexOf('}')
  const value: unknown = JSON.parse(bytes.toString('utf8', id.start, id.end))
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  // From the key's quote to the comma after the value. The key may only be written plainly, or its start is not known.
  const start = bytes.lastIndexOf('"id"', id.start)
  const end = bytes.indexOf(',', id.end) + 1
  const plain = start >= 0 && /^"id"\s*:\s*$/.test(bytes.toString('latin1', start, id.start))
  return plain ? { id: value, splice: { at: 'start', start, end, brace } } : undefined
}

/**
 * The answer with another id, in pieces. The new id always comes last: a server that hides a second one in the middle
 * changes nothing, because readers take the last.
 */
export function spliced(bytes: Buffer, splice: Splice, id: Id): Buffer[] {
  const text = JSON.stringify(id)
  if (splice.at === 'end')
    return [bytes.subarray(0, splice.start), Buffer.from(text), bytes.subarray(splice.end)]
  return [
    bytes.subarray(0, splice.start),
    bytes.subarray(splice.end, splice.brace),
    Buffer.from(`,"id":${text}}`),
  ]
}

/** The id of an answer of which only the beginning and the end were kept. */
export function idOfCut(head: Buffer, tail: Buffer): Id | undefined {
  const members = scanHead(head)
  // A request has an id as well, but one of the other side's.
  if (members.some(({ key }) => key === 'method' || key === 'params')) return undefined
  const first = members.find(({ key }) => key === 'id')
  if (first?.end === -1) return undefined
  const text = first === undefined ? idAtEnd(tail)?.text : head.toString('utf8', first.start, first.end)
  const value: unknown = text === undefined ? undefined : JSON.parse(text)
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}

// --- internal ---

const ZERO = 0x30
const BRACE_CLOSE = 0x7d
const ID_FIRST = Buffer.from('{"jsonrpc":"2.0","id":')
const RESULT_NEXT = Buffer.from(',"result":{')
const RESULT_FIRST = Buffer.from('{"result":{')
const ID_LAST = Buffer.from('},"jsonrpc":"2.0","id":')

function startsWith(bytes: Buffer, part: Buffer, from: number): boolean {
  for (let at = 0; at < part.length; at++) if (bytes[from + at] !== part[at]) return false
  return true
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= 0x39
}

/** What is looked at of either end. */
const ENDS = 512

const LAST_ID =
  /[,{][ \t\r\n]*"id"[ \t\r\n]*:[ \t\r\n]*("[\x20\x21\x23-\x5b\x5d-\x7e]*"|-?(?:0|[1-9]\d*))([ \t\r\n]*\}[ \t\r\n]*)$/

/** The version as the last member, or with nothing but an id after it. */
const VERSION_LAST =
  /,[ \t\r\n]*"jsonrpc"[ \t\r\n]*:[ \t\r\n]*"2\.0"[ \t\r\n]*(,[ \t\r\n]*"id"[ \t\r\n]*:[^,{}[\]]*)?\}[ \t\r\n]*$/
const NESTED_LAST = /[}\]][ \t\r\n]*\}[ \t\r\n]*$/

function endOf(bytes: Buffer): string {
  return bytes.toString('latin1', Math.max(0, bytes.length - ENDS))
}

/**
 * The id as the last member. A scalar before the last brace can only be a member of the outermost object, and the quote
 * before `id` opens a key because what stands before it is a comma or a brace.
 */
function idAtEnd(bytes: Buffer): { text: string; start: number; end: number } | undefined {
  const found = LAST_ID.exec(endOf(bytes))
  if (found === null) return undefined
  const [, text = '', rest = ''] = found
  const end = bytes.length - rest.length
  return { text, start: end - text.length, end }
}
