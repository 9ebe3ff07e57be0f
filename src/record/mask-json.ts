// Masks what is secret in JSON without reading it as a whole: every other byte stays as it was written, digits too, and
// the end may be missing.

import { isHarmless } from '../base/harmless.ts'
import { isSecretName, isSecretValue, isSureName, MASK, maskKeys, maskText } from '../base/redact.ts'

/** What is taken for a secret. */
interface Masking {
  /** Whether a member's value is masked as a whole; it begins at `at` of `text`. */
  hides(name: string, text: string, at: number): boolean
  text(text: string): string
  /** Whether a whole text is one. */
  isSecret(text: string): boolean
}

/** For what is kept: whatever may be one. */
const KEPT: Masking = { hides: isSecretName, text: maskText, isSecret: isSecretValue }

/** For who decides by it: what surely is one, and one word at most, so that nothing hides behind the mask. */
export const ASKED: Masking = {
  hides: (name, text, at) => {
    ONE_WORD.lastIndex = at
    return isSureName(name) && ONE_WORD.test(text)
  },
  text: maskKeys,
  isSecret: () => false,
}

const ONE_WORD = /"[\w.~+/=-]*"/y

/**
 * JSON, or text with JSON in it, in which the members with secret names and the texts that look like keys are masked.
 * `scrub` is asked again about texts with escapes in them: it knows the usual ones, and any letter may be escaped.
 */
export function maskJson(
  text: string,
  scrub: (text: string) => string,
  masking: Masking = KEPT,
  room: number = NESTED,
): string {
  let masked = ''
  let done = 0
  let at = text.indexOf('"')
  while (at >= 0) {
    const end = endOfString(text, at)
    const value = startOfValue(text, end)
    if (value >= 0 && masking.hides(decoded(text.slice(at + 1, end - 1)), text, value)) {
      const stop = endOfValue(text, value)
      if (!SAYS_NOTHING.has(text.slice(value, stop))) {
        masked += `${text.slice(done, value)}"${MASK}"`
        done = stop
      }
      at = text.indexOf('"', stop)
      continue
    }
    const inside = text.slice(at + 1, text[end - 1] === '"' && end - 1 > at ? end - 1 : end)
    const shown = maskString(inside, scrub, masking, room)
    if (shown !== inside) {
      masked += text.slice(done, at + 1) + shown
      done = at + 1 + inside.length
    }
    at = text.indexOf('"', end)
  }
  return done === 0 ? text : masked + text.slice(done)
}

/** Just after the quote that ends the string which begins at `at`; the end of the text when it is cut. */
export function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
  }
  return text.length
}

/** What the inside of a string means; as it is written where that cannot be told. */
export function decoded(inside: string): string {
  const last = inside.lastIndexOf('\\')
  if (last < 0) return inside
  // Where its end is missing, it may be cut in the middle of an escape.
  return parsed(inside) ?? (last >= inside.length - 6 ? parsed(inside.slice(0, last)) : undefined) ?? inside
}

// --- internal ---

/** How many levels of JSON inside texts of JSON are looked at. */
const NESTED = 3

const SAYS_NOTHING: ReadonlySet<string> = new Set(['null', 'true', 'false', '""'])

function parsed(inside: string): string | undefined {
  try {
    return JSON.parse(`"${inside}"`)
  } catch {
    return undefined
  }
}

function maskString(inside: string, scrub: (text: string) => string, masking: Masking, room: number): string {
  if (isHarmless(inside)) return inside
  const meant = decoded(inside)
  const scrubbed = meant === inside ? meant : scrub(meant)
  const members = room > 0 && scrubbed.includes('"') ? maskJson(scrubbed, scrub, masking, room - 1) : scrubbed
  const masked = masking.text(members)
  if (masked !== meant) return JSON.stringify(masked).slice(1, -1)
  // What is left of it to look for is random words, which are long.
  return meant.length >= 24 && masking.isSecret(meant) ? MASK : inside
}

/** Where the value stands that belongs to a key which ends at `from`; -1 when it is no key. */
function startOfValue(text: string, from: number): number {
  const colon = skipSpace(text, from)
  return text[colon] === ':' ? skipSpace(text, colon + 1) : -1
}

function endOfValue(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return endOfString(text, start)
  if (first !== '{' && first !== '[') {
    let at = start
    while (at < text.length && !',]} \n\r\t'.includes(text.charAt(at))) at += 1
    return at
  }
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at) - 1
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    if (depth === 0) return at + 1
  }
  return text.length
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1
  return at
}
