// A pin as it is shown to people and programs.

import { MASK } from '../base/redact.ts'
import type { Pin } from '../store/policy.ts'
import { type PinState, stateOf } from './pin.ts'
import { type Change, definitionIn, diffOf } from './pin-diff.ts'
import { type Suspicion, suspicionsIn, type ToolNames } from './suspicion.ts'

export interface ShownPin {
  readonly server: string
  readonly tool: string
  readonly address: string
  readonly state: PinState
  /** Of the accepted definition. */
  readonly fingerprint: string
  /** The definition that waits to be accepted. */
  readonly pending?: { readonly fingerprint: string; readonly seenAt: number } | undefined
  readonly firstSeen: number
  readonly acceptedAt: number
  readonly removedAt?: number | undefined
  /** What should make a person look, in the definition that waits, else in the accepted one. */
  readonly flags: readonly Suspicion[]
}

/** A pin with what the waiting definition changes. */
export interface PinDiff extends ShownPin {
  readonly changes: readonly Change[]
}

export function shown(pin: Pin, names: ToolNames): ShownPin {
  const { server, tool, fingerprint, pending, firstSeen, acceptedAt, removedAt } = pin
  return {
    server,
    tool,
    address: addressOf(server, tool),
    state: stateOf(pin),
    fingerprint,
    ...(pending && { pending: { fingerprint: pending.fingerprint, seenAt: pending.seenAt } }),
    firstSeen,
    acceptedAt,
    ...(removedAt !== undefined && { removedAt }),
    flags: suspicionsIn(definitionIn((pending ?? pin).definition), names.besides(server)),
  }
}

/** What the definition that waits changes. Where it differs in a secret alone, both look the same. */
export function changesOf({ definition, pending }: Pin): readonly Change[] {
  if (pending === undefined) return []
  const changes = diffOf(definition, pending.definition)
  return changes.length > 0 ? changes : [{ path: '', before: `one ${MASK}`, after: `another ${MASK}` }]
}

export function addressOf(server: string, tool: string): string {
  return `${server}/${tool}`
}
