// Starts a session anew after the server forgot the old one, with the very messages that started it the first time.

import { Fault } from '../../base/fault.ts'
import type { AnswerHeaders } from '../../wire/http-answer.ts'
import { memberValue, type ReplyMessage, readMessage } from '../../wire/message.ts'
import type { Outgoing } from '../transport.ts'
import { isSameId } from './answer.ts'
import type { Dialer } from './dial.ts'
import { Exchange, type Receiver } from './exchange.ts'
import type { HeaderBook } from './headers.ts'
import { type Refusal, refusalFault } from './refusal.ts'
import type { Breakage } from './trouble.ts'

export interface Greeting {
  readonly initialize: Outgoing
  readonly initialized: Outgoing
}

export interface RenewalHost {
  readonly dialer: Dialer
  readonly headers: HeaderBook
  readonly limit: number
  /** Comes once: without a fault the new session stands in the headers. */
  renewed(fault?: Fault): void
}

export class Renewal implements Receiver {
  readonly #host: RenewalHost
  readonly #greeting: Greeting
  #step: 'initialize' | 'initialized' | 'over' = 'initialize'
  #agreed = false
  #exchange: Exchange | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(host: RenewalHost, greeting: Greeting) {
    this.#host = host
    this.#greeting = greeting
  }

  start(): void {
    this.#timer = setTimeout(() => this.#end('did not start a new session in time'), DEADLINE)
    this.#host.headers.session = undefined
    this.#post(this.#greeting.initialize)
  }

  abort(): void {
    this.#step = 'over'
    clearTimeout(this.#timer)
    this.#exchange?.abort()
  }

  accepted(headers: AnswerHeaders): void {
    if (this.#step !== 'initialize') return
    this.#host.headers.session = headers['mcp-session-id']
  }

  message(bytes: Buffer): void {
    const message = readMessage(bytes)
    if (this.#step !== 'initialize' || (message.kind !== 'result' && message.kind !== 'error')) return
    if (!isSameId(message.id, this.#greeting.initialize.id)) return
    const version = versionIn(message)
    // What was agreed on before is what everybody goes by.
    if (version !== this.#host.headers.agreement?.version)
      this.#end(
        version === undefined ? 'refused a new session' : `speaks version ${String(version)} all at once`,
      )
    else if (this.#exchange?.streaming) {
      this.#exchange.abort()
      this.#greet()
    } else this.#agreed = true
  }

  ended(): void {
    if (this.#step === 'initialized') this.#end()
    else if (this.#agreed) this.#greet()
    else this.#end('did not answer when a new session was to start')
  }

  refused(refusal: Refusal): void {
    this.#end('refused a new session', refusalFault(refusal, this.#host.dialer))
  }

  broken({ fault }: Breakage): void {
    this.#end('could not start a new session', fault)
  }

  #greet(): void {
    this.#step = 'initialized'
    this.#post(this.#greeting.initialized)
  }

  #post(outgoing: Outgoing): void {
    const { dialer, headers, limit } = this.#host
    this.#exchange = new Exchange(dialer, limit, this)
    this.#exchange.start('POST', () => headers.post(outgoing), outgoing.body)
  }

  #end(what?: string, cause?: Fault): void {
    if (this.#step === 'over') return
    this.abort()
    if (what === undefined) this.#host.renewed()
    else {
      const because = cause ? `: ${cause.message}` : ''
      const { place } = this.#host.dialer
      this.#host.renewed(
        new Fault('CONNECTION_LOST', `${place} forgot the session and ${what}${because}`, {
          details: cause?.details,
          cause,
        }),
      )
    }
  }
}

// --- internal ---

const DEADLINE = 30_000

/** The version a server agrees to; undefined when it refuses, or when its answer is broken. */
function versionIn(message: ReplyMessage): unknown {
  if (message.kind !== 'result') return undefined
  try {
    const result = memberValue(message, 'result') as { protocolVersion?: unknown } | undefined
    return result?.protocolVersion
  } catch {
    return undefined
  }
}
