// Everything the CLI prints. Answers go to stdout and talk to stderr; with --json the answer is one JSON document. Text
// from files and servers is made harmless here: no escape sequence of theirs reaches the terminal.

import { Fault } from '../base/fault.ts'
import { maskText } from '../base/redact.ts'
import { type Problem, problemLine } from '../config/problem.ts'
import { asTyped } from './as-typed.ts'
import { width } from './display-width.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
}

export interface OutputOptions {
  readonly json: boolean
  readonly color: boolean
  readonly write?: (text: string | Uint8Array) => void
  readonly talk?: (text: string) => void
}

export class Output {
  readonly json: boolean
  readonly #color: boolean
  readonly #write: (text: string | Uint8Array) => void
  readonly #talk: (text: string) => void
  readonly #warnings: string[] = []
  #wipe: () => void = () => {}

  constructor(options: OutputOptions) {
    this.json = options.json
    this.#color = options.color
    const write = options.write ?? ((text) => void process.stdout.write(text))
    const talk = options.talk ?? ((text) => void process.stderr.write(text))
    this.#write = (text) => {
      this.#wipe()
      write(text)
    }
    this.#talk = (text) => {
      this.#wipe()
      talk(text)
    }
  }

  /** Called before anything is written: it wipes away a line that only tells what is going on. */
  set wipe(wipe: () => void) {
    this.#wipe = wipe
  }

  /** The answer: `data` for programs, `text` for people. */
  answer(data: object, text: () => string | readonly string[]): void {
    if (this.json) {
      const warnings = this.#warnings.length > 0 ? { warnings: this.#warnings } : {}
      this.#write(`${safeJson(JSON.stringify({ ...data, ...warnings }, null, 2))}\n`)
      return
    }
    const lines = text()
    const joined = typeof lines === 'string' ? lines : lines.join('\n')
    if (joined !== '') this.#write(`${joined}\n`)
  }

  /** An answer as it is, for what must not be laid out anew. Never text of a server for a terminal. */
  raw(data: string | Uint8Array): void {
    this.#write(data)
  }

  /** Talk for people; programs do not get it. */
  note(line: string): void {
    if (!this.json) this.#talk(`${asTyped(line)}\n`)
  }

  /** Something a person should know though the command goes on; programs find it under `warnings`. */
  warn(line: string): void {
    if (this.json) this.#warnings.push(line)
    else this.#talk(`${this.style('yellow', 'warning:')} ${safe(asTyped(line))}\n`)
  }

  problem(problem: Problem): void {
    if (problem.severity === 'warning') this.warn(problemLine(problem))
    else this.#talk(`${this.style('red', 'error:')} ${safe(asTyped(problemLine(problem)))}\n`)
  }

  /** The end of a command that failed: one line for people, one JSON object for programs. */
  fail(error: unknown): void {
    const fault = error instanceof Fault ? error : undefined
    // What a server wrote before it died may stand in it.
    const message = maskText(error instanceof Error ? error.message : String(error))
    if (this.json) {
      const { code = 'INTERNAL', hint, server, details } = fault ?? {}
      this.#talk(`${safeJson(JSON.stringify({ code, message, hint, server, ...shown(details) }))}\n`)
      return
    }
    const problems = fault?.details?.['problems']
    if (Array.isArray(problems)) for (const problem of problems as Problem[]) this.problem(problem)
    else this.#talk(`${this.style('red', 'error:')} ${safe(asTyped(message))}\n`)
    if (fault?.hint && !Array.isArray(problems))
      this.#talk(`${this.style('cyan', 'next:')} ${safe(asTyped(fault.hint))}\n`)
  }

  style(style: Style, text: string): string {
    if (!this.#color) return text
    const [on, off] = CODES[style]
    return `\u001b[${on}m${text}\u001b[${off}m`
  }

  /** Rows under headings, as wide as they must be. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
    const clean = rows.map((row) => row.map((cell) => safe(cell).replaceAll('\n', ' ')))
    const widths = headings.map((heading, column) =>
      Math.max(width(heading), ...clean.map((row) => width(row[column] ?? ''))),
    )
    const line = (row: readonly string[]) =>
      row
        .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - width(cell))))
        .join('  ')
        .trimEnd()
    return [this.style('dim', line(headings)), ...clean.map(line)]
  }
}

/**
 * Text that cannot move the cursor, change colours, hide parts or reorder what is read: control, bidirectional,
 * zero-width, tag and all other characters that cannot be seen are shown by their number, as pins show them.
 */
export function safe(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character === '\n' || character === '\t' ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

/** The same for JSON text, which stays the same value: such characters can only stand in strings. */
export function safeJson(json: string): string {
  return json.replace(UNSEEN, (character) =>
    /[\n\r\t]/.test(character)
      ? character
      : Array.from({ length: character.length }, (_, index) => codeUnit(character.charCodeAt(index))).join(
          '',
        ),
  )
}

// --- internal ---

/**
 * Whatever takes no place, or may look like nothing. Not the selector that makes a picture of the character before it, which
 * pins do not flag either; anywhere else that one is unseen, too.
 */
const UNSEEN =
  /(?<!\p{Extended_Pictographic})\uFE0F(?!\u20E3)|(?!\uFE0F)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

function codeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}

/** What goes with a fault: what a process wrote is masked, and a code of somebody else's is no code of ours. */
function shown({ stderr, code: cause, ...details }: NonNullable<Fault['details']> = {}): Fault['details'] {
  return { ...details, cause, stderr: typeof stderr === 'string' ? maskText(stderr) : undefined }
}
