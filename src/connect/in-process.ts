// A server object of the official SDK that lives in this very process.

import { Fault } from '../base/fault.ts'
import type { Diagnosis, OpenTransport, Outgoing, Transport, TransportEvents } from './transport.ts'

/** The part of an SDK server that is used; version 1 and 2 both have it. */
export interface InProcessServer {
  connect(transport: never): Promise<void>
  close(): Promise<void>
}

export function openInProcess(server: string, instance: InProcessServer): OpenTransport {
  return async (events) => {
    const transport = new InProcessTransport(server, instance, events)
    // What the SDK calls a transport is its end of this one.
    await instance.connect(transport.far as never)
    return transport
  }
}

// --- internal ---

class InProcessTransport implements Transport {
  readonly streams = false
  readonly #server: string
  readonly #instance: InProcessServer
  readonly #events: TransportEvents
  #closed = false

  /** The end that the server object holds. */
  readonly far: {
    onmessage?: (message: unknown, extra?: unknown) => void
    onclose?: () => void
    onerror?: (error: Error) => void
    start: () => Promise<void>
    send: (message: unknown) => Promise<void>
    close: () => Promise<void>
  }

  constructor(server: string, instance: InProcessServer, events: TransportEvents) {
    this.#server = server
    this.#instance = instance
    this.#events = events
    this.far = {
      start: async () => undefined,
      send: async (message) => {
        if (!this.#closed) events.message(Buffer.from(JSON.stringify(message)))
      },
      close: async () => this.#end(),
    }
  }

  send({ body, id }: Outgoing): void {
    const message: unknown = JSON.parse(body.toString())
    // As with any other server, nothing is answered before the caller has gone on.
    queueMicrotask(() => {
      try {
        this.far.onmessage?.(message)
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
        const fault = new Fault('CONNECTION_LOST', `${this.#server} failed: ${text}`, {
          server: this.#server,
        })
        if (id !== undefined) this.#events.failed(id, fault)
      }
    })
  }

  drop(): void {}

  agree(): void {}

  diagnosis(): Diagnosis {
    return {}
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#instance.close()
  }

  #end(): void {
    // The server object lets go of this transport only when it hears this, whoever closes.
    this.far.onclose?.()
    if (this.#closed) return
    this.#closed = true
    this.#events.closed(
      new Fault('CONNECTION_LOST', `${this.#server} closed itself`, { server: this.#server }),
    )
  }
}
