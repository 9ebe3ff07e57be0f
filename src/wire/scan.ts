// Reads JSON without building it: checks a whole object byte by byte and says where its members stand.
// It accepts exactly what JSON.parse accepts (a property test holds that), down to a limit of depth, so what it lets
// through can be forwarded as it came: numbers keep their digits, and nobody pays for values that nobody looks at.

export interface Member {
  readonly key: string
  /** The value's bytes, from `start` up to `end`. */
  readonly start: number
  readonly end: number
}

export type Scan =
  | { readonly ok: true; readonly members: readonly Member[] }
  | { readonly ok: false; readonly reason: 'syntax' | 'depth' | 'members' }

/** Deeper than any honest message. It also bounds the recursion here. */
export const MAX_DEPTH = 128
/** More members than any honest message has on its first level; each of them costs an object here. */
const MAX_MEMBERS = 4096

/** The members of the one object that `bytes` holds, with white space around it or not. */
export function scanObject(bytes: Uint8Array): Scan {
  const start = skipSpace(bytes, 0)
  if (bytes[start] !== BRACE_OPEN) return { ok: false, reason: 'syntax' }
  const members: Member[] = []
  const end = endOfObject(bytes, start, MAX_DEPTH, members)
  if (end === TOO_DEEP) return { ok: false, reason: 'depth' }
  if (end === TOO_MANY) return { ok: false, reason: 'members' }
  return end >= 0 && skipSpace(bytes, end) === bytes.length
    ? { ok: true, members }
    : { ok: false, reason: 'syntax' }
}

/**
 * The flat members at the start of an object of which the rest may be missing: up to the first nested value, whose key
 * is the last entry and whose end is not known (-1).
 */
export function scanHead(bytes: Uint8Array): readonly Member[] {
  const members: Member[] = []
  let at = skipSpace(bytes, 0)
  if (bytes[at] !== BRACE_OPEN) return members
  do {
    at = skipSpace(bytes, at + 1)
    const keyEnd = bytes[at] === QUOTE ? endOfString(bytes, at + 1) : WRONG
    if (keyEnd < 0) return members
    const key = keyText(bytes, at, keyEnd)
    at = skipSpace(bytes, keyEnd)
    if (bytes[at] !== COLON) return members
    const start = skipSpace(bytes, at + 1)
    const nested = bytes[start] === BRACE_OPEN || bytes[start] === BRACKET_OPEN
    const end = nested ? WRONG : endOfValue(bytes, start, 1)
    // A value that reaches the end of what is left may have been cut.
    if (!nested && (end < 0 || end >= bytes.length)) return members
    members.push({ key, start, end })
    if (nested) return members
    at = skipSpace(bytes, end)
  } while (bytes[at] === COMMA)
  return members
}

// --- pieces, for whoever reads JSON in the same way for another purpose ---

/** What `endOfValue` gives for what is nested too deeply; any other negative number: this is no JSON. */
export const TOO_DEEP = -2

export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const COMMA = 0x2c
export const COLON = 0x3a
export const BRACE_OPEN = 0x7b
export const BRACE_CLOSE = 0x7d
export const BRACKET_OPEN = 0x5b
export const BRACKET_CLOSE = 0x5d
const MINUS = 0x2d
const DOT = 0x2e

const WRONG = -1
const TOO_MANY = -3

// For each byte of a string: 1 when nothing has to be done about it.
const PLAIN = new Uint8Array(256).map((_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? 0 : 1,
)
const ESCAPES = new Uint8Array(256).map((_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
)
const TEXT = new TextDecoder()

/** Where the value that begins at `at` ends, or a negative number. `room` is how much deeper it may go. */
export function endOfValue(bytes: Uint8Array, at: number, room: number): number {
  switch (bytes[at]) {
    case QUOTE:
      return endOfString(bytes, at + 1)
    case BRACE_OPEN:
      return endOfObject(bytes, at, room, undefined)
    case BRACKET_OPEN:
      return endOfArray(bytes, at, room)
    case 0x74:
      return endOfWord(bytes, at, 'true')
    case 0x66:
      return endOfWord(bytes, at, 'false')
    case 0x6e:
      return endOfWord(bytes, at, 'null')
    default:
      return endOfNumber(bytes, at)
  }
}

function endOfObject(bytes: Uint8Array, from: number, room: number, members: Member[] | undefined): number {
  if (room === 0) return TOO_DEEP
  let at = skipSpace(bytes, from + 1)
  if (bytes[at] === BRACE_CLOSE) return at + 1
  for (;;) {
    if (bytes[at] !== QUOTE) return WRONG
    const key = at
    const keyEnd = endOfString(bytes, at + 1)
    if (keyEnd < 0) return WRONG
    at = skipSpace(bytes, keyEnd)
    if (bytes[at] !== COLON) return WRONG
    const start = skipSpace(bytes, at + 1)
    const end = endOfValue(bytes, start, room - 1)
    if (end < 0) return end
    if (members !== undefined) {
      if (members.length === MAX_MEMBERS) return TOO_MANY
      members.push({ key: keyText(bytes, key, keyEnd), start, end })
    }
    at = skipSpace(bytes, end)
    if (bytes[at] === BRACE_CLOSE) return at + 1
    if (bytes[at] !== COMMA) return WRONG
    at = skipSpace(bytes, at + 1)
  }
}

function endOfArray(bytes: Uint8Array, from: number, room: number): number {
  if (room === 0) return TOO_DEEP
  let at = skipSpace(bytes, from + 1)
  if (bytes[at] === BRACKET_CLOSE) return at + 1
  for (;;) {
    const end = endOfValue(bytes, at, room - 1)
    if (end < 0) return end
    at = skipSpace(bytes, end)
    if (bytes[at] === BRACKET_CLOSE) return at + 1
    if (bytes[at] !== COMMA) return WRONG
    at = skipSpace(bytes, at + 1)
  }
}

/** `from` is just after the opening quote. */
export function endOfString(bytes: Uint8Array, from: number): number {
  const { length } = bytes
  let at = from
  while (at < length) {
    const byte = bytes[at] ?? 0
    if (PLAIN[byte] === 1) at += 1
    else if (byte === QUOTE) return at + 1
    else if (byte !== BACKSLASH) return WRONG
    else if (ESCAPES[bytes[at + 1] ?? 0] === 1) at += 2
    else if (bytes[at + 1] === 0x75 && isHex(bytes, at + 2)) at += 6
    else return WRONG
  }
  return WRONG
}

function isHex(bytes: Uint8Array, from: number): boolean {
  for (let at = from; at < from + 4; at++) {
    const byte = bytes[at] ?? 0
    const lower = byte | 0x20
    if (!isDigit(byte) && !(lower >= 0x61 && lower <= 0x66)) return false
  }
  return true
}

function endOfWord(bytes: Uint8Array, from: number, word: string): number {
  for (let index = 1; index < word.length; index++)
    if (bytes[from + index] !== word.charCodeAt(index)) return WRONG
  return from + word.length
}

function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = bytes[from] === MINUS ? from + 1 : from
  if (!isDigit(bytes[at])) return WRONG
  // No leading zeros.
  at = bytes[at] === 0x30 ? at + 1 : endOfDigits(bytes, at)
  if (bytes[at] === DOT) {
    if (!isDigit(bytes[at + 1])) return WRONG
    at = endOfDigits(bytes, at + 1)
  }
  if (((bytes[at] ?? 0) | 0x20) === 0x65) {
    const sign = bytes[at + 1] === 0x2b || bytes[at + 1] === MINUS ? 1 : 0
    if (!isDigit(bytes[at + 1 + sign])) return WRONG
    at = endOfDigits(bytes, at + 1 + sign)
  }
  return at
}

function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from
  while (isDigit(bytes[at])) at += 1
  return at
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  for (;;) {
    const byte = bytes[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at
    at += 1
  }
}

/** A key may be written with escapes; what it means counts, or `"\u0069d"` would be an id that only others see. */
export function keyText(bytes: Uint8Array, start: number, end: number): string {
  const length = end - start - 2
  if (length < KEY_LIMIT) {
    let text = ''
    for (let at = start + 1; at < end - 1; at++) {
      const byte = bytes[at] ?? 0
      if (byte === BACKSLASH || byte > 0x7f) return decodedKey(bytes, start, end)
      text += String.fromCharCode(byte)
    }
    return text
  }
  return decodedKey(bytes, start, end)
}

const KEY_LIMIT = 32

function decodedKey(bytes: Uint8Array, start: number, end: number): string {
  return JSON.parse(TEXT.decode(bytes.subarray(start, end)))
}
