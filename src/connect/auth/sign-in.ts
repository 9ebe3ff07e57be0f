// A person signs in: in a browser that comes back to this machine, in one that cannot, or on another device. What comes
// of it is kept before anybody hears of it.

import { randomBytes } from 'node:crypto'
import { learnSecret } from '../../base/redact.ts'
import type { OAuth } from '../../config/schema-server.ts'
import { requestGuarded } from '../http/request.ts'
import { type Account, fetchOf, type OnSignIn, ownerOfAccount } from './account.ts'
import { newBinding } from './binding.ts'
import { type Answer, type Callback, openCallback } from './callback.ts'
import { type Challenge, challengeIn } from './challenge.ts'
import { clientFor, forgetClient, type Registrar, registeredRedirect } from './client.ts'
import { signInByDevice } from './device.ts'
import { type Authority, discover, refuseOtherAuthority, refuseWithoutPkce } from './discovery.ts'
import { redeemCode } from './exchange-tokens.ts'
import { type Client, type Grant, keepGrant, readAnyGrant } from './grant.ts'
import { oauthCode, said, signInFailed } from './trouble.ts'
import { PATIENCE, showUntil, type Way } from './way.ts'

export interface SignInOptions {
  readonly show: OnSignIn
  /** What the server said when it refused; asked for when absent. */
  readonly challenge?: Challenge | undefined
  /** To be asked for on top of what there is. */
  readonly more?: string | undefined
  /** On another device, though the configuration does not say so. */
  readonly byDevice?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export async function signIn(account: Account, options: SignInOptions): Promise<Grant> {
  const { url, settings } = account
  const signal = options.signal ? AbortSignal.any([options.signal, account.closing]) : account.closing
  const fetch = fetchOf(account, signal)
  const secrets = await account.secrets()
  const owner = ownerOfAccount(account)
  const challenge = options.challenge ?? (await probe(account, signal))
  const authority = await discover(url, settings, challenge, fetch)
  // One that cannot be read any more is what is to be replaced.
  const before = readAnyGrant(secrets, owner)
  const own = before?.server === url ? before : undefined
  refuseOtherAuthority(authority, settings, own?.issuer)
  const scope = scopeFor(settings, challenge, authority, {
    more: options.more,
    // Rights that were given once are not lost by asking for others, unless it is somebody else who gives them.
    before: own?.issuer === authority.issuer ? own.scope : undefined,
  })
  const binding = authority.bindsTokens ? await newBinding() : undefined
  const byDevice = options.byDevice === true || settings.grant === 'device_code'
  // A client is registered for the way that is gone.
  const chosen = byDevice ? { ...settings, grant: 'device_code' as const } : settings
  const registrar: Registrar = { secrets, owner, settings: chosen, fetch }
  const way = byDevice ? signInByDevice : signInByBrowser
  const grant = await way({ account, authority, registrar, scope, binding, show: options.show, signal })
  await keepGrant(secrets, owner, grant)
  return grant
}

/** What to ask for: as a person wrote, else as the server said, never less than before. */
export function scopeFor(
  { scopes }: Pick<OAuth, 'scopes'>,
  challenge: Challenge | undefined,
  { scopes: described, metadata }: Pick<Authority, 'scopes' | 'metadata'>,
  { more, before }: { readonly more?: string | undefined; readonly before?: string | undefined } = {},
): string | undefined {
  const isStepUp = challenge?.error === 'insufficient_scope' || more !== undefined
  const wanted = scopes?.join(' ') ?? challenge?.scope ?? described.join(' ')
  const all = [wanted, ...(isStepUp ? [before, challenge?.scope, more] : [])]
  const words = new Set(all.flatMap((text) => text?.split(/\s+/) ?? []).filter((word) => word !== ''))
  if (words.size > 0 && metadata.scopes_supported?.includes('offline_access')) words.add('offline_access')
  return words.size === 0 ? undefined : [...words].join(' ')
}

// --- internal ---

async function signInByBrowser(way: Way): Promise<Grant> {
  const { account, authority, registrar, scope, signal } = way
  refuseWithoutPkce(authority)
  const { redirectPort } = account.settings
  const before = registeredRedirect(registrar, authority.issuer)
  const state = randomBytes(32).toString('base64url')
  const callback = await openCallback({
    state,
    port: redirectPort ?? (before === undefined ? undefined : Number(new URL(before).port)),
    isFixed: redirectPort !== undefined,
    patience: PATIENCE,
    signal,
  })
  try {
    const client = await clientFor(registrar, authority, callback.redirect, scope)
    learnSecret(client.client_secret, registrar.owner)
    return await throughBrowser(way, client, callback, state)
  } finally {
    callback.close()
  }
}

async function throughBrowser(way: Way, client: Client, callback: Callback, state: string): Promise<Grant> {
  const { account, authority, registrar, scope, binding } = way
  const { issuer, metadata, resource, isDiscovered } = authority
  const { redirect } = callback
  const { startAuthorization } = await import('@modelcontextprotocol/client')
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
    metadata,
    clientInformation: client,
    redirectUrl: redirect,
    state,
    ...(scope === undefined ? {} : { scope }),
    ...(resource === undefined ? {} : { resource }),
  })
  const where = {
    url: authorizationUrl.href,
    expires: Date.now() + PATIENCE,
    paste: (text: string) => callback.paste(text),
  }
  const answer = await showUntil(way, where, () => callback.answer)
  learnSecret(answer.code, registrar.owner)
  await checkIssuer(answer, authority)
  const { code, error, error_description: description } = answer
  if (error !== undefined || code === undefined)
    throw signInFailed(`${said(issuer)} refused: ${said(error)} ${said(description)}`.trim(), 'run it again')
  const { url: server, settings } = account
  try {
    const iss = isDiscovered ? answer.iss : undefined
    const given = { code, iss, verifier: codeVerifier, redirect }
    return await redeemCode(
      { server, settings, fetch: registrar.fetch },
      authority,
      client,
      given,
      binding,
      scope,
    )
  } catch (error) {
    const reason = error instanceof Error ? oauthCode(error.cause) : undefined
    // What it does not know any more is of no use the next time either.
    if (reason === 'invalid_client' || reason === 'unauthorized_client') await forgetClient(registrar, issuer)
    throw error
  }
}

/** Before the code is redeemed, or an error believed: an answer of somebody else is none (RFC 9207). */
async function checkIssuer({ iss }: Answer, { metadata, isDiscovered, issuer }: Authority): Promise<void> {
  if (!isDiscovered) return
  const { validateAuthorizationResponseIssuer } = await import('@modelcontextprotocol/client')
  const isPromised = metadata['authorization_response_iss_parameter_supported'] === true
  try {
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata.issuer,
      issParameterSupported: isPromised,
    })
  } catch (error) {
    throw signInFailed(
      `the answer came from ${iss === undefined ? 'nobody knows whom' : said(iss)}, not from ${said(issuer)}`,
      'the code was not used; tell whoever runs the server',
      error,
    )
  }
}

/** Asks the server what it wants, without a token. */
async function probe({ url, env, resolve }: Account, signal?: AbortSignal): Promise<Challenge | undefined> {
  const { status, headers } = await requestGuarded({
    url,
    env,
    resolve,
    signal,
    method: 'POST',
    accept: 'application/json, text/event-stream',
    body: PING,
  })
  return status === 401 || status === 403 ? challengeIn(headers['www-authenticate']) : undefined
}

const PING = '{"jsonrpc":"2.0","id":0,"method":"ping"}'
