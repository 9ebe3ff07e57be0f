// One table in a TOML file, put in, replaced or taken out by lines. Every other byte stays; what cannot be done so is
// noticed by reading the result back, which the caller does.

import { lineBreak } from '../edit/splice.ts'
import { tomlKey, tomlPath, tomlValue } from '../write-toml.ts'

/** The text with the table at `path` holding exactly this. */
export function withTable(text: string, path: readonly string[], value: Record<string, unknown>): string {
  const eol = lineBreak(text)
  const written = [
    `[${tomlPath(path)}]`,
    ...Object.entries(value).map(([key, item]) => `${tomlKey(key)} = ${tomlValue(item)}`),
  ].join(eol)
  const [first, ...below] = tableRanges(text, path)
  if (first === undefined) {
    const gap = text.trim() === '' ? '' : text.endsWith('\n') ? eol : eol + eol
    return `${text}${gap}${written}${eol}`
  }
  const rest = cut(text, below)
  const end = first.end === text.length && !text.endsWith('\n') ? '' : eol
  return `${rest.slice(0, first.start)}${written}${end}${rest.slice(first.end)}`
}

/** The text without the table at `path` and those below it. */
export function withoutTable(text: string, path: readonly string[]): string {
  return cut(text, tableRanges(text, path))
}

// --- internal ---

interface Range {
  readonly start: number
  readonly end: number
}

/** The text without these lines, nor the line that stood free before each. */
function cut(text: string, ranges: readonly Range[]): string {
  return ranges.toReversed().reduce((left, { start, end }) => {
    const before = left.slice(0, start)
    return (/\n\r?\n$/.test(before) ? before.replace(/\r?\n$/, '') : before) + left.slice(end)
  }, text)
}

/** The lines of each table at or below `path`, in their order; comments that lead over to the next table are that one's. */
function tableRanges(text: string, path: readonly string[]): Range[] {
  const ranges: Range[] = []
  let open: { start: number; end: number } | undefined
  const close = () => {
    if (open) ranges.push(open)
    open = undefined
  }
  for (const { start, end, header, idle } of tomlLines(text)) {
    if (header !== undefined) {
      close()
      if (path.every((step, index) => header[index] === step)) open = { start, end }
    } else if (open && !idle) open.end = end
  }
  close()
  return ranges
}

interface Line extends Range {
  readonly header: readonly string[] | undefined
  /** Blank or a comment. */
  readonly idle: boolean
}

/** Lines with their ends; what stands inside a text of several lines is neither header nor idle. */
function* tomlLines(text: string): Generator<Line> {
  let quote: string | undefined
  let start = 0
  while (start < text.length) {
    const found = text.indexOf('\n', start)
    const end = found < 0 ? text.length : found + 1
    const line = text.slice(start, end)
    const inside = quote !== undefined
    quote = openQuote(line, quote)
    const [, name] = (!inside && /^\s*\[\[?([^[\]]+)\]\]?\s*(?:#.*)?$/.exec(line)) || []
    yield {
      start,
      end,
      header: name === undefined ? undefined : keysOf(name),
      idle: !inside && /^\s*(?:#.*)?$/.test(line),
    }
    start = end
  }
}

/** The quotes of a text of several lines that is still open at the end of the line. */
function openQuote(line: string, before: string | undefined): string | undefined {
  let open = before
  for (const [mark] of line.matchAll(/\\.|"""|'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#.*/g)) {
    if (open === undefined && mark.startsWith('#')) return undefined
    if (mark !== '"""' && mark !== "'''") continue
    if (open === undefined) open = mark
    else if (open === mark) open = undefined
  }
  return open
}

function keysOf(name: string): string[] {
  return [...name.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+)/g)].map(
    ([, one, other, bare]) => one ?? other ?? bare ?? '',
  )
}
