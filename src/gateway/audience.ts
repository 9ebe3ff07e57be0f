// Who is told what happens at servers: sessions, and modern clients that listen. Each hears only of servers it may use.

import { mayReach, verdictOn } from '../call/admit.ts'
import { type Caller, instanceKey } from '../call/own-instance.ts'
import type { Hub, HubEvent } from '../hub.ts'
import { type Actor, agentOf } from '../policy/access.ts'
import type { NotificationMessage } from '../wire/message.ts'
import type { Passing } from './pass.ts'
import { taskTold } from './tasks.ts'

export type List = 'tools' | 'resources' | 'prompts'

export interface Hearer {
  readonly actor: Actor
  readonly caller: Caller
  /** The one server it is about; undefined for all that the actor may use. */
  readonly scope: string | undefined
  listChanged(list: List): void
  /** Something that a server says to everybody. */
  remark(message: NotificationMessage): void
}

type Notification = Extract<HubEvent, { type: 'notification' }>

const LISTS: readonly List[] = ['tools', 'resources', 'prompts']

export class Audience {
  readonly #hub: Hub
  readonly #passing: Pick<Passing, 'tasks' | 'consents'>
  readonly #everybody: () => Iterable<Hearer>
  readonly #before = new WeakMap<Hearer, Readonly<Record<List, string>>>()
  /** What will be told when the present moment is over: a server that starts says the same several times. */
  readonly #due = new Map<List, Set<string>>()

  #isOver = false

  constructor(hub: Hub, passing: Pick<Passing, 'tasks' | 'consents'>, everybody: () => Iterable<Hearer>) {
    this.#hub = hub
    this.#passing = passing
    this.#everybody = everybody
  }

  hear(event: HubEvent): void {
    if (event.type === 'tools-change' || event.type === 'pin-change') this.#soon('tools', event.server)
    else if (event.type === 'list-change') this.#soon(event.list, event.server)
    else if (event.type === 'notification') this.#remark(event)
  }

  /** Nobody is told of lists any more: who would ask for them gets nothing. */
  windDown(): void {
    this.#isOver = true
  }

  /** To be called before rules change: what everybody may see now. */
  remember(): void {
    for (const hearer of this.#everybody()) this.#before.set(hearer, this.#sight(hearer))
  }

  /** What somebody may see may have changed; those who see something else are told. */
  rulesChanged(): void {
    for (const hearer of this.#everybody()) {
      const before = this.#before.get(hearer)
      const now = this.#sight(hearer)
      for (const list of LISTS) if (before?.[list] !== now[list]) hearer.listChanged(list)
      this.#before.delete(hearer)
    }
  }

  // --- internal ---

  #soon(list: List, server: string): void {
    if (this.#isOver) return
    if (this.#due.size === 0) setImmediate(() => this.#tell())
    const servers = this.#due.get(list) ?? new Set()
    this.#due.set(list, servers.add(server))
  }

  #tell(): void {
    const due = [...this.#due]
    this.#due.clear()
    if (this.#isOver) return
    const changed = new Map<string, boolean>()
    for (const [list, servers] of due)
      for (const hearer of this.#everybody()) {
        if (![...servers].some((server) => this.#concerns(hearer, server))) continue
        if (list !== 'tools' || this.#isAnother(hearer, changed)) hearer.listChanged(list)
      }
  }

  /** Whether a hearer's list of tools is not what it was; who finds tools by words lists none of those that come and go. */
  #isAnother({ actor, scope }: Hearer, known: Map<string, boolean>): boolean {
    if (scope !== undefined) return true
    const key = agentOf(actor)
    const another = known.get(key) ?? this.#hub.surfaces.listChanged(actor)
    known.set(key, another)
    return another
  }

  /** What is said while somebody's call is under way is told to them, or to nobody: see Channel. */
  #remark({ server, message, instance }: Notification): void {
    if (message.method === 'notifications/resources/updated') return
    const connection = this.#hub.context.manager.find(server)
    for (const hearer of this.#everybody()) {
      // What the instance of somebody says is for nobody else.
      if (instance !== undefined && connection && instanceKey(connection, hearer.caller) !== instance)
        continue
      if (this.#concerns(hearer, server) && this.#mayHear(hearer, server, message)) hearer.remark(message)
    }
  }

  /** What it sees of each list, as far as rules decide on that. */
  #sight({ actor, scope }: Hearer): Record<List, string> {
    const { context, surfaces } = this.#hub
    const names = scope === undefined ? context.manager.names : [scope]
    const allowed = (tool: string) =>
      names.filter((server) => verdictOn(context, actor, { server, tool }).verdict !== 'deny').join('\n')
    return {
      tools:
        scope === undefined ? surfaces.of(actor).toolsPage().bytes.toString() : this.#toolsOf(actor, scope),
      resources: allowed('#resources/read'),
      prompts: allowed('#prompts/get'),
    }
  }

  #toolsOf(actor: Actor, server: string): string {
    const { context } = this.#hub
    const tools = context.manager.find(server)?.tools ?? []
    return tools
      .map(({ name }) => name)
      .filter((tool) => verdictOn(context, actor, { server, tool }).verdict !== 'deny')
      .join('\n')
  }

  /** How a task gets on is told to whose it is. */
  #mayHear({ caller }: Hearer, server: string, message: NotificationMessage): boolean {
    const { tasks, consents } = this.#passing
    if (!message.method.startsWith('notifications/tasks')) return true
    return tasks.isOf(caller, server, taskTold(message)) && consents.mayTell(caller.actor, server, message)
  }

  /** Without a name it is about tools of this process. */
  #concerns({ actor, scope }: Hearer, server: string): boolean {
    if (scope !== undefined && scope !== server) return false
    return server === '' || mayReach(this.#hub.context, actor, server)
  }
}
