// What of arguments and results is kept in a record, with secrets masked before anything is cut.

import { excerptOf } from '../base/excerpt.ts'
import { isHarmless } from '../base/harmless.ts'
import { maskText } from '../base/redact.ts'
import { ASKED, decoded, endOfString, maskJson } from './mask-json.ts'
import { argumentsShape, resultShape } from './shape.ts'

/** How much of what is said is kept: only its form, its beginning, or all of it. */
export type RecordLevel = 'shape' | 'preview' | 'full'

type Scrub = (text: string) => string

/** Arguments for the record. `scrub` takes out known secrets; those that show by name or form are masked as well. */
export function argumentsForRecord(level: RecordLevel, text: string, scrub: Scrub): string {
  if (level === 'shape') return keep(scrub(argumentsShape(text)), LIMITS.preview)
  if (text.length <= SHORT) {
    // Most are: nothing of them is cut off.
    const clean = scrub(text)
    if (clean.length <= SHORT && isHarmless(clean)) return clean
  }
  const limit = LIMITS[level]
  const ahead = limit + BEYOND
  const isPart = text.length > ahead
  const begun = { text: isPart ? text.slice(0, ahead) : text, isPart }
  return keep(masked(begun, limit, scrub, maskJson), limit, () => Buffer.byteLength(text))
}

/** Arguments for a person who is to allow them, to their end and as they will be sent, but for what surely is a secret. */
export function argumentsForQuestion(text: string, scrub: Scrub): string {
  const clean = scrub(text)
  return isHarmless(clean) ? clean : maskJson(clean, scrub, ASKED)
}

/** A result for the record, as bytes or as text: as a preview its text if it has any, otherwise as JSON. */
export function resultForRecord(
  level: RecordLevel,
  source: Buffer | string,
  scrub: Scrub,
  size: number = source.length,
): string {
  if (level === 'shape') return keep(scrub(resultShape(source)), LIMITS.preview)
  const limit = LIMITS[level]
  const ahead = limit + BEYOND
  const isPart = source.length > ahead
  const json = { text: beginning(source, isPart ? ahead : source.length), isPart }
  const said = level === 'preview' ? textsIn(json) : undefined
  // Pictures and sounds say nothing as text.
  if (said === undefined && level === 'preview' && json.text.includes('"mimeType"'))
    return keep(scrub(resultShape(source)), limit)
  const clean = masked(said ?? json, limit, scrub, said === undefined ? maskJson : maskProse)
  return keep(isPart ? { ...clean, isPart } : clean, limit, () => size)
}

/** What went wrong, for the record. */
export function errorForRecord(message: string, scrub: Scrub): string {
  return excerptOf(message, { most: LONGEST_ERROR, mask: (text) => maskText(scrub(text)) })
}

// --- internal ---

const LONGEST_ERROR = 2000

const LIMITS = { preview: 2 * 1024, full: 1024 * 1024 } as const

/** Characters that fit in a preview, however many bytes each of them takes. */
const SHORT: number = LIMITS.preview / 3

/** So much more than what is kept is searched for known secrets, so that one which begins in there is seen to its end. */
const BEYOND = 16 * 1024
/**
 * So much is dropped of what was searched when there is more of it: half a secret may stand at its end, and masks before
 * it may have brought it near.
 */
const MARGIN = 8 * 1024
/** The same for what shows by its form, which costs more to look for and is shorter. */
const FORM_MARGIN = 4 * 1024

function beginning(source: Buffer | string, length: number): string {
  return typeof source === 'string' ? source.slice(0, length) : source.toString('utf8', 0, length)
}

/** A text, or the beginning of one. */
interface Begun {
  readonly text: string
  readonly isPart: boolean
}

function masked(
  { text, isPart }: Begun,
  limit: number,
  scrub: Scrub,
  mask: (text: string, scrub: Scrub) => string,
): Begun {
  const searched = scrub(text)
  const scrubbed = isPart ? searched.slice(0, Math.max(0, searched.length - MARGIN)) : searched
  const isLong = scrubbed.length > limit + FORM_MARGIN
  const near = isLong ? scrubbed.slice(0, limit + FORM_MARGIN) : scrubbed
  const shown = isHarmless(near) ? near : mask(near, scrub)
  if (!isLong) return { text: shown, isPart }
  return { text: shown.slice(0, Math.max(0, shown.length - FORM_MARGIN)), isPart: true }
}

function maskProse(text: string, scrub: Scrub): string {
  const members = maskJson(text, scrub)
  // In JSON each text was looked at on its own; across its quotes addresses and passwords would be found that are none.
  return /^\s*[[{]/.test(text) ? members : maskText(members)
}

/** All texts of a result's parts, in their order; a part of them when the last one does not end. */
function textsIn({ text: json, isPart }: Begun): Begun | undefined {
  let said: string | undefined
  let isOpen = false
  for (let at = json.indexOf(TEXT); at >= 0; at = json.indexOf(TEXT, at)) {
    at += TEXT.length
    while (json[at] === ' ' || json[at] === ':') at += 1
    if (json[at] !== '"') continue
    const end = endOfString(json, at)
    isOpen = isPart && end === json.length
    const text = decoded(json.slice(at + 1, isOpen ? end : end - 1))
    said = said === undefined ? text : `${said}\n${text}`
    at = end
  }
  return said === undefined ? undefined : { text: said, isPart: isOpen }
}

const TEXT = '"text"'

/** At most `limit` bytes, whole characters only, and what it is a part of. */
function keep(it: Begun | string, limit: number, size?: () => number): string {
  const { text, isPart } = typeof it === 'string' ? { text: it, isPart: false } : it
  if (!isPart && text.length * 3 <= limit) return text
  const bytes = Buffer.from(text)
  if (!isPart && bytes.length <= limit) return text
  let end = Math.min(limit, bytes.length)
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return `${bytes.toString('utf8', 0, end)}… (${size?.() ?? bytes.length} bytes)`
}
