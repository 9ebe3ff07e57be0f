// When to try again. Pure: chance and clock are arguments.

/** A connection counts as steady after so many milliseconds: what happens then is a new failure, not the same one again. */
export const STEADY = 30_000

export interface Failures {
  /** In a row. */
  readonly count: number
  /** Whether trying again soon could help: a missing program will still be missing in a second. */
  readonly hopeless: boolean
}

const FIRST = 500
const LONGEST = 30_000
/** After so many failures in a row a server is left alone for a while, and calls to it fail at once. */
const CIRCUIT_AFTER = 5
const CIRCUIT_PAUSE = 60_000

/** Whether calls should fail at once instead of waiting for the next try. */
export function isOpen({ count, hopeless }: Failures): boolean {
  return hopeless || count >= CIRCUIT_AFTER
}

/** Milliseconds until the next try: doubling, with full jitter so that many do not come back together. */
export function pauseAfter(failures: Failures, chance: number): number {
  if (isOpen(failures)) return CIRCUIT_PAUSE * (0.75 + chance / 2)
  return Math.min(LONGEST, FIRST * 2 ** (failures.count - 1)) * chance
}
