// The tools of one server: as it gave them, as it gave them the last time, and fetched again when they change.

import { changed } from '../base/changes.ts'
import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Era } from '../wire/era.ts'
import { type ParamHeader, paramHeaders } from '../wire/param-headers.ts'
import { type List, readTools, type Tool } from './definitions.ts'
import type { Link } from './link.ts'
import { type Memory, type Remembered, VERDICT_AGE } from './memory.ts'
import type { Plan } from './plan.ts'

export interface ToolListOptions {
  /** `deadline`: milliseconds for all pages. */
  readonly plan: Pick<Plan, 'name' | 'identity' | 'secrets' | 'deadline'>
  readonly memory: Pick<Memory, 'read' | 'write'>
  readonly complain: (text: string) => void
}

/** Milliseconds for which a list counts as what the server would say now. */
const FRESH = 1_000

/** A tool with what its calls need. */
export interface KnownTool {
  readonly tool: Tool
  /** Arguments that modern servers want in headers, too. */
  readonly headers: readonly ParamHeader[]
}

export class ToolList {
  readonly #options: ToolListOptions
  readonly #identity: string
  #remembered: Remembered | undefined
  #tools: readonly Tool[]
  #text: string
  #known = new Map<string, KnownTool>()
  /** How often it was asked for them, and which of those was answered last. */
  #asked = 0
  #answered = 0
  #leavesOut = false
  #given = false
  #fetched = Number.NEGATIVE_INFINITY

  constructor(options: ToolListOptions) {
    this.#options = options
    const { name, identity, secrets } = options.plan
    this.#identity = identity
    this.#remembered = options.memory.read(name, identity, secrets)
    this.#tools = this.#remembered?.definitions.tools ?? []
    this.#text = JSON.stringify(this.#tools)
    this.#index()
  }

  get all(): readonly Tool[] {
    return this.#tools
  }

  /** The same, if the server has given them in this run. */
  get given(): readonly Tool[] | undefined {
    return this.#given ? this.#tools : undefined
  }

  /** Whether it may be worth asking again. */
  get isOld(): boolean {
    return performance.now() - this.#fetched > FRESH
  }

  /** Whether the server lists something that cannot be offered. */
  get leavesOut(): boolean {
    return this.#leavesOut
  }

  find(name: string): KnownTool | undefined {
    return this.#known.get(name)
  }

  get remembered(): Remembered | undefined {
    return this.#remembered
  }

  /** The era it spoke not long ago. */
  get expected(): Era | undefined {
    const remembered = this.#remembered
    return remembered && Date.now() - remembered.at < VERDICT_AGE ? remembered.agreement.era : undefined
  }

  /** It did not start as it was expected to: the next time it is asked which era it speaks. Its tools stay known. */
  doubt(): void {
    if (this.#remembered !== undefined && this.expected !== undefined)
      this.#remember({ ...this.#remembered, at: 0 })
  }

  /** Fetches them; says whether they differ from what was known. */
  async fetch(link: Link, signal?: Stop): Promise<boolean> {
    this.#fetched = performance.now()
    this.#asked += 1
    const asked = this.#asked
    const list = link.offers('tools') ? await this.#whole(link, signal) : { items: [], complaints: [] }
    // Somebody asked later and was answered sooner.
    if (asked < this.#answered) return false
    this.#answered = asked
    const { tools, complaints } = readTools(list, link.agreement.era, this.#options.plan.secrets)
    this.#leavesOut = tools.length < list.items.length
    for (const complaint of complaints) this.#options.complain(complaint)
    const text = JSON.stringify(tools)
    const differs = text !== this.#text
    this.#tools = tools
    this.#given = true
    this.#text = text
    this.#index()
    this.#remember({ agreement: link.agreement, definitions: { tools }, at: Date.now() })
    return differs
  }

  // --- internal ---

  /** It belongs to the start of the server, and so does the time that it may take. */
  async #whole(link: Link, signal: Stop | undefined): Promise<List> {
    const { name: server, deadline } = this.#options.plan
    try {
      return await link.list('tools/list', { idle: deadline, signal })
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'CALL_TIMEOUT') throw error
      const hint = `give it longer: timeouts.connect of ${server}`
      throw new Fault('CONNECT_TIMEOUT', error.message, { hint, server, cause: error })
    }
  }

  #index(): void {
    this.#known = new Map(
      this.#tools.map((tool) => {
        const headers = paramHeaders(tool.inputSchema)
        return [tool.name, { tool, headers: typeof headers === 'string' ? [] : headers }]
      }),
    )
    changed()
  }

  #remember(remembered: Remembered): void {
    const { memory, plan, complain } = this.#options
    this.#remembered = remembered
    try {
      memory.write(plan.name, this.#identity, remembered, plan.secrets)
    } catch (error) {
      // A full disk must not cost a connection.
      complain(`could not be remembered: ${error instanceof Error ? error.message : error}`)
    }
  }
}
