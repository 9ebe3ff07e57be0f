// What a person writes in a conversation, line by line. On a terminal the line under way is out of sight while the agent
// writes, and comes back with the next prompt.

import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline'
import { Writable } from 'node:stream'

export interface ChatInput {
  /** The next line; undefined when there are no more. */
  next(): Promise<string | undefined>
  /** Asks for one; takes the place of an earlier prompt. */
  prompt(text: string): void
  /** Takes the prompt away, for something else to be written. */
  hide(): void
  close(): void
}

/** `onInterrupt`: Ctrl-C, which a terminal gives us as a key. */
export function chatInput(terminal: boolean, onInterrupt: () => void): ChatInput {
  const queue = new Lines()
  if (!terminal) {
    const lines = createInterface({ input: process.stdin })
    queue.follow(lines)
    return { next: () => queue.next(), prompt: () => {}, hide: () => {}, close: () => lines.close() }
  }
  let shown = false
  const output = new Writable({
    write: (chunk, _, done) => {
      if (shown) process.stderr.write(chunk)
      done()
    },
  })
  // Where a long line breaks is the real terminal's to say.
  Object.defineProperty(output, 'columns', { get: () => process.stderr.columns })
  const resized = () => output.emit('resize')
  process.stderr.on('resize', resized)
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  queue.follow(lines, () => {
    shown = false
  })
  lines.on('SIGINT', onInterrupt)
  return {
    next: () => queue.next(),
    prompt: (text) => {
      hide()
      shown = true
      lines.setPrompt(text)
      lines.prompt(true)
    },
    hide,
    close: () => {
      hide()
      process.stderr.off('resize', resized)
      lines.close()
    },
  }

  function hide(): void {
    if (!shown) return
    moveCursor(process.stderr, 0, -lines.getCursorPos().rows)
    cursorTo(process.stderr, 0)
    clearScreenDown(process.stderr)
    shown = false
  }
}

// --- internal ---

/** Lines that nobody has asked for yet, or whoever asked before they came. */
class Lines {
  readonly #lines: string[] = []
  #waiting: ((line: string | undefined) => void) | undefined
  #over = false

  follow(lines: Interface, heard: () => void = () => {}): void {
    lines.on('line', (line) => {
      heard()
      this.#give(line)
    })
    lines.on('close', () => {
      this.#over = true
      this.#waiting?.(undefined)
    })
  }

  next(): Promise<string | undefined> {
    const line = this.#lines.shift()
    if (line !== undefined || this.#over) return Promise.resolve(line)
    return new Promise((resolve) => {
      this.#waiting = (given) => {
        this.#waiting = undefined
        resolve(given)
      }
    })
  }

  #give(line: string): void {
    if (this.#waiting) this.#waiting(line)
    else this.#lines.push(line)
  }
}
