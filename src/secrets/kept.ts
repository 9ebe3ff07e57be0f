// Whether something is kept, which can be told without the key.

import { readFileSync } from 'node:fs'
import type { Places } from '../base/places.ts'
import { secretsFile } from './master-key.ts'
import { claimOf, parseFile } from './sealed-file.ts'

/** Whether there is anything of this owner. What is wrong with the file is told by whoever opens it. */
export function isKept(places: Places, owner: string): boolean {
  try {
    const reading = parseFile(readFileSync(secretsFile(places), 'utf8'))
    return reading.kind === 'file' && reading.file.entries.some((entry) => claimOf(entry).owner === owner)
  } catch {
    return false
  }
}
