// https through a proxy: the proxy is asked for a tunnel (CONNECT), and the encryption runs inside it, so that it sees
// nothing but the host.

import http from 'node:http'
import https, { type AgentOptions } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import tls, { type ConnectionOptions } from 'node:tls'
import { Fault } from '../../base/fault.ts'
import { bareHost } from './guard.ts'
import { portOf, proxyAuthorization } from './proxy.ts'

export class TunnelAgent extends https.Agent {
  readonly #proxy: URL
  readonly #asking = new Set<http.ClientRequest>()

  constructor(proxy: URL, options: AgentOptions) {
    super(options)
    this.#proxy = proxy
  }

  override createConnection(
    options: ConnectionOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const proxy = this.#proxy
    const place = `${options.host?.includes(':') ? `[${options.host}]` : options.host}:${options.port}`
    const password = proxyAuthorization(proxy)
    const ask = (proxy.protocol === 'https:' ? https : http).request({
      host: bareHost(proxy),
      port: portOf(proxy),
      method: 'CONNECT',
      path: place,
      agent: false,
      rejectUnauthorized: true,
      headers: { host: place, ...(password === undefined ? {} : { 'proxy-authorization': password }) },
    })
    // The type of the callback knows no failure without a stream, node itself does.
    const fail = (error: Error) => {
      this.#asking.delete(ask)
      callback?.(error, undefined as never)
    }
    ask.once('error', (error: NodeJS.ErrnoException) =>
      fail(unreachable(proxy, `cannot be reached (${error.code ?? error.message})`)),
    )
    ask.once('connect', (response, socket) => {
      if (response.statusCode !== 200) {
        socket.destroy()
        fail(unreachable(proxy, `answered ${response.statusCode} when asked for ${place}`))
        return
      }
      this.#asking.delete(ask)
      const servername = options.servername ?? (isIP(options.host ?? '') ? '' : options.host)
      callback?.(null, tls.connect({ ...options, socket, servername, path: undefined }))
    })
    this.#asking.add(ask)
    ask.end()
    return undefined
  }

  override destroy(): void {
    for (const ask of this.#asking) ask.destroy()
    super.destroy()
  }
}

// --- internal ---

function unreachable(proxy: URL, what: string): Fault {
  return new Fault('SERVER_UNREACHABLE', `the proxy ${proxy.host} ${what}`, {
    hint: 'see HTTPS_PROXY and NO_PROXY',
    details: { proxy: proxy.host },
  })
}
