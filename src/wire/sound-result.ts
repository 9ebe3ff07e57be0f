// Whether the result of a small answer is one value from end to end. Small answers are looked through before anybody is told
// of them, and whatever is parsed for that need not be parsed again by whoever looks at it.

import { MAX_DEPTH } from './scan.ts'

/** The object that stands between two places; undefined where there is none, or it was not read. */
export function soundResult(letters: string, start: number, end: number): object | undefined {
  if (mayNestDeeply(letters)) return undefined
  try {
    return JSON.parse(letters.slice(start, end))
  } catch {
    return undefined
  }
}

// --- internal ---

/** Whether there are enough brackets and braces for it, wherever they stand. */
function mayNestDeeply(letters: string): boolean {
  let left = MAX_DEPTH
  for (const open of ['{', '['])
    for (let at = letters.indexOf(open); at >= 0; at = letters.indexOf(open, at + 1))
      if (--left === 0) return true
  return false
}
