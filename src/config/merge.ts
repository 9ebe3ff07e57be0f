// How layers become one: the later layer wins, value by value; lists are replaced, not joined.

import type { Tree } from './tree.ts'

/**
 * Merges `upper` over `lower`. A server entry that says what to run or where to connect is a whole definition and
 * replaces the lower one; mixed with it, a project's command would receive the secrets of a person's own entry of that
 * name. An entry without command and url only adjusts the one below.
 */
export function mergeTrees(lower: Tree, upper: Tree): Tree {
  return mergeAt(lower, upper, 0, '')
}

// --- internal ---

function mergeAt(lower: Tree, upper: Tree, depth: number, section: string): Tree {
  if (lower.kind !== 'map' || upper.kind !== 'map') return upper
  const isServer = depth === 2 && section === 'servers'
  if (isServer && (upper.entries.has('command') || upper.entries.has('url'))) return upper
  const entries = new Map(lower.entries)
  for (const [key, item] of upper.entries) {
    const below = entries.get(key)
    const next = depth === 0 ? key : section
    // Half of one way to sign in and half of another is neither.
    const whole = below === undefined || (isServer && key === 'auth')
    entries.set(key, whole ? item : mergeAt(below, item, depth + 1, next))
  }
  // The lower place stays: an adjusted server is still the one that was defined there.
  return { kind: 'map', place: isServer ? lower.place : upper.place, entries }
}
