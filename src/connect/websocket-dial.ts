// How a WebSocket is opened: guarded, signed, and through the proxy that the environment asks for.

import type { RequestOptions } from 'node:http'
import type { WebSocket } from 'ws'
import { Fault } from '../base/fault.ts'
import type { Signature } from './http/credential.ts'
import { bareHost, guardedLookup, type Resolve } from './http/guard.ts'
import { type HeaderMap, headersOf } from './http/headers.ts'
import type { Opening } from './http/kept-socket.ts'
import { socketTo, tunnelTo } from './http/open-socket.ts'
import { basicAuthorization, type Environment, portOf, proxyFor } from './http/proxy.ts'

export interface WebSocketDialOptions {
  readonly url: string
  readonly headers?: HeaderMap | undefined
  /** Bytes a message may have. */
  readonly limit: number
  /** Where proxies are looked up; none without it. */
  readonly env?: Environment | undefined
  /** Stands in for the system's name service. */
  readonly resolve?: Resolve | undefined
  /** Certificates to trust instead of the usual ones. */
  readonly certificates?: string | undefined
}

export interface WebSocketDialer {
  readonly url: URL
  /** Host and port, for messages: paths may hold keys. */
  readonly place: string
  dial(signature: Signature | undefined): WebSocket
}

/** Throws a fault when the address is none, or none that may be reached. */
export async function webSocketDialer(options: WebSocketDialOptions): Promise<WebSocketDialer> {
  const { certificates, env, headers, limit, resolve } = options
  const url = socketAddress(options.url)
  // To whoever opens connections, and to proxies, it is an address of the web.
  const web = new URL(url.href.replace(/^ws/, 'http'))
  const lookup = guardedLookup(web, web, resolve)
  const proxy = env && proxyFor(web, env)
  // A frame is none of a proxy's business, so that also without encryption it is asked for a tunnel (RFC 6455, 4.1).
  const open = proxy ? tunnelTo(web, proxy, { certificates }) : socketTo(web, { lookup, certificates })
  // Loaded when it is needed: most never do.
  const { WebSocket } = await import('ws')
  const dial = (signature: Signature | undefined) => {
    let opening: Opening | undefined
    const connect: Connect = (_options, created) => {
      opening = open(
        (made) => created(null, made),
        // Nobody looks at the socket of a failure.
        (error) => created(error, undefined as never),
      )
      return undefined
    }
    const socket = new WebSocket(url, [SUBPROTOCOL], {
      headers: { ...handshakeHeaders(url, headers), ...pairs(signature?.headers) },
      // Its types know of fewer ways than the request of `node:http` that it is handed on to.
      createConnection: connect as never,
      maxPayload: limit * PATIENCE,
      handshakeTimeout: HANDSHAKE,
      followRedirects: false,
      perMessageDeflate: false,
    })
    // Many servers do not repeat what they agree to, which `ws` takes for a refusal; another one still is.
    socket.once('upgrade', ({ headers }) => {
      headers['sec-websocket-protocol'] ??= SUBPROTOCOL
    })
    // Given up while a proxy is still being asked: `ws` does not know of that connection.
    socket.once('close', () => opening?.destroy())
    return socket
  }
  return { url, place: `${bareHost(url)}:${portOf(url)}`, dial }
}

// --- internal ---

type Connect = NonNullable<RequestOptions['createConnection']>

const SUBPROTOCOL = 'mcp'
const HANDSHAKE = 30_000
/** How many times the limit a message may be before the whole connection is given up. */
const PATIENCE = 5

function socketAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text.replace(/^http/i, 'ws')) : undefined
  if (url?.protocol === 'ws:' || url?.protocol === 'wss:') return url
  throw new Fault('ADDRESS_REFUSED', url ? `${url.protocol} is not ws or wss` : 'the url is no address', {
    hint: 'write it like wss://example.com/mcp',
  })
}

/** The handshake has headers of its own, which `ws` sets. */
function handshakeHeaders(url: URL, configured: HeaderMap | undefined): Record<string, string> {
  const isNamed = url.username !== '' || url.password !== ''
  const own = new Map(isNamed ? [['authorization', basicAuthorization(url)]] : [])
  const headers = [...headersOf(own, configured)].filter(([name]) => !name.startsWith('sec-websocket-'))
  return Object.fromEntries(headers)
}

/** A flat list of names and values as `ws` wants it. */
function pairs(list: readonly string[] = []): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < list.length; at += 2) headers[list[at] ?? ''] = list[at + 1] ?? ''
  return headers
}
