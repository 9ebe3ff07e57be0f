// Answers of which only the two ends are looked at. Every server known writes the id before the result or as the very
// last member; where neither holds, the whole is read.

import { type Id, idText } from './id.ts'
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
 * The form that nearly all servers write, without a space in it: `{"jsonrpc":"2.0","id":7,"result":{…}}`. Null where it
 * is another one; else the id, and what comes before the result's brace as the whole match.
 */
export function idFirst(text: string): RegExpExecArray | null {
  const first = ID_FIRST.exec(text)
  // Where something small comes last, it may be a second id: that is read in full.
  return first !== null && text.endsWith('}}') ? first : null
}

/** How that form gets another id; `head` is the length of what matched, `size` that of the whole in bytes. */
export function spliceFirst(head: number, size: number): Splice {
  return { at: 'start', start: ID_AT, end: head - RESULT_OPEN, brace: size - 1 }
}

/**
 * The same of bytes that are no text yet, and the other usual form, `{"result":{…},"jsonrpc":"2.0","id":7}`. Looks at the
 * ends only.
 */
export function quickResult(bytes: Buffer): Located | undefined {
  const head = bytes.toString('latin1', 0, QUICK)
  const ending = bytes.toString('latin1', Math.max(0, bytes.length - QUICK))
  const first = ID_FIRST.exec(head)
  if (first !== null)
    return ending.endsWith('}}')
      ? { id: Number(first[1]), splice: spliceFirst(first[0].length, bytes.length) }
      : undefined
  const last = head.startsWith(RESULT_FIRST) ? ID_LAST.exec(ending) : null
  if (last === null) return undefined
  const [, id = ''] = last
  const brace = bytes.length - 1
  return { id: Number(id), splice: { at: 'end', start: brace - id.length, end: brace } }
}

/** Finds the id of an answer with a result by its ends, however it is spaced, or gives up. */
export function locateResult(bytes: Buffer): Located | undefined {
  const head = scanHead(bytes.subarray(0, ENDS))
  // Nothing but these may come before the result: anything else is read in full.
  if (!head.every(({ key }) => key === 'jsonrpc' || key === 'id' || key === 'result')) return undefined
  const result = head.at(-1)
  // Whatever is located has an object for its result; what has not is read in full, and found out.
  if (result?.key !== 'result' || result.end !== -1 || bytes[result.start] !== BRACE) return undefined
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
  const text = idText(id)
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

/** More than the longest beginning and the longest end that are looked for. */
const QUICK = 64
const ID_FIRST = /^\{"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}),"result":\{/
const ID_LAST = /\},"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14})\}$/
const RESULT_FIRST = '{"result":{'
/** Where the quote of the key stands in the first form, and how much comes after the comma behind its value. */
const ID_AT = '{"jsonrpc":"2.0",'.length
const RESULT_OPEN = '"result":{'.length

const BRACE = 0x7b

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
