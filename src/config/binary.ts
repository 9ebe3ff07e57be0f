// Which program a command really is: a name on the PATH can be made to mean something else, and a file can be replaced.

import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, relative, resolve } from 'node:path'
import { fileDigest } from '../base/digest.ts'
import { realPath } from './sources.ts'

export interface Binary {
  /** The file behind all links, or undefined when the command is not found. */
  readonly path: string | undefined
  /**
   * Of a program given by path, or lying in the project, its content: such a file changes with the project. A name
   * found on the PATH stands for its place only, or every upgrade of Node would ask again.
   */
  readonly digest: string | undefined
  /** Tells that the file was not touched since, so that it need not be read again. */
  readonly stamp: string | undefined
}

/** How commands are found, and programs read. */
export interface Finder {
  find(command: string, cwd: string, path: string | undefined): string | undefined
  /** The digest of a program; the stamp tells which state of the file is meant. */
  digest(path: string, stamp: string): string
}

/**
 * Finds commands and reads programs, each once: twenty servers that run one program ask twenty times in one go, and it may
 * be a hundred megabytes. Not kept longer than that, because programs come and go.
 */
export function commandFinder(): Finder {
  const found = new Map<string, string | undefined>()
  const digests = new Map<string, string>()
  return {
    find(command, cwd, path) {
      const key = command.includes('/') ? `${cwd}\n${command}` : `${path}\n${command}`
      if (!found.has(key)) found.set(key, findCommand(command, cwd, path))
      return found.get(key)
    },
    digest(path, stamp) {
      const key = `${stamp}\n${path}`
      const digest = digests.get(key) ?? fileDigest(path)
      digests.set(key, digest)
      return digest
    },
  }
}

/** Where a command is found: by path from `cwd`, or on `PATH`. */
export function findCommand(command: string, cwd: string, path: string | undefined): string | undefined {
  if (command.includes('/')) return executable(resolve(cwd, command))
  for (const folder of (path ?? '').split(delimiter)) {
    const found = executable(resolve(cwd, join(folder || '.', command)))
    if (found !== undefined) return found
  }
  return undefined
}

/** The program behind a command. `before`: what was known of it, to save reading an untouched file. */
export function identify(
  command: string,
  options: {
    cwd: string
    root: string
    path: string | undefined
    before?: Binary | undefined
    finder?: Finder
  },
): Binary {
  const finder = options.finder ?? commandFinder()
  const found = finder.find(command, options.cwd, options.path)
  if (found === undefined) return { path: undefined, digest: undefined, stamp: undefined }
  const path = realpathSync(found)
  const byPath = command.includes('/')
  if (!byPath && !isInside(path, realPath(options.root))) return { path, digest: undefined, stamp: undefined }
  const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path)
  const stamp = [dev, ino, size, mtimeMs, ctimeMs].join(':')
  const same =
    options.before?.path === path && options.before.stamp === stamp ? options.before.digest : undefined
  return { path, digest: same ?? finder.digest(path, stamp), stamp }
}

/** Whether a path lies in a folder (or is it). */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way))
}

// --- internal ---

function executable(file: string): string | undefined {
  try {
    // Most folders on the PATH do not have it, and an exception costs more than a look; one that may not be looked
    // into throws all the same.
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return undefined
    accessSync(file, constants.X_OK)
    return file
  } catch {
    return undefined
  }
}
