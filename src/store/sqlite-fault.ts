// SQLite's errors as faults: each says what a person can do. Anything else is a bug and stays what it is.

import { Fault } from '../base/fault.ts'

/** Another connection holds what is needed; waiting may help. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error)
  return code === BUSY || code === LOCKED
}

/** The file's content is not what SQLite, or we, wrote. */
export function isDamage(error: unknown): boolean {
  const code = resultCode(error)
  return code === CORRUPT || code === NOT_A_DATABASE || extendedCode(error) === SHORT_READ
}

/** A value that may stand only once stands there already. */
export function isDuplicate(error: unknown): boolean {
  return resultCode(error) === CONSTRAINT
}

/** The fault for an error of SQLite; any other error unchanged. */
export function storeFault(file: string, error: unknown): unknown {
  if (isBusy(error))
    return unavailable(`${file} is locked by another process`, 'end the process that holds it', error)
  if (isDamage(error))
    return new Fault('STORE_DAMAGED', `${file} is damaged`, {
      hint: 'start Busbar again: it checks the file, moves it aside when it cannot be used, and begins a new one',
      cause: error,
    })
  switch (resultCode(error)) {
    case FULL:
      return unavailable(`${file} cannot grow: the disk is full`, 'make room on the disk', error)
    case READ_ONLY:
    case NO_PERMISSION:
    case CANNOT_OPEN:
      return unavailable(
        `${file} cannot be written`,
        'make the file and its folder writable for your user, or set BUSBAR_HOME to another folder',
        error,
      )
    case DISK_ERROR:
      return unavailable(`${file}: the disk answered with an error`, 'check the disk and its room', error)
    default:
      return error
  }
}

// --- internal ---

// Primary result codes: https://sqlite.org/rescode.html
const NO_PERMISSION = 3
const BUSY = 5
const LOCKED = 6
const READ_ONLY = 8
const DISK_ERROR = 10
const CORRUPT = 11
const FULL = 13
const CANNOT_OPEN = 14
const CONSTRAINT = 19
const NOT_A_DATABASE = 26
/** The file ends before it should. */
const SHORT_READ = 522

function unavailable(message: string, hint: string, cause: unknown): Fault {
  return new Fault('STORE_UNAVAILABLE', message, { hint, cause })
}

/** Extended codes carry the primary one in their lowest byte. */
function resultCode(error: unknown): number | undefined {
  const code = extendedCode(error)
  return code === undefined ? undefined : code & 0xff
}

function extendedCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode
  // The package's `all` leaves the number out; SQLite's sentences for these are fixed.
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' ? SENTENCES[error.message] : undefined
}

const SENTENCES: Readonly<Record<string, number>> = {
  'database is locked': BUSY,
  'database table is locked': LOCKED,
  'attempt to write a readonly database': READ_ONLY,
  'disk I/O error': DISK_ERROR,
  'database disk image is malformed': CORRUPT,
  'database or disk is full': FULL,
  'unable to open database file': CANNOT_OPEN,
  'file is not a database': NOT_A_DATABASE,
}
