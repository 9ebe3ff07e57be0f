// Keys of the terminal, for questions that one key answers. They are read all the time and dropped while nobody listens, so
// that none answers a question that came up after it.

import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds in which keys that follow one another make one word: `stop` is not an `s`. */
const SETTLE = 300
/** Milliseconds without a key before somebody counts as not typing. */
const QUIET = 400

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'

export class Keys {
  readonly #interrupt: () => void
  readonly #input = process.stdin
  #typed = performance.now()
  #word = ''
  #timer: NodeJS.Timeout | undefined
  #listener: ((word: string) => void) | undefined

  /** `interrupt` is told of Ctrl-C and Ctrl-D, and of a terminal that is gone: from now on those are keys. */
  constructor(interrupt: () => void) {
    this.#interrupt = interrupt
    this.#input.setRawMode(true)
    this.#input.setEncoding('utf8')
    this.#input.on('data', this.#read)
    this.#input.on('end', interrupt)
    this.#input.resume()
  }

  /** Resolves once nobody has been typing for a moment, from now on. */
  async quiet(signal: AbortSignal): Promise<void> {
    const since = performance.now()
    for (;;) {
      const left = Math.max(since, this.#typed) + QUIET - performance.now()
      if (left <= 0) return
      await sleep(left, undefined, { signal })
    }
  }

  /** The next key, or the word that was typed in one go or ended with Enter. What was typed before is none. */
  next(signal: AbortSignal): Promise<string> {
    this.#forget()
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#listener = undefined
        reject(signal.reason)
      }
      if (signal.aborted) return stop()
      signal.addEventListener('abort', stop, { once: true })
      this.#listener = (word) => {
        this.#listener = undefined
        signal.removeEventListener('abort', stop)
        resolve(word)
      }
    })
  }

  /** Leaves the terminal as it was. */
  close(): void {
    this.#forget()
    this.#input.off('data', this.#read)
    this.#input.off('end', this.#interrupt)
    this.#input.setRawMode(false)
    this.#input.pause()
  }

  // --- internal ---

  readonly #read = (chunk: string | Buffer): void => {
    this.#typed = performance.now()
    const text = String(chunk)
    if (text.includes(CTRL_C) || text.includes(CTRL_D)) this.#interrupt()
    else if (this.#listener !== undefined) this.#take(text)
  }

  #take(text: string): void {
    clearTimeout(this.#timer)
    this.#word += text
    if (/[\r\n]$/.test(text)) this.#tell()
    else this.#timer = setTimeout(() => this.#tell(), SETTLE)
  }

  #tell(): void {
    const word = this.#word.trim()
    this.#forget()
    this.#listener?.(word)
  }

  #forget(): void {
    clearTimeout(this.#timer)
    this.#word = ''
  }
}
