// A modern client that listens: to several servers or to a legacy one, whose part is all played here; or to one modern server,
// which tells it the most, and the gateway what changes here.

import { isRecord } from '../base/record.ts'
import { Stopper } from '../base/stop.ts'
import type { Caller } from '../call/own-instance.ts'
import { changedList } from '../connect/link.ts'
import { META } from '../wire/era.ts'
import { type Id, idText } from '../wire/id.ts'
import { memberValue, type NotificationMessage } from '../wire/message.ts'
import { param } from '../wire/params.ts'
import { type Asked, callerOf } from './asked.ts'
import type { Hearer, List } from './audience.ts'
import { taskIdsIn } from './tasks.ts'
import { notificationFor, subscribed } from './translate.ts'

interface Filter {
  readonly tools: boolean
  readonly prompts: boolean
  readonly resources: boolean
  readonly uris: readonly string[]
  readonly tasks: readonly string[]
}

/** Hears until it is stopped; what it hears goes to the client, marked with the id of its request. */
export class Listening implements Hearer {
  readonly #asked: Asked
  readonly #filter: Filter
  readonly stop: Stopper = new Stopper()
  /** What happened before the client was told what it will hear; undefined from then on. */
  #early: Set<string> | undefined = new Set()

  constructor(asked: Asked) {
    this.#asked = asked
    this.#filter = filterOf(asked)
    if (asked.gone.aborted) this.stop.abort()
    asked.gone.addEventListener('abort', () => this.stop.abort())
  }

  get actor() {
    return this.#asked.actor
  }

  get caller(): Caller {
    return callerOf(this.#asked)
  }

  get scope() {
    return this.#asked.scope
  }

  get uris(): readonly string[] {
    return this.#filter.uris
  }

  get tasks(): readonly string[] {
    return this.#filter.tasks
  }

  /** Opens the stream and says what will be heard. */
  acknowledge(uris: readonly string[], tasks: readonly string[]): void {
    this.#asked.reply.open()
    this.#acknowledge({
      notifications: {
        ...this.#lists,
        ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
        ...(tasks.length > 0 ? { taskIds: tasks } : {}),
      },
    })
  }

  /**
   * What the server tells whoever listens to it. `isHeard`: whether the gateway hears of a list by itself, and tells everybody:
   * then that is not said twice.
   */
  relay(message: NotificationMessage, isHeard: (list: List) => boolean): void {
    const list = changedList(message.method)
    if (list !== undefined && isHeard(list)) return
    if (message.method === ACKNOWLEDGED) this.#agree(memberValue(message, 'params'))
    else this.#asked.reply.notify(notificationFor(message, { id: this.#id, progressToken: undefined }))
  }

  listChanged(list: List): void {
    if (this.#filter[list]) this.#say(`notifications/${list}/list_changed`, {})
  }

  updated(uri: string): void {
    this.#say('notifications/resources/updated', { uri })
  }

  /** How a task gets on. */
  told(message: NotificationMessage): void {
    const params = memberValue(message, 'params')
    this.#say(message.method, isRecord(params) ? params : {})
  }

  remark(_message: NotificationMessage): void {
    // What servers log belongs to single requests in this era.
  }

  /** Resolves when it is over, and answers the request. */
  async over(): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.stop.aborted) resolve()
      else this.stop.addEventListener('abort', () => resolve())
    })
    const id = idText(this.#id)
    const meta = `{${JSON.stringify(META.subscription)}:${id}}`
    const result = `{"resultType":"complete","_meta":${meta}}`
    this.#asked.reply.send([Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)])
  }

  // --- internal ---

  get #id(): Id {
    return this.#asked.message.id
  }

  /** What will be heard of lists. */
  get #lists(): object {
    const { tools, prompts, resources } = this.#filter
    return {
      ...(tools ? { toolsListChanged: true } : {}),
      ...(prompts ? { promptsListChanged: true } : {}),
      ...(resources ? { resourcesListChanged: true } : {}),
    }
  }

  /** What the server will tell, and that lists change here, too, whatever it makes of that. */
  #agree(value: unknown): void {
    const params = isRecord(value) ? value : {}
    const notifications = isRecord(params['notifications']) ? params['notifications'] : {}
    this.#acknowledge({ ...params, notifications: { ...notifications, ...this.#lists } })
  }

  #acknowledge(params: Readonly<Record<string, unknown>>): void {
    const early = this.#early ?? []
    this.#early = undefined
    this.#say(ACKNOWLEDGED, params)
    for (const text of early) this.#asked.reply.notify(Buffer.from(text))
  }

  #say(method: string, params: Readonly<Record<string, unknown>>): void {
    const bytes = subscribed(method, params, this.#id)
    if (this.#early) this.#early.add(bytes.toString())
    else this.#asked.reply.notify(bytes)
  }
}

// --- internal ---

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

function filterOf({ params }: Asked): Filter {
  const wanted = param(params, 'notifications')
  const given = isRecord(wanted) ? wanted : {}
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } = given
  const uris = Array.isArray(resourceSubscriptions) ? resourceSubscriptions : []
  return {
    tools: toolsListChanged === true,
    prompts: promptsListChanged === true,
    resources: resourcesListChanged === true,
    uris: uris.filter((uri) => typeof uri === 'string').slice(0, MOST),
    tasks: [...new Set(taskIdsIn(given))].slice(0, MOST),
  }
}

/** Of resources, and of tasks. */
const MOST = 1000
