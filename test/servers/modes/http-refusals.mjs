// HTTP servers that send the client away. Each takes its variant from ?case= of the url, or from --case.
import { createServer } from 'node:http'
import { refuse } from '../http-message.mjs'
import { json } from '../protocol.mjs'
import { tool } from './parts.mjs'
import { plain } from './plain.mjs'

/**
 * Refuses once, then serves. Cases: 429 (default), 503, call-429, call-503 (only the first tools/call), always.
 */
function retryAfter(options) {
  const refused = new Set()
  return {
    ...plain(),
    http: {
      message({ response, url, message }) {
        const variant = variantOf(url, options, '429')
        if (variant.startsWith('call-') && message.method !== 'tools/call') return false
        if (refused.has(variant) && variant !== 'always') return false
        refused.add(variant)
        // A date has whole seconds, so one second ahead may already be past; two are not.
        if (variant.endsWith('503'))
          response.setHeader('retry-after', new Date(Date.now() + 2000).toUTCString())
        else response.setHeader('retry-after', '1')
        refuse(response, variant.endsWith('503') ? 503 : 429, 'Try again later')
        return true
      },
    },
  }
}

/**
 * Cases: same (default; 307 within the origin), cross (307 to another origin), internal (302 to another port),
 * metadata (302 to the address of cloud metadata), loop. Tool `leaked` tells what the other origin received; call it
 * with ?redirected=1, which is never redirected.
 */
function redirect(options) {
  const seen = []
  const other = createServer((request, response) => {
    seen.push({ method: request.method, url: request.url, headers: request.headers })
    refuse(response, 418, 'The other origin')
  })
  const base = plain()
  const targets = {
    same: () => [307, '/mcp?redirected=1'],
    cross: () => [307, `http://127.0.0.1:${other.address().port}/mcp`],
    internal: () => [302, `http://127.0.0.1:${other.address().port}/internal`],
    metadata: () => [302, 'http://169.254.169.254/latest/meta-data/'],
    loop: () => [307, '/mcp?case=loop'],
  }
  return {
    ...base,
    tools: [...base.tools, tool('leaked', 'What the other origin received', () => json(seen))],
    start: () => other.listen(0, '127.0.0.1'),
    http: {
      before({ response, url }) {
        if (url.searchParams.has('redirected')) return false
        const [status, location] = targets[variantOf(url, options, 'same')]()
        response.writeHead(status, { location }).end()
        return true
      },
    },
  }
}

const PAGE = `<!doctype html><html><head><title>502 Bad Gateway</title></head>
<body><h1>502 Bad Gateway</h1><script>alert("not for an agent")</script><p>nginx</p></body></html>`

/** A proxy's error page. Cases: all (default), call (only tools/call), ok (status 200 with the page). */
function htmlError(options) {
  return {
    ...plain(),
    http: {
      message({ response, url, message }) {
        const variant = variantOf(url, options, 'all')
        if (variant === 'call' && message.method !== 'tools/call') return false
        response
          .writeHead(variant === 'ok' ? 200 : 502, { 'content-type': 'text/html; charset=utf-8' })
          .end(PAGE)
        return true
      },
    },
  }
}

/** Wants `Authorization: Bearer good`. Cases: all (default), call (only for tools/call), scope (403). */
function unauthorized(options) {
  return {
    ...plain(),
    http: {
      before({ request, response, url }) {
        if (!url.pathname.startsWith('/.well-known/oauth-protected-resource')) return false
        const origin = `http://${request.headers.host}`
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(
          JSON.stringify({
            resource: `${origin}/mcp`,
            authorization_servers: [origin],
            scopes_supported: ['tools'],
          }),
        )
        return true
      },
      message({ request, response, url, message }) {
        const variant = variantOf(url, options, 'all')
        if (request.headers.authorization === 'Bearer good') return false
        if (variant === 'call' && message.method !== 'tools/call') return false
        const metadata = `http://${request.headers.host}/.well-known/oauth-protected-resource/mcp`
        const error = variant === 'scope' ? 'insufficient_scope' : 'invalid_token'
        const challenge = `Bearer error="${error}", scope="tools", resource_metadata="${metadata}"`
        response.setHeader('www-authenticate', challenge)
        refuse(response, variant === 'scope' ? 403 : 401, 'Unauthorized')
        return true
      },
    },
  }
}

/** Only the old transport, at the same url. Cases: 405 (default), 404, 400: how it refuses a POST. */
function sseOnly(options) {
  return {
    ...plain(),
    era: 'legacy',
    http: {
      async before({ request, response, url, old }) {
        if (url.pathname === '/mcp' && request.method !== 'GET') {
          refuse(response, Number(variantOf(url, options, '405')), 'Only GET here')
          return true
        }
        await old.handle(request, response, url, '/mcp')
        return true
      },
    },
  }
}

/** @param {URL} url @param {{case?: string}} options @param {string} standard */
function variantOf(url, options, standard) {
  return url.searchParams.get('case') ?? options.case ?? standard
}

export const modes = {
  'retry-after': retryAfter,
  redirect,
  'html-error': htmlError,
  unauthorized,
  'sse-only': sseOnly,
}
