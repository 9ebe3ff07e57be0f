// Checks access tokens and DPoP proofs as a resource server has to, with nothing but Node.
import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'

export interface Claims {
  jti: string
  sub?: string
  client_id: string
  aud: string
  iss: string
  scope?: string
  exp: number
  cnf?: { jkt: string }
}

/** The claims of an ES256 access token, or undefined when it is none of `key`. Says nothing of time and audience. */
export function accessClaims(token: string, key: KeyObject): Claims | undefined {
  const parts = decode(token)
  if (parts === undefined || parts.header['typ'] !== 'at+jwt' || !signed(token, key)) return undefined
  // The provider signed it with our key, so it has the claims of RFC 9068.
  return parts.payload as unknown as Claims
}

/** The reason why a DPoP proof does not fit the request and the token (RFC 9449 §4.3), or undefined. */
export function proofProblem(
  proof: unknown,
  expected: { method: string; url: string; token: string; thumbprint: string },
): string | undefined {
  if (typeof proof !== 'string') return 'the proof is missing'
  const parts = decode(proof)
  if (parts === undefined || parts.header['typ'] !== 'dpop+jwt') return 'the proof is no DPoP proof'
  const jwk = parts.header['jwk'] as JsonWebKey | undefined
  if (jwk === undefined || 'd' in jwk) return 'the proof has no public key'
  if (!signed(proof, createPublicKey({ key: jwk, format: 'jwk' })))
    return 'the proof is not signed by its key'
  const { htm, htu, ath, iat } = parts.payload
  if (htm !== expected.method || htu !== expected.url) return 'the proof is for another request'
  if (ath !== createHash('sha256').update(expected.token).digest('base64url'))
    return 'the proof is for another token'
  if (typeof iat !== 'number' || Math.abs(Date.now() / 1000 - iat) > 300) return 'the proof is too old'
  if (thumbprint(jwk) !== expected.thumbprint) return 'the proof is of another key'
  return undefined
}

// --- internal ---

function decode(
  token: string,
): { header: Record<string, unknown>; payload: Record<string, unknown> } | undefined {
  const [header, payload] = token.split('.')
  try {
    return { header: part(header), payload: part(payload) }
  } catch {
    return undefined
  }
}

function part(text = ''): Record<string, unknown> {
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
}

function signed(token: string, key: KeyObject): boolean {
  const end = token.lastIndexOf('.')
  const signature = Buffer.from(token.slice(end + 1), 'base64url')
  return verify('sha256', Buffer.from(token.slice(0, end)), { key, dsaEncoding: 'ieee-p1363' }, signature)
}

// RFC 7638: the members in this order, without blanks.
function thumbprint({ crv, kty, x, y }: JsonWebKey): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
}
