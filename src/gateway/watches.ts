// Resources that clients want to hear of. A server is asked once for each, asked again when it was started anew, and told
// when nobody wants to hear of it any more. Where each agent or session has an instance of its own, it is that one which is
// asked, and it stays as long as somebody wants to hear of it.

import { isRecord } from '../base/record.ts'
import { type Caller, holderOf, instanceKey, withInstance } from '../call/own-instance.ts'
import type { Connection } from '../connect/connection.ts'
import { rest } from '../connect/pause.ts'
import type { Hub, HubEvent } from '../hub.ts'
import { memberValue, type NotificationMessage } from '../wire/message.ts'

/** Milliseconds between two tries to listen to a modern server. */
const SHORTEST = 1_000
const LONGEST = 60_000

const UPDATED = 'notifications/resources/updated'

/** Told the address as the server knows it, and what it said. */
type Listener = (uri: string, message: NotificationMessage) => void

interface Watched {
  readonly uri: string
  readonly listeners: Set<Listener>
  /** Ends the stream of a modern server. */
  stop: AbortController | undefined
}

/** A server, or the instance of it that somebody's requests go to. */
interface Source {
  readonly key: string
  readonly server: string
  readonly caller: Caller
  readonly instance: string | undefined
  readonly resources: Map<string, Watched>
  /** Lets go of the instance. */
  release: (() => void) | undefined
}

export class Watches {
  readonly #hub: Hub
  readonly #sources = new Map<string, Source>()

  constructor(hub: Hub) {
    this.#hub = hub
  }

  /** From now on; a legacy server must have been asked already. Returns how to end it. */
  add(server: string, caller: Caller, uri: string, listener: Listener): () => void {
    const source = this.#sourceOf(server, caller)
    const { resources } = source
    const watched = resources.get(uri) ?? { uri, listeners: new Set(), stop: undefined }
    resources.set(uri, watched)
    watched.listeners.add(listener)
    if (watched.stop === undefined) this.#listen(source, watched)
    return () => {
      if (!watched.listeners.delete(listener) || watched.listeners.size > 0) return
      resources.delete(uri)
      watched.stop?.abort()
      this.#unsubscribe(source, uri)
      if (resources.size === 0) this.#forget(source)
    }
  }

  hear(event: HubEvent): void {
    if (event.type === 'notification' && event.message.method === UPDATED)
      this.#updated(this.#sources.get(keyOf(event.server, event.instance)), event.message)
    if (event.type === 'server-status' && event.status.state === 'connected')
      this.#renew(this.#sources.get(keyOf(event.server, undefined)))
    if (event.type === 'instance-status') {
      const source = this.#sources.get(keyOf(event.server, event.instance))
      if (source && event.connected) {
        this.#hold(source)
        this.#renew(source)
      }
      // Nobody else starts one again that died; it would not tell of anything any more.
      else if (source) void this.#connection(source)?.ready().catch(nothing)
    }
  }

  close(): void {
    for (const source of this.#sources.values()) {
      for (const { stop } of source.resources.values()) stop?.abort()
      source.release?.()
    }
    this.#sources.clear()
  }

  // --- internal ---

  #sourceOf(server: string, caller: Caller): Source {
    const connection = this.#hub.context.manager.find(server)
    const instance = connection && instanceKey(connection, caller)
    const key = keyOf(server, instance)
    const known = this.#sources.get(key)
    if (known) return known
    const source = { key, server, caller, instance, resources: new Map(), release: undefined }
    this.#sources.set(key, source)
    this.#hold(source)
    return source
  }

  /** Keeps the instance, or the one that came after it. */
  #hold(source: Source): void {
    const { instances } = this.#hub.context.manager.find(source.server) ?? {}
    const { instance } = source
    if (instances === undefined || instance === undefined) return
    const stop = new AbortController()
    const holding = instances.hold(instance, holderOf(source.caller), stop.signal)
    holding.catch(nothing)
    const before = source.release
    source.release = () => {
      stop.abort()
      void holding.then(({ release }) => release(), nothing)
    }
    before?.()
  }

  #forget(source: Source): void {
    if (this.#sources.get(source.key) === source) this.#sources.delete(source.key)
    source.release?.()
    source.release = undefined
  }

  #connection({ server, instance }: Source): Connection | undefined {
    const connection = this.#hub.context.manager.find(server)
    return instance === undefined ? connection : connection?.instances?.find(instance)
  }

  #updated(source: Source | undefined, message: NotificationMessage): void {
    const params = memberValue(message, 'params')
    const uri = isRecord(params) ? params['uri'] : undefined
    if (typeof uri !== 'string') return
    // A server may speak of a part of what was asked for.
    for (const watched of source?.resources.values() ?? [])
      if (uri === watched.uri || isPartOf(uri, watched.uri))
        for (const listener of watched.listeners) listener(uri, message)
  }

  /** A server that was started anew does not know what it was asked before. */
  #renew(source: Source | undefined): void {
    const link = source && this.#connection(source)?.live
    if (link?.agreement.era !== 'legacy') return
    for (const { uri } of source?.resources.values() ?? [])
      void link.ask('resources/subscribe', { uri }).catch(nothing)
  }

  #unsubscribe(source: Source, uri: string): void {
    const link = this.#connection(source)?.live
    if (link?.agreement.era === 'legacy') void link.ask('resources/unsubscribe', { uri }).catch(nothing)
  }

  /** A modern server tells only whom listens, and every such stream ends some time. */
  #listen(source: Source, watched: Watched): void {
    const { server, caller } = source
    const { manager } = this.#hub.context
    if (manager.find(server)?.agreement?.era !== 'modern') return
    const stop = new AbortController()
    watched.stop = stop
    const { signal } = stop
    const method = 'subscriptions/listen'
    const listen = async () => {
      for (let wait = SHORTEST; !signal.aborted; wait = Math.min(wait * 2, LONGEST)) {
        try {
          await withInstance(manager.get(server), caller, { method, signal }, async (connection) => {
            const link = await connection.ready(signal)
            const notifications = { resourceSubscriptions: [watched.uri] }
            const onNotification = (message: NotificationMessage) => {
              // It listens to us again.
              wait = SHORTEST
              if (message.method === UPDATED) this.#updated(source, message)
            }
            await link.ask(method, { notifications }, { signal, onNotification })
          })
        } catch {
          // Tried again below, or nobody listens any more.
        }
        await rest(wait, signal)
      }
    }
    void listen()
  }
}

// --- internal ---

function nothing(): void {}

function keyOf(server: string, instance: string | undefined): string {
  return `${server}\n${instance ?? ''}`
}

function isPartOf(uri: string, whole: string): boolean {
  return uri.startsWith(whole) && (whole.endsWith('/') || /^[/?#]/.test(uri.slice(whole.length)))
}
