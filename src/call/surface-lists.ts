// What servers list beside tools, asked for once for everybody: kept until the server says that it changed, comes up anew,
// or a minute has passed. Who may see it is decided elsewhere.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Connection } from '../connect/connection.ts'
import type { ListMethod } from '../connect/definitions.ts'
import type { Link } from '../connect/link.ts'
import type { Manager, ManagerEvent } from '../connect/manager.ts'
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

/** Milliseconds for which a list counts as what its server would say now; not every server tells of changes. */
export const FRESH = 60_000

export class ServerLists {
  readonly #manager: Manager
  readonly #kept = new WeakMap<Connection, Map<ListKind, KeptList>>()

  constructor(manager: Manager) {
    this.#manager = manager
  }

  /** To be told before anybody else: whoever hears of a change and asks gets the new list. */
  hear(event: ManagerEvent): void {
    if (event.type !== 'list-change') return
    const connection = this.#manager.find(event.server)
    const lists = connection && this.#kept.get(connection)
    for (const [kind, list] of lists ?? []) if (LISTS[kind].capability === event.list) list.changed()
  }

  /** What a server lists, no older than `age`. Never throws for what the server does, and starts nothing. */
  async of(connection: Connection, kind: ListKind, age: number, signal?: Stop): Promise<Part> {
    const lists = this.#kept.get(connection) ?? new Map<ListKind, KeptList>()
    this.#kept.set(connection, lists)
    const list = lists.get(kind) ?? new KeptList(connection, kind)
    lists.set(kind, list)
    return await list.get(age, signal)
  }
}

// --- internal ---

/** Milliseconds that somebody waits for a list. The question itself stays, and its answer serves the next one. */
const PATIENCE = 2_000

interface Known {
  readonly part: Part
  readonly link: Link
  readonly at: number
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
  begun: boolean
  /** The list changed while it was under way: the answer may be the old one. */
  overtaken: boolean
}

class KeptList {
  readonly #connection: Connection
  readonly #kind: ListKind
  #known: Known | undefined
  #question: Question | undefined

  constructor(connection: Connection, kind: ListKind) {
    this.#connection = connection
    this.#kind = kind
  }

  changed(): void {
    if (this.#known) this.#known = { ...this.#known, changed: true }
    const { course } = this.#question ?? {}
    if (course?.begun) course.overtaken = true
  }

  async get(age: number, signal: Stop | undefined): Promise<Part> {
    const { name, live } = this.#connection
    if (live === undefined) return this.#last(whyDown(this.#connection))
    const known = this.#known
    const isNew = known && known.link === live && !known.changed && performance.now() - known.at < age
    if (isNew) return known.part
    const { answer, since } = this.#ask(live)
    // Whoever comes while a server hangs does not wait as long again.
    const left = since + PATIENCE - performance.now()
    const late = () => this.#last(`${name} did not answer ${LISTS[this.#kind].method} in time`)
    const waiting = inTime(answer, left, late)
    return await (signal ? abortable(waiting, signal, name) : waiting)
  }

  // --- internal ---

  #last(reason: string): Part {
    return { server: this.#connection.name, items: this.#known?.part.items ?? NOTHING, reason }
  }

  /** One question at a time, shared by all who ask; and one more after it when it was overtaken. */
  #ask(link: Link): Question {
    const before = this.#question
    if (before !== undefined && !before.course.overtaken && before.link === link) return before
    const course = { begun: false, overtaken: false }
    const begin = () => this.#begin(link, course)
    const answer = before ? before.answer.then(begin) : begin()
    const question = { link, since: performance.now(), answer, course }
    this.#question = question
    return question
  }

  async #begin(link: Link, course: Course): Promise<Part> {
    course.begun = true
    try {
      const part = await this.#fetch(link)
      this.#known = { part, link, at: performance.now(), changed: course.overtaken }
      return part
    } catch (error) {
      return this.#last(error instanceof Error ? error.message : String(error))
    } finally {
      if (this.#question?.course === course) this.#question = undefined
    }
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

const NOTHING: readonly Item[] = []

function inTime<T>(promise: Promise<T>, milliseconds: number, late: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(late()), Math.max(0, milliseconds))
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function whyDown(connection: Connection): string {
  const { status, error } = connection.status()
  if (error !== undefined && status !== 'pending') return error
  return `${connection.name} is not up, and a list starts nothing`
}
