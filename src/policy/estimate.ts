// What a call will take: learned from the latest calls of the tool, else guessed from its definition. Time costs, and so
// does what the configuration charges for a tool on top.

import { matchesGlob } from '../base/glob.ts'
import { isRecord } from '../base/record.ts'
import type { Tool } from '../connect/definitions.ts'
import type { Energy } from '../store/policy.ts'

/** Energy for a second that a call takes. */
const ENERGY_PER_SECOND = 2

export interface Estimate {
  readonly energy: number
  /** Guessed from the definition, learned from a few calls, or from enough of them. */
  readonly confidence: 'guess' | 'low' | 'good'
  /** How many calls it was learned from. */
  readonly calls: number
}

/** What the time of a call cost. */
export function timeCost(milliseconds: number): number {
  return (Math.max(0, milliseconds) / 1000) * ENERGY_PER_SECOND
}

/** The highest price whose pattern fits the tool; nothing when none does. */
export function priceOf(prices: Readonly<Record<string, number>> | undefined, tool: string): number {
  let highest = 0
  for (const pattern in prices) {
    const price = prices[pattern] ?? 0
    if (price > highest && matchesGlob(pattern, tool)) highest = price
  }
  return highest
}

/** `history`: what the time of the tool's latest calls cost. Without a definition it can only be learned. */
export function estimateOf(tool: Tool | undefined, price: number, history: Costs | undefined): Estimate {
  const calls = history?.count ?? 0
  if (history === undefined || calls === 0)
    return { energy: (tool ? guess(tool) : LEAST) + price, confidence: 'guess', calls: 0 }
  return { energy: history.usual + price, confidence: calls < ENOUGH ? 'low' : 'good', calls }
}

/** The last costs of one tool, and what three of four calls did not exceed. */
export class Costs {
  readonly #latest: number[] = []
  readonly #sorted: number[] = []
  #next = 0

  /** Oldest first. */
  constructor(costs: readonly number[] = []) {
    for (const cost of costs) this.add(cost)
  }

  get count(): number {
    return this.#latest.length
  }

  /** The 75th percentile. */
  get usual(): number {
    return this.#sorted[Math.ceil(this.#sorted.length * USUAL) - 1] ?? 0
  }

  /** The same with earlier ones before it. */
  after(earlier: readonly number[]): Costs {
    const own = [...this.#latest.slice(this.#next), ...this.#latest.slice(0, this.#next)]
    return new Costs([...earlier, ...own])
  }

  add(cost: number): void {
    const gone = this.#latest[this.#next]
    if (gone !== undefined) this.#sorted.splice(placeIn(this.#sorted, gone), 1)
    this.#sorted.splice(placeIn(this.#sorted, cost), 0, cost)
    this.#latest[this.#next] = cost
    this.#next = (this.#next + 1) % KEPT
  }
}

/** The costs of every tool that is called, with what the record knows of earlier runs. */
export class Estimates {
  readonly #energy: Pick<Energy, 'durations'>
  readonly #costs = new Map<string, Costs>()
  #seeding: Promise<void> | undefined

  constructor(energy: Pick<Energy, 'durations'>) {
    this.#energy = energy
  }

  /** `definition`, where it is known, is for tools that were never called. Never waits. */
  of(server: string, tool: string, definition: Tool | undefined, price: number): Estimate {
    // Not now: whoever makes the call goes first. Until then it is guessed, which is no harm.
    if (this.#seeding === undefined) setImmediate(() => void this.ready())
    return estimateOf(definition, price, this.#costs.get(keyOf(server, tool)))
  }

  /** Learns what the time of a call cost, without the price. */
  add(server: string, tool: string, cost: number): void {
    if (!Number.isFinite(cost)) return
    const key = keyOf(server, tool)
    const known = this.#costs.get(key)
    if (known) known.add(Math.max(0, cost))
    else this.#put(key, new Costs([Math.max(0, cost)]))
  }

  /** Resolves when what earlier runs learned is known. Never rejects: the store has other ways to say that. */
  ready(): Promise<void> {
    this.#seeding ??= this.#seed().catch(() => undefined)
    return this.#seeding
  }

  // --- internal ---

  #put(key: string, costs: Costs): void {
    const [oldest] = this.#costs.keys()
    if (this.#costs.size >= MOST_TOOLS && oldest !== undefined) this.#costs.delete(oldest)
    this.#costs.set(key, costs)
  }

  /** What was learned meanwhile counts as later. */
  async #seed(): Promise<void> {
    const earlier = new Map<string, number[]>()
    for (const { server, tool, duration } of await this.#energy.durations()) {
      const key = keyOf(server, tool)
      const costs = earlier.get(key)
      if (costs) costs.push(timeCost(duration))
      else earlier.set(key, [timeCost(duration)])
    }
    for (const [key, costs] of earlier) {
      const known = this.#costs.get(key)
      this.#put(key, known ? known.after(costs) : new Costs(costs))
    }
  }
}

// --- internal ---

const KEPT = 64
const USUAL = 0.75
/** Calls from which an estimate is good. */
const ENOUGH = 5
/** Servers may make names up, and memory must not grow with them. */
const MOST_TOOLS = 5000

function keyOf(server: string, tool: string): string {
  return `${server}\0${tool}`
}

const LEAST = 0.1
const MOST = 5
/** A definition is looked at so far and no further. */
const DEEPEST = 8
const MOST_PROPERTIES = 50

/** What has many parameters, nested ones, or reaches into the world takes longer, as a rule. */
function guess({ inputSchema, annotations }: Tool): number {
  const { properties, depth } = sizeOf(inputSchema, 0)
  const reach = annotations?.['openWorldHint'] === true ? 1 : 0
  return Math.min(MOST, LEAST + 0.1 * properties + 0.3 * Math.max(0, depth - 1) + reach)
}

function sizeOf(schema: unknown, depth: number): { properties: number; depth: number } {
  const size = { properties: 0, depth }
  if (!isRecord(schema) || depth >= DEEPEST) return size
  const { properties, items } = schema
  const inner = [...(isRecord(properties) ? Object.values(properties).slice(0, MOST_PROPERTIES) : [])]
  size.properties = inner.length
  if (isRecord(items)) inner.push(items)
  for (const one of inner) {
    if (size.properties >= MOST_PROPERTIES) break
    const found = sizeOf(one, depth + 1)
    size.properties += found.properties
    size.depth = Math.max(size.depth, found.depth)
  }
  return size
}

/** Where a number stands, or should stand, among sorted ones. */
function placeIn(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}
