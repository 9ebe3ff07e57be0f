// What a modern client carries while its call is parked: signed, and bound to agent, request, round and time.

import { sha256 } from '../base/digest.ts'
import { seal, unseal } from '../base/sealed.ts'
import { agentOf } from '../policy/access.ts'
import { canonicalArguments } from '../policy/canonical-arguments.ts'
import { param, withoutParams } from '../wire/params.ts'
import type { Asked } from './asked.ts'
import type { CallEvent } from './translation-calls.ts'

export interface StateClaims {
  /** Of the parked call. */
  readonly id: string
  readonly agent: string
  /** Of the request, without what may differ when it is made again. */
  readonly digest: string
  /** How often its client was asked. */
  readonly round: number
  /** Epoch milliseconds. */
  readonly until: number
}

/** How a state became worthless. */
export type Over = 'used' | 'expired' | 'gave way'

/** Against what the claims are held. */
export interface Facts {
  readonly agent: string
  readonly digest: string
  /** Epoch milliseconds. */
  readonly now: number
  /** The round of the call, if it is parked here. */
  readonly round: number | undefined
  /** What became of this very state, where that is known. */
  readonly over: Over | undefined
}

export function sealState({ id, agent, digest, round, until }: StateClaims, key: Buffer): string {
  return `${MARK}${seal([id, agent, digest, round, until], key)}`
}

/** Undefined when the client does not speak of a call of ours: what a modern server gave it is that server's business. */
export function openState({ params }: Asked, key: Buffer): StateClaims | 'forged' | undefined {
  const state = param(params, 'requestState')
  if (typeof state !== 'string' || !state.startsWith(MARK)) return undefined
  const claims = unseal(state.slice(MARK.length), key)
  if (claims === undefined) return 'forged'
  // What we sealed ourselves has the form that we gave it.
  const [id, agent, digest, round, until] = claims as [string, string, string, number, number]
  return { id, agent, digest, round, until }
}

/** What it means that somebody comes back with this. */
export function returning(claims: StateClaims, { agent, digest, now, round, over }: Facts): CallEvent {
  if (claims.agent !== agent) return "comes back with somebody else's state"
  if (claims.digest !== digest) return 'comes back with the state of another request'
  if (over === 'used') return 'comes back with a used state'
  if (over === 'gave way') return 'comes back to what gave way'
  if (over === 'expired' || now > claims.until) return 'comes back with an expired state'
  if (round === undefined) return 'comes back to nothing'
  return claims.round === round ? 'comes back' : 'comes back with a used state'
}

/** What the request is, made for the first time or again. */
export function digestOf({ message, scope, params }: Asked): string {
  const text = canonicalArguments(Buffer.from(withoutParams(params, CHANGING)))
  return sha256(`${scope ?? ''}\n${message.method}\n${text}`)
}

export function factsOf(asked: Asked): Pick<Facts, 'agent' | 'digest'> {
  return { agent: agentOf(asked.actor), digest: digestOf(asked) }
}

// --- internal ---

const MARK = 'busbar.'
/** What differs between a request and the same one asked again. */
const CHANGING: ReadonlySet<string> = new Set(['inputResponses', 'requestState', '_meta'])
