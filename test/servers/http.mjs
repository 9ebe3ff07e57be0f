// The HTTP side: one listener for streamable HTTP in both eras and for the old HTTP+SSE transport.
import { createServer } from 'node:http'
import { LegacyHttp } from './http-legacy.mjs'
import { readMessage, refuse } from './http-message.mjs'
import { ModernHttp } from './http-modern.mjs'
import { CODE, claimedVersion, MODERN_VERSION } from './protocol.mjs'
import { OldSse } from './sse.mjs'

const HOST = '127.0.0.1'
const LOCAL = new Set(['localhost', HOST, '[::1]'])

/**
 * Listens and gives the url of the server.
 * @param {import('./core.mjs').Server} server @param {{transport: string, port: number, sse: boolean}} options
 */
export async function serveHttp(server, options) {
  const legacy = new LegacyHttp(server, options)
  const modern = new ModernHttp(server, options)
  const old = new OldSse(server)
  const isOld = options.transport === 'sse'

  const listener = createServer(async (request, response) => {
    const url = new URL(request.url, `http://${HOST}`)
    if (foreignOrigin(request)) return refuse(response, 403, 'Forbidden origin')
    if (await server.mode.http?.before?.({ request, response, url, server, old })) return
    if (isOld) return old.handle(request, response, url)
    if (url.pathname !== '/mcp') return refuse(response, 404, 'Not found')
    if (request.method !== 'POST')
      return server.legacy ? legacy.handle(request, response) : notAllowed(response)
    const message = await readMessage(request)
    if (message === undefined) return refuse(response, 400, 'Parse error', CODE.parse)
    if (await server.mode.http?.message?.({ request, response, url, message })) return
    if (isModern(server, request, message)) return modern.handle(request, response, message)
    return legacy.handle(request, response, message)
  })
  // Tests keep streams open for as long as they like.
  listener.requestTimeout = 0
  await new Promise((resolve) => listener.listen(options.port, HOST, resolve))
  return `http://${HOST}:${listener.address().port}${isOld ? '/sse' : '/mcp'}`
}

// --- internal ---

function notAllowed(response) {
  response.writeHead(405, { allow: 'POST' }).end()
}

function isModern(server, request, message) {
  if (!server.modern) return false
  if (!server.legacy) return true
  const claimed = claimedVersion(message) !== undefined || message.method === 'server/discover'
  return claimed || request.headers['mcp-protocol-version'] === MODERN_VERSION
}

function foreignOrigin(request) {
  const { origin } = request.headers
  if (origin === undefined) return false
  return !URL.canParse(origin) || !LOCAL.has(new URL(origin).hostname)
}
