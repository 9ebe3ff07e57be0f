// How much of what servers log a client wants to hear. A server has one level for everybody: the most talkative one that
// somebody asked for; each client gets its own share of it.

import { mayReach } from '../call/admit.ts'
import { instanceKey } from '../call/own-instance.ts'
import type { Link } from '../connect/link.ts'
import type { Hub, HubEvent } from '../hub.ts'
import { memberValue, type NotificationMessage } from '../wire/message.ts'
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

/** Keeps servers as talkative as somebody wants them. */
export class Levels {
  readonly #hub: Hub
  readonly #sessions: Iterable<Session>
  readonly #told = new WeakMap<Link, Level>()

  constructor(hub: Hub, sessions: Iterable<Session>) {
    this.#hub = hub
    this.#sessions = sessions
  }

  /** A server that was started anew is told again. */
  hear(event: HubEvent): void {
    if (event.type === 'server-status' && event.status.state === 'connected') this.#tell(event.server)
    if (event.type === 'instance-status' && event.connected) this.#tell(event.server, event.instance)
  }

  /** Somebody asked for another level. */
  changed({ scope, caller }: Session): void {
    const { manager } = this.#hub.context
    for (const server of scope === undefined ? manager.names : [scope]) {
      const connection = manager.find(server)
      if (connection) this.#tell(server, instanceKey(connection, caller))
    }
  }

  // --- internal ---

  /** `instance`: the one that is told, where it is not one for all; only those are asked whose it is. */
  #tell(server: string, instance?: string): void {
    const { context } = this.#hub
    const connection = context.manager.find(server)
    const link = (instance === undefined ? connection : connection?.instances?.find(instance))?.live
    if (
      connection === undefined ||
      link?.agreement.era !== 'legacy' ||
      link.agreement.capabilities['logging'] === undefined
    )
      return
    const wanted = [...this.#sessions]
      .filter(({ scope, actor }) => (scope ?? server) === server && mayReach(context, actor, server))
      .filter(({ caller }) => instanceKey(connection, caller) === instance)
      .map(({ level }) => level)
    const level = LEVELS.find((it) => wanted.includes(it))
    if (level === undefined || this.#told.get(link) === level) return
    this.#told.set(link, level)
    void link.ask('logging/setLevel', { level }).catch(() => undefined)
  }
}
