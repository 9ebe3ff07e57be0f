// Watches the configuration. A bad edit is refused and the last good configuration stays; a file that vanished does not
// take its servers away. Folders are watched, not files: editors replace files by renaming, and a watch on the old file
// would then see nothing more.

import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { canonical } from './canonical.ts'
import { diffServers, type ServerDiff } from './diff.ts'
import { errorsOf, type LoadOptions, loadConfig } from './load.ts'
import type { Problem } from './problem.ts'
import type { Snapshot } from './snapshot.ts'

export type ConfigEvent =
  | { readonly kind: 'applied'; readonly snapshot: Snapshot; readonly diff: ServerDiff }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }

export interface ConfigWatch {
  /** The last good configuration. */
  readonly current: Snapshot
  readonly close: () => void
}

interface WatchOptions {
  /** Quiet time after the last event before files are read again. */
  readonly debounceMs?: number
  /** How often files are looked at where the file system sends no events. */
  readonly pollMs?: number
}

/** Calls `listen` for every edit, good or bad. `listen` must not throw. */
export async function watchConfig(
  options: LoadOptions,
  listen: (event: ConfigEvent) => void,
  { debounceMs = 100, pollMs = 2_000 }: WatchOptions = {},
): Promise<ConfigWatch> {
  let current = await loadConfig(options)
  let seen = contentOf(current)
  let files = filesOf(current)
  let stamps = stampsOf(files)
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let checking = Promise.resolve()
  const folders = new Map<string, FSWatcher>()

  const check = async () => {
    const next = await loadConfig(options)
    if (closed) return
    files = filesOf(next)
    stamps = stampsOf(files)
    watchFolders()
    const content = contentOf(next)
    if (content === seen) return
    seen = content
    const problems = [...vanished(current, next), ...errorsOf(next)]
    if (problems.length > 0) {
      listen({ kind: 'refused', problems })
      return
    }
    const diff = diffServers(current.config.servers, next.config.servers)
    const back = canonical(current.config) === canonical(next.config)
    current = next
    // A refused edit that was undone leaves nothing to apply.
    if (!back) listen({ kind: 'applied', snapshot: next, diff })
  }
  const schedule = () => {
    clearTimeout(timer)
    // One check after the other, so that an older reading never replaces a newer one.
    timer = setTimeout(() => {
      checking = checking.then(check)
    }, debounceMs)
  }
  const watchFolders = () => {
    const wanted = new Set(files.map((file) => existingFolder(dirname(file))))
    for (const [folder, watcher] of folders)
      if (!wanted.has(folder)) {
        watcher.close()
        folders.delete(folder)
      }
    for (const folder of wanted) {
      if (folders.has(folder)) continue
      try {
        const watcher = watch(folder, schedule)
        // A folder that goes away is found again by the poll.
        watcher.on('error', () => {
          watcher.close()
          folders.delete(folder)
        })
        folders.set(folder, watcher)
      } catch {
        // Out of watches, or a file system without them: the poll does it.
      }
    }
  }

  watchFolders()
  const poll = setInterval(() => {
    if (stampsOf(files) !== stamps) schedule()
  }, pollMs)
  return {
    get current() {
      return current
    },
    close: () => {
      closed = true
      clearInterval(poll)
      clearTimeout(timer)
      for (const watcher of folders.values()) watcher.close()
    },
  }
}

// --- internal ---

function filesOf(snapshot: Snapshot): string[] {
  const extended = snapshot.layers.map((layer) => layer.source.file)
  return [...new Set([...snapshot.looked.map((it) => it.file), ...extended])].filter((file) =>
    file.startsWith('/'),
  )
}

/** Everything that was read, so that saving a file unchanged is no change. */
function contentOf(snapshot: Snapshot): string {
  const texts = snapshot.layers.map((layer) => [layer.source.file, layer.source.document.text])
  const problems = snapshot.problems.map((problem) => [problem.file, problem.line, problem.message])
  return canonical([snapshot.looked.map((it) => [it.file, it.state]), texts, problems])
}

function stampsOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const stats = statSync(file, { throwIfNoEntry: false })
      return stats ? `${stats.ino}:${stats.size}:${stats.mtimeMs}` : '-'
    })
    .join(' ')
}

/** Files that were there and are not, with nothing of their scope in their place. */
function vanished(before: Snapshot, after: Snapshot): Problem[] {
  const readBefore = before.looked.filter((it) => it.state === 'read')
  const readAfter = after.looked.filter((it) => it.state === 'read')
  return readBefore
    .filter((it) => !readAfter.some((other) => other.scope === it.scope))
    .filter((it) => !existsSync(it.file))
    .map((it) => ({
      severity: 'error',
      file: it.file,
      message: 'is gone; the last good configuration stays in force',
      hint: 'put it back, or restart Busbar to go on without it',
    }))
}

function existingFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existingFolder(dirname(folder))
}
