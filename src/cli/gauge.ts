// Energy at a glance.

import type { AgentEnergy } from '../policy/energy-report.ts'
import { amount } from '../policy/energy-state.ts'

const SEGMENTS = 10

export function gaugeBar(level: number, capacity: number): string {
  const full = Math.max(0, Math.min(SEGMENTS, Math.round((level / capacity) * SEGMENTS)))
  return '▰'.repeat(full) + '▱'.repeat(SEGMENTS - full)
}

/** In one line, for whoever has other things to look at. */
export function gaugeLine(energy: AgentEnergy): string {
  if (energy.state === 'unlimited') return 'energy unlimited'
  const { level, capacity, state } = energy
  return `energy ${gaugeBar(level, capacity)} ${amount(level, Math.floor)} / ${amount(capacity)} ${state}`
}
