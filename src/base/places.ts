// Where Busbar keeps its files for one operating-system user.

import { lstatSync, mkdirSync, type Stats } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
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

/**
 * Makes a folder of ours ready for files that matter. A folder that belongs to another user, or that others may
 * write to, is refused: whoever owns it could plant trust decisions.
 */
export function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const reason = unsafeReason(folder)
  if (reason === undefined) return
  throw new Fault('STATE_REFUSED', `${folder} ${reason}`, {
    hint: `make it yours alone (chown and chmod 700), or set BUSBAR_HOME to another folder`,
  })
}

/** Why a folder or file must not be relied on, or undefined when it is safe or does not exist. */
export function unsafeReason(path: string): string | undefined {
  let stats: Stats | undefined
  try {
    stats = lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) throw error
    return 'is in a folder that this user may not enter'
  }
  if (stats === undefined) return undefined
  const user = process.getuid?.()
  if (user !== undefined && stats.uid !== user) return `belongs to user ${stats.uid}, not to user ${user}`
  if (!stats.isSymbolicLink() && (stats.mode & 0o022) !== 0) return 'can be written by other users'
  return undefined
}
