// What the agents of the crash test have: the one never runs out, the other soon does.

import type { EnergyBudget } from '../../src/store/energy-level.ts'

export const ACCOUNTS: ReadonlyMap<string, EnergyBudget> = new Map([
  ['rich', { capacity: 1_000_000, recovery: 0 }],
  ['poor', { capacity: 3000, recovery: 0 }],
])
