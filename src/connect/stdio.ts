// A server as a process of ours, spoken to over its standard input and output, one message a line.

import { Fault } from '../base/fault.ts'
import type { Environment } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { messagesIn } from '../wire/batch.ts'
import { withoutMark } from '../wire/byte-mark.ts'
import { idOfCut } from '../wire/ends.ts'
import { type LineEvents, LineReader, oneLine } from '../wire/lines.ts'
import { rest } from './pause.ts'
import { childEnvironment } from './process/environment.ts'
import { lastWord } from './process/last-word.ts'
import { newMarker } from './process/marker.ts'
import type { ServerProcess } from './process/server-process.ts'
import { type StartOptions, startProcess } from './process/spawn.ts'
import type { Diagnosis, OpenTransport, Outgoing, Transport, TransportEvents } from './transport.ts'

export interface StdioOptions extends StartOptions {
  readonly server: string
  /** The environment Busbar itself has; little of it is passed on. */
  readonly own: Environment
  /** Bytes a message may have. */
  readonly limit: number
  /** Takes the server's secrets out of what it writes to stderr. */
  readonly scrub?: ((text: string) => string) | undefined
}

export function openStdio(options: StdioOptions): OpenTransport {
  return async (events) => {
    const env = childEnvironment(options.own, options.env, newMarker())
    return new StdioTransport(options, await startProcess({ ...options, env }), events)
  }
}

// --- internal ---

/** Bytes that may wait for a server that does not read; more than that, and it is given up on. */
const UNREAD_LIMIT = 64 * 1024 * 1024
/** Milliseconds between the end of a pipe and the end of the process. */
const EXIT_PATIENCE = 500
/** Milliseconds in which what a process that ended has written is read. */
const LAST_WORDS = 100

class StdioTransport implements Transport, LineEvents {
  readonly streams = false
  readonly #options: StdioOptions
  readonly #process: ServerProcess
  readonly #events: TransportEvents
  #waiting = ''
  #parts: Buffer[] = []
  #over = false
  /** Nothing more comes, so that what has no line end may be half a message. */
  #isLast = false
  /** When all was read that it wrote. */
  readonly #silent: Promise<void>

  constructor(options: StdioOptions, process: ServerProcess, events: TransportEvents) {
    this.#options = options
    this.#process = process
    this.#events = events
    const reader = new LineReader(options.limit, this)
    process.stdout.on('data', (chunk: Buffer) => reader.push(chunk))
    process.stdout.on('end', () => {
      this.#isLast = true
      reader.end()
      void this.#ended('closed its output')
    })
    this.#silent = new Promise((resolve) => void process.stdout.once('close', resolve))
    // Shows at the first write after the server closed its end.
    process.stdin.on('error', () => void this.#ended('closed its input'))
    void process.exited.then(() => this.#exited())
  }

  send(outgoing: Outgoing): void {
    if (this.#over) return
    const body = oneLine(outgoing.body)
    // What is said in one go is one write, by whomever it is said: calls go on together, when they are written down.
    if (this.#waiting === '' && this.#parts.length === 0) void DONE.then(this.#flush)
    if (typeof body === 'string') this.#waiting += `${body}\n`
    else {
      if (this.#waiting !== '') this.#parts.push(Buffer.from(this.#waiting))
      this.#parts.push(body, NEW_LINE)
      this.#waiting = ''
    }
  }

  readonly #flush = () => {
    const { stdin } = this.#process
    const parts = this.#parts
    const text = this.#waiting
    this.#parts = []
    this.#waiting = ''
    if (this.#over) return
    if (!stdin.writable) {
      void this.#ended('closed its input')
      return
    }
    if (parts.length > 0) stdin.write(Buffer.concat(parts))
    if (text !== '') stdin.write(text)
    if (stdin.writableLength > UNREAD_LIMIT) this.#lose('does not read what it is sent')
  }

  drop(): void {}

  agree(): void {}

  diagnosis(): Diagnosis {
    const { pid, exit } = this.#process
    const stderr = this.#process.stderrTail(STDERR_LINES, this.#options.scrub)
    return { pid, exitCode: exit?.code, signal: exit?.signal, stderr }
  }

  get pid(): number {
    return this.#process.pid
  }

  async close(): Promise<void> {
    // A cancellation that was said last still goes out.
    this.#flush()
    this.#over = true
    await this.#process.close()
  }

  letters(line: string, chunk: Buffer, start: number): boolean {
    return this.#events.letters(line, chunk, start)
  }

  line(bytes: Buffer): void {
    // Servers print banners. A message begins with a brace, so nothing else has to be read.
    const first = bytes[0]
    if (this.#isLast && !isJson(bytes)) return
    if (first === 0x7b || first === 0x20 || first === 0x09) this.#events.message(bytes)
    else if (first === 0x5b && bytes.at(-1) !== 0x7d) this.#batch(bytes)
    else this.#unclean(bytes)
  }

  /** What was printed without a line end stands before the next message, and so does a byte order mark. */
  #unclean(bytes: Buffer): void {
    const clean = withoutMark(bytes)
    if (clean.length === 0) return
    if (clean !== bytes) {
      this.line(clean)
      return
    }
    const start = answerStart(bytes)
    const noise = bytes.toString('utf8', 0, Math.min(start ?? NOISE, NOISE))
    if (noise.trim() !== '') this.#events.noise(noise)
    if (start !== undefined) this.#events.message(bytes.subarray(start))
  }

  oversized(size: number, head: Buffer, tail: Buffer): void {
    // What looks like an id may be in the middle of it.
    if (!this.#isLast) this.#events.oversized(size, idOfCut(head, tail))
  }

  /** Version 2025-03-26 allowed several messages in one. */
  #batch(bytes: Buffer): void {
    for (const part of messagesIn(bytes))
      if (part.includes(0x7b)) this.#events.message(part)
      else this.#events.noise(part.toString('utf8', 0, NOISE))
  }

  /** A process that ends closes its pipes first; how it ended is known a moment later. */
  async #ended(what: string): Promise<void> {
    await Promise.race([this.#process.exited, rest(EXIT_PATIENCE)])
    if (this.#process.exit === undefined) this.#lose(what)
  }

  async #exited(): Promise<void> {
    // What it said last may still be in the pipe, which others can hold open.
    await Promise.race([this.#silent, rest(LAST_WORDS)])
    const { exit } = this.#process
    this.#lose(exit?.signal ? `was ended by ${exit.signal}` : `ended with code ${exit?.code}`)
  }

  #lose(what: string): void {
    if (this.#over) return
    this.#over = true
    const { server } = this.#options
    const details = { ...this.diagnosis() }
    const last = details.stderr && lastWord(details.stderr)
    const message = `${server} ${what}${last ? `; it said: ${last}` : ''}`
    this.#events.closed(new Fault('CONNECTION_LOST', message, { server, details }))
  }
}

const DONE = Promise.resolve()
const NEW_LINE = Buffer.from('\n')
/** Bytes that are handed on of what is no message: more than is shown, so that secrets in it are found as a whole. */
const NOISE = 32 * 1024
/** Lines of stderr that go with an error. */
const STDERR_LINES = 20

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(withoutMark(bytes).toString())
    return true
  } catch {
    return false
  }
}

/**
 * Where an answer begins that has something before it. Only a whole answer is taken for one: a log that repeats what it
 * was asked would else be a question to us.
 */
function answerStart(bytes: Buffer): number | undefined {
  const start = bytes.indexOf(0x7b)
  if (start < 0 || !bytes.includes('"jsonrpc"', start)) return undefined
  try {
    const message: unknown = JSON.parse(bytes.toString('utf8', start))
    if (!isRecord(message) || message['jsonrpc'] !== '2.0' || 'method' in message) return undefined
    return 'result' in message || 'error' in message ? start : undefined
  } catch {
    return undefined
  }
}
