// Which conversation asks its model next. Who waits longer gets nearer, whatever else there is, so nobody waits for ever:
// urgency and a selection are worth a fixed time of waiting and no more.

import type { Urgency } from './regulator.ts'

export interface Candidate {
  readonly id: string
  readonly urgency: Urgency
  /** When it began to wait; milliseconds of any clock that does not go back. */
  readonly since: number
  /** The agent chose it. */
  readonly selected: boolean
  /** Until when it is not to be taken up. */
  readonly snoozedUntil?: number | undefined
  /** Whether there is energy for it now. */
  readonly affordable: boolean
}

/** Milliseconds of waiting that each is worth. */
const WORTH: Readonly<Record<Urgency, number>> = { urgent: 60_000, asked: 30_000, background: 0 }
const SELECTED = 20_000

/** More than this, and who has waited so much longer goes first, whoever the other is. */
export const LONGEST_LEAD: number = WORTH.urgent + SELECTED

/** The one that goes next; undefined when nobody can. */
export function nextOf<T extends Candidate>(waiting: readonly T[], now: number): T | undefined {
  let best: T | undefined
  for (const one of waiting) {
    if (!one.affordable || (one.snoozedUntil ?? 0) > now) continue
    if (best === undefined || goesBefore(one, best, now)) best = one
  }
  return best
}

// --- internal ---

function goesBefore(one: Candidate, other: Candidate, now: number): boolean {
  const difference = weight(one, now) - weight(other, now)
  if (difference !== 0) return difference > 0
  return one.since === other.since ? one.id < other.id : one.since < other.since
}

function weight({ since, urgency, selected }: Candidate, now: number): number {
  return now - since + WORTH[urgency] + (selected ? SELECTED : 0)
}
