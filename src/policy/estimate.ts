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
  const usual = history?.usual
  if (history === undefined || usual === undefined)
    return { energy: guessed(tool) + price, confidence: 'guess', calls: 0 }
  const calls = history.count
  return { energy: usual + price, confidence: calls < ENOUGH ? 'low' : 'good', calls }
}

/** The last costs of one tool, and what three of four calls did not exceed. */
export class Costs {
  #latest: number[] = []
  #next = 0
  #usual: number | undefined
  /** How many came since that was found out. */
  #fresh = 0

  /** Oldest first. */
  constructor(costs: readonly number[] = []) {
    for (const cost of costs) this.add(cost)
  }

  get count(): number {
    return this.#latest.length
  }

  /** The 75th percentile, found out anew when every eighth of them is a new one: this is asked before every call. */
  get usual(): number | undefined {
    if (this.#fresh > this.#latest.length >> 3) this.#look()
    return this.#usual
  }

  /** Puts earlier ones before those that are known. */
  follow(earlier: readonly number[]): void {
    const own = [...this.#latest.slice(this.#next), ...this.#latest.slice(0, this.#next)]
    this.#latest = []
    this.#next = 0
    for (const cost of [...earlier, ...own]) this.add(cost)
  }

  add(cost: number): void {
    this.#latest[this.#next] = cost
    this.#next = (this.#next + 1) % KEPT
    this.#fresh += 1
  }

  #look(): void {
    const sorted = Float64Array.from(this.#latest).sort()
    this.#usual = sorted[Math.ceil(sorted.length * USUAL) - 1]
    this.#fresh = 0
  }
}

/** What calls of one tool take: what their time cost so far, and their price. */
export class Tariff {
  readonly price: number
  readonly #costs: Costs
  readonly #definition: Tool | undefined

  constructor(costs: Costs, definition: Tool | undefined, price: number) {
    this.#costs = costs
    this.#definition = definition
    this.price = price
  }

  /** What the next one will probably take. */
  get energy(): number {
    return (this.#costs.usual ?? guessed(this.#definition)) + this.price
  }

  /** Learns from a call that took so long, and tells what it cost. */
  spent(milliseconds: number): number {
    const time = timeCost(milliseconds)
    if (Number.isFinite(time)) this.#costs.add(time)
    return time + this.price
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
    this.#soon()
    return estimateOf(definition, price, this.#costs.get(keyOf(server, tool)))
  }

  /** The same for calls that are about to be made, and learn from each other. */
  tariff(server: string, tool: string, definition: Tool | undefined, price: number): Tariff {
    this.#soon()
    const key = keyOf(server, tool)
    const known = this.#costs.get(key)
    const costs = known ?? new Costs()
    if (known === undefined) this.#put(key, costs)
    return new Tariff(costs, definition, price)
  }

  /** Resolves when what earlier runs learned is known. Never rejects: the store has other ways to say that. */
  ready(): Promise<void> {
    this.#seeding ??= this.#seed().catch(() => undefined)
    return this.#seeding
  }

  // --- internal ---

  /** Not now: whoever makes the call goes first. Until then it is guessed, which is no harm. */
  #soon(): void {
    if (this.#seeding === undefined) setImmediate(() => void this.ready())
  }

  #put(key: string, costs: Costs): void {
    const [oldest] = this.#costs.keys()
    if (this.#costs.size >= MOST_TOOLS && oldest !== undefined) this.#costs.delete(oldest)
    this.#costs.set(key, costs)
  }

  /** What was learned meanwhile counts as later. */
  async #seed(): Promise<void> {
    const earlier = new Map<string, number[]>()
    for (const { server, tool, duration, energy } of await this.#energy.durations()) {
      const key = keyOf(server, tool)
      // A call may have waited for a person, which costs nothing; and what it cost may include a price.
      const cost = Math.min(timeCost(duration), energy)
      const costs = earlier.get(key)
      if (costs) costs.push(cost)
      else earlier.set(key, [cost])
    }
    for (const [key, costs] of earlier) {
      const known = this.#costs.get(key)
      if (known) known.follow(costs)
      else this.#put(key, new Costs(costs))
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

function guessed(tool: Tool | undefined): number {
  return tool ? guess(tool) : LEAST
}

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
