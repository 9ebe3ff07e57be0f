// Keys that tokens are bound to (DPoP): whoever steals the token alone has nothing.

import type { webcrypto } from 'node:crypto'
import type { DpopKeyPair, DpopSession } from '@modelcontextprotocol/client'

export interface Binding {
  readonly session: DpopSession
  /** To be kept with the token. */
  readonly key: webcrypto.JsonWebKey
}

export async function newBinding(): Promise<Binding> {
  const pair = await crypto.subtle.generateKey(CURVE, true, ['sign', 'verify'])
  const key = await crypto.subtle.exportKey('jwk', pair.privateKey)
  return { session: await sessionOf(key), key }
}

/** The proofs of a key that was kept. */
export async function sessionOf(key: webcrypto.JsonWebKey): Promise<DpopSession> {
  const { DpopSession } = await import('@modelcontextprotocol/client')
  const { kty, crv, x, y } = key
  const publicJwk = { kty, crv, x, y }
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey('jwk', key, CURVE, false, ['sign']),
    crypto.subtle.importKey('jwk', { ...publicJwk, ext: true } as webcrypto.JsonWebKey, CURVE, true, [
      'verify',
    ]),
  ])
  const pair = { privateKey, publicKey, publicJwk, thumbprint: '', alg: 'ES256' } as DpopKeyPair
  return await DpopSession.create({ keyPair: pair })
}

// --- internal ---

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' }
