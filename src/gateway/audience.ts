// Who is told what happens at servers: sessions, and modern clients that listen. Each hears only of servers it may use.

import { mayReach } from '../call/admit.ts'
import type { Hub, HubEvent } from '../hub.ts'
import type { Actor } from '../policy/access.ts'
import type { NotificationMessage } from '../wire/message.ts'

export type List = 'tools' | 'resources' | 'prompts'

export interface Hearer {
  readonly actor: Actor
  /** The one server it is about; undefined for all that the actor may use. */
  readonly scope: string | undefined
  listChanged(list: List): void
  /** Something that a server says to everybody. */
  remark(message: NotificationMessage): void
}

export class Audience {
  readonly #hub: Hub
  readonly #everybody: () => Iterable<Hearer>
  /** What will be told when the present moment is over: a server that starts says the same several times. */
  readonly #due = new Map<List, Set<string | undefined>>()

  constructor(hub: Hub, everybody: () => Iterable<Hearer>) {
    this.#hub = hub
    this.#everybody = everybody
  }

  hear(event: HubEvent): void {
    if (event.type === 'tools-change' || event.type === 'pin-change') this.#soon('tools', event.server)
    else if (event.type === 'list-change') this.#soon(event.list, event.server)
    else if (event.type === 'notification') this.#remark(event.server, event.message)
  }

  /** What everybody may see has changed. */
  rulesChanged(): void {
    for (const list of ['tools', 'resources', 'prompts'] as const) this.#soon(list, undefined)
  }

  // --- internal ---

  #soon(list: List, server: string | undefined): void {
    if (this.#due.size === 0) setImmediate(() => this.#tell())
    const servers = this.#due.get(list) ?? new Set()
    this.#due.set(list, servers.add(server))
  }

  #tell(): void {
    const due = [...this.#due]
    this.#due.clear()
    for (const [list, servers] of due)
      for (const hearer of this.#everybody())
        if ([...servers].some((server) => this.#concerns(hearer, server))) hearer.listChanged(list)
  }

  /** What is said while somebody's call is under way is told to them, or to nobody: see Channel. */
  #remark(server: string, message: NotificationMessage): void {
    if (message.method === 'notifications/resources/updated') return
    for (const hearer of this.#everybody()) if (this.#concerns(hearer, server)) hearer.remark(message)
  }

  /** Without a server it is about all of them; with an empty one, about tools of this process. */
  #concerns({ actor, scope }: Hearer, server: string | undefined): boolean {
    if (server === undefined) return true
    if (scope !== undefined && scope !== server) return false
    return server === '' || mayReach(this.#hub.context, actor, server)
  }
}
