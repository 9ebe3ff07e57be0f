// Names that are remembered for a while: the latest of them, so that nobody fills the memory with others.

export class Recent {
  readonly #most: number
  readonly #names = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  add(name: string): void {
    this.#names.delete(name)
    this.#names.add(name)
    const [oldest] = this.#names
    if (this.#names.size > this.#most && oldest !== undefined) this.#names.delete(oldest)
  }

  delete(name: string): void {
    this.#names.delete(name)
  }
}
