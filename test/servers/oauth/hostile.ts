// An authorization server and its MCP server that say whatever a test wants them to: each answer can be replaced.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Listener, listen, type Received, received } from './listener.ts'
import { type Asked, type Authorized, mcpEndpoint } from './mcp.ts'
import { type Reply, send } from './reply.ts'

type Place =
  | 'resourceMetadata'
  | 'metadata'
  | 'registration'
  | 'authorize'
  | 'token'
  | 'revocation'
  /** The MCP server's answer to who has no token of ours. */
  | 'challenge'
  /** The MCP server's answer to who has one; usually it is served. */
  | 'mcp'
  /** Any other path. */
  | 'elsewhere'

/** Either the answer, or how to make it from the usual one; undefined leaves it as it is. */
export type Override = Reply | ((usual: Reply, asked: Received) => Reply | undefined)

export type Overrides = { [place in Place]?: Override }

export interface Hostile {
  issuer: string
  mcpUrl: string
  /** May be changed at any time. */
  overrides: Overrides
  /** Every request to either server, in the order of arrival, headers and bodies included. */
  requests: (Received & { place: Place })[]
  /** Those to one place. */
  at(place: Place): Received[]
  /** The access tokens it gave away and takes. */
  tokens: Set<string>
  close(): Promise<void>
}

/** Without overrides it behaves, though it checks nothing: no consent, any code, any client, any verifier. */
export async function startHostile(overrides: Overrides = {}): Promise<Hostile> {
  const requests: Hostile['requests'] = []
  const tokens = new Set<string>()
  const endpoint = mcpEndpoint()
  const addresses = { issuer: '', mcpUrl: '' }

  const replyOf = (place: Place, asked: Received): Reply | undefined => {
    requests.push({ ...asked, place })
    const usual = USUAL[place]?.(asked, { ...addresses, tokens })
    const override = overrides[place]
    return (typeof override === 'function' ? override(usual ?? NOT_FOUND, asked) : override) ?? usual
  }
  const answer = (response: ServerResponse, place: Place, asked: Received): Promise<void> =>
    send(response, replyOf(place, asked) ?? NOT_FOUND)

  const resource = await listen(() => async (request, response) => {
    const asked = await received(request)
    if (asked.path.includes('/.well-known/oauth-protected-resource'))
      return answer(response, 'resourceMetadata', asked)
    if (pathOf(asked) !== '/mcp') return answer(response, 'elsewhere', asked)
    const token = asked.headers.authorization?.replace(/^Bearer /i, '') ?? ''
    if (!tokens.has(token)) return answer(response, 'challenge', asked)
    const reply = replyOf('mcp', asked)
    if (reply !== undefined) return send(response, reply)
    await endpoint.handle(authorized(request, token), response, parse(asked.body))
  })
  const authorization: Listener = await listen(() => async (request, response) => {
    const asked = await received(request)
    await answer(response, placeOf(pathOf(asked)), asked)
  })
  addresses.issuer = authorization.origin
  addresses.mcpUrl = `${resource.origin}/mcp`

  return {
    ...addresses,
    overrides,
    requests,
    at: (place) => requests.filter((one) => one.place === place),
    tokens,
    close: async () => {
      await endpoint.close()
      await Promise.all([resource.close(), authorization.close()])
    },
  }
}

/** An override of some members of a JSON answer; undefined takes a member away. */
export function change(members: Record<string, unknown>, head: { status?: number } = {}): Override {
  return (usual) => {
    const json = 'json' in usual ? usual.json : {}
    return { ...usual, ...head, json: { ...(typeof json === 'object' ? json : {}), ...members } }
  }
}

/** An override of some parameters of a redirect; undefined takes a parameter away. */
export function changeRedirect(parameters: Record<string, string | undefined>): Override {
  return (usual) => {
    if (!('redirect' in usual)) return undefined
    const url = new URL(usual.redirect)
    for (const [name, value] of Object.entries(parameters)) {
      if (value === undefined) url.searchParams.delete(name)
      else url.searchParams.set(name, value)
    }
    return { ...usual, redirect: url.href }
  }
}

// --- internal ---

interface Around {
  issuer: string
  mcpUrl: string
  tokens: Set<string>
}

const NOT_FOUND: Reply = { status: 404, text: '' }

// Nothing is usual where the MCP server serves, nor elsewhere.
const USUAL: { [place in Place]?: (asked: Received, around: Around) => Reply } = {
  resourceMetadata: (_, { issuer, mcpUrl }) => ({
    json: { resource: mcpUrl, authorization_servers: [issuer], scopes_supported: ['mcp:use'] },
  }),
  metadata: (_, { issuer }) => ({
    json: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      revocation_endpoint: `${issuer}/revoke`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
    },
  }),
  registration: ({ body }) => ({
    status: 201,
    json: { ...parse(body), client_id: `client-${randomUUID()}` },
  }),
  authorize: ({ path }, { issuer }) => {
    const asked = new URL(path, issuer).searchParams
    const back = asked.get('redirect_uri') ?? ''
    if (!URL.canParse(back)) return { status: 400, text: 'no redirect_uri' }
    const url = new URL(back)
    url.searchParams.set('code', `code-${randomUUID()}`)
    url.searchParams.set('iss', issuer)
    const state = asked.get('state')
    if (state !== null) url.searchParams.set('state', state)
    return { redirect: url.href }
  },
  token: (_, { tokens }) => {
    const token = `access-${randomUUID()}`
    tokens.add(token)
    return {
      json: {
        access_token: token,
        token_type: 'Bearer',
        expires_in: 3_600,
        refresh_token: `refresh-${randomUUID()}`,
        scope: 'mcp:use',
      },
    }
  },
  revocation: () => ({ text: '' }),
  challenge: (_, { mcpUrl }) => {
    const metadata = `${new URL(mcpUrl).origin}/.well-known/oauth-protected-resource/mcp`
    const header = `Bearer scope="mcp:use", resource_metadata="${metadata}"`
    return { status: 401, headers: { 'www-authenticate': header }, json: { error: 'unauthorized' } }
  },
}

const PLACES: Record<string, Place> = {
  '/register': 'registration',
  '/authorize': 'authorize',
  '/token': 'token',
  '/revoke': 'revocation',
}

function placeOf(path: string): Place {
  // Wherever below or above a tenant's path: which of them answer is for an override to say.
  if (/\/\.well-known\/(oauth-authorization-server|openid-configuration)/.test(path)) return 'metadata'
  return PLACES[path] ?? 'elsewhere'
}

function pathOf({ path }: Received): string {
  return path.split('?')[0] ?? '/'
}

function authorized(request: IncomingMessage, token: string): Authorized {
  const auth = { token, clientId: 'unknown', scopes: ['mcp:use'], extra: { subject: 'anybody' } }
  return Object.assign(request, { auth })
}

function parse(body: string): Asked | undefined {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
