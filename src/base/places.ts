// Where Busbar keeps its files for one operating-system user.

import { lstatSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sha256 } from './digest.ts'
import { Fault } from './fault.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Places {
  /** The person's own folder. */
  readonly home: string
  /** Where programs keep a person's settings; other tools' files are looked for here. */
  readonly settings: string
  /** Our own settings folder: config.yaml. */
  readonly config: string
  /** What must outlive a restart: trust, later the store. */
  readonly state: string
  /** What can be made again. */
  readonly cache: string
  /** The machine-wide file that nothing overrides. */
  readonly managed: string
}

/** The folders for this environment. `BUSBAR_HOME` moves config, state and cache together. */
export function placesOf(env: Environment): Places {
  const home = env['HOME'] || homedir()
  const settings = env['XDG_CONFIG_HOME'] || join(home, '.config')
  const own = env['BUSBAR_HOME']
  return {
    home,
    settings,
    config: own || join(settings, 'busbar'),
    state: own ? join(own, 'state') : join(env['XDG_STATE_HOME'] || join(home, '.local', 'state'), 'busbar'),
    cache: own ? join(own, 'cache') : join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'busbar'),
    managed: '/etc/busbar/managed.yaml',
  }
}

/** The socket by which commands reach the running gateway, in a folder that is the person's alone. */
export function gatewaySocket(places: Places): string {
  const path = join(places.state, 'gateway.sock')
  // The kernel takes 107 bytes; a deep home gets a short name of its own.
  if (Buffer.byteLength(path) <= 100) return path
  return join(tmpdir(), `busbar-${process.getuid?.() ?? 0}`, `${sha256(places.state).slice(0, 16)}.sock`)
}

/** What helps where a folder is not safe. */
export const ELSEWHERE = 'make it yours alone (chown and chmod 700), or set BUSBAR_HOME to another folder'

/** What helps where there can be no folder. */
export const WRITABLE = 'set BUSBAR_HOME to a folder that you may write to'

/**
 * Makes a folder of ours ready for files that matter. A folder that belongs to another user, or that others may
 * write to, is refused: whoever owns it could plant trust decisions.
 */
export function prepareFolder(folder: string): void {
  const trouble = makeFolder(folder, 0o700)
  if (trouble !== undefined)
    throw new Fault('STATE_REFUSED', `${folder} cannot be made: ${trouble}`, { hint: WRITABLE })
  const reason = unsafeReason(folder)
  if (reason !== undefined) throw new Fault('STATE_REFUSED', `${folder} ${reason}`, { hint: ELSEWHERE })
}

/**
 * Makes a folder with those above it, unless it is there; tells why it cannot. One by one: where the system says of each that
 * there is nothing to put it in, as below /proc, the runtime's own way of making them all never ends.
 */
export function makeFolder(folder: string, mode: number): string | undefined {
  const found = lookUp(folder)
  if ('reason' in found) return found.reason
  for (const one of found.missing)
    try {
      mkdirSync(one, { mode })
    } catch (error) {
      // Another process may have been faster.
      if (codeOf(error) !== 'EEXIST') return `${dirname(one)} ${TAKES_NONE[codeOf(error)] ?? said(error)}`
    }
  return undefined
}

/** What is missing of the folders on the way to one, the outermost first, and the one that is there; or why it cannot be there. */
export function lookUp(folder: string): { there: string; missing: string[] } | { reason: string } {
  const missing: string[] = []
  for (let at = folder; ; at = dirname(at)) {
    try {
      const stats = statSync(at, { throwIfNoEntry: false })
      if (stats?.isDirectory()) return { there: at, missing: missing.reverse() }
      if (stats !== undefined) return { reason: `${at} is no folder` }
      if (lstatSync(at, { throwIfNoEntry: false }) !== undefined)
        return { reason: `${at} is a link to what is not there` }
    } catch (error) {
      // What is no folder is found further up.
      if (codeOf(error) !== 'ENOTDIR') return { reason: `${at} ${UNSEEN[codeOf(error)] ?? said(error)}` }
    }
    if (dirname(at) === at) return { reason: `${at} is not there` }
    missing.push(at)
  }
}

/** Why a folder or file must not be relied on, or undefined when it is safe or does not exist. */
export function unsafeReason(path: string): string | undefined {
  let stats: Stats | undefined
  try {
    stats = lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (codeOf(error) === 'EACCES') return 'is in a folder that this user may not enter'
    const found = lookUp(path)
    return `cannot be there: ${'reason' in found ? found.reason : said(error)}`
  }
  if (stats === undefined) return undefined
  const user = process.getuid?.()
  if (user !== undefined && stats.uid !== user) return `belongs to user ${stats.uid}, not to user ${user}`
  if (!stats.isSymbolicLink() && (stats.mode & 0o022) !== 0) return 'can be written by other users'
  return undefined
}

// --- internal ---

const UNSEEN: Readonly<Record<string, string>> = {
  EACCES: 'is in a folder that this user may not enter',
  ELOOP: 'is a link that leads in a circle',
  ENAMETOOLONG: 'has a name that is too long',
}

const TAKES_NONE: Readonly<Record<string, string>> = {
  EACCES: 'cannot be written by this user',
  EPERM: 'cannot be written by this user',
  EROFS: 'is on a disk that is read-only',
  ENOSPC: 'is on a disk that is full',
  // What the system makes up itself, as /proc.
  ENOENT: 'takes no folders',
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function said(error: unknown): string {
  return `cannot be used: ${error instanceof Error ? error.message : String(error)}`
}
