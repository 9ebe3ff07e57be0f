// All servers of a hub: started together, watched one by one, changed without disturbing those that did not change.

import { Fault } from '../base/fault.ts'
import type { Places } from '../base/places.ts'
import { nearest } from '../base/suggest.ts'
import type { Snapshot } from '../config/snapshot.ts'
import type { NotificationMessage } from '../wire/message.ts'
import { Connection, type ConnectionEvents } from './connection.ts'
import { Memory } from './memory.ts'
import { type Plan, type PlanContext, planServer } from './plan.ts'
import type { ServerStatus } from './status.ts'

export interface Applied {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  readonly unchanged: readonly string[]
  /** Why a server is not up, by name. */
  readonly errors: Readonly<Record<string, string>>
}

export type ManagerEvent =
  | { readonly type: 'server-status'; readonly server: string; readonly status: ServerStatus }
  | { readonly type: 'tools-change'; readonly server: string }
  | { readonly type: 'list-change'; readonly server: string; readonly list: 'resources' | 'prompts' }
  | { readonly type: 'notification'; readonly server: string; readonly message: NotificationMessage }

const DRAIN = 5_000

export interface ApplyOptions {
  /** Whether what starts by itself starts now. */
  readonly start: boolean
  /** Whether to wait until everything is up or has failed. */
  readonly wait: boolean
}

export class Manager {
  readonly #context: PlanContext
  readonly #memory: Memory
  readonly #emit: (event: ManagerEvent) => void
  readonly #connections = new Map<string, Connection>()
  /** Changes are made one after the other. */
  #work: Promise<unknown> = Promise.resolve()
  /** Connections that were replaced or removed and let their calls finish. */
  readonly #leaving = new Set<Promise<void>>()
  #closed = false

  constructor(places: Places, context: PlanContext, emit: (event: ManagerEvent) => void) {
    this.#context = context
    this.#memory = new Memory(places)
    this.#emit = emit
  }

  get connections(): readonly Connection[] {
    return [...this.#connections.values()]
  }

  get names(): readonly string[] {
    return [...this.#connections.keys()]
  }

  find(name: string): Connection | undefined {
    return this.#connections.get(name)
  }

  get(name: string): Connection {
    const connection = this.#connections.get(name)
    if (connection) return connection
    const near = nearest(name, this.names)
    throw new Fault('SERVER_UNKNOWN', `no server is called ${JSON.stringify(name)}`, {
      hint: near ? `did you mean ${near}?` : 'run: busbar list',
      server: name,
    })
  }

  /** Makes the servers those of a configuration. Unchanged ones keep their process; calls under way may finish. */
  apply(active: Snapshot, options: ApplyOptions): Promise<Applied> {
    if (this.#closed)
      return Promise.reject(
        new Fault('SERVER_UNAVAILABLE', 'the hub is closed', { hint: 'create a new one' }),
      )
    const plans = [...active.servers.values()].map((entry) => planServer(entry, active, this.#context))
    return this.#next(() => this.#replace(plans, options))
  }

  async connectAll(): Promise<void> {
    const wanted = this.connections.filter(({ plan }) => plan.eager)
    await Promise.all(wanted.map((connection) => connection.connect()))
  }

  /** Stops everything. Nothing of any server is alive afterwards. */
  async close(options: { readonly drain?: number } = {}): Promise<void> {
    this.#closed = true
    await this.#next(async () => {
      await Promise.all(this.connections.map((connection) => connection.close(options.drain ?? 0)))
      await Promise.all(this.#leaving)
      this.#connections.clear()
    })
  }

  status(): ServerStatus[] {
    return this.connections.map((connection) => connection.status())
  }

  // --- internal ---

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work)
    this.#work = done.catch(() => undefined)
    return done
  }

  async #leave(connection: Connection | undefined): Promise<void> {
    const gone = connection?.close(DRAIN) ?? Promise.resolve()
    this.#leaving.add(gone)
    await gone
    this.#leaving.delete(gone)
  }

  async #replace(plans: readonly Plan[], options: ApplyOptions): Promise<Applied> {
    const wanted = new Map(plans.map((plan) => [plan.name, plan]))
    const before = new Map(this.#connections)
    const isSame = (plan: Plan) => before.get(plan.name)?.plan.content === plan.content
    const added = plans.filter(({ name }) => !before.has(name))
    const changed = plans.filter((plan) => before.has(plan.name) && !isSame(plan))
    const removed = [...before.keys()].filter((name) => !wanted.has(name))
    const leaving = [...removed, ...changed.map(({ name }) => name)]
    // New ones are in place at once, so that nobody is told "unknown server" while an old one drains.
    for (const name of removed) this.#connections.delete(name)
    for (const plan of [...added, ...changed]) {
      const old = before.get(plan.name)
      // Never two processes of one server at a time: the new one waits for the old one to be gone.
      const connection = new Connection(plan, this.#memory, this.#events, old?.close(DRAIN))
      this.#connections.set(plan.name, connection)
    }
    const ended = Promise.all(leaving.map((name) => this.#leave(before.get(name))))
    const start = async (plan: Plan) => {
      if (plan.eager && options.start) await this.#connections.get(plan.name)?.connect()
    }
    const started = Promise.all([...added, ...changed].map(start))
    for (const name of removed) this.#emit({ type: 'tools-change', server: name })
    if (options.wait) await Promise.all([ended, started])
    else void Promise.all([ended, started]).catch(() => undefined)
    return {
      added: added.map(({ name }) => name),
      changed: changed.map(({ name }) => name),
      removed,
      unchanged: plans.filter(isSame).map(({ name }) => name),
      errors: this.#errors([...added, ...changed]),
    }
  }

  #errors(plans: readonly Plan[]): Record<string, string> {
    return Object.fromEntries(
      plans.flatMap(({ name }) => {
        const { status, error } = this.#connections.get(name)?.status() ?? {}
        return status === 'failed' || status === 'needs-auth' ? [[name, error ?? status]] : []
      }),
    )
  }

  readonly #events: ConnectionEvents = {
    status: (connection) =>
      this.#emit({ type: 'server-status', server: connection.name, status: connection.status() }),
    tools: (connection) => this.#emit({ type: 'tools-change', server: connection.name }),
    lists: (connection, list) => this.#emit({ type: 'list-change', server: connection.name, list }),
    notification: (connection, message) =>
      this.#emit({ type: 'notification', server: connection.name, message }),
  }
}
