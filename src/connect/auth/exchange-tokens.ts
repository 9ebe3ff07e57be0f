// The requests at the token endpoint: a code, a refresh token, or our own word against tokens. Each is one request; a
// bound token brings a proof of its key along.

import type { OAuthTokens } from '@modelcontextprotocol/client'
import type { OAuth } from '../../config/schema-server.ts'
import type { Binding } from './binding.ts'
import { clientAuthentication } from './client.ts'
import { type Authority, namedIn } from './discovery.ts'
import { endpointOf } from './endpoint.ts'
import { type Client, type Grant, grantOf } from './grant.ts'
import type { Fetch } from './guarded-fetch.ts'
import { asSignInFault, said, signInFailed } from './trouble.ts'

export interface Exchanging {
  readonly server: string
  readonly settings: OAuth
  readonly fetch: Fetch
}

interface Code {
  readonly code: string
  /** As the authorization server named itself in its answer. */
  readonly iss: string | undefined
  readonly verifier: string
  readonly redirect: string
}

export async function redeemCode(
  { server, settings, fetch }: Exchanging,
  authority: Authority,
  client: Client,
  code: Code,
  binding: Binding | undefined,
  scope: string | undefined,
): Promise<Grant> {
  const { exchangeAuthorization } = await import('@modelcontextprotocol/client')
  const { issuer, metadata, resource } = authority
  const tokens = await exchanged(issuer, () =>
    exchangeAuthorization(issuer, {
      metadata,
      clientInformation: client,
      authorizationCode: code.code,
      ...(code.iss === undefined ? {} : { iss: code.iss }),
      codeVerifier: code.verifier,
      redirectUri: code.redirect,
      addClientAuthentication: clientAuthentication(client, settings, issuer),
      fetchFn: fetch,
      ...(resource === undefined ? {} : { resource }),
      ...(binding ? { dpop: binding.session } : {}),
    }),
  )
  return checked(
    grantOf(tokens, { server, issuer, metadata, resource, client, key: binding?.key, scope }),
    authority,
  )
}

/** Throws what the authorization server said as it said it: what it means depends on who asks. */
export async function refreshed(
  { settings, fetch }: Exchanging,
  grant: Grant,
  dpop: Binding['session'] | undefined,
): Promise<Grant> {
  const { refreshAuthorization } = await import('@modelcontextprotocol/client')
  const { issuer, metadata, resource, client, refresh = '' } = grant
  endpointOf(metadata.token_endpoint, 'token endpoint')
  const tokens = await refreshAuthorization(issuer, {
    metadata,
    clientInformation: client,
    refreshToken: refresh,
    addClientAuthentication: clientAuthentication(client, settings, issuer),
    fetchFn: fetch,
    ...(resource === undefined ? {} : { resource }),
    ...(dpop ? { dpop } : {}),
  })
  const next = { ...grantOf(tokens, grant), refresh: tokens.refresh_token ?? refresh }
  // One that was bound to a key stays so: whoever could loosen that could use a stolen one.
  return checked(next, { bindsTokens: grant.isBound, issuer })
}

/** Tokens for the program itself, or for what some other endpoint handed out. */
export async function requestTokens(
  { server, settings, fetch }: Exchanging,
  authority: Authority,
  client: Client,
  parameters: Readonly<Record<string, string>>,
  binding: Binding | undefined,
): Promise<Grant> {
  const { fetchToken } = await import('@modelcontextprotocol/client')
  const { issuer, metadata, resource } = authority
  const tokens = await fetchToken(
    {
      redirectUrl: undefined,
      clientMetadata: { redirect_uris: [] },
      clientInformation: () => ({ ...client, issuer }),
      tokens: () => undefined,
      saveTokens: () => undefined,
      redirectToAuthorization: () => undefined,
      saveCodeVerifier: () => undefined,
      codeVerifier: () => '',
      addClientAuthentication: clientAuthentication(client, settings, issuer),
      prepareTokenRequest: () => new URLSearchParams(parameters),
      dpop: () => binding?.session,
    },
    issuer,
    { metadata, fetchFn: fetch, ...(resource === undefined ? {} : { resource }) },
  )
  const scope = parameters['scope']
  return checked(
    grantOf(tokens, { server, issuer, metadata, resource, client, key: binding?.key, scope }),
    authority,
  )
}

/**
 * Tells an authorization server that a grant is over. True when the token is of no use any more, or can at least not be
 * renewed: many servers cannot call back one that says by itself how long it is good.
 */
export async function revoke(
  { settings, fetch }: Pick<Exchanging, 'fetch'> & Partial<Exchanging>,
  grant: Grant,
): Promise<boolean> {
  const { issuer, metadata, client, access, refresh } = grant
  const address = namedIn(metadata, 'revocation_endpoint')
  if (address === undefined) return false
  const url = endpointOf(address, 'revocation endpoint')
  const ask = async (token: string, hint: string): Promise<boolean> => {
    const headers = new Headers()
    const params = new URLSearchParams({ token, token_type_hint: hint })
    clientAuthentication(client, settings, issuer)(headers, params, url, metadata)
    // Each is asked for, whatever becomes of the other.
    return await fetch(url, { method: 'POST', headers, body: params }).then(
      ({ ok }) => ok,
      () => false,
    )
  }
  const isEnded = refresh === undefined ? false : await ask(refresh, 'refresh_token')
  const isTaken = await ask(access, 'access_token')
  return refresh === undefined ? isTaken : isEnded
}

// --- internal ---

async function exchanged(issuer: string, ask: () => Promise<OAuthTokens>): Promise<OAuthTokens> {
  try {
    return await ask()
  } catch (error) {
    throw asSignInFault(error, `${said(issuer)} gave no token`)
  }
}

/** A token in a header is one line, and one that anybody could use is none where a bound one is wanted. */
function checked(grant: Grant, { bindsTokens, issuer }: Pick<Authority, 'bindsTokens' | 'issuer'>): Grant {
  if (!/^[\x21-\x7e]+$/.test(grant.access))
    throw signInFailed(`${said(issuer)} gave a token that cannot be sent`)
  if (bindsTokens && !grant.isBound)
    throw signInFailed(`${said(issuer)} gave a token that is bound to no key`)
  return grant
}
