// Agents' tokens that Busbar makes itself. Shown once; only a digest is kept.

import { randomBytes } from 'node:crypto'
import { sha256 } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import type { Agents, Token } from '../store/policy.ts'

/** How all of them begin, so that scanners for lost secrets know one when they see it. */
const PREFIX = 'busbar_'

/** In milliseconds. Beyond it there are numbers that no store can keep as a time. */
const LONGEST_LIFE = 1000 * 365 * 24 * 3_600_000

export interface NewToken {
  readonly agent: string
  /** Nobody can tell it again. */
  readonly token: string
  readonly id: string
  readonly expiresAt?: number | undefined
}

/** Makes a token for an agent. `life` is in milliseconds; without it, it does not expire. */
export async function makeToken(
  agents: Agents,
  agent: string,
  { life, replace = false }: { readonly life?: number | undefined; readonly replace?: boolean },
): Promise<NewToken> {
  if (life !== undefined && !(Number.isInteger(life) && life >= 1 && life <= LONGEST_LIFE))
    throw new Fault('USAGE', 'the life of a token is a whole number of milliseconds', {
      hint: 'a thousand years at most; one that is to live longer needs no end',
    })
  const token = PREFIX + randomBytes(32).toString('base64url')
  const hash = sha256(token)
  const now = Date.now()
  const expiresAt = life === undefined ? undefined : now + life
  if (replace) await agents.revoke(agent, now)
  await agents.add({ agent, hash, createdAt: now, expiresAt })
  return { agent, token, id: idOf(hash), expiresAt }
}

/** Revokes one token by the id that is shown of it, or all of an agent's; tells how many. */
export async function revokeTokens(agents: Agents, agent: string, id?: string): Promise<number> {
  if (id !== undefined && !/^[0-9a-f]{6,64}$/.test(id))
    throw new Fault('USAGE', `"${id}" is no id of a token`, {
      hint: `see: busbar agents token ${agent} --list`,
    })
  return await agents.revoke(agent, Date.now(), id)
}

/** What may be shown of a token. */
export interface ShownToken {
  readonly id: string
  readonly createdAt: number
  readonly expiresAt?: number | undefined
  readonly state: 'active' | 'expired' | 'revoked'
}

export async function shownTokens(agents: Agents, agent: string): Promise<ShownToken[]> {
  const now = Date.now()
  return (await agents.list(agent)).map((token) => ({
    id: idOf(token.hash),
    createdAt: token.createdAt,
    expiresAt: token.expiresAt,
    state: stateOf(token, now),
  }))
}

// --- internal ---

function idOf(hash: string): string {
  return hash.slice(0, 12)
}

function stateOf({ revokedAt, expiresAt }: Token, now: number): ShownToken['state'] {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active'
}
