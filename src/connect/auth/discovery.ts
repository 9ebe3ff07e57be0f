// Who gives out tokens for a server, as the server and that authority say themselves. Everything they say is checked
// before it is used: whom a token is for, who the authority is, and where its doors are.

import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client'
import { isRecord } from '../../base/record.ts'
import type { OAuth } from '../../config/schema-server.ts'
import type { Challenge } from './challenge.ts'
import { endpointOf } from './endpoint.ts'
import type { Fetch } from './guarded-fetch.ts'
import { asSignInFault, jsonObject, said, signInFailed } from './trouble.ts'

export interface Authority {
  /** Everything it gave us belongs to it under this name, and to nobody else. */
  readonly issuer: string
  readonly metadata: AuthorizationServerMetadata
  /** Whether the name is its own, so that its answers can be held to it. */
  readonly isDiscovered: boolean
  /** What tokens are for; undefined where that is not said. */
  readonly resource: string | undefined
  /** What the server says can be asked for. */
  readonly scopes: readonly string[]
  /** Whether tokens have to be bound to a key of ours. */
  readonly bindsTokens: boolean
}

export async function discover(
  server: string,
  settings: OAuth,
  challenge: Challenge | undefined,
  fetch: Fetch,
): Promise<Authority> {
  const { authUrl, tokenUrl } = settings
  if (tokenUrl !== undefined && (authUrl !== undefined || settings.grant !== 'authorization_code'))
    return written(server, settings, authUrl ?? tokenUrl, tokenUrl)
  const described = await resourceMetadata(server, challenge?.resourceMetadata, fetch)
  const issuer = described?.issuer ?? new URL('/', server).href
  const found = await authorityMetadata(issuer, described?.issuer !== undefined, fetch)
  const metadata = found ?? customary(server)
  checkEndpoints(metadata)
  return {
    issuer: metadata.issuer,
    metadata: { ...metadata, ...withWritten(settings) },
    isDiscovered: found !== undefined,
    resource: resourceFor(server, settings, described?.resource),
    scopes: described?.scopes ?? [],
    bindsTokens: described?.bindsTokens === true || challenge?.scheme === 'dpop',
  }
}

/** The one way to make sure that a stolen code is of no use. Only where there is no metadata it is used unasked. */
export function refuseWithoutPkce({ issuer, metadata, isDiscovered }: Authority): void {
  if (!isDiscovered || metadata.code_challenge_methods_supported?.includes('S256')) return
  throw signInFailed(
    `${said(issuer)} does not say that it supports PKCE with S256`,
    'without it a stolen code is as good as a token; ask whoever runs it to offer it, or give authUrl, tokenUrl and clientId',
  )
}

/**
 * A client that was registered by hand belongs to one authority: the one that is written down, else the one it was used
 * with before. A server that names another all at once would be shown its secret.
 */
export function refuseOtherAuthority(
  { issuer, isDiscovered }: Authority,
  { issuer: wanted, clientId }: Pick<OAuth, 'issuer' | 'clientId'>,
  before: string | undefined,
): void {
  const right = wanted ?? (clientId !== undefined && isDiscovered ? before : undefined)
  if (right === undefined || right === issuer) return
  throw signInFailed(
    `the server sends us to ${said(issuer)} now, and the client was registered with ${said(right)}`,
    wanted === undefined
      ? 'if that is meant, sign out first (busbar logout), or set auth.issuer'
      : 'if that is meant, change auth.issuer',
  )
}

/** What stands in metadata beyond what everybody has. */
export function namedIn(metadata: AuthorizationServerMetadata, key: string): unknown {
  const named: unknown = metadata
  return isRecord(named) ? named[key] : undefined
}

// --- internal ---

interface Described {
  readonly resource: string
  readonly issuer: string | undefined
  readonly scopes: readonly string[]
  readonly bindsTokens: boolean
}

/** Endpoints that a person wrote down. There is no metadata, and nothing to hold answers to. */
function written(server: string, settings: OAuth, authUrl: string, tokenUrl: string): Authority {
  const token = endpointOf(tokenUrl, 'tokenUrl')
  return {
    issuer: token.origin,
    metadata: {
      issuer: token.origin,
      authorization_endpoint: endpointOf(authUrl, 'authUrl').href,
      token_endpoint: token.href,
      response_types_supported: ['code'],
    },
    isDiscovered: false,
    resource: resourceFor(server, settings, undefined),
    scopes: [],
    bindsTokens: false,
  }
}

function withWritten({ authUrl, tokenUrl }: OAuth) {
  return {
    ...(authUrl === undefined ? {} : { authorization_endpoint: endpointOf(authUrl, 'authUrl').href }),
    ...(tokenUrl === undefined ? {} : { token_endpoint: endpointOf(tokenUrl, 'tokenUrl').href }),
  }
}

function resourceFor(server: string, { resource }: OAuth, described: string | undefined): string | undefined {
  if (resource === 'none') return undefined
  const url = new URL(server)
  url.hash = ''
  url.username = ''
  url.password = ''
  return resource ?? described ?? url.href
}

/** RFC 9728: where the server said, else at its own path, else at the root. */
async function resourceMetadata(
  server: string,
  named: string | undefined,
  fetch: Fetch,
): Promise<Described | undefined> {
  const { origin, pathname } = new URL(server)
  const path = pathname.replace(/\/$/, '')
  const own = [`${origin}${WELL_KNOWN}${path}`, ...(path === '' ? [] : [`${origin}${WELL_KNOWN}`])]
  for (const address of named === undefined ? own : [named]) {
    const url = endpointOf(address, 'address of the protected-resource metadata')
    const response = await fetch(url, { headers: VERSIONED })
    if (response.ok) return describe(server, await jsonObject(response, 'the protected-resource metadata'))
    if (response.status >= 500)
      throw signInFailed(`${url.host} answered ${response.status} when it was asked how to sign in`)
  }
  return undefined
}

function describe(server: string, document: Record<string, unknown>): Described {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = document
  if (typeof resource !== 'string' || !covers(resource, new URL(server)))
    throw signInFailed(
      `the server describes itself as ${said(resource) || 'nothing'}, which is not ${new URL(server).origin}`,
      'a token for it could be used elsewhere; check the url',
    )
  const [issuer] = texts(servers)
  return {
    resource,
    issuer,
    scopes: texts(scopes),
    bindsTokens: document['dpop_bound_access_tokens_required'] === true,
  }
}

/** Whether what tokens are for takes in the server: the same origin, and a path at or above its own. */
function covers(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false
  const { origin, pathname, hash } = new URL(resource)
  const above = pathname.endsWith('/') ? pathname : `${pathname}/`
  return origin === server.origin && hash === '' && `${server.pathname}/`.startsWith(above)
}

async function authorityMetadata(
  issuer: string,
  isNamed: boolean,
  fetch: Fetch,
): Promise<AuthorizationServerMetadata | undefined> {
  endpointOf(issuer, 'authorization server')
  const { discoverAuthorizationServerMetadata } = await import('@modelcontextprotocol/client')
  let metadata: AuthorizationServerMetadata | undefined
  try {
    metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch })
  } catch (error) {
    throw asSignInFault(error, `the metadata of ${said(issuer)} cannot be used`)
  }
  // The library forgives a slash; what is named has to be what answers, to the letter.
  if (metadata !== undefined && isNamed && metadata.issuer !== issuer)
    throw signInFailed(`${said(issuer)} calls itself ${said(metadata.issuer)}`)
  if (metadata === undefined && isNamed)
    throw signInFailed(
      `${said(issuer)} does not say how to sign in`,
      'give authUrl, tokenUrl and clientId if you know them',
    )
  return metadata
}

/** Where the first revision of the protocol looked when nothing was said. */
function customary(server: string): AuthorizationServerMetadata {
  const { origin } = new URL(server)
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
  }
}

const ENDPOINTS = {
  authorization_endpoint: 'authorization endpoint',
  token_endpoint: 'token endpoint',
  registration_endpoint: 'registration endpoint',
  revocation_endpoint: 'revocation endpoint',
  device_authorization_endpoint: 'device authorization endpoint',
}

/** All of them at once: whoever names one bad address is not asked for anything. */
function checkEndpoints(metadata: AuthorizationServerMetadata): void {
  for (const [key, what] of Object.entries(ENDPOINTS)) {
    const address = namedIn(metadata, key)
    if (address !== undefined) endpointOf(address, what)
  }
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const VERSIONED = { 'mcp-protocol-version': '2025-11-25' }

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
