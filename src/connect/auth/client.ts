// Who we are to an authorization server: a client that was registered beforehand, a document that describes us, or one
// that registers itself; and how that is proved at the token endpoint.

import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client'
import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import type { OAuth } from '../../config/schema-server.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { type Authority, namedIn } from './discovery.ts'
import { endpointOf } from './endpoint.ts'
import type { Client } from './grant.ts'
import type { Fetch } from './guarded-fetch.ts'
import { asSignInFault, said, signInFailed } from './trouble.ts'

/** What a client registered itself with, by who registered it. */
interface Registration {
  readonly client: Client
  readonly redirect: string
  /** What it may ask for, as it was registered; some authorities hold it to that. */
  readonly scope?: string | undefined
}

export interface Registrar {
  readonly secrets: Secrets
  readonly owner: string
  readonly settings: OAuth
  readonly fetch: Fetch
}

/** The client that a person named, if they did. */
export function writtenClient({ clientId, clientSecret }: OAuth): Client | undefined {
  if (clientId === undefined) return undefined
  return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) }
}

/** The address we were last registered with at some authority, so that the same port can be tried again. */
export function registeredRedirect({ secrets, owner }: Registrar, issuer: string): string | undefined {
  return registrations(secrets, owner)[issuer]?.redirect
}

/** Registered beforehand, described by a document, registered now; in this order. */
export async function clientFor(
  registrar: Registrar,
  authority: Authority,
  redirect: string,
  scope: string | undefined,
): Promise<Client> {
  const { settings, secrets, owner, fetch } = registrar
  const written = writtenClient(settings)
  if (written) return written
  const { clientMetadataUrl } = settings
  const { metadata, issuer } = authority
  if (clientMetadataUrl !== undefined && namedIn(metadata, 'client_id_metadata_document_supported') === true)
    return { client_id: endpointOf(clientMetadataUrl, 'clientMetadataUrl').href }
  const kept = registrations(secrets, owner)[issuer]
  if (kept?.redirect === redirect && !isOver(kept.client) && isWithin(scope, kept.scope)) return kept.client
  if (metadata.registration_endpoint === undefined)
    throw signInFailed(
      `${said(issuer)} does not let programs register themselves`,
      'register a client there by hand (redirect address http://127.0.0.1/callback) and set auth.clientId',
    )
  const client = await register(metadata, redirect, scope, settings, fetch)
  await remember(registrar, issuer, { client, redirect, scope })
  return client
}

/** An authority does not know the client any more. */
export async function forgetClient(
  { secrets, owner }: Pick<Registrar, 'secrets' | 'owner'>,
  issuer: string,
): Promise<void> {
  const { [issuer]: _, ...others } = registrations(secrets, owner)
  await secrets.put(owner, FIELD, JSON.stringify(others))
}

/** Proves at an endpoint who we are, in the way that both sides know. */
export function clientAuthentication(
  client: Client,
  settings: Pick<OAuth, 'privateKey'> | undefined,
  issuer: string,
) {
  return (
    headers: Headers,
    params: URLSearchParams,
    _url: string | URL,
    metadata?: AuthorizationServerMetadata,
  ): void => {
    const { client_id, client_secret } = client
    if (settings?.privateKey !== undefined) {
      params.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
      params.set('client_assertion', assertion(client_id, settings.privateKey, issuer))
      params.set('client_id', client_id)
    } else if (client_secret === undefined) params.set('client_id', client_id)
    else if (methodOf(client, metadata) === 'client_secret_basic') {
      const text = `${formEncoded(client_id)}:${formEncoded(client_secret)}`
      headers.set('authorization', `Basic ${Buffer.from(text).toString('base64')}`)
    } else {
      params.set('client_id', client_id)
      params.set('client_secret', client_secret)
    }
  }
}

// --- internal ---

const FIELD = 'clients'

function registrations(secrets: Secrets, owner: string): Record<string, Registration> {
  try {
    const held = secrets.get(owner, FIELD)
    const value: unknown = held === undefined ? {} : JSON.parse(held.value)
    // We wrote it, and nobody else can have.
    return isRecord(value) ? (value as Record<string, Registration>) : {}
  } catch (error) {
    // What was damaged is registered anew.
    if (error instanceof Fault && error.code === 'SECRET_DAMAGED') return {}
    throw error
  }
}

async function remember(
  { secrets, owner }: Registrar,
  issuer: string,
  registration: Registration,
): Promise<void> {
  await secrets.put(
    owner,
    FIELD,
    JSON.stringify({ ...registrations(secrets, owner), [issuer]: registration }),
  )
}

function isWithin(wanted: string | undefined, registered: string | undefined): boolean {
  if (registered === undefined) return true
  const known = new Set(registered.split(' '))
  return (wanted ?? '').split(' ').every((word) => word === '' || known.has(word))
}

function isOver({ client_secret_expires_at: seconds }: Client): boolean {
  return seconds !== undefined && seconds > 0 && Date.now() / 1000 > seconds - 60
}

async function register(
  metadata: AuthorizationServerMetadata,
  redirect: string,
  scope: string | undefined,
  settings: OAuth,
  fetch: Fetch,
): Promise<Client> {
  const { registerClient } = await import('@modelcontextprotocol/client')
  const device = settings.grant === 'device_code'
  const clientMetadata = {
    client_name: 'Busbar',
    redirect_uris: [redirect],
    grant_types: [device ? DEVICE_GRANT : 'authorization_code', 'refresh_token'],
    response_types: device ? [] : ['code'],
    application_type: 'native' as const,
    token_endpoint_auth_method: preferred(metadata),
  }
  try {
    const given = await registerClient(metadata.issuer, {
      metadata,
      clientMetadata,
      ...(scope === undefined ? {} : { scope }),
      fetchFn: fetch,
    })
    const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } = given
    return { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method }
  } catch (error) {
    throw asSignInFault(error, `${said(metadata.issuer)} did not register us`)
  }
}

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** A program on a person's machine keeps no secret; one is only taken where nothing else is offered. */
function preferred({ token_endpoint_auth_methods_supported: methods }: AuthorizationServerMetadata): string {
  const offered = methods ?? ['none']
  return (
    ['none', 'client_secret_basic', 'client_secret_post'].find((each) => offered.includes(each)) ?? 'none'
  )
}

function methodOf(client: Client, metadata: AuthorizationServerMetadata | undefined): string {
  const offered = metadata?.token_endpoint_auth_methods_supported ?? []
  const { token_endpoint_auth_method: named } = client
  if (named !== undefined && named !== 'none' && (offered.length === 0 || offered.includes(named)))
    return named
  return offered.includes('client_secret_post') && !offered.includes('client_secret_basic')
    ? 'client_secret_post'
    : 'client_secret_basic'
}

/** As the standard wants it before base64: otherwise a colon or an umlaut in a secret would be another one. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}

/** A note signed with our key, for one use within a minute. */
function assertion(clientId: string, pem: string, issuer: string): string {
  const key = privateKeyOf(pem)
  const { name, hash, plain } = algorithmOf(key)
  const now = Math.floor(Date.now() / 1000)
  const head = encode({ alg: name, typ: 'JWT' })
  const claims = { iss: clientId, sub: clientId, aud: issuer, jti: randomUUID(), iat: now, exp: now + 60 }
  const body = `${head}.${encode(claims)}`
  const signature = sign(hash, Buffer.from(body), plain ? { key, dsaEncoding: 'ieee-p1363' } : key)
  return `${body}.${signature.toString('base64url')}`
}

function privateKeyOf(pem: string): KeyObject {
  try {
    return createPrivateKey(pem.replaceAll('\\n', '\n'))
  } catch {
    throw signInFailed(
      'auth.privateKey is no private key',
      'expected PEM, beginning with -----BEGIN PRIVATE KEY-----',
    )
  }
}

function algorithmOf(key: KeyObject): { name: string; hash: string | null; plain: boolean } {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return { name: 'RS256', hash: 'sha256', plain: false }
    case 'ed25519':
      return { name: 'EdDSA', hash: null, plain: false }
    case 'ec': {
      const curve = key.asymmetricKeyDetails?.namedCurve
      if (curve === 'secp384r1') return { name: 'ES384', hash: 'sha384', plain: true }
      if (curve === 'secp521r1') return { name: 'ES512', hash: 'sha512', plain: true }
      return { name: 'ES256', hash: 'sha256', plain: true }
    }
    default:
      throw signInFailed(`keys of the kind ${key.asymmetricKeyType} cannot be used`, 'use RSA, EC or Ed25519')
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
