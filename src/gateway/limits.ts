// How much of the gateway one client may take. Without a limit in its way a request costs two counts and no memory.

import type { IncomingMessage } from 'node:http'
import type { GatewayLimits } from '../config/schema-gateway.ts'
import { type Actor, agentOf } from '../policy/access.ts'

/** Why a request is turned away, and after how many seconds it may be tried again. */
export interface TooMuch {
  readonly reason: string
  readonly retryAfter: number
}

/** What all agents take at present. */
export class Limits {
  #settings: GatewayLimits
  readonly #now: () => number
  readonly #shares = new Map<string, Share>()

  constructor(settings: GatewayLimits, now: () => number = () => performance.now()) {
    this.#settings = settings
    this.#now = now
  }

  /** Takes over other limits. Who is above a new one may finish. */
  update(settings: GatewayLimits): void {
    this.#settings = settings
    // Of agents that are gone, nothing need be remembered; those that are not begin anew.
    for (const [agent, share] of this.#shares) {
      if (share.idle) this.#shares.delete(agent)
      else share.settings = settings
    }
  }

  /** A request begins: the share that it is taken from, to be given back by `leave`, or why it may not. */
  enter(actor: Actor, stays: boolean): Share | TooMuch {
    const agent = agentOf(actor)
    let share = this.#shares.get(agent)
    if (share === undefined) {
      share = new Share(agent, this.#settings, this.#now)
      this.#shares.set(agent, share)
    }
    return share.enter(stays) ?? share
  }
}

/** What one agent takes. The owner is not limited: whoever has to mend something must get in. */
export class Share {
  readonly #agent: string
  readonly #now: () => number
  settings: GatewayLimits
  #requests = 0
  #streams = 0
  /** Requests that may come at once, and when that was counted; see `rate`. */
  #tokens = 0
  #countedAt = Number.NEGATIVE_INFINITY

  constructor(agent: string, settings: GatewayLimits, now: () => number) {
    this.#agent = agent
    this.settings = settings
    this.#now = now
  }

  get idle(): boolean {
    return this.#requests + this.#streams === 0
  }

  enter(stays: boolean): TooMuch | undefined {
    if (this.#agent !== '') {
      const { concurrent, streams } = this.settings
      if (stays && this.#streams >= streams)
        return { reason: `${this.#agent} has ${streams} streams open`, retryAfter: 1 }
      if (!stays && this.#requests >= concurrent)
        return { reason: `${this.#agent} has ${concurrent} requests under way`, retryAfter: 1 }
      const tooMuch = this.take(1)
      if (tooMuch) return tooMuch
    }
    if (stays) this.#streams += 1
    else this.#requests += 1
    return undefined
  }

  /** One more of several messages in a request that is under way; false when it has to wait for another to end. */
  another(): boolean {
    if (this.#agent !== '' && this.#requests >= this.settings.concurrent) return false
    this.#requests += 1
    return true
  }

  leave(stays: boolean): void {
    if (stays) this.#streams -= 1
    else this.#requests -= 1
  }

  /** So many messages come, in one request or in several. */
  take(messages: number): TooMuch | undefined {
    const { rate } = this.settings
    if (rate === undefined || this.#agent === '') return undefined
    const now = this.#now()
    const since = (now - this.#countedAt) / 1_000
    this.#tokens = Math.min(rate.burst, this.#tokens + since * rate.perSecond)
    this.#countedAt = now
    const missing = messages - this.#tokens
    if (missing > 0)
      return {
        reason: `${this.#agent} asks too often`,
        retryAfter: Math.max(1, Math.ceil(missing / rate.perSecond)),
      }
    this.#tokens -= messages
    return undefined
  }
}

/** Whether a request asks for a stream that stays open. Modern clients must say so in a header, too. */
export function asksForStream({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' || headers['mcp-method'] === 'subscriptions/listen'
}
