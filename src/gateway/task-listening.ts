// Tasks of which a modern client of all servers as one wants to hear: each server that keeps some of them is listened to
// in its name, and what it tells goes to the client.

import { isRecord } from '../base/record.ts'
import { Stopper } from '../base/stop.ts'
import { admit, mayReach } from '../call/admit.ts'
import { withInstance } from '../call/own-instance.ts'
import { rest } from '../connect/pause.ts'
import type { Hub } from '../hub.ts'
import { memberValue, type NotificationMessage } from '../wire/message.ts'
import { type Asked, callerOf } from './asked.ts'
import type { Listening } from './listen.ts'
import type { SamplingConsents } from './sampling-consents.ts'
import { type TaskBook, taskIdsIn, taskTold } from './tasks.ts'

export class TaskListening {
  readonly #hub: Hub
  readonly #tasks: TaskBook
  readonly #consents: SamplingConsents

  constructor(hub: Hub, tasks: TaskBook, consents: SamplingConsents) {
    this.#hub = hub
    this.#tasks = tasks
    this.#consents = consents
  }

  /** Which of them will be heard of. Of one that may be of two servers nothing is: the client could not tell whose it hears. */
  async begin(
    asked: Asked,
    listening: Listening,
    keepersOf: (task: string) => readonly string[],
  ): Promise<string[]> {
    const kept = new Map<string, string[]>()
    for (const task of listening.tasks) {
      const [server, other] = keepersOf(task)
      if (server !== undefined && other === undefined) kept.set(server, [...(kept.get(server) ?? []), task])
    }
    const heard = await Promise.all(
      [...kept].map(([server, tasks]) => this.#listen(asked, listening, server, tasks)),
    )
    return heard.flat()
  }

  // --- internal ---

  /** Those that the server says it will tell of. One that says nothing in time holds up nobody, and is not listened to. */
  async #listen(
    asked: Asked,
    listening: Listening,
    server: string,
    tasks: readonly string[],
  ): Promise<readonly string[]> {
    const stop = new Stopper()
    const end = () => stop.abort()
    if (listening.stop.aborted) return []
    listening.stop.addEventListener('abort', end)
    const accepted = new Promise<readonly string[]>((resolve) => {
      stop.addEventListener('abort', () => resolve([]))
      void this.#keepOn(asked, listening, server, tasks, stop, resolve)
    })
    const heard = await Promise.race([accepted, rest(PATIENCE, stop).then(() => [])])
    if (heard.length === 0) stop.abort()
    return heard
  }

  /** Every stream of a server ends some time; one that was never acknowledged is not tried again. */
  async #keepOn(
    asked: Asked,
    listening: Listening,
    server: string,
    tasks: readonly string[],
    stop: Stopper,
    acknowledged: (tasks: readonly string[]) => void,
  ): Promise<void> {
    let isHeard = false
    for (let wait = SHORTEST; !stop.aborted; wait = Math.min(wait * 2, LONGEST)) {
      const hear = (message: NotificationMessage) => {
        if (message.method === ACKNOWLEDGED) {
          isHeard = true
          wait = SHORTEST
          const all = acceptedIn(message)
          acknowledged(tasks.filter((task) => all.includes(task)))
        } else if (this.#concerns(asked, server, message)) listening.told(message)
      }
      // Tried again below, or nobody listens any more.
      await this.#once(asked, server, tasks, stop, hear).catch(() => undefined)
      if (!isHeard) stop.abort()
      await rest(wait, stop)
    }
  }

  async #once(
    asked: Asked,
    server: string,
    taskIds: readonly string[],
    signal: Stopper,
    onNotification: (message: NotificationMessage) => void,
  ): Promise<void> {
    const { context } = this.#hub
    const connection = context.manager.get(server)
    admit(context, asked.actor, { server, tool: `#${METHOD}` })
    await withInstance(connection, callerOf(asked), { method: METHOD, signal }, async (own) => {
      const link = await own.ready(signal)
      if (link.agreement.era === 'legacy') return
      // As its client asks: a server may tell of tasks only whom it knows to understand them.
      const { progressToken: _, ...meta } = asked.params.meta ?? {}
      const params = JSON.stringify({ notifications: { taskIds }, _meta: meta })
      await link.pass(METHOD, () => params, { signal, onNotification })
    })
  }

  /** The server, or the task, may have become somebody else's since. */
  #concerns(asked: Asked, server: string, message: NotificationMessage): boolean {
    const isOwn = this.#tasks.isOf(callerOf(asked), server, taskTold(message))
    if (!isOwn || !mayReach(this.#hub.context, asked.actor, server)) return false
    return this.#consents.mayTell(asked.actor, server, message)
  }
}

// --- internal ---

const METHOD = 'subscriptions/listen'
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

/** Milliseconds for which a client waits to be told what it will hear. */
const PATIENCE = 2_000

/** Milliseconds between two tries. */
const SHORTEST = 1_000
const LONGEST = 60_000

function acceptedIn(message: NotificationMessage): readonly string[] {
  const params = memberValue(message, 'params')
  const notifications = isRecord(params) ? params['notifications'] : undefined
  return isRecord(notifications) ? taskIdsIn(notifications) : []
}
