// Output of any length in bounded memory: its beginning and its end.

export class Clipped {
  readonly #most: number
  readonly #start: Buffer[] = []
  #end: Buffer[] = []
  #startSize = 0
  #endSize = 0
  #total = 0

  /** Bytes of the beginning, and as many of the end. */
  constructor(most = 32 * 1024) {
    this.#most = most
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length
    const first = chunk.subarray(0, Math.max(0, this.#most - this.#startSize))
    if (first.length > 0) this.#start.push(Buffer.from(first))
    this.#startSize += first.length
    const rest = chunk.subarray(first.length)
    if (rest.length === 0) return
    this.#end.push(Buffer.from(rest.subarray(-this.#most)))
    this.#endSize += Math.min(rest.length, this.#most)
    if (this.#endSize > 2 * this.#most) this.#trim()
  }

  /** What is not text is shown as such; nothing in it is obeyed by a terminal later on. */
  text(): string {
    this.#trim()
    const left = this.#total - this.#startSize - this.#endSize
    const gap = left > 0 ? `\n[${left} bytes left out]\n` : ''
    return `${Buffer.concat(this.#start)}${gap}${Buffer.concat(this.#end)}`
  }

  // --- internal ---

  #trim(): void {
    const end = Buffer.concat(this.#end).subarray(-this.#most)
    this.#end = [end]
    this.#endSize = end.length
  }
}
