// A single guarded request, for what is asked beside the protocol: metadata, tokens, registries.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Fault } from '../../base/fault.ts'
import { Dialer, type DialOptions } from './dial.ts'
import { HeaderBook, type HeaderMap } from './headers.ts'
import { followRedirect, isRedirect } from './redirect.ts'
import { breakageOf, tooLarge } from './trouble.ts'

/** For an address that a server named, `configured` is the server's own: only what that means may be private. */
export interface GuardedRequest extends DialOptions {
  readonly method?: 'GET' | 'POST' | undefined
  readonly headers?: HeaderMap | undefined
  readonly body?: string | undefined
  readonly contentType?: string | undefined
  readonly accept?: string | undefined
  /** Bytes the answer may have. */
  readonly limit?: number | undefined
  /** Milliseconds for all of it. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface GuardedResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Resolves to whatever the server answers, also to errors; throws a fault when it gives no answer. */
export async function requestGuarded(options: GuardedRequest): Promise<GuardedResponse> {
  options.signal?.throwIfAborted()
  const dialer = new Dialer(options)
  let timer: NodeJS.Timeout | undefined
  let stop: (() => void) | undefined
  const given = new Promise<never>((_, reject) => {
    const { timeout = TIMEOUT, signal } = options
    timer = setTimeout(
      () => reject(new Fault('SERVER_UNREACHABLE', `${dialer.place} did not answer in time`)),
      timeout,
    )
    stop = () => reject(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([ask(dialer, options), given])
  } finally {
    clearTimeout(timer)
    if (stop) options.signal?.removeEventListener('abort', stop)
    dialer.destroy()
  }
}

// --- internal ---

const TIMEOUT = 30_000
const LIMIT = 1024 * 1024

async function ask(dialer: Dialer, options: GuardedRequest): Promise<GuardedResponse> {
  const { method = 'GET', body, limit = LIMIT } = options
  const headers = new HeaderBook(dialer.headers, options.headers).plain({
    accept: options.accept ?? 'application/json',
    ...(body === undefined
      ? {}
      : {
          'content-type': options.contentType ?? 'application/json',
          'content-length': String(Buffer.byteLength(body)),
        }),
  })
  let path = dialer.url.pathname + dialer.url.search
  for (let count = 0; ; count++) {
    const response = await once(dialer, method, path, headers, body)
    const status = response.statusCode ?? 0
    const whole = await bodyOf(response, dialer.place, limit)
    if (!isRedirect(status)) return { status, headers: response.headers, body: whole }
    const from = new URL(path, dialer.url)
    const next = followRedirect(method, status, response.headers.location, { from, count })
    if (next instanceof Fault) throw next
    path = next
  }
}

function once(
  dialer: Dialer,
  method: string,
  path: string,
  headers: readonly string[],
  body: string | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = dialer.request(method, path, headers)
    request.on('response', resolve)
    request.on('error', (error) =>
      reject(breakageOf(error, dialer.place, { reused: false, answering: false }).fault),
    )
    request.end(body)
  })
}

async function bodyOf(response: IncomingMessage, place: string, limit: number): Promise<Buffer> {
  const encoding = response.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new Fault('MESSAGE_INVALID', `${place} answered in ${encoding}, unasked`)
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      size += chunk.length
      if (size > limit) throw tooLarge(place, limit)
      parts.push(chunk)
    }
  } catch (error) {
    if (error instanceof Fault || !(error instanceof Error)) throw error
    throw breakageOf(error, place, { reused: false, answering: true }).fault
  }
  return Buffer.concat(parts)
}
