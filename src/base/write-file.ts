// Replaces a file in one step: a reader, or a crash at any instant, finds the old content or the new, never a mix.

import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

interface WriteOptions {
  /** Permissions of a file that does not exist yet; an existing one keeps its own. */
  readonly mode?: number
  /** Whether it must outlive a power cut; what can be made again need not. */
  readonly durable?: boolean
}

/** Writes `text` to `path` through a temporary file beside it, synced before it takes the name. */
export function writeFileAtomic(
  path: string,
  text: string,
  { mode = 0o644, durable = true }: WriteOptions = {},
): void {
  const folder = dirname(path)
  removeLeftovers(folder, basename(path))
  const before = statSync(path, { throwIfNoEntry: false })
  const draft = join(folder, `${draftPrefix(basename(path))}${process.pid}`)
  rmSync(draft, { force: true })
  const file = openSync(draft, 'wx', before === undefined ? mode : 0o600)
  try {
    writeFileSync(file, text)
    if (durable) fsyncSync(file)
  } finally {
    closeSync(file)
  }
  if (before !== undefined) {
    // Root edits on behalf of the file's owner; anyone else keeps what the kernel gave them.
    if (process.getuid?.() === 0) chownSync(draft, before.uid, before.gid)
    chmodSync(draft, before.mode & 0o7777)
  }
  renameSync(draft, path)
  if (durable) syncFolder(folder)
}

// --- internal ---

function draftPrefix(name: string): string {
  return `.${name}.busbar-`
}

/** Drafts of processes that were killed while writing. */
function removeLeftovers(folder: string, name: string): void {
  const prefix = draftPrefix(name)
  for (const entry of readdirSync(folder)) {
    if (!entry.startsWith(prefix)) continue
    const pid = Number(entry.slice(prefix.length))
    if (pid !== process.pid && !isAlive(pid)) rmSync(join(folder, entry), { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Without this a power cut could take back a new name in the folder. Some file systems refuse it, which costs only that guarantee. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'EINVAL' || error.code === 'EPERM')))
      throw error
  } finally {
    closeSync(handle)
  }
}
