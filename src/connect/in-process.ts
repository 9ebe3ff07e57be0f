// A server object of the official SDK that lives in this very process.

import { Fault } from '../base/fault.ts'
import { Stopper } from '../base/stop.ts'
import { pause } from './pause.ts'
import type { Diagnosis, OpenTransport, Outgoing, Transport, TransportEvents } from './transport.ts'

/** The part of an SDK server that is used; version 1 and 2 both have it. */
export interface InProcessServer {
  connect(transport: never): Promise<void>
  close(): Promise<void>
}

export function openInProcess(server: string, instance: InProcessServer): OpenTransport {
  return (events) => new InProcessTransport(server, instance, events)
}

// --- internal ---

/** Milliseconds that an object has to close: as many as a process. */
const FAREWELL = 3_000

class InProcessTransport implements Transport {
  readonly streams = false
  readonly #server: string
  readonly #instance: InProcessServer
  readonly #events: TransportEvents
  /** Nobody waits for this but what is sent: a server object that never gets there is given up as any other. */
  readonly #connected: Promise<void>
  #isConnected = false
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
    this.#connected = this.#connect()
  }

  send({ body, id }: Outgoing): void {
    const message: unknown = JSON.parse(body.toString())
    // As with any other server, nothing is answered before the caller has gone on.
    void this.#connected.then(() => {
      try {
        if (!this.#closed) this.far.onmessage?.(message)
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
    const over = new Stopper()
    const closed = this.#closeInstance().finally(() => over.abort())
    // An object cannot be killed, so it is left to itself. One that never got to connect has nothing to say goodbye to.
    if (this.#isConnected) await Promise.race([closed, pause(FAREWELL, over)])
  }

  /** Nobody can do anything about an object that fails to close. */
  async #closeInstance(): Promise<void> {
    try {
      await this.#instance.close()
    } catch {}
  }

  async #connect(): Promise<void> {
    try {
      // What the SDK calls a transport is its end of this one.
      await this.#instance.connect(this.far as never)
      this.#isConnected = true
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      this.#lose(`could not be connected: ${text}`)
    }
  }

  #end(): void {
    // The server object lets go of this transport only when it hears this, whoever closes.
    this.far.onclose?.()
    this.#lose('closed itself')
  }

  #lose(what: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#events.closed(new Fault('CONNECTION_LOST', `${this.#server} ${what}`, { server: this.#server }))
  }
}
