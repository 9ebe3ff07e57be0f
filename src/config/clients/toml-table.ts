// One table in a TOML file, put in, replaced or taken out by lines. Every other byte stays; what cannot be done so is
// noticed by reading the result back, which the caller does.

import { lineBreak } from '../edit/splice.ts'
import { tomlKey, tomlPath, tomlValue } from '../write-toml.ts'

/** The text with the table at `path` holding exactly this; comments that stood in it stay, before its keys. */
export function withTable(text: string, path: readonly string[], value: Record<string, unknown>): string {
  const eol = lineBreak(text)
  const keys = Object.entries(value).map(([key, item]) => `${tomlKey(key)} = ${tomlValue(item)}`)
  const [first, ...below] = tablesAt(text, path)
  if (first === undefined) {
    const gap = text.trim() === '' ? '' : text.endsWith('\n') ? eol : eol + eol
    return `${text}${gap}${[`[${tomlPath(path)}]`, ...keys].join(eol)}${eol}`
  }
  const rest = cut(text, below)
  const written = [first.header ?? `[${tomlPath(path)}]`, ...first.comments, ...keys].join(eol)
  const end = first.end === text.length && !text.endsWith('\n') ? '' : eol
  return `${rest.slice(0, first.start)}${written}${end}${rest.slice(first.end)}`
}

/** The text without the table at `path` and those below it; comments that stood in them stay. */
export function withoutTable(text: string, path: readonly string[]): string {
  return cut(text, tablesAt(text, path))
}

// --- internal ---

interface Range {
  readonly start: number
  readonly end: number
}

/** From the header of a table to the last line of its keys. */
interface Table extends Range {
  /** The line of its header, with what is said beside it; absent in a table below the one that was looked for. */
  readonly header: string | undefined
  /** The lines between that are nothing but a comment. */
  readonly comments: readonly string[]
}

/** The text without these tables, nor the line that stood free before each. */
function cut(text: string, tables: readonly Table[]): string {
  const eol = lineBreak(text)
  return tables.toReversed().reduce((left, { start, end, comments }) => {
    const before = left.slice(0, start)
    const after = left.slice(end)
    if (comments.length > 0) return before + comments.map((line) => line + eol).join('') + after
    return (/\n\r?\n$/.test(before) ? before.replace(/\r?\n$/, '') : before) + after
  }, text)
}

/** Each table at or below `path`, in their order; comments behind its last key are not its own. */
function tablesAt(text: string, path: readonly string[]): Table[] {
  const tables: Table[] = []
  let open: (Table & { end: number; comments: string[] }) | undefined
  let passed: string[] = []
  for (const { start, end, line, header, idle } of tomlLines(text)) {
    if (header !== undefined) {
      if (open) tables.push(open)
      const isOurs = path.every((step, index) => header[index] === step)
      const isItself = header.length === path.length && !/^\s*\[\[/.test(line)
      open = isOurs ? { start, end, header: isItself ? line : undefined, comments: [] } : undefined
      passed = []
    } else if (!idle && open) {
      open.end = end
      open.comments.push(...passed)
      passed = []
    } else if (line.trim() !== '') passed.push(line)
  }
  if (open) tables.push(open)
  return tables
}

interface Line extends Range {
  /** Without its end. */
  readonly line: string
  readonly header: readonly string[] | undefined
  /** Blank or a comment. */
  readonly idle: boolean
}

/** What stands inside a text of several lines is neither header nor idle. */
function* tomlLines(text: string): Generator<Line> {
  let quote: Quote | undefined
  let start = 0
  while (start < text.length) {
    const found = text.indexOf('\n', start)
    const end = found < 0 ? text.length : found + 1
    const line = text.slice(start, end).replace(/\r?\n$/, '')
    const inside = quote !== undefined
    quote = openQuote(line, quote)
    const [, name] = (!inside && /^\s*\[\[?([^[\]]+)\]\]?\s*(?:#.*)?$/.exec(line)) || []
    yield {
      start,
      end,
      line,
      header: name === undefined ? undefined : keysOf(name),
      idle: !inside && /^\s*(?:#.*)?$/.test(line),
    }
    start = end
  }
}

type Quote = '"""' | "'''"

/** All up to the end of a text of several lines, whose last letters may be quotes as well. */
const CLOSING = { '"""': /^(?:[^\\]|\\.)*?"{3,5}/, "'''": /^.*?'{3,5}/ } as const

/** All up to the start of one, or to a comment or the end of the line. */
const OPENING = /^(?:[^"'#]|"(?!"")(?:[^"\\]|\\.)*"|'(?!'')[^']*')*("""|'''|#|$)/

/** The quotes of a text of several lines that is still open at the end of the line. */
function openQuote(line: string, before: Quote | undefined): Quote | undefined {
  let open = before
  let rest = line
  for (;;) {
    const [passed = '', mark] = (open === undefined ? OPENING : CLOSING[open]).exec(rest) ?? []
    if (passed === '') return open
    if (open !== undefined) open = undefined
    else if (mark === '"""' || mark === "'''") open = mark
    else return undefined
    rest = rest.slice(passed.length)
  }
}

function keysOf(name: string): string[] {
  return [...name.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+)/g)].map(
    ([, one, other, bare]) => one ?? other ?? bare ?? '',
  )
}
