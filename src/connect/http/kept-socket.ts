// One connection to a server, which serves one request at a time and is kept for the next. `node:http` does the same and
// more, at three times the cost (docs/decisions/008).

import type { Socket } from 'node:net'
import { AnswerError, type AnswerEvents, type AnswerHeaders, AnswerReader } from '../../wire/http-answer.ts'
import type { Body } from '../../wire/message.ts'

/** Whoever asked. Hears `head`, then `data` any number of times, then `end`; or, at any time, `broken`. */
export interface Asker extends AnswerEvents {
  broken(error: NodeJS.ErrnoException, at: Stage): void
  /** Something came, and be it a part of a head. */
  alive?(): void
}

/**
 * Where a connection broke: before it stood, so that nothing was sent; when something may have been sent; or when it had
 * served before and nothing came, as it is when the other side let go of it.
 */
export type Stage = 'opening' | 'open' | 'reused'

/** Opens a connection. One of the two comes, once, unless what is returned was destroyed before; `failed` never at once. */
export type OpenSocket = (ready: (socket: Socket) => void, failed: (error: Error) => void) => Opening

export interface Opening {
  destroy(): void
  unref(): unknown
}

/** Where it is kept between two requests. */
export interface SocketKeeper {
  /** It is free, and may be asked again. */
  free(socket: KeptSocket): void
  /** It was free, and is no more. */
  gone(socket: KeptSocket): void
  /** The other side had let go of it; perhaps of others as well. */
  stale(): void
}

export class KeptSocket implements AnswerEvents {
  /** When it became free, by `performance.now()`. */
  freeSince = 0
  readonly #keeper: SocketKeeper
  readonly #reader = new AnswerReader(this)
  readonly #opening: Opening
  #socket: Socket | undefined
  #asker: Asker | undefined
  /** What is to be sent once it is open. */
  #waiting: { readonly head: string; readonly body: Body | undefined } | undefined
  #isIdle = false
  #isOpen = false
  #isPaused = false
  #served = false
  #over = false

  constructor(open: OpenSocket, keeper: SocketKeeper) {
    this.#keeper = keeper
    this.#opening = open(
      (socket) => this.#opened(socket),
      (error) => this.#break(error),
    )
  }

  /** Milliseconds for which the server keeps it open while nothing is said, if it told. */
  get keepFor(): number | undefined {
    return this.#reader.keepFor
  }

  /** Only when it is new or free. `head` is the whole head of the request, the empty line and all. */
  ask(asker: Asker, head: string, body: Body | undefined): void {
    this.#asker = asker
    if (this.#isIdle) this.#setIdle(false)
    if (this.#socket) send(this.#socket, head, body)
    else this.#waiting = { head, body }
  }

  /** The one who asked wants nothing more to do with it. */
  abort(asker: Asker): void {
    if (this.#asker === asker) this.destroy()
  }

  /** The process may end while it is waited for what was asked. */
  unref(asker: Asker): void {
    if (this.#asker === asker) this.#setIdle(true)
  }

  /** Nothing more is read until `resume`. */
  pause(asker: Asker): void {
    if (this.#asker !== asker) return
    this.#isPaused = true
    this.#socket?.pause()
  }

  resume(asker: Asker): void {
    if (this.#asker === asker && this.#isPaused) this.#goOn()
  }

  /** Ends it; nothing is heard of it any more. */
  destroy(): void {
    this.#asker = undefined
    this.#end()
  }

  // --- what is read ---

  head(status: number, headers: AnswerHeaders): void {
    this.#asker?.head(status, headers)
  }

  data(chunk: Buffer): void {
    this.#asker?.data(chunk)
  }

  end(): void {
    const asker = this.#asker
    if (asker === undefined) return
    this.#asker = undefined
    this.#served = true
    if (this.#isPaused) this.#goOn()
    // An answer that comes before all of the question was sent leaves the rest of it on its way.
    if (this.#reader.keeps && this.#socket?.writableLength === 0) {
      if (!this.#isIdle) this.#setIdle(true)
      // Before the answer is told: what is asked because of it finds this one free.
      this.#keeper.free(this)
    } else this.#end()
    asker.end()
  }

  // --- internal ---

  #opened(socket: Socket): void {
    if (this.#over) {
      socket.destroy()
      return
    }
    this.#socket = socket
    socket.setNoDelay(true)
    // Notices within a minute or two that the other side of a quiet stream is gone.
    socket.setKeepAlive(true, KEEP_ALIVE_DELAY)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('end', () => this.#finish())
    socket.on('error', (error) => this.#break(error))
    socket.on('close', () => this.#finish())
    if (socket.connecting) socket.once('connect', () => this.#connected())
    else this.#isOpen = true
    if (this.#isIdle) socket.unref()
    if (this.#waiting) send(socket, this.#waiting.head, this.#waiting.body)
    this.#waiting = undefined
  }

  #goOn(): void {
    this.#isPaused = false
    this.#socket?.resume()
  }

  #connected(): void {
    this.#isOpen = true
    // Where it took a second address to get there, it is another one.
    if (this.#isIdle) this.#socket?.unref()
  }

  #read(chunk: Buffer): void {
    if (this.#asker === undefined) {
      // Nobody asked.
      this.#end()
      return
    }
    this.#asker.alive?.()
    try {
      this.#reader.push(chunk)
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error
      this.#break(error)
    }
  }

  #finish(): void {
    if (this.#over) return
    if (this.#asker && this.#reader.begun && this.#reader.finish()) this.#end()
    else this.#break(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
  }

  #break(error: NodeJS.ErrnoException): void {
    if (this.#over) return
    const asker = this.#asker
    const stale = this.#served && !this.#reader.begun
    this.#asker = undefined
    this.#end()
    if (stale && asker) this.#keeper.stale()
    asker?.broken(error, stale ? 'reused' : this.#isOpen ? 'open' : 'opening')
  }

  #end(): void {
    if (this.#over) return
    this.#over = true
    this.#reader.stop()
    this.#waiting = undefined
    if (this.#socket) this.#socket.destroy()
    else this.#opening.destroy()
    this.#keeper.gone(this)
  }

  #setIdle(isIdle: boolean): void {
    this.#isIdle = isIdle
    if (this.#socket === undefined) {
      if (isIdle) this.#opening.unref()
    } else if (isIdle) this.#socket.unref()
    else this.#socket.ref()
  }
}

// --- internal ---

const KEEP_ALIVE_DELAY = 30_000
/** Up to so many bytes, one copy is less work than a second piece on the way down. */
const COPIED = 16 * 1024

function send(socket: Socket, head: string, body: Body | undefined): void {
  if (body === undefined) socket.write(head, 'latin1')
  else if (typeof body !== 'string' && body.length <= COPIED)
    socket.write(Buffer.concat([Buffer.from(head, 'latin1'), body]))
  // Text of one byte for each character is the same in either way of writing it.
  else if (typeof body === 'string' && Buffer.byteLength(body) === body.length)
    socket.write(head + body, 'latin1')
  else {
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(body)
    socket.uncork()
  }
}
