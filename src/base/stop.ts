// A way to be told to stop. What takes one takes an AbortSignal as well; the one made here costs a tenth of it, which
// counts where every request needs one and hardly any uses it.

export interface Stop {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export class Stopper implements Stop {
  aborted = false
  #listeners: (() => void)[] = []

  /** Tells everybody who listens, once. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const listener of this.#listeners.splice(0)) listener()
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener)
    if (at >= 0) this.#listeners.splice(at, 1)
  }
}
