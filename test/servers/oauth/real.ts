// A real authorization server (oidc-provider) with an MCP server behind it, and everything a test wants to know of both.
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type Endpoint, type Failure, Faults, type Held, type Losable } from './faults.ts'
import { interact } from './interaction.ts'
import { type Listener, listen } from './listener.ts'
import { type McpRequest, protectedServer } from './protected.ts'
import { makeProvider, PATHS, type ProviderOptions } from './provider.ts'
import { makeStore } from './provider-store.ts'
import { type Lists, Records } from './records.ts'

export interface RealOptions extends ProviderOptions {
  /** Seconds an access token lasts; an hour unless told, and changeable while it runs. */
  lifetime?: number
  /** Every scope there is; `mcp:use` and `mcp:admin` unless told. */
  scopes?: string[]
  /** What each MCP request needs; `mcp:use` unless told. */
  required?: string[]
  /** What single tools need besides; `mcp:admin` for `admin` unless told. */
  toolScopes?: Record<string, string[]>
  /** Whether the 401 names the scopes; true unless told. */
  challengeScope?: boolean
  /** Whether the 401 names the metadata; true unless told. */
  challengeMetadata?: boolean
  /** Changes the authorization server's metadata; undefined values leave the document. */
  metadata?(document: Record<string, unknown>): Record<string, unknown>
  /** Metadata offers only `plain`, and S256 is refused. */
  refuseS256?: boolean
}

export interface RealAuthorization extends Lists {
  issuer: string
  /** The MCP server; also the resource that tokens are for. */
  mcpUrl: string
  mcpRequests: McpRequest[]
  /** How many MCP requests came with each token; under the empty string those without. */
  requestsByToken(): Map<string, number>
  setLifetime(seconds: number): void
  /** No access token made so far is good any more; refreshing still works. */
  expireAll(): void
  /** Every grant ends with all its tokens: the next refresh is refused with invalid_grant. */
  revokeFamily(): void
  /** The next requests to an endpoint fail. */
  fail(endpoint: Endpoint, failure: Failure, times?: number): void
  /** The next requests take effect, but the connection breaks before the answer. */
  lose(endpoint: Losable, times?: number): void
  /** The next request to an endpoint waits. */
  hold(endpoint: Endpoint): Held
  /** The next request takes effect, and its answer waits. */
  holdAnswer(endpoint: Losable): Held
  close(): Promise<void>
}

export async function startRealAuthorization(options: RealOptions = {}): Promise<RealAuthorization> {
  const { scopes = ['mcp:use', 'mcp:admin'], required = ['mcp:use'] } = options
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const store = makeStore()
  const faults = new Faults()
  const issued = new Map<string, string | undefined>()
  const dead = new Set<string>()
  const records = new Records()
  let lifetime = options.lifetime ?? 3_600

  const protectedMcp = await protectedServer({
    key: publicKey(privateKey),
    faults,
    scopes,
    required,
    toolScopes: options.toolScopes ?? { admin: ['mcp:admin'] },
    challengeScope: options.challengeScope ?? true,
    challengeMetadata: options.challengeMetadata ?? true,
    dead: (jti) => dead.has(jti),
  })

  const buryGrants = (grants: readonly string[]): void => {
    for (const [jti, grant] of issued) if (grant !== undefined && grants.includes(grant)) dead.add(jti)
  }

  const listener: Listener = await listen((issuer) => {
    const provider = makeProvider(options, {
      issuer,
      resource: protectedMcp.url,
      scopes,
      signingKey: privateKey,
      Adapter: store.Adapter,
      lifetime: () => lifetime,
    })
    for (const event of ['access_token.issued', 'client_credentials.issued'] as const)
      provider.on(event, ({ jti, grantId }) => void issued.set(jti, grantId))
    provider.on('grant.revoked', (_, grantId) => buryGrants([grantId]))
    provider.on('server_error', (_, error) => console.error('oidc-provider failed:', error))
    provider.use(async (context, next) => {
      await next()
      records.finish(context)
      if (context.path.startsWith('/.well-known/')) context.body = metadata(context.body, options)
      await faults.answering(endpointOf(context.path))
      if (faults.loses(endpointOf(context.path))) context.req.socket.destroy()
    })
    const serve = provider.callback()
    const inTurn = oneByOne()

    return async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
      const endpoint = endpointOf(pathname)
      if (endpoint === 'token') records.arrive(request)
      const failed = endpoint && (await faults.answer(endpoint, request, response))
      if (failed) return records.fail(request, failed)
      if (pathname.startsWith('/interaction/')) return interact(provider, request, response)
      if (endpoint === 'authorization') records.lists.authorizations.push(Object.fromEntries(searchParams))
      if (endpoint === 'authorization' && options.refuseS256)
        return refuseS256(searchParams, issuer, response)
      // The provider looks a refresh token up and marks it used in two steps: at once, two could use the same.
      if (endpoint === 'token') await inTurn(() => serve(request, response))
      else await serve(request, response)
    }
  })
  protectedMcp.trust(listener.origin)

  return {
    issuer: listener.origin,
    mcpUrl: protectedMcp.url,
    ...records.lists,
    mcpRequests: protectedMcp.requests,
    requestsByToken: () => countByToken(protectedMcp.requests),
    setLifetime: (seconds) => {
      lifetime = seconds
    },
    expireAll: () => {
      for (const jti of issued.keys()) dead.add(jti)
    },
    revokeFamily: () => buryGrants(store.revokeAll()),
    fail: (endpoint, failure, times) => faults.fail(endpoint, failure, times),
    lose: (endpoint, times) => faults.lose(endpoint, times),
    hold: (endpoint) => faults.hold(endpoint),
    holdAnswer: (endpoint) => faults.holdAnswer(endpoint),
    close: async () => {
      await Promise.all([listener.close(), protectedMcp.close()])
    },
  }
}

// --- internal ---

const ENDPOINTS: Record<string, Endpoint> = {
  [PATHS.authorization]: 'authorization',
  [PATHS.token]: 'token',
  [PATHS.registration]: 'registration',
  [PATHS.revocation]: 'revocation',
  [PATHS.device_authorization]: 'device',
}

function oneByOne(): (work: () => Promise<void>) => Promise<void> {
  let last = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
}

function endpointOf(pathname: string): Endpoint | undefined {
  return pathname.startsWith('/.well-known/') ? 'metadata' : ENDPOINTS[pathname]
}

function publicKey(privateKey: KeyObject): KeyObject {
  return createPublicKey(privateKey.export({ format: 'pem', type: 'pkcs8' }))
}

function metadata(body: unknown, options: RealOptions): unknown {
  if (typeof body !== 'object' || body === null || !('issuer' in body)) return body
  const document = {
    ...body,
    ...(options.refuseS256 && { code_challenge_methods_supported: ['plain'] }),
  }
  return options.metadata?.(document) ?? document
}

function refuseS256(asked: URLSearchParams, issuer: string, response: ServerResponse): void {
  const back = new URL(asked.get('redirect_uri') ?? issuer)
  back.searchParams.set('error', 'invalid_request')
  back.searchParams.set('error_description', 'S256 is not supported')
  back.searchParams.set('state', asked.get('state') ?? '')
  back.searchParams.set('iss', issuer)
  response.writeHead(303, { location: back.href }).end()
}

function countByToken(requests: readonly McpRequest[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { token = '' } of requests) counts.set(token, (counts.get(token) ?? 0) + 1)
  return counts
}
