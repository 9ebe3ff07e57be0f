// The stdio transport: one message per line, whole lines only, written at the pace of the reader.
import { once } from 'node:events'
import { write } from './pace.mjs'

/** @param {import('./core.mjs').Server} server */
export function serveStdio(server) {
  const { mode } = server
  const writer = new LineWriter(process.stdout, mode.stdio?.write)
  // The client may be gone already; there is nobody left to tell.
  process.stdout.on('error', () => mode.survives || process.exit(0))
  process.stderr.on('error', () => {})
  if (mode.stdio?.before) void writer.raw(mode.stdio.before)

  const connection = server.connect({
    send: (messages) => writer.lines(messages),
    stream: (pieces) => writer.stream(pieces),
    raw: (bytes) => writer.raw(bytes),
  })
  readLines(process.stdin, (line) => {
    if (line.trim() === '') return
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return connection.malformed()
    }
    connection.receive(message)
  })
  process.stdin.on('end', async () => {
    if (mode.survives || mode.staysOpen) return
    connection.close()
    await writer.idle()
    process.exit(0)
  })
}

/** @param {import('node:stream').Readable} stream @param {(line: string) => void} take */
function readLines(stream, take) {
  let pending = []
  stream.on('data', (chunk) => {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      pending.push(chunk.subarray(from, end))
      take(Buffer.concat(pending).toString('utf8'))
      pending = []
      from = end + 1
    }
    if (from < chunk.length) pending.push(chunk.subarray(from))
  })
}

/** Keeps lines whole: while one is being streamed, the others wait. */
class LineWriter {
  #tail = Promise.resolve()
  #busy = 0
  #write

  constructor(out, write) {
    this.out = out
    this.#write = write ?? ((content) => void out.write(content))
  }

  /** @param {(object | string)[]} messages */
  lines(messages) {
    const content = messages.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join('')
    void this.#push(() => this.#write(content, this.out))
  }

  /** @param {Iterable<string>} pieces */
  stream(pieces) {
    return this.#push(async () => {
      for (const piece of pieces) if (!(await write(this.out, piece))) return
      this.out.write('\n')
    })
  }

  /** @param {string | Uint8Array} bytes */
  raw(bytes) {
    return this.#push(() => void this.out.write(bytes))
  }

  /** Resolves when everything was handed to the operating system. */
  async idle() {
    await this.#tail
    if (this.out.writableLength > 0) await once(this.out, 'drain')
  }

  // The usual case writes at once; a queue only exists while some write takes its time.
  #push(work) {
    if (this.#busy === 0) {
      const result = work()
      if (!(result instanceof Promise)) return this.#tail
      this.#busy++
      this.#tail = result.finally(() => this.#busy--)
      return this.#tail
    }
    this.#busy++
    this.#tail = this.#tail.then(work).finally(() => this.#busy--)
    return this.#tail
  }
}
