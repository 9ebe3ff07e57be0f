// `fetch` for model endpoints: through the proxy that the environment asks for, as every other request goes, never sent on
// to another address, and with an end when the other side falls silent.

import type { ClientRequest, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { Fault } from '../../base/fault.ts'
import type { Environment } from '../../base/places.ts'
import { Dialer } from '../../connect/http/dial.ts'
import { breakageOf } from '../../connect/http/trouble.ts'

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
    const request = dialer.request('POST', pathname + search, [...headers].flat())
    const silent = () =>
      new Fault('MODEL_UNAVAILABLE', `${place} was silent for ${Math.round(idle / 1000)} s`)
    const response = await answerTo(request, body, { place, idle, silent, signal })
    const status = response.statusCode ?? 0
    const trouble = unfit(status, response, place)
    if (trouble !== undefined) {
      response.destroy()
      throw trouble
    }
    const given = new Headers()
    for (const [name, value] of Object.entries(response.headers))
      if (value !== undefined) given.set(name, String(value))
    // The types of node's own streams and of the web's differ in name only.
    const stream = Readable.toWeb(response) as unknown as ReadableStream<Uint8Array>
    return new Response(stream, { status, headers: given })
  }
}

// --- internal ---

interface Waiting {
  readonly place: string
  readonly idle: number
  readonly silent: () => Fault
  readonly signal: AbortSignal | undefined
}

function answerTo(
  request: ClientRequest,
  body: string,
  { place, idle, silent, signal }: Waiting,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined
    const end = (reason: unknown) => {
      const error = reason instanceof Error ? reason : new Error(String(reason))
      if (response) response.destroy(error)
      request.destroy(error)
    }
    const stop = () => end(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
    request.setTimeout(idle, () => end(silent()))
    request.on('close', () => signal?.removeEventListener('abort', stop))
    request.on('error', (error) => {
      if (signal?.aborted || error instanceof Fault) reject(signal?.aborted ? signal.reason : error)
      else reject(breakageOf(error, place, { reused: false, answering: response !== undefined }).fault)
    })
    request.on('response', (given) => {
      response = given
      // Whoever reads it is told; when nobody does any more, nobody needs to be.
      given.on('error', () => {})
      resolve(given)
    })
    request.end(body)
  })
}

/** What the packages would follow, or read as a stream though it is none. */
function unfit(status: number, { headers }: IncomingMessage, place: string): Fault | undefined {
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
