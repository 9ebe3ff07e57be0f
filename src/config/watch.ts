// Watches the configuration. A bad edit is refused and the last good configuration stays; a file that vanished does not
// take its servers away. Folders are watched, not files: editors replace files by renaming, and a watch on the old file
// would then see nothing more.

import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { dirname, relative, sep } from 'node:path'
import { secretsFile } from '../secrets/places.ts'
import { canonical } from './canonical.ts'
import { diffServers, type ServerDiff } from './diff.ts'
import { errorsOf, type LoadOptions, loadConfig } from './load.ts'
import type { Problem } from './problem.ts'
import { secretStamps } from './secret-stamps.ts'
import type { Snapshot } from './snapshot.ts'

export type ConfigEvent =
  | {
      readonly kind: 'applied'
      readonly snapshot: Snapshot
      readonly diff: ServerDiff
      /** Whether what was read before was refused. */
      readonly isMended: boolean
    }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }

export interface ConfigWatch {
  /** The last good configuration. */
  readonly current: Snapshot
  /** What was read last, also where it was refused. */
  readonly written: Snapshot
  /** Why the files are not in force as they are now; empty when they are. */
  readonly refused: readonly Problem[]
  /** What is looked at, also where nothing is yet. */
  readonly files: readonly string[]
  /** Reads the files at once, for somebody who knows that they changed; `listen` is told as ever. */
  readonly look: () => Promise<void>
  readonly close: () => void
}

interface WatchOptions {
  /** Quiet time after the last event before files are read again; never more than ten times that. */
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
  let written = current
  let seen = contentOf(current)
  let files = filesOf(current)
  let stamps = stampsOf(files)
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let refused: readonly Problem[] = []
  /** What went wrong when it was looked last. */
  let thrown: readonly Problem[] = []
  let checking = Promise.resolve()
  const folders = new Map<string, FSWatcher>()
  /** What matters in each folder: a file, or the folder on the way to it that is not there yet. */
  let names = stepsTowards(files)

  const check = async () => {
    thrown = []
    const next = await loadConfig(options)
    if (closed) return
    files = filesOf(next)
    stamps = stampsOf(files)
    watchFolders()
    const content = contentOf(next)
    if (content === seen) return
    seen = content
    written = next
    const wasRefused = refused.length > 0
    refused = [...vanished(current, next), ...newErrors(current, next)]
    if (refused.length > 0) {
      listen({ kind: 'refused', problems: refused })
      return
    }
    const diff = diffServers(withSecrets(current), withSecrets(next))
    const back = canonical(configOf(current)) === canonical(configOf(next))
    current = next
    // Words that mean the same are no news, but that a refused edit was undone is.
    if (!back || wasRefused) listen({ kind: 'applied', snapshot: next, diff, isMended: wasRefused })
  }
  // One check after the other, so that an older reading never replaces a newer one.
  const look = () => {
    checking = checking.then(check).catch((error: unknown) => {
      thrown = [{ severity: 'error', message: String(error) }]
      listen({ kind: 'refused', problems: thrown })
    })
    return checking
  }
  let waitingSince: number | undefined
  const schedule = () => {
    const now = performance.now()
    waitingSince ??= now
    // Somebody who writes all the time must not keep an edit from being seen.
    if (timer !== undefined && now - waitingSince > 10 * debounceMs) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      timer = undefined
      waitingSince = undefined
      void look()
    }, debounceMs)
  }
  const watchFolders = () => {
    names = stepsTowards(files)
    const wanted = new Set(names.keys())
    for (const [folder, watcher] of folders)
      if (!wanted.has(folder)) {
        watcher.close()
        folders.delete(folder)
      }
    for (const folder of wanted) {
      if (folders.has(folder)) continue
      try {
        const watcher = watch(folder, (_, name) => {
          if (name === null || names.get(folder)?.has(name)) schedule()
        })
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
  // Whatever was written between the reading and the watching.
  schedule()
  const poll = setInterval(() => {
    if (stampsOf(files) !== stamps) schedule()
  }, pollMs)
  return {
    get current() {
      return current
    },
    get written() {
      return written
    },
    get refused() {
      return [...refused, ...thrown]
    },
    get files() {
      return files
    },
    look,
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
  const secrets = snapshot.secrets ? [secretsFile(snapshot.places)] : []
  return [...new Set([...snapshot.looked.map((it) => it.file), ...extended, ...secrets])].filter((file) =>
    file.startsWith('/'),
  )
}

/** Everything that was read, so that saving a file unchanged is no change. */
function contentOf(snapshot: Snapshot): string {
  const texts = snapshot.layers.map((layer) => [layer.source.file, layer.source.document.text])
  const problems = snapshot.problems.map((problem) => [problem.file, problem.line, problem.message])
  const { secrets } = configOf(snapshot)
  return canonical([snapshot.looked.map((it) => [it.file, it.state]), texts, problems, secrets])
}

/** The configuration with which of the secrets it names are kept. */
function configOf({ config, secrets }: Snapshot) {
  return { config, secrets: secretStamps(config, secrets) ?? {} }
}

/** A server with another secret is another server. */
function withSecrets({ config, secrets }: Snapshot): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config.servers).map(([name, server]) => [
      name,
      { server, secrets: secretStamps(server, secrets) ?? {} },
    ]),
  )
}

function stampsOf(files: readonly string[]): string {
  return files
    .map((file) => {
      try {
        const stats = statSync(file, { throwIfNoEntry: false })
        return stats ? `${stats.ino}:${stats.size}:${stats.mtimeMs}` : '-'
      } catch (error) {
        return String(error)
      }
    })
    .join(' ')
}

/** What was wrong with the configuration in force already is left out there, and does not keep other edits away. */
function newErrors(before: Snapshot, after: Snapshot): Problem[] {
  const nameOf = ({ file, path, message }: Problem) => JSON.stringify([file, path, message])
  const known = new Set(errorsOf(before).map(nameOf))
  return errorsOf(after).filter((problem) => !known.has(nameOf(problem)))
}

/** Files that were there and are gone or empty, with no native file in their place. */
function vanished(before: Snapshot, after: Snapshot): Problem[] {
  const textOf = ({ layers }: Snapshot, file: string) =>
    layers.find((layer) => layer.source.file === file)?.source.document.value ?? undefined
  return before.looked
    .filter(
      (it) =>
        it.state === 'read' && textOf(before, it.file) !== undefined && textOf(after, it.file) === undefined,
    )
    .filter(
      (it) =>
        !after.looked.some(
          (other) =>
            other.scope === it.scope && other.own && other.state === 'read' && other.file !== it.file,
        ),
    )
    .map((it) => ({
      severity: 'error',
      file: it.file,
      message: `is ${existsSync(it.file) ? 'empty' : 'gone'}; the last good configuration stays in force`,
      hint: 'put it back, or restart Busbar to go on without it',
    }))
}

/** For each folder that exists, the names in it that lead to one of the files. */
function stepsTowards(files: readonly string[]): Map<string, Set<string>> {
  const steps = new Map<string, Set<string>>()
  for (const file of files) {
    const folder = existingFolder(dirname(file))
    const [step = ''] = relative(folder, file).split(sep)
    steps.set(folder, (steps.get(folder) ?? new Set()).add(step))
  }
  return steps
}

function existingFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existingFolder(dirname(folder))
}
