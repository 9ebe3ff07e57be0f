// Text splices, and the small questions about lines that both syntaxes ask before they make one.

/** Puts `text` where `start` to `end` was; an insertion has both at the same offset. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

export function insertion(at: number, text: string): Splice {
  return { start: at, end: at, text }
}

/** All splices refer to the old text; at one offset an insertion comes before a removal, insertions keep their order. */
export function spliced(text: string, splices: readonly Splice[]): string {
  let result = ''
  let position = 0
  for (const splice of [...splices].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (splice.start < position) throw new Error(`splices overlap at offset ${splice.start}`)
    result += text.slice(position, splice.start) + splice.text
    position = splice.end
  }
  return result + text.slice(position)
}

/** The line break the file uses, judged by its first one. */
export function lineBreak(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}

export function lineNumber(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

export function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1
}

/** Where the line's own characters end, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const found = text.indexOf('\n', offset)
  if (found < 0) return text.length
  return found > offset && text[found - 1] === '\r' ? found - 1 : found
}

/** The start of the line after the one that ends at `end`; the end of the text when there is none. */
export function nextLine(text: string, end: number): number {
  const found = text.indexOf('\n', end)
  return found < 0 ? text.length : found + 1
}

/** The end of the line before the one that starts at `start`. */
export function previousLineEnd(text: string, start: number): number {
  if (start === 0) return 0
  return text[start - 2] === '\r' ? start - 2 : start - 1
}

/** Only white space stands before `offset` on its line. */
export function startsLine(text: string, offset: number): boolean {
  return isBlank(text.slice(lineStart(text, offset), offset))
}

/** The white space at the start of the line that `offset` is on. */
export function indentAt(text: string, offset: number): string {
  const start = lineStart(text, offset)
  return /^[ \t]*/.exec(text.slice(start, lineEnd(text, start)))?.[0] ?? ''
}

export function isBlank(text: string): boolean {
  return /^\s*$/.test(text)
}

/** The offset after the spaces and tabs that start at `offset`. */
export function skipSpaces(text: string, offset: number): number {
  let position = offset
  while (text[position] === ' ' || text[position] === '\t') position++
  return position
}

/** The offset before the spaces and tabs that end at `offset`. */
export function skipSpacesBack(text: string, offset: number): number {
  let position = offset
  while (text[position - 1] === ' ' || text[position - 1] === '\t') position--
  return position
}
