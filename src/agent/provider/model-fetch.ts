// `fetch` for model endpoints: through the proxy that the environment asks for, as every other request goes, never sent on
// to another address, and with an end when the other side falls silent.

import { Fault } from '../../base/fault.ts'
import type { Environment } from '../../base/places.ts'
import { Dialer } from '../../connect/http/dial.ts'
import type { Asker } from '../../connect/http/kept-socket.ts'
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
    const socket = (asker: Asker) => dialer?.send(asker, 'POST', pathname + search, lines, body)
    return await answerOf(socket, { place, idle, signal })
  }
}

// --- internal ---

interface Waiting {
  readonly place: string
  readonly idle: number
  readonly signal: AbortSignal | undefined
}

/** Resolves when the head is there; what is said after that comes in the body, and what goes wrong as well. */
function answerOf(
  send: (asker: Asker) => { abort(asker: Asker): void } | undefined,
  { place, idle, signal }: Waiting,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    let stream: ReadableStreamDefaultController<Uint8Array> | undefined
    const finish = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
    const fail = (reason: unknown) => {
      finish()
      // Whoever reads it is told; when nobody does any more, nobody needs to be.
      if (stream) stream.error(reason)
      else reject(reason)
    }
    const end = (reason: unknown) => {
      socket?.abort(asker)
      fail(reason)
    }
    const stop = () => end(signal?.reason)
    const timer = setTimeout(
      () => end(new Fault('MODEL_UNAVAILABLE', `${place} was silent for ${Math.round(idle / 1000)} s`)),
      idle,
    )
    const asker: Asker = {
      head(status, headers) {
        timer.refresh()
        const trouble = unfit(status, headers, place)
        if (trouble) return end(trouble)
        const given = new Headers()
        for (const [name, value] of Object.entries(headers)) if (value !== undefined) given.set(name, value)
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => {
            stream = controller
          },
          cancel: () => {
            finish()
            socket?.abort(asker)
          },
        })
        resolve(new Response(BARE.has(status) ? null : body, { status, headers: given }))
      },
      data(chunk) {
        timer.refresh()
        stream?.enqueue(new Uint8Array(chunk))
      },
      end() {
        finish()
        stream?.close()
      },
      broken(error) {
        if (error instanceof Fault) fail(error)
        else fail(breakageOf(error, place, { reused: false, answering: stream !== undefined }).fault)
      },
    }
    signal?.addEventListener('abort', stop, { once: true })
    const socket = send(asker)
  })
}

/** Statuses whose answers have no body. */
const BARE: ReadonlySet<number> = new Set([204, 205, 304])

/** What the packages would follow, or read as a stream though it is none. */
function unfit(status: number, headers: AnswerHeaders, place: string): Fault | undefined {
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
