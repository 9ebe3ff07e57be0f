// `fetch` for what is asked of authorization servers: guarded like every other request, within bounds, without cookies,
// and never sent on to another origin.

import { Fault } from '../../base/fault.ts'
import type { AnswerHeaders } from '../../wire/http-answer.ts'
import type { Resolve } from '../http/guard.ts'
import type { Environment } from '../http/proxy.ts'
import { retryAfter } from '../http/refusal.ts'
import { requestGuarded } from '../http/request.ts'

export interface FetchContext {
  /** The address of the server, as a person wrote it: what it means is what may be private. */
  readonly server: string
  readonly env: Environment
  readonly resolve?: Resolve | undefined
  readonly certificates?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export function guardedFetch(context: FetchContext): Fetch {
  return async (url, init = {}) => {
    const headers = Object.fromEntries(new Headers(init.headers))
    const { 'content-type': contentType, accept, ...others } = headers
    const {
      status,
      headers: given,
      body,
    } = await requestGuarded({
      url: String(url),
      configured: context.server,
      env: context.env,
      resolve: context.resolve,
      certificates: context.certificates,
      method: init.method === 'POST' ? 'POST' : 'GET',
      headers: others,
      contentType: contentType ?? (init.body instanceof URLSearchParams ? FORM : undefined),
      accept,
      body: init.body === undefined || init.body === null ? undefined : String(init.body),
      limit: LIMIT,
      timeout: TIMEOUT,
      signal: context.signal,
    })
    // Whoever is down or has too much to do has refused nothing, whatever stands in the body.
    if (init.method === 'POST' && (status >= 500 || status === 429)) throw unwell(url, status, given)
    const answer = new Headers()
    for (const [name, value] of Object.entries(given)) if (value !== undefined) answer.set(name, value)
    const isBare = status === 204 || status === 205 || status === 304
    return new Response(isBare ? null : new Uint8Array(body), { status, headers: answer })
  }
}

// --- internal ---

const FORM = 'application/x-www-form-urlencoded'
/** Documents and tokens are small. */
const LIMIT = 512 * 1024
const TIMEOUT = 20_000

function unwell(url: string | URL, status: number, headers: AnswerHeaders): Fault {
  const wait = retryAfter(headers['retry-after'], Date.now())
  return new Fault('SERVER_UNREACHABLE', `${new URL(url).host} answered ${status}`, {
    hint: 'try again later',
    details: { status, ...(wait === undefined ? {} : { retryAfter: wait }) },
  })
}
