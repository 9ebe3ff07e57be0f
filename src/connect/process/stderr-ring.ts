// The end of what a server writes to stderr. It is read for as long as the server writes, or the server would
// stop at a full pipe; what is kept, and what reading may cost, is bounded.

import type { Readable } from 'node:stream'

const KEPT_BYTES = 256 * 1024
// Up to 50 MB a second are read at once; who writes faster waits, as at a slow terminal, instead of taking
// our processor.
const BURST_BYTES = 512 * 1024
const BURST_MS = 10
const LONGEST_LINE = 2000

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

  /** The last lines as plain text: no terminal commands, and bytes that are no UTF-8 shown as such. */
  tail(lines: number): string {
    const text = this.#content().replace(COMMANDS, '').trimEnd()
    return text.split('\n').slice(-lines).map(plain).join('\n')
  }

  #content(): string {
    if (this.#bytes === undefined) return ''
    if (this.#written <= KEPT_BYTES) return this.#bytes.toString('utf8', 0, this.#written)
    const start = this.#written % KEPT_BYTES
    const whole = Buffer.concat([this.#bytes.subarray(start), this.#bytes.subarray(0, start)])
    // The first line has lost its beginning, perhaps within a character. One endless line is all there is.
    return whole.toString('utf8', whole.indexOf(0x0a) + 1)
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

function plain(line: string): string {
  const ended = line.trimEnd()
  // A progress bar writes its line again and again; the last one counts, as on a terminal.
  const text = ended.slice(ended.lastIndexOf('\r') + 1).replace(CONTROLS, '')
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text
}
