// How much of what servers log a client wants to hear. A server has one level for everybody: the most talkative one that
// somebody asked for; each client gets its own share of it.

import { mayReach } from '../call/admit.ts'
import { type Caller, instanceKey } from '../call/own-instance.ts'
import type { Link } from '../connect/link.ts'
import type { Hub, HubEvent } from '../hub.ts'
import { META } from '../wire/era.ts'
import { memberValue, type NotificationMessage } from '../wire/message.ts'
import type { RawParams } from '../wire/params.ts'
import type { Session } from './session.ts'

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

export type Level = (typeof LEVELS)[number]

export function isLevel(value: unknown): value is Level {
  return LEVELS.some((level) => level === value)
}

/** Whether a client that asked for a level hears this. One that asked for none hears all that a server says unasked. */
export function passes(message: NotificationMessage, level: Level | undefined): boolean {
  if (level === undefined) return true
  const { level: said } = (memberValue(message, 'params') ?? {}) as { level?: unknown }
  return !isLevel(said) || LEVELS.indexOf(said) >= LEVELS.indexOf(level)
}

/** Whether a modern client hears this in its request: of what is logged, only what it asked for there. */
export function isHeard(message: NotificationMessage, meta: RawParams['meta']): boolean {
  if (message.method !== 'notifications/message') return true
  const level = meta?.[META.logLevel]
  return isLevel(level) && passes(message, level)
}

/** Keeps servers as talkative as somebody wants them. */
export class Levels {
  readonly #hub: Hub
  readonly #sessions: Iterable<Session>
  readonly #told = new WeakMap<Link, Level>()
  /** What modern clients asked for in their requests, the most talkative of it, by server and instance. */
  readonly #wishes = new Map<string, Level>()

  constructor(hub: Hub, sessions: Iterable<Session>) {
    this.#hub = hub
    this.#sessions = sessions
  }

  /** A server that was started anew is told again. */
  hear(event: HubEvent): void {
    if (event.type === 'server-status' && event.status.state === 'connected') void this.#tell(event.server)
    if (event.type === 'instance-status' && event.connected) void this.#tell(event.server, event.instance)
  }

  /** Somebody asked for another level. */
  changed({ scope, caller }: Session): void {
    const { manager } = this.#hub.context
    for (const server of scope === undefined ? manager.names : [scope]) {
      const connection = manager.find(server)
      if (connection) void this.#tell(server, instanceKey(connection, caller))
    }
  }

  /** A modern client says in each request what it wants to hear of it. Resolves when its server has heard so. */
  async wish(server: string, caller: Caller, level: unknown): Promise<void> {
    const { context } = this.#hub
    const connection = context.manager.find(server)
    if (!isLevel(level) || connection === undefined || !mayReach(context, caller.actor, server)) return
    const instance = instanceKey(connection, caller)
    const key = keyOf(server, instance)
    const before = this.#wishes.get(key)
    if (before !== undefined && LEVELS.indexOf(before) <= LEVELS.indexOf(level)) return
    // They are said again with the next request.
    if (this.#wishes.size >= MOST_WISHES) this.#wishes.clear()
    this.#wishes.set(key, level)
    await this.#tell(server, instance)
  }

  // --- internal ---

  /** `instance`: the one that is told, where it is not one for all; only those are asked whose it is. */
  async #tell(server: string, instance?: string): Promise<void> {
    const { context } = this.#hub
    const connection = context.manager.find(server)
    const link = (instance === undefined ? connection : connection?.instances?.find(instance))?.live
    if (
      connection === undefined ||
      link?.agreement.era !== 'legacy' ||
      link.agreement.capabilities['logging'] === undefined
    )
      return
    const wanted: (Level | undefined)[] = [...this.#sessions]
      .filter(({ scope, actor }) => (scope ?? server) === server && mayReach(context, actor, server))
      .filter(({ caller }) => instanceKey(connection, caller) === instance)
      .map(({ level }) => level)
    wanted.push(this.#wishes.get(keyOf(server, instance)))
    const level = LEVELS.find((it) => wanted.includes(it))
    if (level === undefined || this.#told.get(link) === level) return
    this.#told.set(link, level)
    await link.ask('logging/setLevel', { level }, { idle: PATIENCE }).catch(() => undefined)
  }
}

// --- internal ---

const MOST_WISHES = 1_000
/** Milliseconds for which a request waits until its server knows how much of it is to be told. */
const PATIENCE = 2_000

function keyOf(server: string, instance: string | undefined): string {
  return `${server}\n${instance ?? ''}`
}
