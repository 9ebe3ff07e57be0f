// What a server of the old era was asked for the length of its session: said again, as it was said, in the next one.

import { isRecord } from '../../base/record.ts'
import { memberValue, readMessage } from '../../wire/message.ts'
import type { Outgoing, TransportEvents } from '../transport.ts'
import { replyIdOf } from './answer.ts'
import type { Dialer } from './dial.ts'
import { Exchange } from './exchange.ts'
import type { HeaderBook } from './headers.ts'

export interface WishHost {
  readonly dialer: Dialer
  readonly headers: HeaderBook
  readonly limit: number
  readonly events: TransportEvents
}

export class Wishes {
  readonly #host: WishHost
  readonly #kept = new Map<string, Outgoing>()
  readonly #underWay = new Set<Exchange>()
  #waiting: Outgoing[] = []

  constructor(host: WishHost) {
    this.#host = host
  }

  note(outgoing: Outgoing): void {
    const { method } = outgoing
    if (method === 'logging/setLevel') this.#kept.set(method, outgoing)
    else if (method === 'resources/subscribe') this.#keep(resourceIn(outgoing), outgoing)
    else if (method === 'resources/unsubscribe') this.#kept.delete(resourceIn(outgoing))
  }

  /** Nobody waits for the answers: those who asked have had theirs. A few at a time: what waits comes first. */
  repeat(): void {
    this.stop()
    this.#waiting = [...this.#kept.values()]
    for (let count = 0; count < AT_A_TIME; count++) this.#next()
  }

  stop(): void {
    this.#waiting = []
    for (const exchange of this.#underWay) exchange.abort()
    this.#underWay.clear()
  }

  // --- internal ---

  #next(): void {
    const outgoing = this.#waiting.shift()
    if (outgoing === undefined) return
    const { dialer, headers, limit, events } = this.#host
    const done = () => {
      clearTimeout(timer)
      // Those that were stopped make room for nothing.
      if (this.#underWay.delete(exchange)) this.#next()
    }
    const exchange = new Exchange(dialer, limit, {
      accepted: () => undefined,
      message: (bytes) => {
        if (replyIdOf(bytes) === undefined) events.message(bytes)
      },
      ended: done,
      refused: done,
      broken: done,
    })
    const timer = setTimeout(() => {
      exchange.abort()
      done()
    }, PATIENCE).unref()
    this.#underWay.add(exchange)
    exchange.start('POST', () => headers.post(outgoing), outgoing.body)
  }

  #keep(key: string, outgoing: Outgoing): void {
    this.#kept.set(key, outgoing)
    if (this.#kept.size <= MOST) return
    const [oldest = ''] = this.#kept.keys()
    this.#kept.delete(oldest)
  }
}

// --- internal ---

/** As many are said again side by side. */
const AT_A_TIME = 8
const PATIENCE = 30_000
/** Also what a server refused is kept. */
const MOST = 1_000

function resourceIn({ body }: Outgoing): string {
  const message = readMessage(Buffer.from(body))
  const params = message.kind === 'request' ? memberValue(message, 'params') : undefined
  return `resource ${isRecord(params) ? params['uri'] : ''}`
}
