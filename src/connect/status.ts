// A server as seen from outside: five words, and what goes with them.

import { excerptOf } from '../base/excerpt.ts'
import { maskText } from '../base/redact.ts'
import type { Transport as TransportName } from '../config/schema-server.ts'
import type { Status } from '../config/status.ts'
import type { Era, Implementation } from '../wire/era.ts'

export interface ToolSummary {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** Three-valued: what a server does not say is not false. */
  readonly annotations: {
    readonly readOnly?: boolean
    readonly destructive?: boolean
    readonly idempotent?: boolean
    readonly openWorld?: boolean
  }
}

export interface ServerStatus {
  readonly name: string
  readonly transport: TransportName | undefined
  readonly status: Status
  /** More exactly: idle (known, not started), starting, connected, unwell, waiting (to try again), …. */
  readonly state: string
  readonly scope: string
  readonly source: string
  /** As configured, secrets masked. */
  readonly config: unknown
  readonly serverInfo?: Implementation | undefined
  readonly era?: Era | undefined
  readonly protocolVersion?: string | undefined
  readonly instructions?: string | undefined
  readonly tools: readonly ToolSummary[]
  readonly error?: string | undefined
  readonly hint?: string | undefined
  /** The code of what went wrong. */
  readonly fault?: string | undefined
  readonly exitCode?: number | null | undefined
  readonly signal?: string | null | undefined
  /** The last lines of its stderr, when it failed. */
  readonly stderr?: string | undefined
  readonly pid?: number | undefined
  /** When it last showed a sign of life. */
  readonly lastPing?: string | undefined
  readonly connectedSince?: string | undefined
  readonly retryAt?: string | undefined
  readonly inFlight: number
  /** How many there are for single agents or sessions, where it is not one for all. */
  readonly instances?: number | undefined
  /** The latest first. */
  readonly errors: readonly { readonly at: string; readonly message: string }[]
  /** What it sent that a healthy server does not: how often, and the last of it. */
  readonly oddities: { readonly count: number; readonly last?: string | undefined }
}

/** The last few errors and the count of oddities, without the server's secrets and anything that looks like one. */
export class Journal {
  readonly #mask: (text: string) => string
  readonly errors: { at: string; message: string }[] = []
  #oddities = 0
  #last: string | undefined

  constructor(scrub: (text: string) => string) {
    this.#mask = (text) => maskText(scrub(text))
  }

  error(message: string, now: number = Date.now()): void {
    this.errors.unshift({ at: new Date(now).toISOString(), message: this.#mask(message) })
    this.errors.length = Math.min(this.errors.length, 10)
  }

  oddity(text: string): void {
    this.#oddities += 1
    this.#last = excerptOf(text, { most: 200, mask: this.#mask })
  }

  get oddities(): { count: number; last?: string | undefined } {
    return { count: this.#oddities, last: this.#last }
  }
}
