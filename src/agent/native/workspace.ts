// The folder that the agent's own tools work in. Whatever path a model gives, nothing outside of it is opened, and no link
// leads out: a path is resolved, opened without following a last link, and then the kernel is asked what was really opened.
// Between the two somebody may put a link in the place of a folder; the answer tells. A file of the workspace that has
// another name outside of it (a hard link) is in the workspace: no path tells the two apart.

import { constants, lstatSync, mkdirSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { Fault } from '../../base/fault.ts'
import { isInside } from '../../config/binary.ts'

export interface WorkspaceOptions {
  readonly root: string
  /** Folders that stay closed even when they lie in it, such as Busbar's own. */
  readonly closed?: readonly string[] | undefined
}

/** A file or folder that is certain to be in the workspace for as long as it is open. */
export interface Opened {
  readonly handle: FileHandle
  readonly stats: Stats
  /** Leads to it, whatever becomes of its name. */
  readonly place: string
  /** From the workspace's root; `.` is the root itself. */
  readonly path: string
}

export class Workspace {
  /** As the kernel calls it. */
  readonly root: string
  readonly #closed: readonly string[]

  /** Throws a fault when the folder is none that files can be confined to. */
  constructor({ root, closed = [] }: WorkspaceOptions) {
    const found = statSync(root, { throwIfNoEntry: false })
    if (!found?.isDirectory())
      throw new Fault('CONFIG_INVALID', `the workspace ${root} is no folder`, {
        hint: 'create it, or correct `agent.workspace`',
      })
    this.root = realpathSync(root)
    if (NO_WORKSPACE.some((folder) => isInside(this.root, folder)) || this.root === '/')
      throw new Fault('CONFIG_INVALID', `${this.root} cannot be a workspace`, {
        hint: 'choose a folder that holds only what the agent may see',
      })
    this.#closed = closed.map((folder) => nearestReal(folder))
  }

  /** Opens a file or folder to read. Neither devices nor pipes: those could wait for ever, or do something. */
  async open(path: string): Promise<Opened> {
    const target = await this.#resolve(path)
    const before = await lstat(target).catch((error: unknown) => refuse(path, error))
    if (!before.isFile() && !before.isDirectory()) throw new Fault('NO_ACCESS', `${shown(path)} is no file`)
    const handle = await open(target, READ).catch((error: unknown) => refuse(path, error))
    try {
      const stats = await handle.stat()
      if (!stats.isFile() && !stats.isDirectory()) throw new Fault('NO_ACCESS', `${shown(path)} is no file`)
      this.#check(placeOf(handle.fd, target), path)
      return { handle, stats, place: anchor(handle.fd, target), path: this.name(target) }
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /**
   * Calls `write` with a path for a file to be written, whose folder cannot be exchanged meanwhile, after making the folders
   * that are missing.
   */
  async into<T>(path: string, write: (place: string, name: string) => T): Promise<T> {
    const target = await this.#resolve(path)
    if (target === this.root) throw new Fault('NO_ACCESS', `${shown(path)} is a folder`)
    const name = this.name(target)
    // However it is written: not every disk tells cases apart.
    const inner = name.split(sep).find((part) => UNWRITABLE.has(part.toLowerCase()))
    if (inner !== undefined) throw new Fault('NO_ACCESS', `nothing is written to ${inner}`)
    const folder = await this.#folder(dirname(target), path)
    try {
      const place = join(anchor(folder.fd, dirname(target)), basename(target))
      const before = lstatSync(place, { throwIfNoEntry: false })
      if (before !== undefined && !before.isFile())
        throw new Fault('NO_ACCESS', `${shown(path)} is there already, and no file`)
      return write(place, name)
    } catch (error) {
      return refuse(path, error)
    } finally {
      await folder.close()
    }
  }

  /** A path inside as people and models write it. */
  name(target: string): string {
    return target === this.root ? '.' : target.slice(this.root.length + 1)
  }

  // --- internal ---

  /** Where a path leads, all links followed; what does not exist yet is looked for from the nearest folder that does. */
  async #resolve(path: string): Promise<string> {
    if (path.includes('\0')) throw new Fault('NO_ACCESS', 'a path holds no zero byte')
    if (Buffer.byteLength(path) > LONGEST_PATH) throw new Fault('NO_ACCESS', 'the path is too long')
    const wanted = resolve(this.root, path)
    // Said at once: what lies outside is not looked at, so nobody learns what exists there.
    if (!isInside(wanted, this.root)) throw outside(path)
    let missing = ''
    for (let at = wanted; ; at = dirname(at)) {
      const real = await realpath(at).catch((error: unknown) => {
        if (isCode(error, 'ENOENT')) return undefined
        return refuse(path, error)
      })
      if (real !== undefined) {
        this.#check(real, path)
        return missing === '' ? real : join(real, missing)
      }
      // A link to nowhere is there, though it leads to nothing: a file made through it would be made elsewhere.
      if ((await lstat(at).catch(() => undefined)) !== undefined) throw outside(path)
      if (at === this.root) throw new Fault('NO_ACCESS', 'the workspace is gone')
      missing = missing === '' ? basename(at) : join(basename(at), missing)
    }
  }

  #check(real: string | undefined, path: string): void {
    if (real === undefined || !isInside(real, this.root)) throw outside(path)
    if (this.#closed.some((folder) => isInside(real, folder)))
      throw new Fault(
        'NO_ACCESS',
        `${shown(path)} is in a folder of Busbar's own, which stays closed to tools`,
        {
          hint: 'choose another folder as agent.workspace',
        },
      )
  }

  /** Opens a folder part by part from the root, and makes those that are missing. */
  async #folder(target: string, path: string): Promise<FileHandle> {
    const parts = target === this.root ? [] : this.name(target).split(sep)
    let current = await open(this.root, FOLDER)
    let at = this.root
    try {
      for (const part of parts) {
        at = join(at, part)
        const place = join(anchor(current.fd, dirname(at)), part)
        makeFolder(place, path)
        const next = await open(place, FOLDER).catch((error: unknown) => refuse(path, error))
        await current.close()
        current = next
      }
      this.#check(placeOf(current.fd, target), path)
      return current
    } catch (error) {
      await current.close()
      throw error
    }
  }
}

/** A path for messages: it comes from a model. */
export function shown(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)
}

// --- internal ---

/** What looks like files there is the kernel's, or a device's. */
const NO_WORKSPACE = ['/proc', '/sys', '/dev']

/** What stands in them is run by other programs, or decides what the agent may do. */
const UNWRITABLE: ReadonlySet<string> = new Set(['.git', '.busbar'])

const LONGEST_PATH = 4096

// Without waiting for the other end of a pipe that was put in place meanwhile.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const FOLDER = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY

const BY_HANDLE = process.platform === 'linux'

/** Where something that is open really is. Only Linux tells; elsewhere its path must still lead to the same thing. */
function placeOf(fd: number, target: string): string | undefined {
  if (BY_HANDLE) return readlinkSync(`/proc/self/fd/${fd}`)
  return realpathSync(target) === target ? target : undefined
}

/** A path to an open folder that stays the same folder, whatever becomes of its name. */
function anchor(fd: number, folder: string): string {
  return BY_HANDLE ? `/proc/self/fd/${fd}` : folder
}

function makeFolder(place: string, path: string): void {
  try {
    mkdirSync(place)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) refuse(path, error)
  }
}

/** The real path of a folder that may not exist yet. */
function nearestReal(folder: string): string {
  const absolute = resolve(folder)
  try {
    return realpathSync(absolute)
  } catch (error) {
    if (!isCode(error, 'ENOENT') || absolute === dirname(absolute)) throw error
    return join(nearestReal(dirname(absolute)), basename(absolute))
  }
}

function outside(path: string): Fault {
  return new Fault('NO_ACCESS', `${shown(path)} is not in the workspace`)
}

const SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist: a part of its path is a file',
  ELOOP: 'is a link that cannot be followed',
  EACCES: 'may not be opened by this user',
  EPERM: 'may not be opened by this user',
  ENAMETOOLONG: 'has a name that is too long',
  EROFS: 'cannot be written: its disk is read-only',
  ENOSPC: 'cannot be written: its disk is full',
  ENXIO: 'is no file',
}

/** Without the real path: where the workspace lies is nobody's business. */
function refuse(path: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const sentence = SENTENCES[code]
  if (sentence === undefined) throw error
  throw new Fault('NO_ACCESS', `${shown(path)} ${sentence}`)
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
