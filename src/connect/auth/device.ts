// Signing in on another device (RFC 8628): we show a code, a person types it in wherever they like, and we ask every few
// seconds whether they have.

import { setTimeout as pause } from 'node:timers/promises'
import { learnSecret } from '../../base/redact.ts'
import { clientAuthentication, clientFor, DEVICE_GRANT } from './client.ts'
import { type Authority, namedIn } from './discovery.ts'
import { endpointOf } from './endpoint.ts'
import { requestTokens } from './exchange-tokens.ts'
import type { Client, Grant } from './grant.ts'
import { asSignInFault, isPassing, jsonObject, oauthCode, said, signInFailed } from './trouble.ts'
import { PATIENCE, showUntil, type Way } from './way.ts'

export async function signInByDevice(way: Way): Promise<Grant> {
  const { account, authority, registrar, scope, binding } = way
  const address = deviceEndpoint(authority)
  const client = await clientFor(registrar, authority, 'http://127.0.0.1/callback', scope)
  const code = await deviceCode(way, client, address)
  for (const secret of [client.client_secret, code.device]) learnSecret(secret, registrar.owner)
  const until = Date.now() + code.patience
  const where = {
    url: code.url,
    userCode: code.userCode,
    expires: until,
    paste: () => {
      throw signInFailed('there is nothing to paste: type the code in on the other device')
    },
  }
  const exchanging = { server: account.url, settings: account.settings, fetch: registrar.fetch }
  const asked = { grant_type: DEVICE_GRANT, device_code: code.device }
  const parameters = scope === undefined ? asked : { ...asked, scope }
  const ask = () => requestTokens(exchanging, authority, client, parameters, binding)
  return await showUntil(way, where, (stop) => poll(ask, code.interval, until, stop, authority.issuer))
}

// --- internal ---

interface DeviceCode {
  readonly device: string
  readonly userCode: string
  readonly url: string
  /** Milliseconds. */
  readonly interval: number
  readonly patience: number
}

function deviceEndpoint({ metadata, issuer }: Authority): URL {
  const address = namedIn(metadata, 'device_authorization_endpoint')
  if (address === undefined)
    throw signInFailed(
      `${said(issuer)} does not offer signing in on another device`,
      'sign in with --no-browser: open the address anywhere and paste what the browser ends at',
    )
  return endpointOf(address, 'device authorization endpoint')
}

async function deviceCode({ authority, account, registrar, scope }: Way, client: Client, url: URL) {
  const { issuer, metadata, resource } = authority
  const params = new URLSearchParams()
  if (scope !== undefined) params.set('scope', scope)
  if (resource !== undefined) params.set('resource', resource)
  const headers = new Headers({ accept: 'application/json' })
  clientAuthentication(client, account.settings, issuer)(headers, params, url, metadata)
  params.set('client_id', client.client_id)
  const response = await registrar.fetch(url, { method: 'POST', headers, body: params })
  const answer = await jsonObject(response, 'the answer of the device authorization endpoint')
  const { device_code: device, user_code: userCode } = answer
  if (!response.ok || typeof device !== 'string' || typeof userCode !== 'string')
    throw signInFailed(
      `${said(issuer)} gave no code: ${said(answer['error'])} ${said(answer['error_description'])}`,
    )
  const whole = answer['verification_uri_complete'] ?? answer['verification_uri']
  return {
    device,
    userCode: said(userCode),
    url: endpointOf(whole, 'address to sign in at').href,
    interval: seconds(answer['interval'], 5) * 1000,
    patience: Math.min(seconds(answer['expires_in'], 300) * 1000, PATIENCE * 3),
  } satisfies DeviceCode
}

async function poll(
  ask: () => Promise<Grant>,
  interval: number,
  until: number,
  signal: AbortSignal,
  issuer: string,
): Promise<Grant> {
  for (let wait = interval; ; ) {
    await pause(wait, undefined, { signal })
    try {
      return await ask()
    } catch (error) {
      const code = oauthCode(error)
      if (code === 'slow_down') wait += 5_000
      else if (code !== 'authorization_pending' && !isPassing(error))
        throw asSignInFault(error, `${said(issuer)} gave no token`)
    }
    if (Date.now() > until) throw signInFailed('nobody signed in in time', 'run it again when you are ready')
  }
}

function seconds(value: unknown, otherwise: number): number {
  const given = typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : otherwise
  return Math.min(given, 3600)
}
