// What a server's command, folder and search path are once its variables are filled in.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { expandText } from './expand.ts'
import type { Server } from './schema-server.ts'
import { absolute } from './sources.ts'

/** Where variables and relative paths of a definition are looked up. */
interface Ground {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly root: string
  readonly home: string
}

export interface Located {
  readonly command: string
  readonly cwd: string
  readonly path: string | undefined
}

/** The words a process would be started with; a variable that is missing stays as it is written. */
export function locateCommand(server: Server, ground: Ground): Located | undefined {
  const { command, cwd, env } = server
  if (command === undefined) return undefined
  const text = (value: string) => {
    const expanded = expandText(value, ground)
    return expanded.ok ? expanded.value : value
  }
  return {
    command: text(command),
    cwd: cwd === undefined ? ground.root : absolute(text(cwd), ground.root, ground.home),
    path: env['PATH'] === undefined ? ground.env['PATH'] : text(env['PATH']),
  }
}

/** The envFile's path, or undefined when there is none or its variables are missing. */
export function locateEnvFile(server: Server, ground: Ground): string | undefined {
  const path = server.envFile === undefined ? undefined : expandText(server.envFile, ground)
  return path?.ok ? absolute(path.value, ground.root, ground.home) : undefined
}

/** A file's text, or undefined when there is no such file to read. */
export function readIfFile(path: string): string | undefined {
  if (!existsSync(path) || !statSync(path).isFile()) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
