// The file behind a server's command, looked at before it is started: the kernel answers "no such file" for a
// missing command, a missing folder and a missing interpreter alike.

import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { findCommand } from '../../config/binary.ts'
import { missingFolder, missingProgram } from '../../config/missing-program.ts'
import { launchFault } from './launch-fault.ts'

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The server's name, for messages. */
  readonly server?: string | undefined
}

/** The file that would run, by its name on the PATH (links are not followed); a fault when nothing could. */
export function findProgram({ command, cwd, env, server }: Program): string {
  const folder = missingFolder(cwd)
  if (folder) throw launchFault(folder.message, { server, hint: folder.hint })
  const file = findCommand(command, cwd, env['PATH'])
  if (file === undefined) {
    const { message, hint } = missingProgram(command, cwd, env['PATH'])
    throw launchFault(message, { server, hint })
  }
  const head = readHead(file)
  if (head !== undefined && !isRunnable(head))
    // Left alone, the C library would hand such a file to a shell, whatever it is.
    throw launchFault(`${file} is neither a program for this machine (${process.arch}) nor starts with #!`, {
      server,
      hint: 'install the build for this machine, or name its interpreter as the command',
    })
  return file
}

/** The words after `#!` in a script's first line; undefined of anything else. */
export function interpreterOf(file: string): string[] | undefined {
  const line = readHead(file)?.toString('latin1').split('\n', 1)[0]
  return line?.startsWith('#!') ? line.slice(2).trim().split(/\s+/) : undefined
}

// --- internal ---

// Starting it will tell more about it.
const UNREADABLE = new Set(['EACCES', 'EMFILE', 'ENFILE', 'ENOENT'])

/** The first bytes of a file; undefined of one that cannot be read. It may be executable nevertheless. */
function readHead(file: string): Buffer | undefined {
  const head = Buffer.alloc(256)
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && UNREADABLE.has(String(error.code))) return undefined
    throw error
  }
  try {
    return head.subarray(0, readSync(handle, head))
  } finally {
    closeSync(handle)
  }
}

// The machine types of ELF that a processor runs: its own, and the 32-bit one it also understands.
const MACHINES: Readonly<Record<string, readonly number[]>> = { x64: [62, 3], arm64: [183, 40] }

function isRunnable(head: Buffer): boolean {
  if (process.platform !== 'linux' || head.toString('latin1', 0, 2) === '#!') return true
  const machines = MACHINES[process.arch]
  const elf = head.length >= 20 && head.toString('latin1', 0, 4) === '\x7fELF'
  if (elf && (machines === undefined || machines.includes(head.readUInt16LE(18)))) return true
  return hasFurtherFormats()
}

/** Whether the kernel was taught to run other files, too, such as those of Windows or of other processors. */
function hasFurtherFormats(): boolean {
  try {
    return readdirSync('/proc/sys/fs/binfmt_misc').some((name) => name !== 'register' && name !== 'status')
  } catch {
    return false
  }
}
