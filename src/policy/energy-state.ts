// How an agent is, by what it has left; and the words in which it is told that this is not enough.

import { Fault } from '../base/fault.ts'
import { clockTime, waitText } from '../base/time-text.ts'

export type EnergyState = 'plenty' | 'low' | 'tired' | 'critical' | 'empty'

/** `needed`: what a call wanted that was refused, if that is still so. */
export function energyState(level: number, capacity: number, needed = 0): EnergyState {
  if (level <= 0 || level < needed) return 'empty'
  const part = level / capacity
  if (part >= 0.5) return 'plenty'
  if (part >= 0.2) return 'low'
  return part >= 0.1 ? 'tired' : 'critical'
}

export interface Shortage {
  readonly agent: string
  /** What there is for it now. */
  readonly left: number
  readonly capacity: number
  readonly needed: number
  /** Milliseconds until there is enough, and when that is by the wall clock. */
  readonly wait: number
  readonly now: number
}

export function outOfEnergy({ agent, left, capacity, needed, wait, now }: Shortage): Fault {
  const account = agent.split('/', 1)[0]
  const known = Number.isFinite(wait)
  const when = known ? `enough at ${clockTime(now + wait)} (in ${waitText(wait)})` : 'it does not recover'
  return new Fault(
    'OUT_OF_ENERGY',
    `${agent} is out of energy: ${amount(left, Math.floor)} of ${amount(capacity)} left, this call needs about ` +
      `${amount(needed, Math.ceil)}; ${when}`,
    {
      hint: `${known ? 'wait, or have the owner run' : 'have the owner run'}: busbar energy refill ${account}`,
      details: { agent, left, needed, ...(known ? { enoughAt: Math.ceil(now + wait) } : {}) },
    },
  )
}

/** With one decimal where it has any. */
export function amount(energy: number, round: (tenths: number) => number = Math.round): string {
  // A hair's breadth above a tenth is that tenth.
  const tenths = round(Number((energy * 10).toFixed(5))) / 10
  return String(tenths === 0 ? 0 : tenths)
}
