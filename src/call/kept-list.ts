// One list of one server: asked for once for everybody, and what it was the last time while the server is down.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Connection } from '../connect/connection.ts'
import type { ListMethod } from '../connect/definitions.ts'
import type { Link } from '../connect/link.ts'
import type { ListMemory } from '../connect/list-memory.ts'
import { abortable } from '../connect/pause.ts'
import { ERROR } from '../wire/era.ts'
import { type Item, itemsOf } from './request.ts'

export type ListKind = 'resources' | 'templates' | 'prompts'

/** One server's part of a list. The array stays the same one as long as nothing changed. */
export interface Part {
  readonly server: string
  readonly items: readonly Item[]
  /** Why this is not what the server would say now. */
  readonly reason: string | undefined
}

/** How each kind is asked for, and what a server says that it has when it has some. */
export const LISTS: Readonly<
  Record<ListKind, { readonly method: ListMethod; readonly capability: 'resources' | 'prompts' }>
> = {
  resources: { method: 'resources/list', capability: 'resources' },
  templates: { method: 'resources/templates/list', capability: 'resources' },
  prompts: { method: 'prompts/list', capability: 'prompts' },
}

export const NOTHING: readonly Item[] = []

/** Milliseconds that somebody waits for a list. The question itself stays, and its answer serves the next one. */
const PATIENCE = 2_000

/** A server that is not up yet; shared by its lists, so that nobody waits for it once for each of them. */
export class Arrival {
  readonly #connection: Connection
  #since: number | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Waits while it starts, and not as long again when somebody else has waited already. */
  async wait(start: boolean, until: number): Promise<void> {
    const connection = this.#connection
    this.#since ??= performance.now()
    const up = start ? connection.connect() : connection.settled()
    const over = up.finally(() => {
      this.#since = undefined
    })
    const left = Math.min(until, this.#since + PATIENCE) - performance.now()
    await inTime(over, left, () => undefined)
  }
}

export interface KeptListOptions {
  readonly connection: Connection
  readonly kind: ListKind
  readonly arrival: Arrival
  readonly memory: ListMemory
  /** Told what the server lists whenever it was asked. */
  readonly learned: (items: readonly Item[]) => void
}

export class KeptList {
  readonly #options: KeptListOptions
  readonly #connection: Connection
  readonly #kind: ListKind
  #known: Known | undefined
  #before: readonly Item[] | undefined
  #question: Question | undefined

  constructor(options: KeptListOptions) {
    const { connection, kind, memory } = options
    this.#options = options
    this.#connection = connection
    this.#kind = kind
    const { name, plan } = connection
    if (!plan.eager) this.#before = memory.read(name, plan.identity, plan.secrets)[kind]
  }

  changed(): void {
    if (this.#known) this.#known = { ...this.#known, changed: true }
    const { course } = this.#question ?? {}
    if (course?.begun !== undefined) course.overtaken = true
  }

  async get(age: number, signal: Stop | undefined): Promise<Part> {
    const until = performance.now() + PATIENCE
    const { name } = this.#connection
    if (this.#connection.live === undefined) {
      const arriving = this.#options.arrival.wait(this.#mustStart, until)
      await (signal ? abortable(arriving, signal, name) : arriving)
    }
    const { live } = this.#connection
    if (live === undefined) return this.#last(whyDown(this.#connection))
    if (!live.offers(LISTS[this.#kind].capability)) return { server: name, items: NOTHING, reason: undefined }
    const known = this.#known
    const isSame = known && known.link === live && !known.changed && known.changes === this.#changes
    if (isSame && performance.now() - known.at < age) return known.part
    const { answer, since } = this.#ask(live)
    // Whoever comes while a server hangs does not wait as long again.
    const left = Math.min(until, since + PATIENCE) - performance.now()
    const late = () => this.#last(`${name} did not answer ${LISTS[this.#kind].method} in time`)
    const waiting = inTime(answer, left, late)
    return await (signal ? abortable(waiting, signal, name) : waiting)
  }

  // --- internal ---

  /** One that calls start, that has such things, and of which nobody has ever asked which. */
  get #mustStart(): boolean {
    const { plan, agreement } = this.#connection
    if (plan.eager || agreement === undefined || this.#items !== undefined) return false
    return this.#connection.status().state === 'idle'
  }

  get #changes(): number {
    return this.#connection.changes(LISTS[this.#kind].capability)
  }

  /** As it was listed the last time. */
  get #items(): readonly Item[] | undefined {
    return this.#known?.part.items ?? this.#before
  }

  #last(reason: string): Part {
    return { server: this.#connection.name, items: this.#items ?? NOTHING, reason }
  }

  /** One question at a time, shared by all who ask; and one more after it when it was overtaken. */
  #ask(link: Link): Question {
    const before = this.#question
    if (before !== undefined && !this.#isOvertaken(before.course) && before.link === link) return before
    const course: Course = { begun: undefined, overtaken: false }
    const begin = () => this.#begin(link, course)
    const answer = before ? before.answer.then(begin) : begin()
    const question = { link, since: performance.now(), answer, course }
    this.#question = question
    return question
  }

  #isOvertaken({ begun, overtaken }: Course): boolean {
    return overtaken || (begun !== undefined && begun !== this.#changes)
  }

  async #begin(link: Link, course: Course): Promise<Part> {
    const changes = this.#changes
    course.begun = changes
    try {
      const part = await this.#fetch(link)
      this.#known = { part, link, at: performance.now(), changes, changed: course.overtaken }
      this.#keep(part)
      return part
    } catch (error) {
      return this.#last(error instanceof Error ? error.message : String(error))
    } finally {
      if (this.#question?.course === course) this.#question = undefined
    }
  }

  #keep({ items }: Part): void {
    const { memory, learned } = this.#options
    const { name, plan } = this.#connection
    if (!plan.eager) memory.keep(name, plan.identity, plan.secrets, { [this.#kind]: items })
    learned(items)
  }

  async #fetch(link: Link): Promise<Part> {
    const { name, plan } = this.#connection
    const { method } = LISTS[this.#kind]
    try {
      const { items, complaints } = await itemsOf(link, method, { idle: plan.timeouts.call })
      return { server: name, items, reason: complaints[0] }
    } catch (error) {
      // Many that have resources have never heard of templates.
      if (error instanceof Fault && error.details?.['code'] === ERROR.methodNotFound)
        return { server: name, items: NOTHING, reason: undefined }
      throw error
    }
  }
}

// --- internal ---

interface Known {
  readonly part: Part
  readonly link: Link
  readonly at: number
  /** How often it had changed when it was asked for. */
  readonly changes: number
  /** The server said that it has changed. */
  readonly changed: boolean
}

interface Question {
  readonly link: Link
  readonly since: number
  readonly answer: Promise<Part>
  readonly course: Course
}

/** What becomes of a question. */
interface Course {
  /** How often the list had changed when it was asked for; undefined while it is not. */
  begun: number | undefined
  /** The list changed while it was under way: the answer may be the old one. */
  overtaken: boolean
}

function inTime<T>(promise: Promise<T>, milliseconds: number, late: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(late()), Math.max(0, milliseconds))
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function whyDown(connection: Connection): string {
  const { status, state, error } = connection.status()
  if (error !== undefined && status !== 'pending') return error
  return state === 'starting'
    ? `${connection.name} is still starting`
    : `${connection.name} is not up, and a list starts nothing`
}
