// Output of any length in bounded memory: its beginning and its end.

/**
 * Bytes beyond what is given on each side, so that nothing which is to be taken out is cut in two first. Half of
 * them are never given: what is taken out makes the rest shorter, and a part of something may stand there.
 */
const MARGIN = 16 * 1024

export class Clipped {
  readonly #most: number
  readonly #kept: number
  readonly #start: Buffer[] = []
  #end: Buffer[] = []
  #startSize = 0
  #endSize = 0
  #total = 0

  /** Characters of the beginning, and as many of the end. */
  constructor(most = 32 * 1024, margin = MARGIN) {
    this.#most = most
    this.#kept = most + margin
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length
    const first = chunk.subarray(0, Math.max(0, this.#kept - this.#startSize))
    if (first.length > 0) this.#start.push(Buffer.from(first))
    this.#startSize += first.length
    const rest = chunk.subarray(first.length)
    if (rest.length === 0) return
    this.#end.push(Buffer.from(rest.subarray(-this.#kept)))
    this.#endSize += Math.min(rest.length, this.#kept)
    if (this.#endSize > 2 * this.#kept) this.#trim()
  }

  /** `clean` takes out what nobody may see, before anything is cut. */
  text(clean: (text: string) => string = (text) => text): string {
    this.#trim()
    const start = Buffer.concat(this.#start)
    const end = Buffer.concat(this.#end)
    if (start.length + end.length === this.#total) {
      const whole = clean(`${Buffer.concat([start, end])}`)
      if (whole.length <= 2 * this.#most) return whole
      return this.#cut(whole, whole)
    }
    const margin = Math.floor((this.#kept - this.#most) / 2)
    const [first, last] = [clean(`${start}`), clean(`${end}`)]
    return this.#cut(first.slice(0, Math.max(0, first.length - margin)), last.slice(margin))
  }

  // --- internal ---

  #cut(start: string, end: string): string {
    const left = this.#total - 2 * this.#most
    return `${start.slice(0, this.#most)}\n[about ${left} bytes left out]\n${end.slice(-this.#most)}`
  }

  #trim(): void {
    const end = Buffer.concat(this.#end).subarray(-this.#kept)
    this.#end = [end]
    this.#endSize = end.length
  }
}
