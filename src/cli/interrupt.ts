// Ctrl-C and the other polite requests to end. A command that has something to put away holds them back: then the first
// one only tells it, and the second one ends it at once. Exit hooks give locks back and kill servers in every case.

import { setMaxListeners } from 'node:events'
import { EXIT } from './exit.ts'

export class Interrupt {
  readonly #stop = new AbortController()
  #holds = 0
  #code: number | undefined

  constructor() {
    // Every server that is waited for listens; that many are no leak.
    setMaxListeners(0, this.#stop.signal)
    process.on('SIGINT', () => this.#end(EXIT.interrupted))
    process.on('SIGTERM', () => this.#end(EXIT.terminated))
    // The terminal is gone; nobody would see the servers that stay.
    process.on('SIGHUP', () => this.#end(EXIT.hungUp))
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** The exit code, once somebody asked to end. */
  get code(): number | undefined {
    return this.#code
  }

  /** From now until the returned function is called, whoever holds sees to it that the command ends. */
  hold(): () => void {
    this.#holds += 1
    let held = true
    return () => {
      if (held) this.#holds -= 1
      held = false
    }
  }

  #end(code: number): void {
    const again = this.#code !== undefined
    this.#code ??= code
    this.#stop.abort()
    if (again || this.#holds === 0) process.exit(this.#code)
  }
}
