// Confines a server with bubblewrap: it sees the system, its own program and the paths its entry lists.
//
// HOME is empty and in memory unless it is listed. `npx` and `uvx` work there but download anew at every
// start: npm fails on a read-only cache, and a writable one would let a confined server plant code for
// programs outside. Who prefers a fast start lists the cache (`~/.npm`, `~/.cache/uv`) under `write`, or
// names the installed program. Shims (pyenv, asdf, volta) run programs from a folder of their own, which must
// be listed under `read`.

import { lstatSync, readlinkSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { findCommand, isInside } from '../../config/binary.ts'
import { absolute } from '../../config/sources.ts'
import { launchFault } from './launch-fault.ts'
import { findProgram, interpreterOf, type Program } from './program.ts'

export interface Sandbox {
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly network: boolean
  /** Where relative paths start: the project's folder; default: the working folder. */
  readonly root?: string | undefined
}

/**
 * The arguments that make bubblewrap run a program confined. Values of the environment are never among them:
 * everyone on the machine can read a command line. Bubblewrap passes its own environment on instead.
 */
export function sandboxArguments(sandbox: Sandbox, program: Program): string[] {
  const file = findProgram(program)
  const { cwd } = program
  const home = program.env['HOME']
  const listed = listedMounts(sandbox, program)
  const isListed = (path: string) => [...listed.keys()].some((place) => isInside(path, place))
  const isThere = (path: string) => isListed(path) || SYSTEM.some((folder) => isInside(path, folder))

  const mounts = new Map<string, readonly string[]>(isListed('/') ? [] : systemMounts())
  for (const path of neededBy(file, program)) if (!isThere(path)) mounts.set(path, ['--ro-bind', path, path])
  if (!isThere(cwd) && cwd !== '/') mounts.set(cwd, ['--dir', cwd])
  // Containers run unknown users with the root as their home.
  if (home && home !== '/' && !isListed(home)) mounts.set(home, ['--tmpfs', home])
  mounts.set('/tmp', ['--tmpfs', '/tmp'])
  for (const [path, mount] of listed) mounts.set(path, mount)
  mounts.set('/proc', ['--proc', '/proc'])
  mounts.set('/dev', ['--dev', '/dev'])

  // Outer folders first, or they would cover what lies in them.
  const ordered = [...mounts].sort(([one], [other]) => depth(one) - depth(other))
  return [
    ...isolation(sandbox.network),
    ...ordered.flatMap(([, mount]) => mount),
    '--chdir',
    cwd,
    '--',
    file,
    ...program.args,
  ]
}

/** What is taken from a confined process apart from files. */
export function isolation(network: boolean): string[] {
  return [
    // Whatever happens to Busbar, nothing of the server stays: the first process of a pid namespace takes all
    // with it.
    '--die-with-parent',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    ...(network ? [] : ['--unshare-net']),
    // No terminal to type into (CVE-2017-5226).
    '--new-session',
    '--cap-drop',
    'ALL',
  ]
}

// --- internal ---

const SYSTEM = ['/usr', '/etc', '/nix/store']

function systemMounts(): [path: string, mount: string[]][] {
  const mounts: [string, string[]][] = []
  const show = (path: string) => mounts.push([path, ['--ro-bind', path, path]])
  for (const path of [...SYSTEM, '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    // Most systems keep these in /usr and have links here.
    if (stats?.isSymbolicLink()) mounts.push([path, ['--symlink', readlinkSync(path), path]])
    else if (stats !== undefined) show(path)
  }
  // Names of hosts are often resolved by a file that lies in /run.
  for (const path of linksOf('/etc/resolv.conf')) if (!isInside(path, '/etc')) show(path)
  return mounts
}

function listedMounts({ read, write, root }: Sandbox, { cwd, env, server }: Program): Map<string, string[]> {
  const mounts = new Map<string, string[]>()
  const add = (option: string, written: string) => {
    const path = resolve(absolute(written, root ?? cwd, env['HOME'] ?? '/'))
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return mounts.set(path, [option, path, path])
    const hint = 'create it, or take it off the list'
    throw launchFault(`the sandbox lists ${written}, but ${path} does not exist`, { server, hint })
  }
  for (const path of read) add('--ro-bind', path)
  for (const path of write) add('--bind', path)
  return mounts
}

/** What must be readable for a program to start: its file, its interpreter, what is installed with them. */
function neededBy(file: string, { cwd, env }: Program): Set<string> {
  const needed = new Set<string>()
  for (let next: string | undefined = file, depth = 0; next !== undefined && depth < 4; depth++) {
    for (const path of linksOf(next)) for (const part of installation(path)) needed.add(part)
    const [interpreter, ...words]: string[] = interpreterOf(next) ?? []
    const name: string | undefined =
      interpreter !== undefined && basename(interpreter) === 'env'
        ? words.find((word) => !word.startsWith('-') && !word.includes('='))
        : interpreter
    next = name === undefined ? undefined : findCommand(name, cwd, env['PATH'])
  }
  return needed
}

/** A path and all that it leads to by links. */
function linksOf(path: string): string[] {
  const way = [path]
  for (let next = path; way.length < 16; way.push(next)) {
    if (!lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink()) break
    next = resolve(dirname(next), readlinkSync(next))
  }
  return way.filter((step) => statSync(step, { throwIfNoEntry: false }) !== undefined)
}

/**
 * Node and Python find their modules in `lib` beside `bin`. Only these two are shown, and of a program that
 * lies elsewhere only its file: what else is there (`~/.local/share`, a project's `.env`) stays hidden.
 */
function installation(file: string): string[] {
  const folder = dirname(file)
  if (basename(folder) !== 'bin') return [file]
  const beside = [join(folder, '..', 'lib'), join(folder, '..', 'lib64'), join(folder, '..', 'pyvenv.cfg')]
  return [folder, ...beside.filter((path) => statSync(path, { throwIfNoEntry: false }) !== undefined)]
}

function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length
}
