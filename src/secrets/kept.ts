// Whether something is kept, which can be told without the key.

import { readFileSync } from 'node:fs'
import type { Places } from '../base/places.ts'
import { secretsFile } from './places.ts'
import { claimOf, parseFile } from './sealed-file.ts'

/** Whether there is anything of this owner. What is wrong with the file is told by whoever opens it. */
export function isKept(places: Places, owner: string): boolean {
  return owners(places).includes(owner)
}

/** The same, for it or for anything below it. */
export function isAnythingKept(places: Places, owner: string): boolean {
  return owners(places).some((each) => each === owner || each.startsWith(`${owner}#`))
}

// --- internal ---

function owners(places: Places): string[] {
  try {
    const reading = parseFile(readFileSync(secretsFile(places), 'utf8'))
    return reading.kind === 'file' ? reading.file.entries.map((entry) => claimOf(entry).owner) : []
  } catch {
    return []
  }
}
