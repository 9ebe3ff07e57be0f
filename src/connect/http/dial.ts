// Opens connections to one origin: kept alive, guarded, through a proxy where the environment asks for one.

import { Fault } from '../../base/fault.ts'
import { maskText, scrubLearned } from '../../base/redact.ts'
import { requestLine } from '../../wire/http-request.ts'
import type { Body } from '../../wire/message.ts'
import type { Credential } from './credential.ts'
import { bareHost, guardedLookup, type Resolve } from './guard.ts'
import type { Asker, KeptSocket } from './kept-socket.ts'
import { socketTo, socketToProxy, tunnelTo } from './open-socket.ts'
import { basicAuthorization, type Environment, portOf, proxyAuthorization, proxyFor } from './proxy.ts'
import { Sockets } from './sockets.ts'

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
  /** Takes the server's secrets out of a text. */
  readonly scrub?: ((text: string) => string) | undefined
}

export class Dialer {
  readonly url: URL
  /** Host and port, for messages: paths may hold keys. */
  readonly place: string
  /** Headers that belong to every request. */
  readonly headers: ReadonlyMap<string, string>
  readonly credential: Credential | undefined
  /** Whom the requests themselves are sent to, and what answers may be from. */
  readonly proxy: URL | undefined
  /** For what is quoted of answers: masked before it is cut. */
  readonly mask: (text: string) => string
  readonly #sockets: Sockets
  /** Before each path: a proxy wants whole addresses. */
  readonly #prefix: string

  /** Throws a fault when the address is none, or none that may be reached. */
  constructor(options: DialOptions) {
    const url = webAddress(options.url)
    const lookup = guardedLookup(url, webAddress(options.configured ?? options.url), options.resolve)
    const proxy = options.env && proxyFor(url, options.env)
    const headers = new Map([['host', url.host]])
    const named = url.username !== '' || url.password !== ''
    if (named && options.credential === undefined) headers.set('authorization', basicAuthorization(url))
    this.credential = options.credential
    this.mask = maskWith(options.scrub)
    this.url = url
    this.place = `${bareHost(url)}:${portOf(url)}`
    this.headers = headers
    const secure = url.protocol === 'https:'
    this.proxy = secure ? undefined : proxy
    this.#prefix = this.proxy ? url.origin : ''
    const { certificates } = options
    if (proxy && secure) this.#sockets = new Sockets(tunnelTo(url, proxy, { certificates }))
    else if (proxy) this.#sockets = new Sockets(socketToProxy(proxy))
    else this.#sockets = new Sockets(socketTo(url, { lookup, certificates }))
    const password = proxy && !secure ? proxyAuthorization(proxy) : undefined
    if (password !== undefined) headers.set('proxy-authorization', password)
  }

  /** The address of a path there; one that begins with two slashes is a path all the same. */
  at(path: string): URL {
    return new URL(this.url.origin + path)
  }

  /** `lines` are those of the headers, each with its end. Throws on a path that cannot be sent, and when it was closed. */
  send(asker: Asker, method: string, path: string, lines: string, body?: Body): KeptSocket {
    const head = `${requestLine(method, this.#prefix === '' ? path : this.#prefix + path)}${lines}\r\n`
    const socket = this.#sockets.take()
    socket.ask(asker, head, body)
    return socket
  }

  /** Ends every connection, also those in use. */
  destroy(): void {
    this.#sockets.destroy()
  }
}

/** Known secrets first, then what looks like one. */
export function maskWith(scrub: (text: string) => string = scrubLearned): (text: string) => string {
  return (text) => maskText(scrub(text))
}

// --- internal ---

function webAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new Fault('ADDRESS_REFUSED', url ? `${url.protocol} is not http or https` : 'the url is no address', {
    hint: 'write it like https://example.com/mcp',
  })
}
