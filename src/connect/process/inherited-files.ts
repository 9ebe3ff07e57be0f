// Files that Busbar was given open by whoever started it. A server must get 0, 1 and 2 only.

import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

/**
 * Closes every descriptor that a child would inherit, and gives their numbers. Node keeps its own from
 * children, and most of those it was given; past the first gap above 15 it stops looking. To be called by the
 * program, once it has read what it was given (`--config <(…)`) and before it starts a server; not by a
 * library, which does not own them.
 */
export function closeInheritedFiles(): number[] {
  if (process.platform !== 'linux') return []
  const inherited = readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && passesToChildren(descriptor))
  for (const descriptor of inherited) {
    closeSync(descriptor)
    occupy(descriptor)
  }
  return inherited
}

// --- internal ---

const CLOSE_ON_EXEC = 0o2000000

/**
 * Opens nothing under that number. Whoever had it open (a profiler, a library that knows nothing of this) may still write
 * there, and what is opened next would be given the number: our own store.
 */
function occupy(descriptor: number): void {
  const others: number[] = []
  for (;;) {
    const opened = openSync('/dev/null', 'r+')
    if (opened === descriptor) break
    others.push(opened)
    if (opened > descriptor) break
  }
  for (const other of others) closeSync(other)
}

function passesToChildren(descriptor: number): boolean {
  try {
    const [, flags] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? []
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0
  } catch {
    // The one that the folder itself was read through.
    return false
  }
}
