// Splices inside `{…}` and `[…]`: JSON's only form and YAML's flow form place commas and lines alike.

import {
  indentAt,
  insertion,
  isBlank,
  lineEnd,
  lineStart,
  nextLine,
  type Splice,
  skipSpaces,
  skipSpacesBack,
  startsLine,
} from './splice.ts'

export interface Item {
  readonly start: number
  readonly end: number
  /** Offset of the comma that follows, wherever it stands. */
  readonly comma: number | undefined
}

export interface Bracketed {
  /** Offset of the opening bracket. */
  readonly open: number
  /** Offset of the closing bracket. */
  readonly close: number
  readonly items: readonly Item[]
}

export interface Notation {
  readonly eol: string
  /** Matches the rest of a line that holds nothing but white space and whole comments. */
  readonly idle: RegExp
  /** What stands between a comma and the next item on the same line, when no sibling shows it. */
  readonly gap: string
  /** Matches what follows a last comma that has to stay. */
  readonly commaStays?: RegExp
}

/** Writes the new item; `indent` is undefined when it shall stay on one line. */
type Write = (indent: string | undefined) => string

/** Puts an item behind the last one, in the manner of its siblings. */
export function insertItem(text: string, list: Bracketed, write: Write, notation: Notation): Splice[] {
  const last = list.items.at(-1)
  if (last === undefined) throw new Error('an empty list is filled with fillEmpty')
  if (!startsLine(text, last.start)) {
    return [insertion(last.end, `,${gapBefore(text, list.items, notation)}${write(undefined)}`)]
  }
  const indent = indentAt(text, last.start)
  const anchor = last.comma === undefined ? last.end : last.comma + 1
  const at = idleAfter(text, anchor, notation) ? lineEnd(text, anchor) : anchor
  const entry = insertion(
    at,
    `${notation.eol}${indent}${write(indent)}${last.comma === undefined ? '' : ','}`,
  )
  return last.comma === undefined ? [insertion(last.end, ','), entry] : [entry]
}

/** Puts the first item into empty brackets, on a line of its own when `indent` is given. Comments inside stay. */
export function fillEmpty(
  text: string,
  list: Bracketed,
  write: Write,
  notation: Notation,
  indent: string | undefined,
): Splice[] {
  const inner = text.slice(list.open + 1, list.close)
  if (isBlank(inner)) {
    const outer = indentAt(text, list.open)
    const filling =
      indent === undefined
        ? write(undefined)
        : `${notation.eol}${indent}${write(indent)}${notation.eol}${outer}`
    return [{ start: list.open + 1, end: list.close, text: filling }]
  }
  const commentEnd = list.open + 1 + inner.trimEnd().length
  if (!text.slice(commentEnd, list.close).includes('\n'))
    return [insertion(commentEnd, ` ${write(undefined)}`)]
  const own = indent ?? `${indentAt(text, list.close)}  `
  return [insertion(commentEnd, `${notation.eol}${own}${write(own)}`)]
}

/** Takes an item away with exactly one comma, and its line when nothing else stands there. */
export function removeItem(text: string, list: Bracketed, index: number, notation: Notation): Splice[] {
  const item = list.items[index]
  if (item === undefined) throw new Error(`no item ${index}`)
  const { start, stop, farComma } = span(text, list, index, notation)
  const rest = text.slice(list.open + 1, start) + text.slice(stop, list.close)
  if (list.items.length === 1 && /^[\s,]*$/.test(rest)) {
    return [{ start: list.open + 1, end: list.close, text: '' }]
  }
  const splices: Splice[] = [{ start, end: stop, text: '' }]
  if (farComma !== undefined) splices.push({ start: farComma, end: farComma + 1, text: '' })
  const before = list.items[index - 1]?.comma
  if (index < list.items.length - 1 || item.comma !== undefined || before === undefined) return splices
  const remainder = text.slice(before + 1, start) + text.slice(stop)
  if (notation.commaStays?.test(remainder)) return splices
  splices.push({ start: before, end: before + 1, text: '' })
  return splices
}

// --- internal ---

/** What goes with the item, and its comma when a comment keeps the two apart. */
function span(
  text: string,
  list: Bracketed,
  index: number,
  notation: Notation,
): { start: number; stop: number; farComma: number | undefined } {
  const { start, end, comma } = list.items[index] ?? { start: 0, end: 0, comma: undefined }
  const near = comma !== undefined && isBlank(text.slice(end, comma))
  const stop = near ? comma + 1 : end
  const farComma = near ? undefined : comma
  const idle = idleAfter(text, stop, notation)
  if (startsLine(text, start) && idle) {
    return { start: lineStart(text, start), stop: nextLine(text, lineEnd(text, stop)), farComma }
  }
  if (index === list.items.length - 1) {
    return { start: index === 0 ? start : backToPrevious(text, list, index), stop, farComma }
  }
  // A comment behind the item needs the space before it; another item does not.
  if (idle) return { start: skipSpacesBack(text, start), stop, farComma }
  return { start, stop: skipSpaces(text, stop), farComma }
}

/** Where the white space before the last item starts; a comment in between keeps its line break. */
function backToPrevious(text: string, list: Bracketed, index: number): number {
  const start = list.items[index]?.start ?? 0
  const previous = list.items[index - 1]
  const after = previous?.comma === undefined ? (previous?.end ?? 0) : previous.comma + 1
  if (isBlank(text.slice(after, start))) return after
  // The closing bracket may take over the indent, which YAML insists on.
  return startsLine(text, start) ? start : skipSpacesBack(text, start)
}

function gapBefore(text: string, items: readonly Item[], notation: Notation): string {
  const comma = items.at(-2)?.comma
  const last = items.at(-1)
  if (comma === undefined || last === undefined) return notation.gap
  const gap = text.slice(comma + 1, last.start)
  return /^ *$/.test(gap) ? gap : notation.gap
}

function idleAfter(text: string, offset: number, notation: Notation): boolean {
  return notation.idle.test(text.slice(offset, lineEnd(text, offset)))
}
