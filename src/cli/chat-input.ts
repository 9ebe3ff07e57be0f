// What a person writes in a conversation, line by line. On a terminal the line under way is out of sight while the agent
// writes, and comes back with the next prompt.

import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline'
import { Writable } from 'node:stream'

/** A line, and what it was asked for: that of the prompt under which it was ended; undefined where there was none. */
export interface ChatText {
  readonly text: string
  readonly about?: string | undefined
}

export interface ChatInput {
  /** The next line; undefined when there are no more. */
  next(): Promise<ChatText | undefined>
  /** Asks for one; takes the place of an earlier prompt. What was begun under one about something else is no answer to it. */
  prompt(text: string, about?: string): void
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
  let about: string | undefined
  /** What was begun when something was asked, for afterwards. */
  let begun = ''
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
    const asked = shown ? about : undefined
    shown = false
    return asked
  })
  lines.on('SIGINT', onInterrupt)
  return {
    next: () => queue.next(),
    prompt: (text, next) => {
      hide()
      if (next !== about) exchange(next)
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

  /** Keys that were meant for one thing are not taken for another. */
  function exchange(next: string | undefined): void {
    if (about === undefined) begun = lines.line
    lines.write(null, { ctrl: true, name: 'e' })
    lines.write(null, { ctrl: true, name: 'u' })
    about = next
    if (next !== undefined) return
    lines.write(begun)
    begun = ''
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
  readonly #lines: ChatText[] = []
  #waiting: ((line: ChatText | undefined) => void) | undefined
  #over = false

  /** `heard` tells what a line is about, at the moment it is ended. */
  follow(lines: Interface, heard: () => string | undefined = () => undefined): void {
    lines.on('line', (text) => this.#give({ text, about: heard() }))
    lines.on('close', () => {
      this.#over = true
      this.#waiting?.(undefined)
    })
  }

  next(): Promise<ChatText | undefined> {
    const line = this.#lines.shift()
    if (line !== undefined || this.#over) return Promise.resolve(line)
    return new Promise((resolve) => {
      this.#waiting = (given) => {
        this.#waiting = undefined
        resolve(given)
      }
    })
  }

  #give(line: ChatText): void {
    if (this.#waiting) this.#waiting(line)
    else this.#lines.push(line)
  }
}
