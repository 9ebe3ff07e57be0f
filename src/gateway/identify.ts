// Who is calling: told by a secret token, never by a name the caller claims.

import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomHex } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { type Places, prepareFolder, unsafeReason } from '../base/places.ts'
import { learnSecret } from '../base/redact.ts'
import { writeFileAtomic } from '../base/write-file.ts'
import { expandText } from '../config/expand.ts'
import { configFault } from '../config/problem.ts'
import { sharedToken, tokenOf } from '../config/shared-tokens.ts'
import type { Snapshot } from '../config/snapshot.ts'
import { settingsScope } from '../config/status.ts'
import type { Tree } from '../config/tree.ts'
import { type Actor, OWNER } from '../policy/access.ts'
import type { Token } from '../store/policy.ts'

export interface Known {
  readonly digest: Buffer
  readonly actor: Actor
  /** Epoch milliseconds from which on it opens nothing. */
  readonly until: number
}

/** Digests of tokens with whose they are. Digests are compared, so the time it takes tells nothing about a token. */
export class Identities {
  #known: readonly Known[] = []
  /** Headers that were found right, so that a client's second request costs no digest. Never more than there are tokens. */
  readonly #seen = new Map<string, Known>()

  /** From now on these count; see `readTokens`. */
  adopt(known: readonly Known[]): void {
    this.#known = known
    this.#seen.clear()
  }

  /** Agents that can sign in. */
  get agents(): string[] {
    return agentsIn(this.#known.filter(({ until }) => Date.now() < until))
  }

  /** The actor of an Authorization header, or undefined. */
  find(authorization: string | undefined): Actor | undefined {
    const seen = authorization && this.#seen.get(authorization)
    if (seen) return Date.now() < seen.until ? seen.actor : undefined
    const token = tokenIn(authorization)
    if (authorization === undefined || token === undefined) return undefined
    const digest = digestOf(token)
    let found: Known | undefined
    for (const known of this.#known) if (timingSafeEqual(known.digest, digest)) found = known
    if (found === undefined || Date.now() >= found.until) return undefined
    if (this.#seen.size < 4 * this.#known.length) this.#seen.set(authorization, found)
    return found.actor
  }
}

/** What helps whose token opens nothing. Which of it is true is told to nobody who cannot sign in. */
export const ASK_AGAIN =
  'see whether its agent is there and enabled: busbar agents list; or make another token: busbar agents token NAME'

/** Why somebody is not known by what they sent, none of which is repeated. */
export function signInFault(authorization: string | undefined): Fault {
  return tokenIn(authorization) === undefined
    ? new Fault('NO_ACCESS', 'a token is needed: Authorization: Bearer …')
    : new Fault('NO_ACCESS', 'this token is not known, or not any more', {
        hint: ASK_AGAIN,
      })
}

/** Agents' tokens from the configuration and from the store, and the owner's own. Two agents with one token would be one. */
export function readTokens(active: Snapshot, ownerToken: string, made: readonly Token[]): readonly Known[] {
  const { config } = active
  const known: Known[] = [{ digest: digestOf(ownerToken), actor: OWNER, until: Number.POSITIVE_INFINITY }]
  for (const [agent, { token, enabled }] of Object.entries(config.agents)) {
    const expanded = token === undefined ? undefined : expandText(token, settingsScope(active))
    if (!enabled || !expanded?.ok || expanded.value === '') continue
    const digest = digestOf(expanded.value)
    const other = known.find((it) => it.digest.equals(digest))
    if (other !== undefined)
      throw configFault([sharedToken(active.tree, agent, nameOf(other.actor, active.tree))])
    known.push({ digest, actor: { kind: 'agent', id: agent }, until: Number.POSITIVE_INFINITY })
  }
  for (const { agent, hash, expiresAt } of made) {
    const [name = '', worker] = agent.split('/')
    const { enabled = false, workers = {} } = config.agents[name] ?? {}
    // A token outlives its agent's entry; it opens nothing until there is one again.
    if (!enabled || (worker !== undefined && workers[worker]?.enabled !== true)) continue
    const until = expiresAt ?? Number.POSITIVE_INFINITY
    known.push({ digest: Buffer.from(hash, 'hex'), actor: { kind: 'agent', id: agent }, until })
  }
  return known
}

/** Agents that can sign in with these. */
export function agentsIn(known: readonly Known[]): string[] {
  return [...new Set(known.flatMap(({ actor }) => (actor.kind === 'agent' ? [actor.id] : [])))]
}

/** Where the owner's token is kept. */
export function ownerTokenFile({ state }: Places): string {
  return join(state, 'admin-token')
}

/** The owner's token: `BUSBAR_ADMIN_TOKEN`, or the one made at the first start and kept for this user alone. */
export function ownerToken(places: Places, env: Snapshot['env']): string {
  const given = env['BUSBAR_ADMIN_TOKEN']
  if (given) return given
  const token = keptToken(places)
  // It is in no configuration, so nobody else would take it out of what is shown and kept.
  learnSecret(token, 'owner')
  return token
}

// --- internal ---

function keptToken(places: Places): string {
  const file = ownerTokenFile(places)
  prepareFolder(places.state)
  const reason = unsafeReason(file)
  if (reason !== undefined)
    throw new Fault('STATE_REFUSED', `${file} ${reason}`, { hint: 'check who wrote it, then delete it' })
  try {
    const kept = readFileSync(file, 'utf8').trim()
    if (kept !== '') return kept
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  const made = randomHex(32)
  writeFileAtomic(file, `${made}\n`, { mode: 0o600 })
  return made
}

function tokenIn(authorization: string | undefined): string | undefined {
  return authorization?.match(/^Bearer +(\S+)$/i)?.[1]
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function nameOf(actor: Actor, tree: Tree): string {
  return actor.kind === 'owner' ? "the owner's" : tokenOf(tree, actor.id)
}
