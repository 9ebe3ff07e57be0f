// The connections to one origin. How many requests may be under way is counted elsewhere, so that long streams take
// nobody's place; here it is only how many are kept, and for how long.

import { Fault } from '../../base/fault.ts'
import { KeptSocket, type OpenSocket, type SocketKeeper } from './kept-socket.ts'

export class Sockets implements SocketKeeper {
  readonly #open: OpenSocket
  readonly #all = new Set<KeptSocket>()
  /** Those that nobody uses, the last one used at the end: it is the least likely to be gone. */
  readonly #free: KeptSocket[] = []
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(open: OpenSocket) {
    this.#open = open
  }

  /** One that is free, or a new one. Throws once they were closed. */
  take(): KeptSocket {
    if (this.#closed) throw new Fault('CLOSED', 'the connections were closed')
    for (let socket = this.#free.pop(); socket; socket = this.#free.pop()) {
      if (isFresh(socket)) return socket
      socket.destroy()
    }
    const made = new KeptSocket(this.#open, this)
    this.#all.add(made)
    return made
  }

  /** Ends every one, also those in use. */
  destroy(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const socket of [...this.#all]) socket.destroy()
  }

  // --- what they tell ---

  free(socket: KeptSocket): void {
    if (this.#free.length >= MOST_FREE) {
      socket.destroy()
      return
    }
    socket.freeSince = performance.now()
    this.#free.push(socket)
    this.#timer ??= setTimeout(this.#sweep, LONGEST_FREE).unref()
  }

  /** A request on one of them may have to be left as it is, unknown: then rather a new connection than another try. */
  stale(): void {
    for (const socket of [...this.#free]) socket.destroy()
  }

  gone(socket: KeptSocket): void {
    this.#all.delete(socket)
    const at = this.#free.indexOf(socket)
    if (at >= 0) this.#free.splice(at, 1)
  }

  // --- internal ---

  readonly #sweep = (): void => {
    for (const socket of this.#free.filter((free) => !isFresh(free))) socket.destroy()
    this.#timer = this.#free.length > 0 ? setTimeout(this.#sweep, LONGEST_FREE).unref() : undefined
  }
}

// --- internal ---

const MOST_FREE = 64
const LONGEST_FREE = 30_000
/** Before its time the server's end is not trusted any more: a request and a farewell that cross cannot be told apart. */
const MARGIN = 1_000

function isFresh({ freeSince, keepFor }: KeptSocket): boolean {
  const kept = Math.min(LONGEST_FREE, keepFor ?? LONGEST_FREE)
  return performance.now() - freeSince < kept - Math.min(MARGIN, kept / 2)
}
