// The processes (or connections) of a server that are not for everybody: one for each agent, or for each session. Started
// by the first request that needs it, ended when nobody does. What the server lists is asked of another one, which is for
// all and is never called.

import { Fault } from '../base/fault.ts'
import { type Stop, Stopper } from '../base/stop.ts'
import type { Asker } from './asker.ts'
import type { Connection } from './connection.ts'
import type { ConnectionEvents } from './connection-events.ts'
import { DRAIN, Gate } from './gate.ts'
import type { Memory } from './memory.ts'
import { abortable } from './pause.ts'
import type { Plan } from './plan.ts'
import { RESTART } from './state.ts'

/** Who makes a request. */
export interface Holder {
  /** Empty for the owner. */
  readonly agent: string
  /** Of the client, where it has one. */
  readonly session?: string | undefined
}

/** An instance that stays as long as it is held. */
export interface Held {
  readonly connection: Connection
  /** To be called once. */
  release(): void
}

type Make = (...given: ConstructorParameters<typeof Connection>) => Connection

/** What a connection is made with. */
interface Given {
  readonly memory: Pick<Memory, 'read' | 'write'>
  readonly events: ConnectionEvents
  /** What must be gone first. */
  readonly after: Promise<unknown>
}

interface Slot {
  readonly key: string
  readonly holder: Holder
  /** The clients that it was used for, as far as they have sessions and can be asked. */
  readonly clients: Map<string, Asker>
  connection: Connection | undefined
  holds: number
  /** Its place among those in use, while somebody holds it. */
  place: Place | undefined
  idle: NodeJS.Timeout | undefined
}

interface Place {
  readonly granted: Promise<void>
  readonly stop: Stopper
  isTaken: boolean
}

/** More than a timer can wait. */
const LONGEST = 2 ** 31 - 1

/** Undefined where one is for all. */
export function poolOf(server: Connection, given: Given, make: Make): InstancePool | undefined {
  const { share, accounts } = server.plan
  const isForAll = share === 'process' && accounts.assigned.length === 0
  return isForAll ? undefined : new InstancePool(server, given, make)
}

export class InstancePool {
  readonly #server: Connection
  readonly #given: Given
  readonly #make: Make
  /** In the order in which they were last used. */
  readonly #slots = new Map<string, Slot>()
  /** On their way out. Nothing new starts before they are gone, so that there are never more than there may be. */
  readonly #leaving = new Set<Promise<void>>()
  /** Has as many places as there may be instances, each taken by one in use. */
  readonly #places: Gate

  /** `server`: the one that is for all. */
  constructor(server: Connection, given: Given, make: Make) {
    const { plan, gate } = server
    this.#server = server
    this.#given = given
    this.#make = make
    this.#places = new Gate(plan.name, { inFlight: plan.limits.instances, queue: plan.limits.queue })
    // The server as a whole is as busy as they are.
    gate.alsoInside = () => this.#connections.reduce((sum, one) => sum + one.gate.inside, 0)
  }

  /** How many there are. */
  get size(): number {
    return this.#connections.length
  }

  /** Whose it is: by this name it is known, and told apart from the others. Undefined: the one for all. */
  keyOf({ agent, session }: Holder): string | undefined {
    const { share, accounts } = this.#server.plan
    if (share === 'process') {
      const account = accounts.of(agent)
      return account === undefined ? undefined : `account ${account}`
    }
    return share === 'session' && session !== undefined ? `session ${session}` : `agent ${agent}`
  }

  /** The one of this key, if there is one. */
  find(key: string | undefined): Connection | undefined {
    return key === undefined ? this.#server : this.#slots.get(key)?.connection
  }

  /** The one for somebody. Waits while all that there may be are in use. */
  async hold(key: string, holder: Holder, signal: Stop, client?: Asker): Promise<Held> {
    const { off, name } = this.#server
    if (off) throw off
    const slot = this.#slotOf(key, holder)
    if (client) slot.clients.set(client.client, client)
    slot.holds += 1
    clearTimeout(slot.idle)
    try {
      slot.place ??= this.#takePlace()
      if (!slot.place.isTaken) await abortable(slot.place.granted, signal, name)
      // Meanwhile whom it is for may have gone.
      if (this.#slots.get(slot.key) !== slot) throw this.#server.off ?? gone(name)
      slot.connection ??= this.#start(slot)
    } catch (error) {
      this.#release(slot)
      throw error
    }
    return { connection: slot.connection, release: () => this.#release(slot) }
  }

  /** Ends those of some, for good; calls that are under way may finish, within bounds. */
  end(isOver: (holder: Holder) => boolean): void {
    for (const slot of [...this.#slots.values()]) if (isOver(slot.holder)) this.#end(slot, DRAIN)
  }

  /** Ends all of them, after calls that are under way within `drain`, and sends home who waits. Resolves when they are gone. */
  async endAll(fault: Fault, drain: number): Promise<void> {
    this.#places.clear(fault)
    for (const slot of [...this.#slots.values()]) this.#end(slot, drain)
    await Promise.all(this.#leaving)
  }

  /** Ends those that nobody holds, and stops the others so that who waits for one goes to the next. */
  async restartAll(): Promise<void> {
    for (const slot of [...this.#slots.values()]) if (slot.holds === 0) this.#end(slot, 0)
    await Promise.all([...this.#connections.map((one) => one.disconnect(0, RESTART)), ...this.#leaving])
  }

  // --- internal ---

  get #connections(): Connection[] {
    return [...this.#slots.values()].flatMap(({ connection }) => connection ?? [])
  }

  #slotOf(key: string, holder: Holder): Slot {
    const { share } = this.#server.plan
    const slot = this.#slots.get(key) ?? {
      key,
      // One for an agent is none of the session that needed it first.
      holder: share === 'session' ? holder : { agent: holder.agent },
      clients: new Map(),
      connection: undefined,
      holds: 0,
      place: undefined,
      idle: undefined,
    }
    this.#slots.set(key, slot)
    return slot
  }

  #takePlace(): Place {
    const stop = new Stopper()
    const isTaken = this.#places.tryEnter()
    const granted = isTaken ? Promise.resolve() : this.#places.enter(stop)
    const place: Place = { stop, isTaken, granted: granted.then(() => this.#granted(place)) }
    // Whoever waits for it gets the error; they may all have left.
    place.granted.catch(() => undefined)
    return place
  }

  #granted(place: Place): void {
    // It was given up in the moment in which it was granted.
    if (place.stop.aborted) this.#places.leave()
    else place.isTaken = true
  }

  #start(slot: Slot): Connection {
    const server = this.#server
    const { events, memory, after } = this.#given
    const { key } = slot
    while (this.size >= server.plan.limits.instances && this.#giveWay(slot)) {
      // Those that nobody uses go first, the one that was used longest ago before the others.
    }
    const own: ConnectionEvents = {
      status: ({ connected }) => events.instance(server, key, connected),
      // What may be listed is told by the one that is for all.
      tools: () => undefined,
      lists: () => undefined,
      notification: (_, message) => events.notification(server, message, key),
      instance: () => undefined,
    }
    return this.#make(planOf(server, slot), readOnly(memory), own, Promise.all([after, ...this.#leaving]))
  }

  /** Ends one that has no place; false when there is none. */
  #giveWay(next: Slot): boolean {
    for (const slot of this.#slots.values()) {
      if (slot === next || slot.connection === undefined || slot.place?.isTaken) continue
      this.#stop(slot, 0)
      if (slot.holds === 0) this.#slots.delete(slot.key)
      return true
    }
    return false
  }

  #release(slot: Slot): void {
    slot.holds -= 1
    const { place } = slot
    if (slot.holds > 0 || place === undefined) return
    slot.place = undefined
    if (place.isTaken) this.#places.leave()
    else place.stop.abort()
    if (this.#slots.get(slot.key) !== slot) return
    this.#slots.delete(slot.key)
    if (slot.connection === undefined) return
    // Now it is the one that was used last.
    this.#slots.set(slot.key, slot)
    const { idle } = this.#server.plan.limits
    if (idle > 0) slot.idle = setTimeout(() => this.#end(slot, 0), Math.min(idle, LONGEST)).unref()
  }

  #end(slot: Slot, drain: number): void {
    this.#slots.delete(slot.key)
    // Whoever waits for it waits in vain.
    if (!slot.place?.isTaken) slot.place?.stop.abort()
    this.#stop(slot, drain)
  }

  #stop(slot: Slot, drain: number): void {
    clearTimeout(slot.idle)
    const { connection } = slot
    slot.connection = undefined
    if (connection === undefined) return
    const withAll = this.#server.off?.details?.['stopping'] === true
    const gone = connection.close(drain, withAll).finally(() => this.#leaving.delete(gone))
    this.#leaving.add(gone)
  }
}

// --- internal ---

function gone(server: string): Fault {
  return new Fault('CALL_CANCELLED', `nobody needs ${server} for this any more`, { server })
}

/** As the server is, but for one alone, and started when it is needed. */
function planOf({ plan }: Connection, { holder, clients }: Slot): Plan {
  const { accounts } = plan
  const account = accounts.of(holder.agent)
  const whose = () => {
    const [only] = clients.values()
    return clients.size === 1 && plan.share !== 'process' ? only : undefined
  }
  const link: Plan['link'] = async (name) => ({ ...(await plan.link(name)), whose })
  const alone = {
    of: () => undefined,
    assigned: [],
    version: (name: string | undefined) => accounts.version(name),
    signIn: (...given: Parameters<typeof accounts.signIn>) => accounts.signIn(...given),
  }
  return { ...plan, share: 'process', eager: false, disabled: undefined, account, accounts: alone, link }
}

/** What is remembered of a server is what it lists for all. */
function readOnly(memory: Given['memory']): Given['memory'] {
  return {
    read: (server, identity, secrets) => memory.read(server, identity, secrets),
    write: () => undefined,
  }
}
