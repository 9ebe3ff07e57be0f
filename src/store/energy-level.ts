// The arithmetic of energy. Everything is counted in whole millionths, so that sums are exact in whatever order they are
// made, and what is recovered in less than one of them is not lost either.

import { type Clock, elapsed, type Moment } from '../base/clock.ts'

/** How much an agent can hold, and what comes back in a minute. */
export interface EnergyBudget {
  readonly capacity: number
  readonly recovery: number
}

/** An account as it is stored: its level (in millionths, like its capacity) was true at its moment. */
export interface StoredLevel extends Moment {
  readonly level: number
  readonly capacity: number
  /** Energy, not millionths, in a minute. */
  readonly recovery: number
}

/** Whole millionths; what is no amount is none. */
export function millionths(energy: number): number {
  return energy > 0 ? Math.min(MOST, Math.round(energy * MILLION)) : 0
}

export function energyOf(count: number): number {
  return count / MILLION
}

/** Millionths that come back in a microsecond. */
export function recoveryRate(perMinute: number): number {
  return perMinute / 60
}

/** Whose account pays for an agent: a worker's calls are its agent's. */
export function accountOf(agent: string): string {
  const cut = agent.indexOf('/')
  return cut < 0 ? agent : agent.slice(0, cut)
}

/** The account as it is now. Its moment is when its level was reached, so that nothing is lost between whole millionths. */
export function recovered(stored: StoredLevel, clock: Clock): StoredLevel {
  const { level, capacity, recovery } = stored
  const passed = elapsed(stored, clock)
  const rate = recoveryRate(recovery)
  const gained = Math.floor(rate * passed)
  const full = level + gained >= capacity
  const rest = full || rate === 0 ? 0 : passed - gained / rate
  return {
    level: full ? capacity : level + gained,
    capacity,
    recovery,
    wall: clock.wall() - rest / 1000,
    monotonic: clock.monotonic() - rest,
    boot: clock.boot,
  }
}

// --- internal ---

const MILLION = 1e6
/** Up to half of what is exact, so that two of them can be added. */
const MOST = 2 ** 52
