// Opens connections to one origin: kept alive, guarded, through a proxy where the environment asks for one.

import http, { type ClientRequest, type RequestOptions } from 'node:http'
import https from 'node:https'
import { Fault } from '../../base/fault.ts'
import type { Credential } from './credential.ts'
import { bareHost, guardedLookup, type Resolve } from './guard.ts'
import { basicAuthorization, type Environment, portOf, proxyAuthorization, proxyFor } from './proxy.ts'
import { TunnelAgent } from './tunnel.ts'

export interface DialOptions {
  readonly url: string
  /** Where proxies are looked up; none without it. */
  readonly env?: Environment | undefined
  /** The address a person wrote, where `url` came from somewhere else. */
  readonly configured?: string | undefined
  /** Stands in for the system's name service. */
  readonly resolve?: Resolve | undefined
  /** Certificates to trust instead of the usual ones. */
  readonly certificates?: string | undefined
  /** Signs each request; what the address itself says of a user is left out then. */
  readonly credential?: Credential | undefined
}

export class Dialer {
  readonly url: URL
  /** Host and port, for messages: paths may hold keys. */
  readonly place: string
  /** Headers that belong to every request. */
  readonly headers: ReadonlyMap<string, string>
  readonly credential: Credential | undefined
  readonly #agent: http.Agent
  readonly #request: (options: RequestOptions) => ClientRequest
  // One object for all requests: node copies what it needs.
  readonly #options: RequestOptions
  readonly #prefix: string

  /** Throws a fault when the address is none, or none that may be reached. */
  constructor(options: DialOptions) {
    const url = webAddress(options.url)
    const lookup = guardedLookup(url, webAddress(options.configured ?? options.url), options.resolve)
    const proxy = options.env && proxyFor(url, options.env)
    const tls = { rejectUnauthorized: true, ca: options.certificates }
    const headers = new Map([['host', url.host]])
    const named = url.username !== '' || url.password !== ''
    if (named && options.credential === undefined) headers.set('authorization', basicAuthorization(url))
    this.credential = options.credential
    this.url = url
    this.place = `${bareHost(url)}:${portOf(url)}`
    this.headers = headers
    const secure = url.protocol === 'https:'
    const near = proxy && !secure ? proxy : url
    this.#prefix = proxy && !secure ? url.origin : ''
    if (proxy && secure) this.#agent = new TunnelAgent(proxy, { ...POOL, ...tls })
    else if (near.protocol === 'https:')
      this.#agent = new https.Agent({ ...POOL, ...tls, ...(proxy ? {} : { lookup }) })
    else this.#agent = new http.Agent({ ...POOL, ...(proxy ? {} : { lookup }) })
    const password = proxy && !secure ? proxyAuthorization(proxy) : undefined
    if (password !== undefined) headers.set('proxy-authorization', password)
    this.#request = near.protocol === 'https:' ? https.request : http.request
    this.#options = { agent: this.#agent, host: bareHost(near), port: portOf(near) }
  }

  /** Starts a request; the caller ends it. `headers` is a flat list of names and values. May throw on bad headers. */
  request(method: string, path: string, headers: readonly string[]): ClientRequest {
    const options = this.#options
    options.method = method
    options.path = this.#prefix === '' ? path : this.#prefix + path
    options.headers = headers
    return this.#request(options)
  }

  /** Ends every connection, also those in use. */
  destroy(): void {
    this.#agent.destroy()
  }
}

// --- internal ---

/**
 * How many requests may be under way is counted elsewhere, so that long streams take nobody's place. Idle
 * connections go after a while; without such a time node would not heed the server's own either.
 */
const POOL = {
  keepAlive: true,
  maxFreeSockets: 64,
  timeout: 30_000,
  // Notices within a minute or two that the other side of a quiet stream is gone.
  keepAliveInitialDelay: 30_000,
} as const

function webAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new Fault('ADDRESS_REFUSED', url ? `${url.protocol} is not http or https` : 'the url is no address', {
    hint: 'write it like https://example.com/mcp',
  })
}
