// How a connection is opened: straight, encrypted, or inside a tunnel through a proxy, which then is asked for nothing but
// the host.

import net, { isIP, type LookupFunction, type Socket } from 'node:net'
import tls from 'node:tls'
import { Fault } from '../../base/fault.ts'
import { AnswerReader } from '../../wire/http-answer.ts'
import { headerLine, requestLine } from '../../wire/http-request.ts'
import { bareHost } from './guard.ts'
import type { Opening, OpenSocket } from './kept-socket.ts'
import { portOf, proxyAuthorization } from './proxy.ts'

/** `certificates`: those to trust instead of the usual ones. */
export interface Reach {
  readonly lookup?: LookupFunction | undefined
  readonly certificates?: string | undefined
}

export function socketTo(url: URL, { lookup, certificates }: Reach): OpenSocket {
  const place = { host: bareHost(url), port: Number(portOf(url)), lookup }
  if (url.protocol !== 'https:')
    return (ready) => {
      const socket = net.connect(place)
      // What is written before it stands waits in it.
      ready(socket)
      return socket
    }
  return (ready, failed) => {
    const socket = tls.connect({ ...place, ...encryption(url, certificates) })
    return secured(socket, ready, failed)
  }
}

export function tunnelTo(url: URL, proxy: URL, { certificates }: Reach): OpenSocket {
  return (ready, failed) => {
    let stage: Opening
    const tunnel = new Tunnel(url, proxy, (result) => {
      if (result instanceof Error) failed(result)
      else if (url.protocol !== 'https:') ready(result)
      else stage = secured(tls.connect({ socket: result, ...encryption(url, certificates) }), ready, failed)
    })
    stage = tunnel
    return { destroy: () => stage.destroy(), unref: () => stage.unref() }
  }
}

/** To a proxy that is asked for whole addresses: what goes wrong on the way to it is no fault of the server. */
export function socketToProxy(proxy: URL): OpenSocket {
  const open = socketTo(proxy, {})
  return (ready, failed) => {
    const fail = (error: NodeJS.ErrnoException) =>
      failed(proxyFault(proxy, `cannot be reached (${error.code ?? error.message})`))
    const connected = (socket: Socket) => {
      if (!socket.connecting) {
        ready(socket)
        return
      }
      socket.once('error', fail)
      socket.once('connect', () => {
        socket.off('error', fail)
        ready(socket)
      })
    }
    return open(connected, fail)
  }
}

/** A proxy stands in the way. */
export function proxyFault({ host }: URL, what: string, details: object = {}): Fault {
  return new Fault('SERVER_UNREACHABLE', `the proxy ${host} ${what}`, {
    hint: 'see HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY',
    details: { proxy: host, ...details },
  })
}

// --- internal ---

function encryption(url: URL, certificates: string | undefined) {
  const host = bareHost(url)
  return {
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
    // An address is no name.
    servername: isIP(host) ? '' : host,
    ...(isIP(host) ? { host } : {}),
    ...(certificates === undefined ? {} : { ca: certificates }),
  }
}

/** Nothing is written before the other side has shown who it is. */
function secured(
  socket: tls.TLSSocket,
  ready: (socket: Socket) => void,
  failed: (error: Error) => void,
): Socket {
  const fail = (error: Error) => {
    socket.off('close', close)
    failed(error)
  }
  const close = () =>
    failed(Object.assign(new Error('closed before secure TLS connection'), { code: 'ECONNRESET' }))
  socket.once('error', fail)
  socket.once('close', close)
  socket.once('secureConnect', () => {
    socket.off('error', fail)
    socket.off('close', close)
    ready(socket)
  })
  return socket
}

/** Asks a proxy for a tunnel (CONNECT). */
class Tunnel implements Opening {
  readonly #proxy: URL
  readonly #place: string
  readonly #tell: (result: Socket | Error) => void
  readonly #opening: Opening
  readonly #password: string | undefined
  #reader: AnswerReader | undefined
  #isOver = false

  constructor(url: URL, proxy: URL, tell: (result: Socket | Error) => void) {
    this.#proxy = proxy
    const host = bareHost(url)
    this.#place = `${isIP(host) === 6 ? `[${host}]` : host}:${portOf(url)}`
    this.#tell = tell
    this.#password = proxyAuthorization(proxy)
    this.#opening = socketTo(proxy, {})(
      (socket) => this.#ask(socket),
      (error) => this.#fail(error),
    )
  }

  destroy(): void {
    this.#isOver = true
    this.#opening.destroy()
  }

  unref(): void {
    this.#opening.unref()
  }

  #ask(socket: Socket): void {
    const password = this.#password
    const read = (chunk: Buffer) => {
      try {
        this.#reader?.push(chunk)
      } catch (error) {
        this.#fail(error as Error)
      }
    }
    const fail = (error: Error) => this.#fail(error)
    const close = () => this.#fail(new Error('it hung up'))
    this.#reader = new AnswerReader(
      {
        head: (status) => {
          if (status >= 200 && status < 300) return
          this.#end(proxyFault(this.#proxy, `answered ${status} when asked for ${this.#place}`))
        },
        data: () => {},
        end: () => {
          socket.off('data', read)
          socket.off('error', fail)
          socket.off('close', close)
          this.#end(socket)
        },
      },
      true,
    )
    socket.on('data', read)
    socket.on('error', fail)
    socket.on('close', close)
    socket.write(
      requestLine('CONNECT', this.#place) +
        headerLine('host', this.#place) +
        (password === undefined ? '' : headerLine('proxy-authorization', password)) +
        '\r\n',
      'latin1',
    )
  }

  #fail(error: NodeJS.ErrnoException): void {
    this.#end(proxyFault(this.#proxy, `cannot be reached (${error.code ?? error.message})`))
  }

  #end(result: Socket | Error): void {
    if (this.#isOver) return
    this.#isOver = true
    if (result instanceof Error) this.#opening.destroy()
    this.#tell(result)
  }
}
