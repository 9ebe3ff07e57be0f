// All servers of a hub: started together, watched one by one, changed without disturbing those that did not change.

import { changed } from '../base/changes.ts'
import { Fault } from '../base/fault.ts'
import type { Places } from '../base/places.ts'
import { nearest } from '../base/suggest.ts'
import type { Snapshot } from '../config/snapshot.ts'
import type { NotificationMessage } from '../wire/message.ts'
import { Connection } from './connection.ts'
import type { ConnectionEvents } from './connection-events.ts'
import { DRAIN } from './gate.ts'
import type { Holder } from './instance-pool.ts'
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

/** What a configuration changes, and what becomes of it. */
export interface Change extends Omit<Applied, 'errors'> {
  settled(): Promise<Applied>
}

export type ManagerEvent =
  | { readonly type: 'server-status'; readonly server: string; readonly status: ServerStatus }
  | { readonly type: 'tools-change'; readonly server: string }
  | { readonly type: 'list-change'; readonly server: string; readonly list: 'resources' | 'prompts' }
  | {
      readonly type: 'notification'
      readonly server: string
      readonly message: NotificationMessage
      /** Which of its instances said it, where each agent or session has its own. */
      readonly instance?: string | undefined
    }
  /** An instance for one agent or session came up (`connected`), or is not up any more; so many there are now. */
  | {
      readonly type: 'instance-status'
      readonly server: string
      readonly instance: string
      readonly connected: boolean
      readonly instances: number
    }

export interface ApplyOptions {
  /** Whether what starts by itself starts now. */
  readonly start: boolean
}

export class Manager {
  readonly #context: PlanContext
  readonly #memory: Memory
  readonly #emit: (event: ManagerEvent) => void
  readonly #connections = new Map<string, Connection>()
  /** Connections that were replaced or removed and let their calls finish, until they are gone. */
  readonly #leaving = new Map<string, Promise<void>>()
  #closed = false
  #version = 0

  constructor(places: Places, context: PlanContext, emit: (event: ManagerEvent) => void) {
    this.#context = context
    this.#memory = new Memory(places)
    this.#emit = emit
  }

  /** Another number whenever what servers offer may have changed. */
  get version(): number {
    return this.#version
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
    if (this.#closed) throw new Fault('CLOSED', 'the hub was closed', { server: name })
    const near = nearest(name, this.names)
    throw new Fault('SERVER_UNKNOWN', `no server is called ${JSON.stringify(name)}`, {
      hint: near ? `did you mean ${near}?` : 'run: busbar list',
      server: name,
    })
  }

  /**
   * Makes the servers those of a configuration, at once. Unchanged ones keep their process; calls under way on others may
   * finish. `settled` waits until everything that changed is up, has failed or is gone.
   */
  apply(active: Snapshot, options: ApplyOptions): Change {
    if (this.#closed) throw new Fault('SERVER_UNAVAILABLE', 'the hub is closed', { hint: 'create a new one' })
    const plans = [...active.servers.values()].map((entry) => planServer(entry, active, this.#context))
    const wanted = new Set(plans.map(({ name }) => name))
    const before = new Map(this.#connections)
    const isSame = (plan: Plan) => before.get(plan.name)?.plan.content === plan.content
    const added = plans.filter(({ name }) => !before.has(name))
    const changed = plans.filter((plan) => before.has(plan.name) && !isSame(plan))
    const removed = [...before.keys()].filter((name) => !wanted.has(name))
    const fresh = [...added, ...changed]
    for (const name of [...removed, ...changed.map((plan) => plan.name)]) this.#leave(name)
    // New ones are in place at once, so that nobody is told "unknown server" while an old one lets its calls finish.
    for (const plan of fresh) {
      // Never two processes of one server at a time: the new one waits for the old one to be gone.
      const old = this.#leaving.get(plan.name)
      this.#connections.set(plan.name, new Connection(plan, this.#memory, this.#events, old))
    }
    const { assignments } = active
    // Nothing is kept for agents that are gone, or may not use the server any more.
    this.endInstances(
      ({ agent }, server) =>
        agent !== '' && !assignments.some(({ id, servers }) => id === agent && servers.includes(server)),
    )
    const eager = options.start ? fresh.filter(({ eager }) => eager) : []
    const started = Promise.all(eager.map(({ name }) => this.#connections.get(name)?.connect()))
    // Whoever was told of it in the middle saw a part of it.
    this.#differs()
    for (const name of removed) this.#emit({ type: 'tools-change', server: name })
    // Those that are started tell of themselves.
    for (const plan of fresh) if (!eager.includes(plan)) this.#introduce(plan.name)
    const names = {
      added: added.map(({ name }) => name),
      changed: changed.map(({ name }) => name),
      removed,
      unchanged: plans.filter(isSame).map(({ name }) => name),
    }
    const settled = async () => {
      await Promise.all([started, ...this.#leaving.values()])
      return { ...names, errors: this.#errors(fresh) }
    }
    return { ...names, settled }
  }

  async connectAll(): Promise<void> {
    const wanted = this.connections.filter(({ plan }) => plan.eager)
    await Promise.all(wanted.map((connection) => connection.connect()))
  }

  /** Ends what was kept for those who are gone, or may not use the server any more. */
  endInstances(isOver: (holder: Holder, server: string) => boolean): void {
    for (const { name, instances } of this.#connections.values())
      instances?.end((holder) => isOver(holder, name))
  }

  /** Stops everything. Nothing of any server is alive afterwards. */
  async close(options: { readonly drain?: number } = {}): Promise<void> {
    this.#closed = true
    await Promise.all(this.connections.map((connection) => connection.close(options.drain ?? 0, true)))
    await Promise.all(this.#leaving.values())
    this.#connections.clear()
  }

  status(): ServerStatus[] {
    return this.connections.map((connection) => connection.status())
  }

  // --- internal ---

  #leave(name: string): void {
    const connection = this.#connections.get(name)
    this.#connections.delete(name)
    const gone = Promise.all([this.#leaving.get(name), connection?.close(DRAIN)]).then(() => {
      if (this.#leaving.get(name) === gone) this.#leaving.delete(name)
    })
    this.#leaving.set(name, gone)
  }

  #errors(plans: readonly Plan[]): Record<string, string> {
    return Object.fromEntries(
      plans.flatMap(({ name }) => {
        const { status, error } = this.#connections.get(name)?.status() ?? {}
        return status === 'failed' || status === 'needs-auth' ? [[name, error ?? status]] : []
      }),
    )
  }

  /** Tells of a server that waits until somebody needs it. */
  #introduce(name: string): void {
    const connection = this.#connections.get(name)
    if (connection === undefined) return
    this.#emit({ type: 'server-status', server: name, status: connection.status() })
    if (connection.tools.length > 0) this.#emit({ type: 'tools-change', server: name })
  }

  /** Whether another has taken its place: what becomes of it is of no interest to those who know servers by name. */
  #isReplaced(connection: Connection): boolean {
    const current = this.#connections.get(connection.name)
    return current !== undefined && current !== connection
  }

  /** What there is, or the state that it is in. */
  #differs(): void {
    this.#version += 1
    changed()
  }

  readonly #events: ConnectionEvents = {
    status: (connection) => {
      this.#differs()
      if (!this.#isReplaced(connection))
        this.#emit({ type: 'server-status', server: connection.name, status: connection.status() })
    },
    tools: (connection) => {
      this.#differs()
      if (!this.#isReplaced(connection)) this.#emit({ type: 'tools-change', server: connection.name })
    },
    lists: (connection, list) => this.#emit({ type: 'list-change', server: connection.name, list }),
    notification: ({ name: server }, message, instance) =>
      this.#emit({ type: 'notification', server, message, ...(instance === undefined ? {} : { instance }) }),
    instance: ({ name: server, instances }, instance, connected) =>
      this.#emit({
        type: 'instance-status',
        server,
        instance,
        connected,
        instances: instances?.size ?? 0,
      }),
  }
}
