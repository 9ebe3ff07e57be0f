// Copies of data inside schemas (defaults, permitted values), bounded, and only of what every provider can read.

import { isRecord } from '../../base/record.ts'

const MAX_DATA = 10_000
const MAX_DATA_DEPTH = 16
// A lone surrogate makes the whole request invalid UTF-8 for some providers.
const LONE_SURROGATE = /\p{Surrogate}/u

/** Counts what was copied for one tool. */
export interface Copied {
  data: number
}

/** A copy of JSON data, or undefined when it is too large or is not JSON. */
export function copyData(value: unknown, copied: Copied, depth = 0): unknown {
  if (++copied.data > MAX_DATA || depth > MAX_DATA_DEPTH) return undefined
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'string') return isWellFormed(value) ? value : undefined
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) {
      const copy = copyData(item, copied, depth + 1)
      if (copy === undefined) return undefined
      items.push(copy)
    }
    return items
  }
  if (!isRecord(value)) return undefined
  const entries: [string, unknown][] = []
  for (const [key, item] of Object.entries(value)) {
    const copy = copyData(item, copied, depth + 1)
    if (copy === undefined || !isWellFormed(key)) return undefined
    entries.push([key, copy])
  }
  // Not by assignment, which a key called __proto__ would escape.
  return Object.fromEntries(entries)
}

/** Whether a text can be sent as UTF-8. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text)
}

/** A text as it can be sent; undefined for what is no text or says nothing. */
export function readableText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  return value.replace(/\p{Surrogate}/gu, '\ufffd')
}
