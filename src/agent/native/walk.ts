// The files under a folder of the workspace, without following links. What it names may be gone, or another thing, a moment
// later: whoever opens it finds out.

import { opendir } from 'node:fs/promises'
import { join } from 'node:path'

export const MOST_ENTRIES = 100_000

export interface Walk {
  readonly signal: AbortSignal
  /** How many entries of folders are looked at. */
  readonly most?: number | undefined
  /** Told when there were more. */
  onMore?(): void
}

/** Relative paths of plain files, folder by folder in the order of their names. */
export async function* filesUnder(
  root: string,
  start: string,
  { signal, most = MOST_ENTRIES, onMore }: Walk,
): AsyncGenerator<string> {
  let left = most
  const folders = [start]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const found: { name: string; isFolder: boolean }[] = []
    try {
      for await (const entry of await opendir(join(root, folder))) {
        signal.throwIfAborted()
        left -= 1
        if (left < 0) break
        if (entry.isFile() || (entry.isDirectory() && !SKIPPED.has(entry.name)))
          found.push({ name: entry.name, isFolder: entry.isDirectory() })
      }
    } catch (error) {
      if (signal.aborted) throw error
      // Gone, or not to be entered by this user.
      continue
    }
    found.sort((one, other) => (one.name < other.name ? -1 : 1))
    for (const { name, isFolder } of found) if (!isFolder) yield join(folder, name)
    if (left < 0) {
      onMore?.()
      return
    }
    for (const { name, isFolder } of found.reverse()) if (isFolder) folders.push(join(folder, name))
  }
}

// --- internal ---

/** Large, and not written by people. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules'])
