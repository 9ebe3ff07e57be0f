// What servers list beside tools, asked for once for everybody: kept until the server says that it changed, comes up anew,
// or a minute has passed. Who may see it is decided elsewhere.

import type { Places } from '../base/places.ts'
import type { Stop } from '../base/stop.ts'
import type { Connection } from '../connect/connection.ts'
import { ListMemory } from '../connect/list-memory.ts'
import type { Manager, ManagerEvent } from '../connect/manager.ts'
import { Arrival, KeptList, LISTS, type ListKind, NOTHING, type Part } from './kept-list.ts'
import type { Item } from './request.ts'

/** Milliseconds for which a list counts as what its server would say now; not every server tells of changes. */
export const FRESH = 60_000

export type ListChange = Extract<ManagerEvent, { type: 'list-change' }>

export class ServerLists {
  readonly #manager: Manager
  readonly #memory: ListMemory
  readonly #tell: (change: ListChange) => void
  readonly #kept = new WeakMap<Connection, Lists>()
  /** What was given out, or told of, since a server last said itself that it changed; by server. */
  readonly #shown = new Map<string, Map<ListKind, readonly Item[]>>()

  /** `tell`: hears of lists that are not what was given out, where the server itself says nothing of it. */
  constructor(manager: Manager, places: Places, tell: (change: ListChange) => void) {
    this.#manager = manager
    this.#memory = new ListMemory(places)
    this.#tell = tell
  }

  /** To be told before anybody else: whoever hears of a change and asks gets the new list. */
  hear(event: ManagerEvent): void {
    if (event.type === 'server-status') this.#look(event.server)
    if (event.type !== 'list-change') return
    const connection = this.#manager.find(event.server)
    const shown = this.#shown.get(event.server)
    for (const [kind, list] of (connection && this.#kept.get(connection)?.all) ?? [])
      if (LISTS[kind].capability === event.list) {
        list.changed()
        shown?.delete(kind)
      }
  }

  /**
   * What a server lists, no older than `age`. Never throws for what the server does. One that is starting is waited for;
   * started is only one of which it is known that it has some, and not which.
   */
  async of(connection: Connection, kind: ListKind, age: number, signal?: Stop): Promise<Part> {
    const part = await this.#list(connection, kind).get(age, signal)
    const shown = this.#shown.get(connection.name) ?? new Map<ListKind, readonly Item[]>()
    this.#shown.set(connection.name, shown.set(kind, part.items))
    return part
  }

  // --- internal ---

  #list(connection: Connection, kind: ListKind): KeptList {
    const lists = this.#kept.get(connection) ?? { arrival: new Arrival(connection), all: new Map() }
    this.#kept.set(connection, lists)
    const learned = (items: readonly Item[]) => this.#learned(connection.name, kind, items)
    const list =
      lists.all.get(kind) ??
      new KeptList({ connection, kind, arrival: lists.arrival, memory: this.#memory, learned })
    lists.all.set(kind, list)
    return list
  }

  /** A server came up, or was switched off, after something of it was listed. */
  #look(server: string): void {
    const connection = this.#manager.find(server)
    for (const kind of [...(this.#shown.get(server)?.keys() ?? [])])
      if (connection?.live?.offers(LISTS[kind].capability))
        void this.#list(connection, kind)
          .get(FRESH, undefined)
          .then(({ items, reason }) => {
            if (reason === undefined) this.#learned(server, kind, items)
          })
      else if (connection?.live || connection?.off) this.#learned(server, kind, NOTHING)
  }

  #learned(server: string, kind: ListKind, items: readonly Item[]): void {
    const shown = this.#shown.get(server)
    const before = shown?.get(kind)
    if (before === undefined || isSame(before, items)) return
    shown?.set(kind, items)
    this.#tell({ type: 'list-change', server, list: LISTS[kind].capability })
  }
}

// --- internal ---

interface Lists {
  readonly arrival: Arrival
  readonly all: Map<ListKind, KeptList>
}

function isSame(one: readonly Item[], other: readonly Item[]): boolean {
  return one === other || (one.length === other.length && JSON.stringify(one) === JSON.stringify(other))
}
