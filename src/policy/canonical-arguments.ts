// Arguments in the form in which calls are compared: whether a person allowed this very one, and whether it failed before.

import {
  BRACE_CLOSE,
  BRACE_OPEN,
  BRACKET_CLOSE,
  BRACKET_OPEN,
  COMMA,
  endOfString,
  endOfValue,
  MAX_DEPTH,
  QUOTE,
  skipSpace,
} from '../wire/scan.ts'

/**
 * Text in which the order of keys and white space do not matter but every digit does: 1.0 is not 1. Texts are compared
 * by what they mean. What is not one JSON object throws: nobody should come here with it.
 */
export function canonicalArguments(bytes: Uint8Array): string {
  const start = skipSpace(bytes, 0)
  const end = bytes[start] === BRACE_OPEN ? endOfValue(bytes, start, MAX_DEPTH) : -1
  // Checked here and once, so that below nothing has to be doubted.
  if (end < 0 || skipSpace(bytes, end) !== bytes.length)
    throw new Error('the arguments are not one JSON object')
  return canonicalValue(bytes, start).text
}

// --- internal ---

interface Canonical {
  readonly text: string
  readonly end: number
}

function canonicalValue(bytes: Uint8Array, at: number): Canonical {
  if (bytes[at] === BRACE_OPEN) return canonicalObject(bytes, at)
  if (bytes[at] === BRACKET_OPEN) return canonicalArray(bytes, at)
  const end = endOfValue(bytes, at, 0)
  return { text: bytes[at] === QUOTE ? stringText(bytes, at, end) : textOf(bytes, at, end), end }
}

function canonicalObject(bytes: Uint8Array, from: number): Canonical {
  const members: { readonly key: string; readonly text: string }[] = []
  let at = skipSpace(bytes, from + 1)
  while (bytes[at] !== BRACE_CLOSE) {
    const keyEnd = endOfString(bytes, at + 1)
    const key = stringText(bytes, at, keyEnd)
    const value = canonicalValue(bytes, skipSpace(bytes, skipSpace(bytes, keyEnd) + 1))
    members.push({ key, text: `${key}:${value.text}` })
    at = afterComma(bytes, value.end)
  }
  members.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
  return { text: `{${members.map(({ text }) => text).join(',')}}`, end: at + 1 }
}

function canonicalArray(bytes: Uint8Array, from: number): Canonical {
  const items: string[] = []
  let at = skipSpace(bytes, from + 1)
  while (bytes[at] !== BRACKET_CLOSE) {
    const item = canonicalValue(bytes, at)
    items.push(item.text)
    at = afterComma(bytes, item.end)
  }
  return { text: `[${items.join(',')}]`, end: at + 1 }
}

function afterComma(bytes: Uint8Array, from: number): number {
  const at = skipSpace(bytes, from)
  return bytes[at] === COMMA ? skipSpace(bytes, at + 1) : at
}

/** A text as JSON.stringify writes it, which is how it is written when nothing in it is escaped. */
function stringText(bytes: Uint8Array, start: number, end: number): string {
  const text = textOf(bytes, start, end)
  return text.includes('\\') ? JSON.stringify(JSON.parse(text)) : text
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
}
