// `fetch` for model endpoints: through the proxy that the environment asks for, as every other request goes, never sent on
// to another address, and with an end when the other side falls silent.

import { Fault } from '../../base/fault.ts'
import type { Environment } from '../../base/places.ts'
import { Dialer } from '../../connect/http/dial.ts'
import type { Asker, KeptSocket, Stage } from '../../connect/http/kept-socket.ts'
import { breakageOf } from '../../connect/http/trouble.ts'
import type { AnswerHeaders } from '../../wire/http-answer.ts'
import { headerLines } from '../../wire/http-request.ts'

export type Fetch = typeof globalThis.fetch

export interface FetchTerms {
  /** Where proxies are looked up. */
  readonly env: Environment
  /** Milliseconds without a byte after which it is over; models think for minutes, but say so. */
  readonly idle: number
}

/** For one endpoint, whose connections it keeps for the next request. */
export function modelFetch({ env, idle }: FetchTerms): Fetch {
  let dialer: Dialer | undefined
  return async (input, init = {}) => {
    const signal = init.signal ?? undefined
    signal?.throwIfAborted()
    const url = String(input)
    dialer ??= new Dialer({ url, env })
    const { place } = dialer
    const { pathname, search } = new URL(url)
    const body = String(init.body ?? '')
    const headers = new Headers([...dialer.headers])
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value)
    headers.set('content-length', String(Buffer.byteLength(body)))
    const lines = headerLines([...headers].flat())
    const answer = new ModelAnswer(place, idle, signal)
    answer.follow(dialer.send(answer, 'POST', pathname + search, lines, body))
    return await answer.response
  }
}

// --- internal ---

/** The answer to one request: told when its head is there; what is said after that, or goes wrong, comes in its body. */
class ModelAnswer implements Asker {
  readonly response: Promise<Response>
  readonly #place: string
  readonly #idle: number
  readonly #signal: AbortSignal | undefined
  readonly #stop = () => this.#give(this.#signal?.reason)
  #resolve: (response: Response) => void = () => {}
  #reject: (reason: unknown) => void = () => {}
  #socket: KeptSocket | undefined
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(place: string, idle: number, signal: AbortSignal | undefined) {
    this.#place = place
    this.#idle = idle
    this.#signal = signal
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** From now on silence and the signal count. */
  follow(socket: KeptSocket): void {
    this.#socket = socket
    this.#signal?.addEventListener('abort', this.#stop, { once: true })
    this.#watch()
  }

  alive(): void {
    this.#timer?.refresh()
  }

  head(status: number, headers: AnswerHeaders): void {
    const trouble = unfit(status, headers, this.#place)
    if (trouble) {
      this.#give(trouble)
      return
    }
    const given = new Headers()
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) given.set(name, value)
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#stream = controller
      },
      pull: () => {
        this.#watch()
        this.#socket?.resume(this)
      },
      cancel: () => this.#leave(),
    })
    this.#resolve(new Response(BARE.has(status) ? null : body, { status, headers: given }))
  }

  data(chunk: Buffer): void {
    this.#stream?.enqueue(new Uint8Array(chunk))
    if ((this.#stream?.desiredSize ?? 1) > 0) return
    // Whoever does not read must not fill the memory; and it is not the model that is silent then.
    clearTimeout(this.#timer)
    this.#socket?.pause(this)
  }

  end(): void {
    this.#finish()
    this.#stream?.close()
  }

  broken(error: NodeJS.ErrnoException, at: Stage): void {
    const { fault } = breakageOf(error, this.#place, this.#stream === undefined ? at : 'answering')
    this.#fail(fault)
  }

  #watch(): void {
    clearTimeout(this.#timer)
    const seconds = Math.round(this.#idle / 1000)
    this.#timer = setTimeout(
      () => this.#give(new Fault('MODEL_UNAVAILABLE', `${this.#place} was silent for ${seconds} s`)),
      this.#idle,
    )
  }

  /** Ends it, for this reason. */
  #give(reason: unknown): void {
    this.#leave()
    this.#fail(reason)
  }

  #leave(): void {
    this.#finish()
    this.#socket?.abort(this)
  }

  #fail(reason: unknown): void {
    this.#finish()
    this.#reject(reason)
    // Whoever reads it is told; when nobody does any more, nobody needs to be.
    this.#stream?.error(reason)
  }

  #finish(): void {
    clearTimeout(this.#timer)
    this.#signal?.removeEventListener('abort', this.#stop)
  }
}

/** Statuses whose answers have no body. */
const BARE: ReadonlySet<number> = new Set([204, 205, 304])

/** What the packages would follow, or read as a stream though it is none. */
function unfit(status: number, headers: AnswerHeaders, place: string): Fault | undefined {
  if (status >= 600) return new Fault('MODEL_REFUSED', `${place} answered ${status}, which means nothing`)
  if (status >= 300 && status < 400)
    return new Fault('MODEL_REFUSED', `${place} sends its clients to another address`, {
      hint: 'correct the base URL of the model; a key is not sent on',
    })
  const type = headers['content-type'] ?? ''
  if (status < 300 && /html|application\/json/i.test(type))
    return new Fault('MODEL_REFUSED', `${place} answered with ${type.split(';')[0]} instead of a stream`, {
      hint: 'correct the base URL of the model: it usually ends in /v1',
    })
  return undefined
}
