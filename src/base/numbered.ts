// Things under whole numbers that count up, many coming and going. A Map would do, but one that is filled and emptied
// all day leaves a chain of its former tables behind, and whatever stood in them lives on until the next full collection
// of garbage: under load that was a third of everything a call allocates.

const SMALLEST = 16

/** Each number has one place, the last bits of it. Whatever is still there when its place is needed moves to a Map. */
export class Numbered<T> {
  #keys = new Float64Array(SMALLEST)
  #things: (T | undefined)[] = new Array(SMALLEST).fill(undefined)
  #mask = SMALLEST - 1
  /** How many have their place. */
  #placed = 0
  /** The few that stay long. */
  readonly #stayed = new Map<number, T>()

  get size(): number {
    return this.#placed + this.#stayed.size
  }

  get(key: number): T | undefined {
    const at = key & this.#mask
    const thing = this.#things[at]
    if (thing !== undefined && this.#keys[at] === key) return thing
    return this.#stayed.size === 0 ? undefined : this.#stayed.get(key)
  }

  set(key: number, thing: T): void {
    if (this.#stayed.size > 0 && this.#stayed.has(key)) {
      this.#stayed.set(key, thing)
      return
    }
    if (2 * this.#placed > this.#mask) this.#grow()
    const at = key & this.#mask
    const other = this.#things[at]
    const otherKey = this.#keys[at] as number
    if (other === undefined) this.#placed += 1
    else if (otherKey !== key) this.#stayed.set(otherKey, other)
    this.#keys[at] = key
    this.#things[at] = thing
  }

  /** Takes it out; undefined when it is not there. */
  take(key: number): T | undefined {
    const at = key & this.#mask
    const thing = this.#things[at]
    if (thing !== undefined && this.#keys[at] === key) {
      this.#things[at] = undefined
      this.#placed -= 1
      return thing
    }
    if (this.#stayed.size === 0) return undefined
    const stayed = this.#stayed.get(key)
    this.#stayed.delete(key)
    return stayed
  }

  /** All of them with their numbers, as they are now. */
  entries(): [number, T][] {
    const all: [number, T][] = [...this.#stayed]
    this.#things.forEach((thing, at) => {
      if (thing !== undefined) all.push([this.#keys[at] as number, thing])
    })
    return all
  }

  values(): T[] {
    return this.entries().map(([, thing]) => thing)
  }

  clear(): void {
    this.#things.fill(undefined)
    this.#placed = 0
    this.#stayed.clear()
  }

  // --- internal ---

  #grow(): void {
    const all = this.entries()
    const places = 2 * (this.#mask + 1)
    this.#keys = new Float64Array(places)
    this.#things = new Array(places).fill(undefined)
    this.#mask = places - 1
    this.#placed = 0
    this.#stayed.clear()
    for (const [key, thing] of all) this.set(key, thing)
  }
}
