// A small JSON file that processes share: read whole, changed under a lock, replaced in one step.

import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Fault } from './fault.ts'
import { withLock } from './lock.ts'
import { prepareFolder, unsafeReason, WRITABLE } from './places.ts'
import { writeFileAtomic } from './write-file.ts'

/** The file's data as `parse` understands it; `empty` when there is no file. */
export function readState<T>(file: string, parse: (value: unknown) => T, empty: () => T): T {
  const reason = unsafeReason(file)
  if (reason !== undefined)
    throw new Fault('STATE_REFUSED', `${file} ${reason}`, {
      hint: existsSync(file) ? 'check who wrote it, then delete it' : WRITABLE,
    })
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return empty()
    throw new Fault('STATE_REFUSED', `${file} cannot be read: ${(error as Error).message}`, {
      hint: `see what it is, and whose: ls -ld ${file}`,
      cause: error,
    })
  }
  try {
    return parse(JSON.parse(text))
  } catch (error) {
    throw new Fault('STATE_REFUSED', `${file} is damaged`, {
      hint: `move it aside (what it held is asked for again): mv ${file} ${file}.damaged`,
      cause: error,
    })
  }
}

/** Reads, changes and writes the file while no other process does. */
export async function updateState<T>(
  file: string,
  parse: (value: unknown) => T,
  empty: () => T,
  change: (state: T) => T,
): Promise<void> {
  prepareFolder(dirname(file))
  try {
    await withLock(`${file}.lock`, () => {
      const next = change(readState(file, parse, empty))
      writeFileAtomic(file, `${JSON.stringify(next, null, 1)}\n`, { mode: 0o600 })
    })
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new Fault('STATE_REFUSED', `${file} cannot be written: ${error.message}`, {
      hint: 'make room on the disk and its folder writable for your user, or set BUSBAR_HOME to another folder',
      cause: error,
    })
  }
}
