// The token of a client: made once the gateway knows the agent, and revoked when another takes its place.

import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { readOwnEntry } from '../config/clients/entry.ts'
import { type ClientRecord, readClientRecords } from '../config/clients/record.ts'
import type { Snapshot } from '../config/snapshot.ts'
import type { NewToken } from '../gateway/tokens.ts'
import { actorOf, isUnknownAgent } from '../policy/access.ts'
import { tokensOf } from './agent-token.ts'
import type { Session } from './session.ts'

/** A new token of an agent, beside the others it has. */
export async function newToken(
  session: Session,
  active: Snapshot,
  agent: string,
): Promise<NewToken & { revoke(): Promise<unknown> }> {
  actorOf(agent, active)
  const tokens = await tokensOf(session, active, agent)
  const until = performance.now() + PATIENCE
  for (;;)
    try {
      const made = await tokens.make({})
      return { ...made, revoke: () => tokens.revoke(made.id) }
    } catch (error) {
      // A running gateway hears of a new agent a moment after its file was written.
      if (!isUnknownAgent(error)) throw error
      if (performance.now() > until)
        throw new Fault('AGENT_UNKNOWN', `the gateway that is running does not know the agent ${agent}`, {
          hint: 'it follows another configuration; start it from this folder, or connect from its folder',
          cause: error,
        })
      await sleep(100, undefined, { signal: session.signal })
    }
}

interface Old {
  readonly record: ClientRecord | undefined
  /** What stood in the client's file. */
  readonly entry: unknown
  readonly agent: string
  /** The one that took its place. */
  readonly keep?: string
}

/** Revokes the token that a client had so far; tells how many there were. */
export async function revokeOld(
  session: Session,
  active: Snapshot,
  { record, entry, agent, keep }: Old,
): Promise<number> {
  const token = readOwnEntry(entry)?.token
  const ids = new Map<string, string>()
  // Without a record, the token itself tells by which id it is kept.
  if (token !== undefined) {
    const id = sha256(token).slice(0, ID_LENGTH)
    // The file may have another name since, or be another one.
    const other = readClientRecords(active.places).find(({ tokenId }) => tokenId === id)
    ids.set(id, record?.agent ?? other?.agent ?? agent)
  }
  if (record !== undefined) ids.set(record.tokenId, record.agent)
  let revoked = 0
  for (const [id, whose] of ids)
    if (id !== keep) revoked += await (await tokensOf(session, active, whose)).revoke(id)
  return revoked
}

// --- internal ---

/** Milliseconds. */
const PATIENCE = 10_000

/** As long as ids of tokens are. */
const ID_LENGTH = 12
