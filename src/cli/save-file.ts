// `--output FILE`: what a server gave, written to a file that is not there yet.

import { existsSync, writeFileSync } from 'node:fs'
import { Fault } from '../base/fault.ts'

export const OUTPUT_OPTIONS = {
  output: { short: 'o', value: 'file', about: 'write what is no text to this file' },
  force: { about: 'replace that file if it exists' },
} as const

interface OutputOptions {
  readonly output?: string
  readonly force?: boolean
}

/** Before anything is asked of a server: a call whose result cannot be kept is better not made. */
export function checkOutput({ output, force }: OutputOptions): void {
  if (output !== undefined && !force && existsSync(output)) throw exists(output)
}

export function saveFile(file: string, data: string | Uint8Array, { force }: OutputOptions): void {
  try {
    writeFileSync(file, data, { flag: force ? 'w' : 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'EEXIST') throw exists(file)
    throw new Fault('USAGE', `${file} cannot be written: ${error.message}`, { cause: error })
  }
}

// --- internal ---

function exists(file: string): Fault {
  return new Fault('USAGE', `${file} is there already`, { hint: 'name another file, or replace it: --force' })
}
