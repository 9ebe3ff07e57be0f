// Why a server's process could not be started, in words a person can act on.

import { Fault } from '../../base/fault.ts'

interface LaunchFaultOptions {
  readonly server: string | undefined
  readonly hint?: string | undefined
  readonly cause?: unknown
}

/** A fault about starting a process. */
export function launchFault(message: string, options: LaunchFaultOptions): Fault {
  return new Fault('SPAWN_FAILED', message, options)
}

/** What Node threw or reported when it tried to start `file`. */
export function explainSpawnError(error: unknown, file: string, server: string | undefined): Fault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const [reason, hint] = REASONS[code] ?? [error instanceof Error ? error.message : String(error)]
  return launchFault(`${file} could not be started: ${reason}`, { server, hint, cause: error })
}

// --- internal ---

const FILES = 'close some servers, or raise the limit (ulimit -n)'
const REASONS: Readonly<Record<string, readonly [reason: string, hint?: string]>> = {
  E2BIG: [
    'its arguments and environment are too long',
    'shorten `args` or `env`; put long values into a file',
  ],
  EACCES: [
    'permission denied',
    'check the rights of the file and of its folder, and that its disk allows programs',
  ],
  EAGAIN: ['too many processes', 'end some processes, or raise the limit (ulimit -u)'],
  EMFILE: ['too many open files', FILES],
  ENFILE: ['the machine has too many open files', FILES],
  ENOENT: ['the interpreter it names does not exist', 'look at its first line (#!), or install it again'],
  ENOEXEC: ['it is not a program for this machine', 'install the build for this machine'],
  ENOMEM: ['out of memory', 'end some processes, or give the machine more memory'],
  ERR_INVALID_ARG_VALUE: ['a word of it holds a zero byte', 'correct `args` or `env`'],
  ETXTBSY: ['it is being written right now', 'try again when its installation has finished'],
}
