// Splices in YAML's block form, where lines and columns carry the structure.

import {
  insertion,
  isBlank,
  lineEnd,
  lineStart,
  nextLine,
  previousLineEnd,
  type Splice,
  skipSpaces,
  skipSpacesBack,
  startsLine,
} from './splice.ts'
import { columnOf, type Hook, type Outline } from './yaml-outline.ts'
import { renderEntry, renderValue, type Style } from './yaml-render.ts'

/** Puts a new last entry behind the last one and the comments that are indented below it. */
export function insertEntry(
  text: string,
  into: Outline,
  key: string | number | undefined,
  value: unknown,
  style: Style,
): Splice[] {
  const column = columnOf(text, into.start)
  const at = entryEnd(text, into.end, column)
  return [insertion(at, below(renderEntry(key, value, style, !isTabBelow(text, at)), column, style))]
}

/** Takes an entry's lines away. The only entry of a collection is replaced by `{}` or `[]` instead. */
export function removeEntry(text: string, from: Outline, index: number, style: Style): Splice[] {
  const entry = from.entries[index]
  if (entry === undefined) throw new Error(`no entry ${index}`)
  const end = entryEnd(text, entry.end, columnOf(text, entry.start))
  if (from.entries.length === 1) {
    return replaceBlock(text, { ...from, end }, from.kind === 'map' ? {} : [], style)
  }
  if (startsLine(text, entry.start)) {
    const previous = from.entries[index - 1]
    const joins = previous !== undefined && isBlank(text.slice(previous.end, entry.start))
    // A scalar that keeps its trailing line breaks would take the blank lines below the entry for its own.
    const far = joins && keepsBreaks(text, previous.value) ? skipBlankLines(text, end) : end
    return [wholeLines(text, lineStart(text, entry.start), far)]
  }
  // The first entry behind a dash: the next one moves up to it, unless comments stand between.
  const next = from.entries[index + 1]?.start ?? end
  if (isBlank(text.slice(end, next))) return [{ start: entry.start, end: next, text: '' }]
  return [{ start: skipSpacesBack(text, entry.start), end, text: '' }]
}

/** Replaces a value that stands in block context. Its anchor and a comment behind it stay. */
export function replaceBlock(text: string, target: Outline, value: unknown, style: Style): Splice[] {
  const { end, hook } = target
  const literal = ![end, hook.at ?? end].some((at) => isCommentBelow(text, at, hook.column))
  const { head, lines } = renderValue(value, style, literal)
  const column = childColumn(hook, value, style)
  const splices =
    head === ''
      ? collectionSplices(text, target, { lines, column, style, isList: Array.isArray(value) })
      : scalarSplices(text, target, head, below(lines, Math.max(hook.column, 0), style))
  const covered = (tag: Splice): boolean =>
    splices.some(({ start, end }) => start <= tag.start && tag.end <= end)
  return [...hook.tags.filter((tag) => !covered(tag)), ...splices]
}

/** Gives a file without any value its first one: behind its comments, before the end marker. */
export function fillFile(text: string, value: unknown, style: Style): Splice[] {
  const { head, lines } = renderValue(value, style, false)
  const filling = (head === '' ? lines : [head, ...lines]).join(style.eol)
  const marker = /^\.\.\.(?=\s|$)/m.exec(text)?.index
  const at = marker ?? text.length
  const lead = at === 0 || text[at - 1] === '\n' ? '' : style.eol
  // A file that did not end its last line keeps that habit.
  return [insertion(at, lead + filling + (lead === '' ? style.eol : ''))]
}

// --- internal ---

interface Block {
  readonly lines: readonly string[]
  readonly column: number
  readonly style: Style
  readonly isList: boolean
}

/** `head` takes the value's place on the line of its key or dash; `tail` is the rest of a block scalar. */
function scalarSplices(text: string, target: Outline, head: string, tail: string): Splice[] {
  const { form, start, end, headerEnd, hook } = target
  const at = hook.at ?? start
  switch (form) {
    case 'empty':
      return [insertion(at, `${hook.glue} ${head}`), insertion(lineEnd(text, at), tail)]
    case 'inline':
    case 'flow':
      if (isCutOff(text, target))
        return [insertion(at, ` ${head}`), insertion(lineEnd(text, at), tail), rest(text, target)]
      return [{ start, end, text: head }, insertion(lineEnd(text, end), tail)]
    case 'text':
      return [
        { start, end: headerEnd, text: head },
        { start: lineEnd(text, headerEnd), end, text: tail },
      ]
    case 'block': {
      if (hook.at !== undefined && startsLine(text, start)) {
        const cut = previousLineEnd(text, lineStart(text, start))
        return [
          insertion(at, ` ${head}`),
          insertion(lineEnd(text, at), tail),
          { start: cut, end: lineEnd(text, end), text: '' },
        ]
      }
      const stop = isOneLine(text, target) ? end : lineEnd(text, end)
      return [{ start, end: stop, text: head }, insertion(lineEnd(text, end), tail)]
    }
  }
}

/** A comment left of the key parts it from its value: there the parser would read a plain scalar on into the next key. */
function isCutOff(text: string, { start, hook }: Outline): boolean {
  if (hook.at === undefined || !startsLine(text, start)) return false
  const between = text.slice(lineEnd(text, hook.at), lineStart(text, start)).split('\n')
  return between.some((line) => line.trimStart().startsWith('#') && line.indexOf('#') <= hook.column)
}

/** Takes away a value on a line of its own: the line, or all but the comment on it. */
function rest(text: string, { start, end }: Outline): Splice {
  if (!isBlank(text.slice(end, lineEnd(text, end)))) return { start, end: skipSpaces(text, end), text: '' }
  return { start: previousLineEnd(text, lineStart(text, start)), end: lineEnd(text, end), text: '' }
}

function collectionSplices(text: string, target: Outline, block: Block): Splice[] {
  const { form, start, end, headerEnd, hook } = target
  if (form === 'block') return overBlock(text, target, block)
  const at = hook.at ?? start
  if (form === 'empty') {
    if (hook.compact && isBlank(text.slice(at, lineEnd(text, at)))) {
      return [{ start: at, end: lineEnd(text, at), text: ` ${from(block, block.column)}` }]
    }
    return [
      insertion(at, hook.glue),
      insertion(entryEnd(text, at, hook.column), below(block.lines, block.column, block.style)),
    ]
  }
  const stop = form === 'text' ? headerEnd : end
  const line = lineEnd(text, stop)
  const own = startsLine(text, start)
  const column = columnOf(text, start)
  if ((own || hook.compact) && isBlank(text.slice(stop, line))) {
    return [{ start, end: Math.max(end, line), text: from(block, column) }]
  }
  const body = { start: line, end: Math.max(end, line), text: '' }
  if (own) {
    return [
      { start, end: skipSpaces(text, stop), text: '' },
      { ...body, text: below(block.lines, column, block.style) },
    ]
  }
  const added = below(block.lines, block.column, block.style)
  if (form === 'text')
    return [
      { start: at, end: stop, text: '' },
      { ...body, text: added },
    ]
  return [{ start: at, end: stop, text: '' }, insertion(entryEnd(text, stop, hook.column), added)]
}

/** A block collection in the place of another keeps its column. */
function overBlock(text: string, target: Outline, block: Block): Splice[] {
  const { start, end, hook } = target
  const column = columnOf(text, start)
  const line = lineEnd(text, end)
  const own = startsLine(text, start)
  if (!own && hook.at !== undefined && isOneLine(text, target) && !isBlank(text.slice(end, line))) {
    return [{ start: hook.at, end, text: '' }, insertion(line, below(block.lines, column, block.style))]
  }
  // Only a list may be flush with its key.
  const flush = own && column <= hook.column && !block.isList
  if (!flush) return [{ start, end: line, text: from(block, column) }]
  return [{ start, end: line, text: ' '.repeat(block.column - column) + from(block, block.column) }]
}

function childColumn(hook: Hook, value: unknown, style: Style): number {
  if (hook.column < 0) return 0
  if (hook.dash) return hook.column + 2
  return Array.isArray(value) && !style.indentSeq ? hook.column : hook.column + style.indent
}

/** The end of an entry's last line, or of the last comment below it that is indented deeper than the entry. */
function entryEnd(text: string, end: number, column: number): number {
  let result = lineEnd(text, end)
  let position = nextLine(text, result)
  while (position < text.length) {
    const stop = lineEnd(text, position)
    const content = skipSpaces(text, position)
    if (content < stop) {
      if (text[content] !== '#' || content - position <= column) break
      result = stop
    }
    position = nextLine(text, stop)
  }
  return result
}

/** The end of the last blank line directly below the one that ends at `end`. */
function skipBlankLines(text: string, end: number): number {
  const next = nextLine(text, end)
  const stop = lineEnd(text, next)
  return next > end && next < text.length && isBlank(text.slice(next, stop))
    ? skipBlankLines(text, stop)
    : end
}

/** The value ends with a `|+` or `>+` scalar. */
function keepsBreaks(text: string, value: Outline): boolean {
  const last = value.form === 'block' ? value.entries.at(-1)?.value : undefined
  if (last !== undefined) return keepsBreaks(text, last)
  return value.form === 'text' && text.slice(value.start, value.headerEnd).includes('+')
}

/** A comment below would become text of a block scalar put there. */
function isCommentBelow(text: string, end: number, column: number): boolean {
  return entryEnd(text, end, column) > lineEnd(text, end) || isTabBelow(text, end)
}

/** The next line that is not blank starts with a tab, which is no indent that could end a block scalar. */
function isTabBelow(text: string, end: number): boolean {
  return /^(?:\s*\n)? *\t/.test(text.slice(nextLine(text, end)))
}

/** Full lines with one line break: the one behind them, or at the end of a file that has none there the one before. */
function wholeLines(text: string, start: number, end: number): Splice {
  const next = nextLine(text, end)
  if (next > end) return { start, end: next, text: '' }
  const before = previousLineEnd(text, start)
  // A blank line before may be the text of a block scalar that keeps its line breaks.
  return { start: isBlank(text.slice(lineStart(text, before), before)) ? start : before, end, text: '' }
}

function isOneLine(text: string, { start, end }: Outline): boolean {
  return !text.slice(start, end).includes('\n')
}

/** Lines as they continue a line whose indent is there already. */
function from({ lines, style }: Block, column: number): string {
  const [first = '', ...rest] = lines
  return first + below(rest, column, style)
}

/** Lines as they follow the end of another line. */
function below(lines: readonly string[], column: number, style: Style): string {
  return lines.map((line) => style.eol + (line === '' ? '' : ' '.repeat(column) + line)).join('')
}
