// Clients that want to hear of changes: in the legacy era of single resources, in the modern one of what they list.

import { admit, mayReach } from '../call/admit.ts'
import { request } from '../call/request.ts'
import type { Connection } from '../connect/connection.ts'
import type { Hub } from '../hub.ts'
import { ERROR } from '../wire/era.ts'
import { errorOf, type NotificationMessage } from '../wire/message.ts'
import { type Asked, callerOf } from './asked.ts'
import type { Hearer, List } from './audience.ts'
import { Listening } from './listen.ts'
import { type Answered, answer, type Passing, type Renamed } from './pass.ts'
import type { Session } from './session.ts'
import { TaskListening } from './task-listening.ts'
import { answerFor } from './translate.ts'
import type { Watches } from './watches.ts'

/** A resource as its server knows it, and as the client does. */
export interface Place {
  readonly server: string
  readonly uri: string
  readonly shown: string
}

export class Subscribing {
  readonly #hub: Hub
  readonly #passing: Passing
  readonly #watches: Watches
  readonly #taskListening: TaskListening
  readonly #listening = new Set<Listening>()
  /** Those to whom a modern server tells the most; they end with its stream. */
  readonly #relayed = new Set<Listening>()

  constructor(hub: Hub, passing: Passing, watches: Watches) {
    this.#hub = hub
    this.#passing = passing
    this.#watches = watches
    this.#taskListening = new TaskListening(hub, passing.tasks, passing.consents)
  }

  *hearers(): Generator<Hearer> {
    yield* this.#listening
    yield* this.#relayed
  }

  /** `resources/subscribe` and its opposite. */
  async subscribe(asked: Asked, place: Place, renamed: Renamed): Promise<void> {
    const { message, reply, session, actor } = asked
    const { context } = this.#hub
    const { server } = place
    admit(context, actor, { server, tool: `#${message.method}` })
    const isWanted = message.method === 'resources/subscribe'
    if (!isWanted) {
      // The server is told when nobody else wants to hear of it.
      endSubscription(session, place)
      return reply.result(message.id, {})
    }
    const connection = context.manager.get(server)
    if (!connection.agreement) await connection.ready(asked.gone)
    // First, so that whoever ends the last other subscription meanwhile does not end this one with it.
    const isNew = this.#watch(session, place)
    if (connection.agreement?.era === 'modern') return reply.result(message.id, {})
    let isWatched = !isNew
    try {
      const { reply: answer, era } = await this.#passing.ask(asked, server, renamed)
      isWatched ||= answer.kind === 'result'
      reply.send(answerFor('legacy', era, message.method, message.id, answer))
    } finally {
      if (!isWatched) endSubscription(session, place)
    }
  }

  /** `subscriptions/listen`, where it is not passed on. `keepersOf`: the servers that a task of the client's may be of. */
  async listen(
    asked: Asked,
    placesOf: (uri: string) => Promise<Place | undefined>,
    keepersOf: (task: string) => readonly string[] = () => [],
  ): Promise<void> {
    const { session, message, reply } = asked
    const listening = new Listening(asked)
    reply.endsItself = true
    // On a line, a client that has heard enough says so.
    const stop = session?.begin(message.id, reply, '')
    stop?.addEventListener('abort', () => listening.stop.abort())
    const ends: (() => void)[] = []
    this.#listening.add(listening)
    try {
      const heard: string[] = []
      for (const uri of listening.uris) {
        const place = await placesOf(uri)
        if (place === undefined) continue
        const end = this.#listen(listening, place)
        if (await this.#ask(asked, place)) {
          ends.push(end)
          heard.push(place.shown)
        } else end()
      }
      listening.acknowledge(heard, await this.#taskListening.begin(asked, listening, keepersOf))
      await listening.over()
    } finally {
      // Whatever was begun for it ends with it.
      listening.stop.abort()
      if (stop) session?.finish(message.id, stop)
      this.#listening.delete(listening)
      for (const end of ends) end()
    }
  }

  /** `subscriptions/listen`, passed on to the one modern server that it is for; what changes here is told by the same stream. */
  async relay(asked: Asked, connection: Connection): Promise<void> {
    const listening = new Listening(asked)
    // An instance of somebody's own says for itself what changed in it.
    const isHeard = (list: List) =>
      connection.instances === undefined && connection.live?.offers(list, 'listChanged') === true
    const { params, name } = asked
    const heard = (message: NotificationMessage) => listening.relay(message, isHeard)
    this.#relayed.add(listening)
    let answered: Answered
    try {
      answered = await this.#passing.ask(asked, connection.name, { params, name, heard })
    } finally {
      this.#relayed.delete(listening)
    }
    const { reply } = answered
    const isUnknown = reply.kind === 'error' && errorOf(reply).code === ERROR.methodNotFound
    // A server of which nothing can be heard is still one of which something else is shown than before.
    if (isUnknown) await this.listen(asked, async () => undefined)
    else answer(asked, answered)
  }

  /** Ends those that may not go on. */
  recheck(mayHear: (hearer: Hearer) => boolean): void {
    for (const listening of this.#listening) if (!mayHear(listening)) listening.stop.abort()
  }

  close(): void {
    for (const listening of this.#listening) listening.stop.abort()
  }

  // --- internal ---

  /** True when it is new. */
  #watch(session: Session | undefined, { server, uri, shown }: Place): boolean {
    const key = keyOf(server, uri)
    if (session === undefined || session.closed || session.isSubscribed(key)) return false
    const tell = (changed: string, message: NotificationMessage) => {
      // It may have lost the server since.
      if (mayReach(this.#hub.context, session.actor, server))
        session.push(shown === uri ? message.bytes : updated(shownPart(changed, uri, shown)))
    }
    session.subscribe(key, this.#watches.add(server, session.caller, uri, tell))
    return true
  }

  #listen(listening: Listening, { server, uri, shown }: Place): () => void {
    return this.#watches.add(server, listening.caller, uri, (changed) => {
      if (mayReach(this.#hub.context, listening.actor, server))
        listening.updated(shownPart(changed, uri, shown))
    })
  }

  /** Whether the server will tell of it. */
  async #ask(asked: Asked, { server, uri }: Place): Promise<boolean> {
    const { actor, gone } = asked
    const { context } = this.#hub
    const asking = { ...callerOf(asked), surface: 'gateway' } as const
    try {
      const { agreement } = await context.manager.get(server).ready(gone)
      if (agreement.era === 'modern') admit(context, actor, { server, tool: '#subscriptions/listen' })
      else await request(context, asking, server, 'resources/subscribe', { uri }, undefined, {})
      return true
    } catch {
      // What is not acknowledged is not heard of, and the client sees that.
      return false
    }
  }
}

// --- internal ---

function endSubscription(session: Session | undefined, { server, uri }: Place): void {
  session?.unsubscribe(keyOf(server, uri))
}

function keyOf(server: string, uri: string): string {
  return `${server}\n${uri}`
}

/** A resource, or a part of it, as the client knows it: it may have been told whose it is. */
function shownPart(changed: string, uri: string, shown: string): string {
  return shown.slice(0, shown.length - uri.length) + changed
}

function updated(uri: string): Buffer {
  return Buffer.from(
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } }),
  )
}
