// Answers of HTTP/1.1, read as their bytes come in. Stricter than it has to be: what two readers could take for different
// things is refused, and a connection on which anything is left over serves nobody again.

/** By names in lower case. What came more than once is joined, where that means anything. */
export type AnswerHeaders = Readonly<Record<string, string | undefined>>

/** What is heard of one answer: its head, its body in pieces, its end. */
export interface AnswerEvents {
  head(status: number, headers: AnswerHeaders): void
  data(chunk: Buffer): void
  /** Comes last, when `keeps` is known. */
  end(): void
}

/** Something that is no answer of HTTP. */
export class AnswerError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = `HPE_${code}`
  }
}

export class AnswerReader {
  /** Whether the connection may serve again. */
  keeps = true
  /** Milliseconds that the other side keeps it open for when nothing is said, if it told. */
  keepFor: number | undefined
  readonly #events: AnswerEvents
  /** An answer to CONNECT has no body: what follows belongs to whoever asked for the tunnel. */
  readonly #tunnels: boolean
  #state: State = 'head'
  /** The beginning of something of which more is to come: a head, or a line. */
  #rest: Buffer | undefined
  /** Bytes of the body, or of a piece of it, that are still to come. */
  #left = 0
  /** Bytes of heads and lines since the last of the body. */
  #overhead = 0
  /** Bytes of the head under way that were looked at. */
  #looked = 0
  #begun = false
  #stopped = false

  constructor(events: AnswerEvents, tunnels = false) {
    this.#events = events
    this.#tunnels = tunnels
  }

  /** Whether some of an answer has come, and not all. */
  get begun(): boolean {
    return this.#begun
  }

  /** Nothing is heard of what still comes. */
  stop(): void {
    this.#stopped = true
  }

  /** Throws an AnswerError on what cannot be read; then nothing more may be pushed. */
  push(chunk: Buffer): void {
    let bytes = chunk
    if (this.#rest) {
      bytes = Buffer.concat([this.#rest, chunk])
      this.#rest = undefined
    }
    this.#begun = true
    let at = 0
    while (at < bytes.length && !this.#stopped) {
      const next = this.#step(bytes, at)
      if (next < 0) {
        this.#rest = at === 0 ? bytes : bytes.subarray(at)
        this.#bound(this.#rest.length)
        return
      }
      at = next
    }
  }

  /** The other side has said its last. Whether what it said was whole. */
  finish(): boolean {
    if (this.#state !== 'to the end' || this.#stopped) return !this.#begun
    this.keeps = false
    this.#end()
    return true
  }

  // --- internal ---

  /** Reads on from `at`; returns how far it got, or -1 when it takes more bytes to go on. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at)
      case 'counted':
        return this.#readBody(bytes, at)
      case 'piece':
        return this.#readBody(bytes, at)
      case 'to the end':
        this.#events.data(at === 0 ? bytes : bytes.subarray(at))
        return bytes.length
      default:
        return this.#readLine(bytes, at)
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(HEAD_END, at + Math.max(0, this.#looked - HEAD_END.length))
    if (end < 0) {
      // Or whatever speaks another protocol would be waited for.
      if (
        bytes.length - at >= BEGINNING.length &&
        bytes.toString('latin1', at, at + BEGINNING.length) !== BEGINNING
      )
        throw noAnswer()
      refuseBareFeeds(bytes, at, at + this.#looked)
      this.#looked = bytes.length - at
      return -1
    }
    this.#looked = 0
    this.#bound(end - at)
    const after = end + HEAD_END.length
    this.#take(readHead(bytes.toString('latin1', at, end)), after === bytes.length)
    return after
  }

  /** `isLast`: nothing has come after it yet. */
  #take({ status, minor, headers }: Head, isLast: boolean): void {
    if (status < 200) {
      if (status === 101) throw new AnswerError('INVALID_STATUS', 'it changes the protocol, unasked')
      return
    }
    const coding = headers['transfer-encoding']
    const length = headers['content-length']
    this.keeps = staysOpen(minor, headers['connection'])
    this.keepFor = timeIn(headers['keep-alive'])
    if (status === 204 || status === 304 || (this.#tunnels && status < 300)) {
      // Some send the body all the same, a moment later; nobody must take that for another answer.
      if (coding !== undefined || (status !== 304 && (length ?? '0') !== '0')) this.keeps = false
      this.#events.head(status, headers)
      this.#endBefore(isLast)
      return
    }
    if (coding !== undefined) {
      if (coding.toLowerCase() !== 'chunked' || length !== undefined || minor === 0)
        throw new AnswerError('INVALID_TRANSFER_ENCODING', `its length is told by ${JSON.stringify(coding)}`)
      this.#state = 'size'
      this.#overhead = 0
    } else if (length === undefined) this.#state = 'to the end'
    else {
      if (!/^\d{1,15}$/.test(length))
        throw new AnswerError('INVALID_CONTENT_LENGTH', `its length is ${JSON.stringify(length)}`)
      this.#left = Number(length)
      this.#state = 'counted'
    }
    this.#events.head(status, headers)
    if (this.#state === 'counted' && this.#left === 0) this.#endBefore(isLast)
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    this.#events.data(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
    if (this.#left > 0) return end
    if (this.#state === 'piece') {
      this.#state = 'after'
      this.#overhead = 0
    } else this.#endBefore(end === bytes.length)
    return end
  }

  /** The lines between the pieces of a body, and after the last one. */
  #readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LF, at)
    if (end < 0) return -1
    this.#overhead += end + 1 - at
    this.#bound(this.#overhead)
    if (end === at || bytes[end - 1] !== CR) throw new AnswerError('CR_EXPECTED', 'a line of it ends oddly')
    const line = bytes.toString('latin1', at, end - 1)
    if (this.#state === 'size') this.#size(line)
    else if (this.#state === 'after') {
      if (line !== '') throw new AnswerError('STRICT', 'a piece of it is longer than it says')
      this.#state = 'size'
    } else if (line === '') this.#endBefore(end + 1 === bytes.length)
    // What stands after the body is for nobody here.
    else if (!/^[^\s:]+:/.test(line)) throw new AnswerError('INVALID_HEADER_TOKEN', 'its last lines are odd')
    return end + 1
  }

  #size(line: string): void {
    const [, digits] = /^([0-9a-f]{1,12})[\t ]*(?:;.*)?$/i.exec(line) ?? []
    if (digits === undefined)
      throw new AnswerError('INVALID_CHUNK_SIZE', 'a piece of it does not say its size')
    this.#left = Number.parseInt(digits, 16)
    this.#state = this.#left === 0 ? 'trailer' : 'piece'
  }

  #bound(size: number): void {
    if (size > MOST_OVERHEAD)
      throw new AnswerError('HEADER_OVERFLOW', `its head has over ${MOST_OVERHEAD} bytes`)
  }

  #endBefore(isLast: boolean): void {
    // Nobody asked for what follows. It must not be taken for the answer to whatever is asked next.
    if (!isLast) this.keeps = false
    this.#end()
    if (!isLast) this.#stopped = true
  }

  #end(): void {
    // Whoever heard the head may have had enough.
    if (this.#stopped) return
    this.#state = 'head'
    this.#begun = false
    this.#events.end()
  }
}

// --- internal ---

type State = 'head' | 'counted' | 'to the end' | 'size' | 'piece' | 'after' | 'trailer'

interface Head {
  readonly status: number
  /** Of the version: 1.0 or 1.1. */
  readonly minor: number
  readonly headers: AnswerHeaders
}

const CR = 13
const LF = 10
const HEAD_END = Buffer.from('\r\n\r\n')
const BEGINNING = 'HTTP/1.'
/** As node has it. */
const MOST_OVERHEAD = 16 * 1024
/** Those that say nothing more by being there twice: the first one counts. */
const SINGLE: ReadonlySet<string> = new Set(['content-type', 'date', 'location', 'retry-after', 'server'])

function readHead(text: string): Head {
  let at = text.indexOf('\r\n')
  if (at < 0) at = text.length
  const [, minor, status] = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(text.slice(0, at)) ?? []
  if (status === undefined)
    throw text.startsWith(BEGINNING) ? new AnswerError('INVALID_STATUS', 'it has no status') : noAnswer()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  if (/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)/.test(text) || /(?:^|[^\r])\n/.test(text))
    throw new AnswerError('INVALID_HEADER_TOKEN', 'there are control characters in its head')
  const headers: Record<string, string> = Object.create(null)
  while (at < text.length) {
    const start = at + 2
    at = text.indexOf('\r\n', start)
    if (at < 0) at = text.length
    const colon = text.indexOf(':', start)
    if (colon < 0 || colon > at) throw new AnswerError('INVALID_HEADER_TOKEN', 'a header of it has no name')
    const name = text.slice(start, colon).toLowerCase()
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name))
      throw new AnswerError('INVALID_HEADER_TOKEN', 'a header of it has an odd name')
    const value = trimmed(text, colon + 1, at)
    const known = headers[name]
    if (known === undefined) headers[name] = value
    else if (name === 'content-length')
      throw new AnswerError('UNEXPECTED_CONTENT_LENGTH', 'it tells its length twice')
    else if (!SINGLE.has(name)) headers[name] = `${known}, ${value}`
  }
  return { status: Number(status), minor: Number(minor), headers }
}

function noAnswer(): AnswerError {
  return new AnswerError('INVALID_CONSTANT', 'it does not begin as an answer does')
}

/** Of a head whose end has not come: one that ends its lines in another way has none. */
function refuseBareFeeds(bytes: Buffer, start: number, from: number): void {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1))
    if (at === start || bytes[at - 1] !== CR)
      throw new AnswerError('CR_EXPECTED', 'a line of its head ends oddly')
}

/** Without the spaces and tabs around it; other kinds of space are characters as any. */
function trimmed(text: string, start: number, end: number): string {
  let from = start
  let to = end
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function staysOpen(minor: number, connection: string | undefined): boolean {
  if (connection === undefined) return minor === 1
  if (/(?:^|[\s,])close(?:$|[\s,])/i.test(connection)) return false
  return minor === 1 || /(?:^|[\s,])keep-alive(?:$|[\s,])/i.test(connection)
}

function timeIn(keepAlive: string | undefined): number | undefined {
  const [, seconds] = (keepAlive !== undefined && /(?:^|[\s,])timeout=(\d{1,6})/i.exec(keepAlive)) || []
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
