// A changed definition as lines for a terminal. Each line of a server's text is one line with a mark before it, so none
// can pretend to be another; what is left out is counted.

import type { Change } from './pin-diff.ts'
import { cutMiddle, type TextPart, visible } from './pin-text.ts'

export interface DiffLine {
  readonly kind: 'path' | 'removed' | 'added' | 'same'
  /** Harmless to print, without a line break. */
  readonly text: string
}

export interface LineOptions {
  /** Nothing is cut or left out. */
  readonly full?: boolean | undefined
}

export function diffLines(changes: readonly Change[], { full = false }: LineOptions = {}): DiffLine[] {
  return changes.flatMap((change) => [
    { kind: 'path' as const, text: oneLine(change.path === '' ? 'definition' : change.path) },
    ...changeLines(change, full),
  ])
}

// --- internal ---

const LONGEST = 400
const LONGEST_SAME = 80

function changeLines({ before, after, parts }: Change, full: boolean): DiffLine[] {
  if (parts === undefined)
    return [
      ...(before === undefined ? [] : lines('removed', valueText(before), full)),
      ...(after === undefined ? [] : lines('added', valueText(after), full)),
    ]
  // What differs in blanks only looks the same unless the blanks are in quotes.
  if (blanksApart(before) === blanksApart(after))
    return [...lines('removed', JSON.stringify(before), full), ...lines('added', JSON.stringify(after), full)]
  if (parts.some(({ text }) => text.includes('\n'))) return parts.flatMap((part) => partLines(part, full))
  return [
    ...lines('removed', wholeText(parts, 'removed', full), full),
    ...lines('added', wholeText(parts, 'added', full), full),
  ]
}

function partLines({ kind, text }: TextPart, full: boolean): DiffLine[] {
  const all = lines(kind, text.replace(/\n$/, ''), full)
  if (kind !== 'same' || full || all.length <= 3) return all
  const left = `…(${all.length - 2} lines that are the same)…`
  return [...all.slice(0, 1), { kind: 'same', text: left }, ...all.slice(-1)]
}

/** One side of a text in one line, with what both share cut short. */
function wholeText(parts: readonly TextPart[], side: 'removed' | 'added', full: boolean): string {
  return parts
    .filter(({ kind }) => kind === side || kind === 'same')
    .map(({ kind, text }) => (kind === 'same' && !full ? cutMiddle(text, LONGEST_SAME) : text))
    .join('')
}

function lines(kind: DiffLine['kind'], text: string, full: boolean): DiffLine[] {
  return text.split('\n').map((line) => ({ kind, text: visible(full ? line : cutMiddle(line, LONGEST)) }))
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function blanksApart(value: unknown): string {
  return String(value).replace(/\s+/g, ' ').trim()
}

function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '⟨U+000A⟩').replaceAll('\t', '⟨U+0009⟩')
}
