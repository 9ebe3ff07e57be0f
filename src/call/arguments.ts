// The arguments of a call as text: what is decided on is the very slice that is forwarded, so nobody may read it in two
// ways.

import { isUtf8 } from 'node:buffer'
import {
  BACKSLASH,
  BRACE_CLOSE,
  BRACE_OPEN,
  BRACKET_CLOSE,
  BRACKET_OPEN,
  COLON,
  COMMA,
  endOfString,
  endOfValue,
  keyText,
  MAX_DEPTH,
  QUOTE,
  skipSpace,
  TOO_DEEP,
} from '../wire/scan.ts'

/** Why bytes cannot be the arguments of a call, or undefined. One pass in which nothing is built. */
export function argumentsProblem(bytes: Uint8Array): string | undefined {
  const start = skipSpace(bytes, 0)
  if (bytes[start] !== BRACE_OPEN) return NO_OBJECT
  // Bytes that are no text are read as something else by each reader, so two keys may turn into one.
  if (!isUtf8(bytes)) return 'the arguments are no valid UTF-8'
  const walk: Walk = { bytes, spans: [], path: '' }
  const end = endOfObject(walk, start, MAX_DEPTH)
  if (end === TOO_DEEP) return `the arguments are nested more than ${MAX_DEPTH} levels deep`
  if (end === TWICE) return `the arguments have a key twice: ${walk.path}`
  return end >= 0 && skipSpace(bytes, end) === bytes.length ? undefined : NO_OBJECT
}

// --- internal ---

const NO_OBJECT = 'the arguments are not one JSON object'

const WRONG = -1
const TWICE = -3

/** Up to here each key is compared with those before it; a set costs more than that. */
const FEW_KEYS = 16
const LONGEST_PATH = 200

interface Walk {
  readonly bytes: Uint8Array
  /** Start and end of each key of all objects that are open, the innermost last. */
  readonly spans: number[]
  /** Where a key is there twice, put together on the way back. */
  path: string
}

function endOfAny(walk: Walk, at: number, room: number): number {
  const byte = walk.bytes[at]
  if (byte === BRACE_OPEN) return endOfObject(walk, at, room)
  if (byte === BRACKET_OPEN) return endOfArray(walk, at, room)
  return endOfValue(walk.bytes, at, room)
}

function endOfObject(walk: Walk, from: number, room: number): number {
  if (room === 0) return TOO_DEEP
  const { bytes, spans } = walk
  const base = spans.length
  let keys: Set<string> | undefined
  let at = skipSpace(bytes, from + 1)
  if (bytes[at] === BRACE_CLOSE) return at + 1
  for (;;) {
    if (bytes[at] !== QUOTE) return WRONG
    const start = at
    const end = endOfString(bytes, start + 1)
    if (end < 0) return WRONG
    if (keys === undefined && (spans.length - base >= 2 * FEW_KEYS || isEscaped(bytes, start, end)))
      keys = keysOf(bytes, spans, base)
    if (keys === undefined ? isThere(walk, base, start, end) : !added(keys, keyText(bytes, start, end)))
      return twice(walk, start, end)
    if (keys === undefined) spans.push(start, end)
    at = skipSpace(bytes, end)
    if (bytes[at] !== COLON) return WRONG
    const valueEnd = endOfAny(walk, skipSpace(bytes, at + 1), room - 1)
    if (valueEnd < 0) return valueEnd === TWICE ? below(walk, keyText(bytes, start, end)) : valueEnd
    at = skipSpace(bytes, valueEnd)
    if (bytes[at] === BRACE_CLOSE) break
    if (bytes[at] !== COMMA) return WRONG
    at = skipSpace(bytes, at + 1)
  }
  spans.length = base
  return at + 1
}

function endOfArray(walk: Walk, from: number, room: number): number {
  if (room === 0) return TOO_DEEP
  const { bytes } = walk
  let at = skipSpace(bytes, from + 1)
  if (bytes[at] === BRACKET_CLOSE) return at + 1
  for (let index = 0; ; index++) {
    const end = endOfAny(walk, at, room - 1)
    if (end < 0) return end === TWICE ? below(walk, String(index)) : end
    at = skipSpace(bytes, end)
    if (bytes[at] === BRACKET_CLOSE) return at + 1
    if (bytes[at] !== COMMA) return WRONG
    at = skipSpace(bytes, at + 1)
  }
}

/** Whether one of the object's keys so far is, byte for byte, the one from `start` to `end`. */
function isThere({ bytes, spans }: Walk, base: number, start: number, end: number): boolean {
  for (let index = base; index < spans.length; index += 2) {
    const other = spans[index] ?? 0
    if ((spans[index + 1] ?? 0) - other !== end - start) continue
    let at = 1
    while (start + at < end && bytes[start + at] === bytes[other + at]) at += 1
    if (start + at === end) return true
  }
  return false
}

/** A key may be written with escapes; then only what it means can be compared. */
function isEscaped(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true
  return false
}

/** The keys so far, as a set. Their places are given up: from here on the set alone counts. */
function keysOf(bytes: Uint8Array, spans: number[], base: number): Set<string> {
  const keys = new Set<string>()
  for (let index = base; index < spans.length; index += 2)
    keys.add(keyText(bytes, spans[index] ?? 0, spans[index + 1] ?? 0))
  spans.length = base
  return keys
}

function added(keys: Set<string>, key: string): boolean {
  const before = keys.size
  return keys.add(key).size > before
}

function twice(walk: Walk, start: number, end: number): number {
  return below(walk, keyText(walk.bytes, start, end))
}

function below(walk: Walk, key: string): number {
  const cut = key.length > LONGEST_PATH ? `${key.slice(0, LONGEST_PATH)}…` : key
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not reach a terminal.
  const shown = cut.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd')
  walk.path = `/${shown.replaceAll('~', '~0').replaceAll('/', '~1')}${walk.path}`.slice(0, LONGEST_PATH)
  return TWICE
}
