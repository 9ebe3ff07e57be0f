// The configuration of oidc-provider that makes it an authorization server for MCP.
import { type KeyObject, randomBytes } from 'node:crypto'
import { type Context, errors, Provider } from 'oidc-provider'
import type { StoreAdapter } from './provider-store.ts'

type ClientAuthentication =
  | 'none'
  | 'client_secret_basic'
  | 'client_secret_post'
  | 'client_secret_jwt'
  | 'private_key_jwt'

/** What can be chosen about the authorization server. */
export interface ProviderOptions {
  /** How clients may authenticate at the token endpoint; all ways but client_secret_jwt unless told. */
  clientAuthentication?: ClientAuthentication[]
  /** Clients known beforehand, in the words of RFC 7591; with `client_id`. */
  clients?: Record<string, unknown>[]
  /** Dynamic registration; on unless told. */
  registration?: boolean
  /** Client-id metadata documents by URL, which stand in for the web; without it the feature is off. */
  clientDocuments?: Record<string, Record<string, unknown>>
  /** The device flow; on unless told. */
  device?: boolean
  /** Whether DPoP is understood (true unless told), not understood, or demanded of every client. */
  dpop?: boolean | 'required'
  /** Whether clients that may use refresh tokens get them; true unless told. */
  refreshTokens?: boolean
  /** A new refresh token with each refresh, and the end of the family when an old one comes back; true unless told. */
  rotation?: boolean
}

interface Surroundings {
  issuer: string
  /** The only resource there are tokens for. */
  resource: string
  scopes: readonly string[]
  signingKey: KeyObject
  Adapter: new (model: string) => StoreAdapter
  /** Seconds that an access token made now will last. */
  lifetime(): number
}

export const PATHS = {
  authorization: '/authorize',
  token: '/token',
  registration: '/register',
  revocation: '/revoke',
  device_authorization: '/device/authorize',
  code_verification: '/device',
  jwks: '/jwks',
} as const

export function makeProvider(options: ProviderOptions, around: Surroundings): Provider {
  const { registration = true, device = true, dpop = true, refreshTokens = true, rotation = true } = options
  const documents = options.clientDocuments
  return new Provider(around.issuer, {
    adapter: around.Adapter,
    clients: options.clients ?? [],
    clientAuthMethods: options.clientAuthentication ?? [
      'none',
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
    ],
    clientDefaults: {
      id_token_signed_response_alg: 'ES256',
      ...(dpop === 'required' && { dpop_bound_access_tokens: true }),
    },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    expiresWithSession: async () => false,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      registration: { enabled: registration },
      revocation: { enabled: true, allowedPolicy: async () => true },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: device, ...devicePages },
      dPoP: { enabled: dpop !== false },
      ...(documents && { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } }),
      resourceIndicators: {
        enabled: true,
        // A refresh without `resource` goes on with the resource that was granted.
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_: Context, resource: string) => resourceServer(resource, around),
      },
    },
    fetch: async (url: string | URL) => fromDocuments(documents, String(url)),
    findAccount: async (_: Context, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    interactions: { url: (_: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
    issueRefreshToken: async (_: Context, client: { grantTypeAllowed(grant: string): boolean }) =>
      refreshTokens && client.grantTypeAllowed('refresh_token'),
    jwks: { keys: [{ ...around.signingKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
    pkce: { required: () => true },
    rotateRefreshToken: rotation,
    routes: PATHS,
    // Those of the resource too: clients name them when they register.
    scopes: ['openid', 'offline_access', ...around.scopes],
    ttl: {
      AccessToken: around.lifetime,
      ClientCredentials: around.lifetime,
      AuthorizationCode: 60,
      DeviceCode: 600,
      Grant: 86_400,
      IdToken: 3_600,
      Interaction: 3_600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
  })
}

// --- internal ---

function resourceServer(resource: string, around: Surroundings): Record<string, unknown> {
  if (resource !== around.resource) throw new errors.InvalidTarget(`there is no resource ${resource}`)
  return {
    scope: around.scopes.join(' '),
    audience: resource,
    accessTokenTTL: around.lifetime(),
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'ES256' } },
  }
}

function fromDocuments(documents: ProviderOptions['clientDocuments'], url: string): Response {
  const document = documents?.[url]
  if (document === undefined) return new Response('', { status: 404 })
  return Response.json(document)
}

const devicePages = {
  userCodeInputSource: (context: Context, form: string): void => {
    context.body = `<!doctype html><title>device</title>${form}`
  },
  userCodeConfirmSource: (context: Context, form: string): void => {
    context.body = `<!doctype html><title>device</title>${form}<button form="op.deviceConfirmForm">Allow</button>`
  },
  successSource: (context: Context): void => {
    context.body = '<!doctype html><title>device</title><p>You are signed in on your device.</p>'
  },
}
