// A reverse proxy for tests only: it adds the bearer token that the conformance suite has no option for.
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

export interface TokenProxy {
  url: string
  close(): Promise<void>
}

/**
 * Listens on loopback and passes everything on to the origin of `target` as it came: method, path, headers and bodies,
 * in both directions and without buffering.
 *
 * Two things change. `Authorization` becomes the token. And where `Host` or `Origin` names this proxy's own port, the
 * port becomes the target's, as if the caller had dialled the target; the name before it is never touched, so a foreign
 * host still arrives as one and the target's checks against DNS rebinding are really exercised.
 */
export async function startTokenProxy(options: { target: string; token: string }): Promise<TokenProxy> {
  const target = new URL(options.target)
  const server = createServer((incoming, response) => {
    const own = `:${(server.address() as AddressInfo).port}`
    const wanted = `:${target.port || '80'}`
    const headers = pairs(incoming.rawHeaders)
      .filter(([name]) => name.toLowerCase() !== 'authorization')
      .map((header) => asIfDialled(header, own, wanted))
    headers.push(['Authorization', `Bearer ${options.token}`])
    const outgoing = request({
      host: target.hostname,
      port: target.port,
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      headers: headers.flat(),
      setHost: false,
      // A fresh connection each time: a pooled one may be closed by the target just as it is picked.
      agent: false,
    })
    join(incoming, outgoing, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${target.pathname}${target.search}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

// --- internal ---

// These speak of one connection only (RFC 9110 §7.6.1), and each side of the proxy has its own.
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Name and value pairs in the order and letter case in which they came. */
function pairs(raw: readonly string[]): [name: string, value: string][] {
  const all = raw.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : [],
  )
  return all.filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()))
}

function asIfDialled([name, value]: [string, string], own: string, wanted: string): [string, string] {
  if (!/^(host|origin)$/i.test(name) || !value.endsWith(own)) return [name, value]
  return [name, value.slice(0, -own.length) + wanted]
}

function join(incoming: IncomingMessage, outgoing: ClientRequest, response: ServerResponse): void {
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, pairs(answer.rawHeaders).flat())
    // A stream's headers must not wait for its first event.
    response.flushHeaders()
    answer.pipe(response)
    answer.on('close', () => {
      if (!answer.complete) response.destroy()
    })
  })
  outgoing.on('error', () => {
    if (response.headersSent || response.destroyed) response.destroy()
    else response.writeHead(502).end()
  })
  // The caller went away: on the modern wire that is how a request is cancelled, so the target must see it.
  response.on('close', () => {
    if (!response.writableFinished) outgoing.destroy()
  })
  incoming.pipe(outgoing)
}
