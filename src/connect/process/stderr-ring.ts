// The end of what a server writes to stderr. It is read for as long as the server writes, or the server would
// stop at a full pipe; what is kept, and what reading may cost, is bounded.

import type { Readable } from 'node:stream'
import { maskText } from '../../base/redact.ts'

const KEPT_BYTES = 256 * 1024
// Up to 50 MB a second are read at once; who writes faster waits, as at a slow terminal, instead of taking
// our processor.
const BURST_BYTES = 512 * 1024
const BURST_MS = 10
const LONGEST_LINE = 2000
/** Of what has lost its beginning so much may be the rest of a secret, which nobody would know as one. */
const DOUBTFUL = 32 * 1024
/** So much before the lines that are shown, and behind the end of each, is searched for what looks like a secret. */
const AROUND = 16 * 1024

export class StderrRing {
  // Made at the first byte: most servers write nothing.
  #bytes: Buffer | undefined
  #written = 0

  write(chunk: Uint8Array): void {
    this.#bytes ??= Buffer.allocUnsafe(KEPT_BYTES)
    const kept = chunk.subarray(-KEPT_BYTES)
    this.#written += chunk.length - kept.length
    const start = this.#written % KEPT_BYTES
    const fits = kept.subarray(0, KEPT_BYTES - start)
    this.#bytes.set(fits, start)
    this.#bytes.set(kept.subarray(fits.length), 0)
    this.#written += kept.length
  }

  /** Reads a stream until its end. */
  drain(stream: Readable): void {
    let windowStart = 0
    let inWindow = 0
    stream.on('data', (chunk: Buffer) => {
      this.write(chunk)
      const now = performance.now()
      if (now - windowStart > BURST_MS) {
        windowStart = now
        inWindow = 0
      }
      inWindow += chunk.length
      if (inWindow < BURST_BYTES) return
      stream.pause()
      // Does not hold the program: the server's process does, for as long as there is something to read.
      setTimeout(() => stream.resume(), windowStart + BURST_MS - now).unref()
    })
  }

  /**
   * The last lines as plain text: no terminal commands, bytes that are no UTF-8 shown as such, and no secrets. `scrub` takes
   * out those that are known; it gets all that is kept, because they may have many lines and be longer than one.
   */
  tail(lines: number, scrub: (text: string) => string = (text) => text): string {
    const content = this.#content().trimEnd()
    const isCut = this.#written > KEPT_BYTES
    const clean = scrub(plain(content))
    const sure = isCut ? sharedEnd(clean, scrub(plain(fromLine(content, DOUBTFUL)))) : clean
    return maskText(near(sure, lines)).split('\n').slice(-lines).map(bounded).join('\n')
  }

  #content(): string {
    if (this.#bytes === undefined) return ''
    if (this.#written <= KEPT_BYTES) return this.#bytes.toString('utf8', 0, this.#written)
    const start = this.#written % KEPT_BYTES
    return Buffer.concat([this.#bytes.subarray(start), this.#bytes.subarray(0, start)]).toString('utf8')
  }
}

// --- internal ---

const ESCAPE = String.fromCharCode(0x1b)
const BELL = String.fromCharCode(0x07)
const STRING_END = `${BELL}|${ESCAPE}\\\\|\\x9c`
// Ends are optional: of a command that was cut off nothing must stay, either.
const COMMANDS = new RegExp(
  [
    `(?:${ESCAPE}\\[|\\x9b)[0-?]*[ -/]*[@-~]?`,
    `(?:${ESCAPE}[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^${BELL}${ESCAPE}\\x9c\\n]*(?:${STRING_END})?`,
    `${ESCAPE}[ -/]*[0-~]?`,
  ].join('|'),
  'g',
)
// All that remains of the control characters but the tab, and those that turn the direction of writing.
const CONTROLS = /[^\P{Cc}\t]|[\u202a-\u202e\u2066-\u2069]/gu

function plain(text: string): string {
  const lines = text.replace(COMMANDS, '').trimEnd().split('\n')
  return lines.map(plainLine).join('\n')
}

function plainLine(line: string): string {
  const ended = line.trimEnd()
  // A progress bar writes its line again and again; the last one counts, as on a terminal.
  return ended.slice(ended.lastIndexOf('\r') + 1).replace(CONTROLS, '')
}

/**
 * What two texts end with alike. Without its beginning a text shows the rest of a secret that began there, and with it the
 * mask of that: they are the same only behind it.
 */
function sharedEnd(one: string, other: string): string {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (
    length < most &&
    one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length)
  )
    length += 1
  return one.slice(one.length - length)
}

function bounded(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line
}

/** The last lines with some of what stands before them, each with some of what will be cut off. */
function near(text: string, lines: number): string {
  let start = text.length
  for (let line = 0; line < lines && start >= 0; line++) start = text.lastIndexOf('\n', start - 1)
  return fromLine(text, start - AROUND)
    .split('\n')
    .map((line) => line.slice(0, LONGEST_LINE + AROUND))
    .join('\n')
}

/** What begins there, from the start of a line; one endless line is all there is. */
function fromLine(text: string, at: number): string {
  return at <= 0 ? text : text.slice(text.indexOf('\n', at) + 1 || at)
}
