// What an authorization server gave us for a server, with all that is needed to have it renewed or taken back. It is kept
// as one secret, so that a token and the client it belongs to are never of different times.

import type { webcrypto } from 'node:crypto'
import type { AuthorizationServerMetadata, OAuthTokens } from '@modelcontextprotocol/client'
import { isRecord } from '../../base/record.ts'
import { learnSecret } from '../../base/redact.ts'
import type { Secrets } from '../../secrets/secrets.ts'

/** Who we are to an authorization server. */
export interface Client {
  readonly client_id: string
  readonly client_secret?: string | undefined
  readonly token_endpoint_auth_method?: string | undefined
  /** Seconds; zero or absent: never. */
  readonly client_secret_expires_at?: number | undefined
}

export interface Grant {
  /** The address it is for. It is sent nowhere else, whatever the configuration says later. */
  readonly server: string
  readonly issuer: string
  readonly metadata: AuthorizationServerMetadata
  readonly resource?: string | undefined
  readonly client: Client
  readonly access: string
  readonly refresh?: string | undefined
  readonly isBound: boolean
  /** The private key that a bound token belongs to. */
  readonly key?: webcrypto.JsonWebKey | undefined
  /** What was asked for, which is what it is worth unless something else was said. */
  readonly scope?: string | undefined
  /** Milliseconds since 1970. */
  readonly obtained: number
  readonly expires?: number | undefined
}

export interface KeptGrant {
  readonly grant: Grant
  readonly version: number
}

const FIELD = 'grant'

export function ownerOf(server: string, account?: string): string {
  return account === undefined ? `server:${server}` : `server:${server}#${account}`
}

/** Only what was given for this very address. */
export function readGrant(secrets: Secrets, owner: string, server: string): KeptGrant | undefined {
  const held = secrets.get(owner, FIELD)
  if (held === undefined) return undefined
  const grant = parse(held.value)
  return grant?.server === server ? { grant, version: held.version } : undefined
}

/** The version of what is kept, for whatever it was given; 0: there is none. */
export function grantVersion(secrets: Secrets, owner: string): number {
  return secrets.get(owner, FIELD)?.version ?? 0
}

/** Whatever it was given for; undefined when there is none, or none that can be read. */
export function readAnyGrant(secrets: Secrets, owner: string): Grant | undefined {
  try {
    const held = secrets.get(owner, FIELD)
    return held && parse(held.value)
  } catch {
    return undefined
  }
}

/** False when somebody else wrote one meanwhile; `expected` undefined: whatever is there is replaced. */
export async function keepGrant(
  secrets: Secrets,
  owner: string,
  grant: Grant,
  expected?: number,
): Promise<boolean> {
  return (await secrets.put(owner, FIELD, JSON.stringify(grant), expected)) !== undefined
}

/** From now on nothing of it is shown or recorded, whoever says it. */
export function learnGrant({ access, refresh, client }: Grant, owner: string): void {
  for (const secret of [access, refresh, client.client_secret]) learnSecret(secret, owner)
}

/** Tokens as they come, put together with what they belong to. */
export function grantOf(
  tokens: OAuthTokens,
  rest: Pick<Grant, 'server' | 'issuer' | 'metadata' | 'resource' | 'client' | 'key' | 'scope'>,
): Grant {
  const now = Date.now()
  const seconds = tokens.expires_in
  const isBound = tokens.token_type.toLowerCase() === 'dpop'
  return {
    ...rest,
    key: isBound ? rest.key : undefined,
    access: tokens.access_token,
    refresh: tokens.refresh_token,
    isBound,
    scope: tokens.scope ?? rest.scope,
    obtained: now,
    // Nonsense is no time: then the server says when it is over.
    expires: seconds !== undefined && seconds > 0 ? now + Math.min(seconds, LONGEST) * 1000 : undefined,
  }
}

export function isExpired({ expires }: Grant, now = Date.now()): boolean {
  return expires !== undefined && now >= expires - CLOCKS
}

/** Whether it is time to ask for the next one, while this one can still be used. */
export function isEnding({ obtained, expires }: Grant, now = Date.now()): boolean {
  if (expires === undefined) return false
  return now >= expires - Math.min(AHEAD, (expires - obtained) / 4)
}

// --- internal ---

/** A year. */
const LONGEST = 366 * 24 * 3600
/** How far clocks and ways may differ. */
const CLOCKS = 1_000
const AHEAD = 60_000

function parse(text: string): Grant | undefined {
  try {
    const value: unknown = JSON.parse(text)
    // We wrote it, and nobody else can have.
    return isRecord(value) && typeof value['access'] === 'string' ? (value as unknown as Grant) : undefined
  } catch {
    return undefined
  }
}
