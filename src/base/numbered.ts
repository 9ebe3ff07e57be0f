// Things under whole numbers, many coming and going. A Map would do, but one that is filled and emptied all day leaves
// a chain of its former tables behind, and whatever stood in them lives on until the next full collection of garbage:
// under load that was a third of everything a call allocates.

const SMALLEST = 16

/** Linear probing; a removal closes the gap, so nothing but what is there is ever referred to. */
export class Numbered<T> {
  #keys = new Float64Array(SMALLEST)
  #things: (T | undefined)[] = new Array(SMALLEST).fill(undefined)
  #mask = SMALLEST - 1
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: number): T | undefined {
    const at = this.#find(key)
    return this.#things[at]
  }

  set(key: number, thing: T): void {
    if (2 * this.#size > this.#mask) this.#resize(2 * (this.#mask + 1))
    const at = this.#find(key)
    if (this.#things[at] === undefined) this.#size += 1
    this.#keys[at] = key
    this.#things[at] = thing
  }

  /** Takes it out; undefined when it is not there. */
  take(key: number): T | undefined {
    const things = this.#things
    let gap = this.#find(key)
    const taken = things[gap]
    if (taken === undefined) return undefined
    this.#size -= 1
    for (let at = gap; ; ) {
      at = (at + 1) & this.#mask
      const thing = things[at]
      if (thing === undefined) break
      const home = (this.#keys[at] as number) & this.#mask
      // Only what may stand in the gap moves: its home is not between the gap and itself.
      if (((at - home) & this.#mask) < ((at - gap) & this.#mask)) continue
      this.#keys[gap] = this.#keys[at] as number
      things[gap] = thing
      gap = at
    }
    things[gap] = undefined
    return taken
  }

  /** All of them with their numbers, as they are now. */
  entries(): [number, T][] {
    const all: [number, T][] = []
    this.#things.forEach((thing, at) => {
      if (thing !== undefined) all.push([this.#keys[at] as number, thing])
    })
    return all
  }

  values(): T[] {
    return this.#things.filter((thing) => thing !== undefined) as T[]
  }

  clear(): void {
    this.#things.fill(undefined)
    this.#size = 0
  }

  // --- internal ---

  /** Where it stands, or would. */
  #find(key: number): number {
    let at = key & this.#mask
    while (this.#things[at] !== undefined && this.#keys[at] !== key) at = (at + 1) & this.#mask
    return at
  }

  #resize(places: number): void {
    const all = this.entries()
    this.#keys = new Float64Array(places)
    this.#things = new Array(places).fill(undefined)
    this.#mask = places - 1
    this.#size = 0
    for (const [key, thing] of all) this.set(key, thing)
  }
}
