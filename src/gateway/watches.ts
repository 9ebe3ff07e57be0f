// Resources that clients want to hear of. A server is asked once for each, asked again when it was started anew, and told
// when nobody wants to hear of it any more.

import { isRecord } from '../base/record.ts'
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

export class Watches {
  readonly #hub: Hub
  readonly #servers = new Map<string, Map<string, Watched>>()

  constructor(hub: Hub) {
    this.#hub = hub
  }

  /** From now on; a legacy server must have been asked already. Returns how to end it. */
  add(server: string, uri: string, listener: Listener): () => void {
    const resources = this.#servers.get(server) ?? new Map<string, Watched>()
    this.#servers.set(server, resources)
    const watched = resources.get(uri) ?? { uri, listeners: new Set(), stop: undefined }
    resources.set(uri, watched)
    watched.listeners.add(listener)
    if (watched.stop === undefined) this.#listen(server, watched)
    return () => {
      if (!watched.listeners.delete(listener) || watched.listeners.size > 0) return
      resources.delete(uri)
      watched.stop?.abort()
      this.#unsubscribe(server, uri)
    }
  }

  hear(event: HubEvent): void {
    if (event.type === 'notification' && event.message.method === UPDATED)
      this.#updated(event.server, event.message)
    if (event.type === 'server-status' && event.status.state === 'connected') this.#renew(event.server)
  }

  close(): void {
    for (const resources of this.#servers.values()) for (const { stop } of resources.values()) stop?.abort()
    this.#servers.clear()
  }

  // --- internal ---

  #updated(server: string, message: NotificationMessage): void {
    const params = memberValue(message, 'params')
    const uri = isRecord(params) ? params['uri'] : undefined
    if (typeof uri !== 'string') return
    // A server may speak of a part of what was asked for.
    for (const watched of this.#servers.get(server)?.values() ?? [])
      if (uri === watched.uri || isPartOf(uri, watched.uri))
        for (const listener of watched.listeners) listener(uri, message)
  }

  /** A server that was started anew does not know what it was asked before. */
  #renew(server: string): void {
    const link = this.#hub.context.manager.find(server)?.live
    if (link?.agreement.era !== 'legacy') return
    for (const { uri } of this.#servers.get(server)?.values() ?? [])
      void link.ask('resources/subscribe', { uri }).catch(() => undefined)
  }

  #unsubscribe(server: string, uri: string): void {
    const link = this.#hub.context.manager.find(server)?.live
    if (link?.agreement.era === 'legacy')
      void link.ask('resources/unsubscribe', { uri }).catch(() => undefined)
  }

  /** A modern server tells only whom listens, and every such stream ends some time. */
  #listen(server: string, watched: Watched): void {
    const connection = this.#hub.context.manager.find(server)
    if (connection?.agreement?.era !== 'modern') return
    const stop = new AbortController()
    watched.stop = stop
    const { signal } = stop
    const listen = async () => {
      for (let wait = SHORTEST; !signal.aborted; wait = Math.min(wait * 2, LONGEST)) {
        try {
          const link = await connection.ready(signal)
          const notifications = { resourceSubscriptions: [watched.uri] }
          await link.ask(
            'subscriptions/listen',
            { notifications },
            {
              signal,
              onNotification: (message) => {
                // It listens to us again.
                wait = SHORTEST
                if (message.method === UPDATED) this.#updated(server, message)
              },
            },
          )
        } catch {
          // Tried again below, or nobody listens any more.
        }
        await rest(wait, signal)
      }
    }
    void listen()
  }
}

function isPartOf(uri: string, whole: string): boolean {
  return uri.startsWith(whole) && (whole.endsWith('/') || /^[/?#]/.test(uri.slice(whole.length)))
}
