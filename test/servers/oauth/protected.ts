// The MCP server that wants tokens of the real authorization server: metadata, challenges, and who asked what.
import type { KeyObject } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Faults } from './faults.ts'
import { answerJson, listen, readBody } from './listener.ts'
import { type Asked, type Authorized, mcpEndpoint } from './mcp.ts'
import { accessClaims, type Claims, proofProblem } from './tokens.ts'

interface Rules {
  /** What the authorization server signs with. */
  key: KeyObject
  faults: Faults
  scopes: readonly string[]
  required: readonly string[]
  toolScopes: Readonly<Record<string, readonly string[]>>
  challengeScope: boolean
  challengeMetadata: boolean
  /** Whether the token with this id has been withdrawn. */
  dead(jti: string): boolean
}

export interface McpRequest {
  /** The HTTP method, for what is no POST, else the JSON-RPC method. */
  method: string
  tool?: string
  token?: string
  subject?: string
  /** Undefined as long as there is no answer. */
  status?: number
}

export interface ProtectedServer {
  url: string
  requests: McpRequest[]
  /** Names the authorization server, which starts after this one because it needs its url. */
  trust(issuer: string): void
  close(): Promise<void>
}

const PATH = '/mcp'
const WELL_KNOWN = '/.well-known/oauth-protected-resource'

export async function protectedServer(rules: Rules): Promise<ProtectedServer> {
  const endpoint = mcpEndpoint()
  const requests: McpRequest[] = []
  let issuer = ''
  const listener = await listen((origin) => async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', origin)
    if (pathname === WELL_KNOWN || pathname === `${WELL_KNOWN}${PATH}`) {
      if (await rules.faults.answer('resource-metadata', request, response)) return
      const resource = `${origin}${PATH}`
      return answerJson(response, 200, {
        resource,
        authorization_servers: [issuer],
        scopes_supported: rules.scopes,
        bearer_methods_supported: ['header'],
      })
    }
    if (pathname !== PATH) return response.writeHead(404).end()
    const entry = enter(requests, request, response)
    if (await rules.faults.answer('mcp', request, response)) return
    const message = request.method === 'POST' ? parse(await readBody(request)) : undefined
    entry.method = message?.method ?? entry.method
    if (message?.method === 'tools/call' && message.params?.name) entry.tool = message.params.name
    const verdict = judge(request, message, { rules, origin, issuer })
    if (!verdict.ok) return challenge(response, verdict, { rules, origin })
    if (verdict.claims.sub !== undefined) entry.subject = verdict.claims.sub
    if (request.method === 'POST' && message === undefined) return response.writeHead(400).end()
    await endpoint.handle(authorized(request, verdict), response, message)
  })
  return {
    url: `${listener.origin}${PATH}`,
    requests,
    trust: (origin) => {
      issuer = origin
    },
    close: async () => {
      await endpoint.close()
      await listener.close()
    },
  }
}

// --- internal ---

type Verdict =
  | { ok: true; token: string; claims: Claims }
  | { ok: false; status: 401 | 403; error?: string; reason: string; scopes: readonly string[] }

function enter(requests: McpRequest[], request: IncomingMessage, response: ServerResponse): McpRequest {
  const token = presented(request)?.token
  const entry: McpRequest = { method: request.method ?? '', ...(token !== undefined && { token }) }
  requests.push(entry)
  response.on('finish', () => {
    entry.status = response.statusCode
  })
  return entry
}

function judge(
  request: IncomingMessage,
  message: Asked | undefined,
  { rules, origin, issuer }: { rules: Rules; origin: string; issuer: string },
): Verdict {
  const refuse = (reason: string, error?: string): Verdict => ({
    ok: false,
    status: 401,
    reason,
    scopes: rules.required,
    ...(error !== undefined && { error }),
  })
  const given = presented(request)
  // RFC 6750 §3.1: who brought no token is told of no error.
  if (given === undefined) return refuse('a token is needed')
  const { token } = given
  const claims = accessClaims(token, rules.key)
  if (claims === undefined) return refuse('the token is none of ours', 'invalid_token')
  const url = `${origin}${PATH}`
  if (claims.aud !== url || claims.iss !== issuer)
    return refuse('the token is for somebody else', 'invalid_token')
  if (claims.exp <= Date.now() / 1000 || rules.dead(claims.jti))
    return refuse('the token is over', 'invalid_token')
  const problem = bindingProblem(request, given, claims, url)
  if (problem !== undefined) return refuse(problem, 'invalid_token')
  const tool = message?.method === 'tools/call' ? (message.params?.name ?? '') : ''
  const needed = [...rules.required, ...(rules.toolScopes[tool] ?? [])]
  const missing = needed.filter((scope) => !scopesOf(claims).includes(scope))
  if (missing.length === 0) return { ok: true, token, claims }
  return { ok: false, status: 403, error: 'insufficient_scope', reason: 'more is needed', scopes: missing }
}

function bindingProblem(
  request: IncomingMessage,
  given: { scheme: string; token: string },
  { cnf }: Claims,
  url: string,
): string | undefined {
  if (cnf === undefined) return given.scheme === 'bearer' ? undefined : 'the token is bound to no key'
  if (given.scheme !== 'dpop') return 'the token is bound to a key'
  const method = request.method ?? ''
  return proofProblem(request.headers['dpop'], { method, url, token: given.token, thumbprint: cnf.jkt })
}

function challenge(
  response: ServerResponse,
  { status, error, reason, scopes }: Extract<Verdict, { ok: false }>,
  { rules, origin }: { rules: Rules; origin: string },
): void {
  const parts = [
    ...(error === undefined ? [] : [`error="${error}"`, `error_description="${reason}"`]),
    ...(status === 403 || rules.challengeScope ? [`scope="${scopes.join(' ')}"`] : []),
    ...(rules.challengeMetadata ? [`resource_metadata="${origin}${WELL_KNOWN}${PATH}"`] : []),
  ]
  const header = ['Bearer', parts.join(', ')].join(' ').trim()
  answerJson(response, status, { error: error ?? 'unauthorized' }, { 'www-authenticate': header })
}

function authorized(request: Authorized, verdict: { token: string; claims: Claims }): Authorized {
  const { claims, token } = verdict
  request.auth = {
    token,
    clientId: claims.client_id,
    scopes: scopesOf(claims),
    expiresAt: claims.exp,
    extra: { subject: claims.sub },
  }
  return request
}

function scopesOf({ scope }: Claims): string[] {
  return scope === undefined || scope === '' ? [] : scope.split(' ')
}

function presented(request: IncomingMessage): { scheme: string; token: string } | undefined {
  const [scheme = '', token] = request.headers.authorization?.split(' ') ?? []
  return token === undefined ? undefined : { scheme: scheme.toLowerCase(), token }
}

function parse(body: string): Asked | undefined {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
