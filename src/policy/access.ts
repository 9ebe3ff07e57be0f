// Who acts. What they may is decided in `decide.ts`.

import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import type { Snapshot } from '../config/snapshot.ts'

/** Who acts: an agent or a worker of one, or the owner, who is the operating-system user. */
export type Actor = { readonly kind: 'owner' } | { readonly kind: 'agent'; readonly id: string }

export const OWNER: Actor = { kind: 'owner' }

/** The name something is kept under: an agent's own, an empty one for the owner. */
export function agentOf(actor: Actor): string {
  return actor.kind === 'owner' ? '' : actor.id
}

/** The actor for an agent's name, `agent/worker` for a worker; a fault when there is none. */
export function actorOf(
  name: string,
  { assignments, waiting }: Pick<Snapshot, 'assignments' | 'waiting'>,
): Actor {
  if (assignments.some(({ id }) => id === name)) return { kind: 'agent', id: name }
  const file = waiting.get(name)
  if (file !== undefined)
    throw new Fault('NOT_TRUSTED', `${name} stands in ${file}, which is not trusted yet`, {
      hint: 'run: busbar trust',
    })
  const ids = assignments.map(({ id }) => id)
  const near = nearest(name, ids)
  throw new Fault('AGENT_UNKNOWN', `no agent is called ${JSON.stringify(name)}`, {
    hint: near
      ? `did you mean ${near}?`
      : ids.length > 0
        ? 'run: busbar agents list'
        : `run: busbar agents add ${name}`,
  })
}

/** Whether somebody was refused because there is no such agent, or not yet. */
export function isUnknownAgent(error: unknown): error is Fault {
  return error instanceof Fault && (error.code === 'AGENT_UNKNOWN' || error.code === 'NOT_TRUSTED')
}
