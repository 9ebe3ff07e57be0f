// Why there is nothing to run behind a command, in words a person can act on.

import { type Stats, statSync } from 'node:fs'
import { resolve } from 'node:path'

interface Trouble {
  readonly message: string
  readonly hint: string
}

/** Why a server cannot run in its folder; undefined when it can. */
export function missingFolder(cwd: string): Trouble | undefined {
  const folder = look(cwd)
  if (folder?.isDirectory()) return undefined
  const what = folder === undefined ? 'does not exist' : 'is not a folder'
  return { message: `its folder ${cwd} ${what}`, hint: 'correct `cwd`, or create the folder' }
}

/** Of a command that `findCommand` does not find, why. */
export function missingProgram(command: string, cwd: string, path: string | undefined): Trouble {
  const trouble = command.includes('/') ? missingFile(resolve(cwd, command)) : missingCommand(command, path)
  // A path may have spaces in it; but it does not exist.
  return /\S\s+\S/.test(command) ? { message: trouble.message, hint: SEPARATE } : trouble
}

// --- internal ---

const INSTALL: Readonly<Record<string, string>> = {
  bun: 'install Bun: https://bun.sh',
  deno: 'install Deno: https://deno.com',
  docker: 'install Docker: https://docs.docker.com/get-docker',
  node: 'install Node.js: https://nodejs.org',
  python: 'install Python, or write python3',
  python3: 'install Python: https://www.python.org',
  uv: 'install uv: https://docs.astral.sh/uv',
}
const SEPARATE = 'write the program alone as `command`, and each argument as an item of `args`'
const PART_OF: Readonly<Record<string, string>> = { bunx: 'bun', npm: 'node', npx: 'node', uvx: 'uv' }

function missingFile(file: string): Trouble {
  const found = look(file)
  if (found === undefined)
    return { message: `${file} does not exist`, hint: 'correct `command`, or install the program' }
  return found.isFile()
    ? { message: `${file} is not executable`, hint: `run: chmod +x ${file}` }
    : { message: `${file} is not a file`, hint: 'correct `command`' }
}

function missingCommand(command: string, path: string | undefined): Trouble {
  const install = INSTALL[PART_OF[command] ?? command] ?? `install ${command}`
  return {
    message: `command "${command}" was not found in ${path ? 'PATH' : 'PATH, which is empty'}`,
    hint: `${install}, or give its full path as the command`,
  }
}

/** A folder on the way that may not be looked into hides what is there. */
function look(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
