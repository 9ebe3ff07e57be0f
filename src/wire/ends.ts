// Answers of which only the two ends are looked at. Every server known writes the id before the result or as the very
// last member; where neither holds, the whole is read.

import { type Id, idFrom, idText } from './id.ts'
import { type Member, scanHead } from './scan.ts'

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
 * Answers in the two forms that nearly all servers write, without a space in them: `{"jsonrpc":"2.0","id":7,"result":{…}}`
 * and `{"result":{…},"jsonrpc":"2.0","id":7}`. Looks at the ends only.
 */
export function quickResult(bytes: Buffer): Located | undefined {
  const head = bytes.toString('latin1', 0, QUICK)
  const ending = bytes.toString('latin1', Math.max(0, bytes.length - QUICK))
  const brace = bytes.length - 1
  const first = ID_FIRST.exec(head)
  if (first !== null) {
    // Where something small comes last, it may be a second id: that is read in full.
    if (!ending.endsWith('}}')) return undefined
    const splice = { at: 'start', start: ID_AT, end: first[0].length - RESULT_OPEN, brace } as const
    return { id: Number(first[1]), splice }
  }
  const last = head.startsWith(RESULT_FIRST) ? ID_LAST.exec(ending) : null
  if (last === null) return undefined
  const [, id = ''] = last
  return { id: Number(id), splice: { at: 'end', start: brace - id.length, end: brace } }
}

/** How an answer that is known to be in one of these forms gets another id. */
export function spliceOf(bytes: Buffer): Splice {
  const located = quickResult(bytes)
  if (located === undefined) throw new Error('an answer in a usual form is in none')
  return located.splice
}

/** Where the result of such an answer stands, from its brace to behind its last. */
export function resultIn(splice: Splice): { start: number; end: number } {
  return splice.at === 'start'
    ? { start: splice.end + RESULT_OPEN - 1, end: splice.brace }
    : { start: RESULT_FIRST.length - 1, end: splice.start - AFTER_RESULT }
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

/**
 * The id of an answer of which only the beginning and the end were kept. A line of a log can have a member `id`, too: what
 * shows nothing of an answer is none.
 */
export function idOfCut(head: Buffer, tail: Buffer): Id | undefined {
  const members = scanHead(head)
  const last = flatEnd(tail)
  const keys = [...members, ...last].map(({ key }) => key)
  const cut = keyOfCut(members, head)
  if (cut !== undefined) keys.push(cut)
  // A request has an id as well, but one of the other side's.
  if (keys.includes('method') || keys.includes('params')) return undefined
  const error = members.find(({ key }) => key === 'error')
  // Logs have errors, too, but write them as text.
  const isAnswer =
    keys.includes('jsonrpc') || keys.includes('result') || (error && head[error.start] === BRACE)
  const text = isAnswer ? idTextOfCut(members, head, last) : undefined
  const value: unknown = text === undefined ? undefined : JSON.parse(text)
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}

/** The same of a request, to whose author it can be given back. */
export function requestIdOfCut(head: Buffer, tail: Buffer): Id | undefined {
  const members = scanHead(head)
  // An answer has an id as well, but one of ours; what is neither may be anything.
  if (!members.some(({ key }) => key === 'method' || key === 'params')) return undefined
  if (members.some(({ key }) => key === 'result' || key === 'error')) return undefined
  const text = idTextOfCut(members, head, flatEnd(tail))
  return text === undefined ? undefined : idFrom(text)
}

// --- internal ---

/** More than the longest beginning and the longest end that are looked for. */
const QUICK = 64
const ID_LAST = /\},"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14})\}$/
const ID_FIRST = /^\{"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}),"result":\{/
const RESULT_FIRST = '{"result":{'
/** Where the quote of the key stands in the first form, and how much comes after the comma behind its value. */
const ID_AT = '{"jsonrpc":"2.0",'.length
const RESULT_OPEN = '"result":{'.length
/** What stands between the result and the id in the other form. */
const AFTER_RESULT = ',"jsonrpc":"2.0","id":'.length

const BRACE = 0x7b

/** What is looked at of either end. */
const ENDS = 512

const LAST_ID =
  /[,{][ \t\r\n]*"id"[ \t\r\n]*:[ \t\r\n]*("[\x20\x21\x23-\x5b\x5d-\x7e]*"|-?(?:0|[1-9]\d*))([ \t\r\n]*\}[ \t\r\n]*)$/

const TEXT = String.raw`"[\x20\x21\x23-\x5b\x5d-\x7e]*"`
const SPACE = String.raw`[ \t\r\n]*`
const SCALAR = String.raw`(?:${TEXT}|-?\d[\d.eE+-]*|true|false|null)`
const FLAT_END = new RegExp(
  `[,{](${SPACE}${TEXT}${SPACE}:${SPACE}${SCALAR}${SPACE}(?:,${SPACE}${TEXT}${SPACE}:${SPACE}${SCALAR}${SPACE})*)\\}${SPACE}$`,
)
const FLAT = new RegExp(`"([^"]*)"${SPACE}:${SPACE}(${SCALAR})`, 'g')
const ID = /^(?:".*"|-?(?:0|[1-9]\d*))$/
const NEXT_KEY = /^[ \t\r\n]*[,{][ \t\r\n]*"(\w+)"[ \t\r\n]*:/

/** The version as the last member, or with nothing but an id after it. */
const VERSION_LAST =
  /,[ \t\r\n]*"jsonrpc"[ \t\r\n]*:[ \t\r\n]*"2\.0"[ \t\r\n]*(,[ \t\r\n]*"id"[ \t\r\n]*:[^,{}[\]]*)?\}[ \t\r\n]*$/
const NESTED_LAST = /[}\]][ \t\r\n]*\}[ \t\r\n]*$/

function idTextOfCut(members: readonly Member[], head: Buffer, last: readonly Written[]): string | undefined {
  const first = members.find(({ key }) => key === 'id')
  if (first !== undefined) return first.end === -1 ? undefined : head.toString('utf8', first.start, first.end)
  const [id, another] = last.filter(({ key }) => key === 'id')
  // Of two nobody knows which one is meant.
  return another === undefined && id !== undefined && ID.test(id.text) ? id.text : undefined
}

/** The key whose value is cut or broken, behind the members that are whole. */
function keyOfCut(members: readonly Member[], head: Buffer): string | undefined {
  const from = members.at(-1)?.end ?? 0
  return from < 0 ? undefined : NEXT_KEY.exec(head.toString('latin1', from, from + QUICK))?.[1]
}

/** A member with its value as it is written. */
interface Written {
  readonly key: string
  readonly text: string
}

/**
 * The last members, as far back as they are scalars. No quote in them is written with an escape, so each one opens or ends a
 * text; and as the message ends outside of one, what looks like a key here is one. As nothing but the last brace comes after
 * them they are members of the outermost object.
 */
function flatEnd(bytes: Buffer): Written[] {
  const found = FLAT_END.exec(endOf(bytes))?.[1] ?? ''
  return [...found.matchAll(FLAT)].map(([, key = '', text = '']) => ({ key, text }))
}

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
