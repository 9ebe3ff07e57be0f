// Lets a test make an endpoint fail, hang or wait, without a clock.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBody } from './listener.ts'

export type Endpoint =
  | 'metadata'
  | 'registration'
  | 'authorization'
  | 'token'
  | 'revocation'
  | 'device'
  | 'resource-metadata'
  | 'mcp'

/** Where something has happened even if nobody hears of it. */
export type Losable = 'registration' | 'token' | 'revocation'

/** A status, `hang` (the request is taken and never answered), or the whole answer. */
export type Failure = number | 'hang' | { status: number; headers?: Record<string, string>; body?: string }

/** A request that was made to fail. */
export interface Failed {
  status: number | 'hang'
  /** Its body. */
  asked: string
}

export interface Held {
  /** Resolves when a request waits. */
  arrived: Promise<void>
  /** Lets it go on as if nothing had been. */
  release(): void
}

export class Faults {
  #failures = new Map<Endpoint, Failure[]>()
  #losses = new Map<Endpoint, number>()
  #held = new Map<Endpoint, Gate[]>()
  #heldAnswers = new Map<Endpoint, Gate[]>()

  /** The next requests to the endpoint fail, the others after them do not. */
  fail(endpoint: Endpoint, failure: Failure, times = 1): void {
    add(this.#failures, endpoint, ...Array<Failure>(times).fill(failure))
  }

  /** The next request to the endpoint waits. What `fail` says comes after the waiting. */
  hold(endpoint: Endpoint): Held {
    return holdIn(this.#held, endpoint)
  }

  /** The next request takes effect, and its answer waits. */
  holdAnswer(endpoint: Losable): Held {
    return holdIn(this.#heldAnswers, endpoint)
  }

  /** Resolves when the answer to this request may be given. */
  async answering(endpoint: Endpoint | undefined): Promise<void> {
    const held = endpoint === undefined ? undefined : this.#heldAnswers.get(endpoint)?.shift()
    held?.arrive()
    await held?.released
  }

  /** The next requests are served as ever, and then the connection breaks in place of the answer. */
  lose(endpoint: Losable, times = 1): void {
    this.#losses.set(endpoint, (this.#losses.get(endpoint) ?? 0) + times)
  }

  /** Whether the answer to this request is to be lost; each time it says so, one less is to go. */
  loses(endpoint: Endpoint | undefined): boolean {
    const left = endpoint === undefined ? 0 : (this.#losses.get(endpoint) ?? 0)
    if (left === 0 || endpoint === undefined) return false
    this.#losses.set(endpoint, left - 1)
    return true
  }

  /** Undefined when the request is to be served; otherwise it has been read and has got its answer. */
  async answer(
    endpoint: Endpoint,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Failed | undefined> {
    const held = this.#held.get(endpoint)?.shift()
    held?.arrive()
    await held?.released
    const failure = this.#failures.get(endpoint)?.shift()
    if (failure === undefined) return undefined
    const asked = await readBody(request)
    if (failure === 'hang') return { status: 'hang', asked }
    const { status, headers = {}, body = '' } = typeof failure === 'number' ? { status: failure } : failure
    response.writeHead(status, headers).end(body)
    return { status, asked }
  }
}

// --- internal ---

interface Gate {
  arrive(): void
  released: Promise<void>
}

function holdIn(map: Map<Endpoint, Gate[]>, endpoint: Endpoint): Held {
  const signals = new EventTarget()
  const arrived = once(signals, 'arrive').then(() => {})
  const released = once(signals, 'release').then(() => {})
  add(map, endpoint, { arrive: () => signals.dispatchEvent(new Event('arrive')), released })
  return { arrived, release: () => void signals.dispatchEvent(new Event('release')) }
}

function add<T>(map: Map<Endpoint, T[]>, endpoint: Endpoint, ...more: T[]): void {
  map.set(endpoint, [...(map.get(endpoint) ?? []), ...more])
}
