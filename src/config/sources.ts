// Where configuration is looked for, lowest layer first.

import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { Environment, Places } from '../base/places.ts'
import type { Scope } from './tree.ts'

export interface Candidate {
  readonly scope: Scope
  readonly file: string
  /** The file stands where only our native format is expected. */
  readonly own: boolean
  /** Somebody asked for exactly this file, so its absence is an error; the text says who. */
  readonly asked?: string
  /** Files by these names would do as well; the first that exists is read. */
  readonly alternatives?: readonly string[]
}

export interface SourceOptions {
  readonly cwd: string
  readonly env: Environment
  readonly places: Places
  /** `--config`: read instead of the user's, the project's and the local file. */
  readonly config?: string | undefined
}

const ENDINGS = ['yaml', 'yml', 'json', 'jsonc']
/** Folders in which tools keep a project's files: the project is the folder around them. */
const TOOL_FOLDERS = new Set([
  '.beans',
  '.busbar',
  '.claude',
  '.codex',
  '.cursor',
  '.gemini',
  '.opencode',
  '.roo',
  '.vscode',
  '.zed',
])

/** The default files of a project that has no native one, lowest first. */
const PROJECT_DEFAULTS = ['.mcp.json', 'mcp-servers.json', '.beans/mcp.json', 'aicib.config.yaml'] as const

/** The project's folder: the nearest one upwards with a configuration file, as far as the repository goes. */
export function projectRoot(cwd: string): string {
  const repository = ancestors(cwd).find((folder) => existsSync(join(folder, '.git')))
  if (repository === undefined) return cwd
  const candidates = ancestors(cwd).filter((folder) => folder.length >= repository.length)
  const marks = [...native('busbar'), '.busbar', ...PROJECT_DEFAULTS]
  return candidates.find((folder) => marks.some((mark) => existsSync(join(folder, mark)))) ?? cwd
}

/** The folder a file speaks for: relative paths and `${workspaceFolder}` in it start there. */
export function rootOf(file: string): string {
  const folder = dirname(file)
  return TOOL_FOLDERS.has(basename(folder)) ? dirname(folder) : folder
}

/** Every place that is looked at, lowest layer first; managed comes last because nothing overrides it. */
export function candidates(options: SourceOptions): Candidate[] {
  const { cwd, places, config } = options
  const managed: Candidate = { scope: 'managed', file: places.managed, own: true }
  if (config !== undefined) {
    const file = absolute(config, cwd, places.home)
    return [{ scope: 'project', file, own: false, asked: '--config' }, managed]
  }
  return [...userCandidates(options), ...projectCandidates(options), managed]
}

/** The file a new entry of this scope is written to when there is none yet. */
export function homeOf(scope: 'project' | 'user' | 'local', root: string, places: Places): string {
  switch (scope) {
    case 'user':
      return firstExisting(places.config, native('config'))
    case 'local':
      return firstExisting(join(root, '.busbar'), native('local'))
    case 'project':
      return firstExisting(root, native('busbar'))
  }
}

/** A path as typed, from `cwd`, with `~` for the home folder. */
export function absolute(path: string, cwd: string, home: string): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1))
  return isAbsolute(path) ? path : resolve(cwd, path)
}

/** The real name of a file, so that two ways to it are one; the name itself when it does not exist. */
export function realPath(file: string): string {
  try {
    // The native one: the other looks at every folder on the way, for every server.
    return realpathSync.native(file)
  } catch {
    return file
  }
}

// --- internal ---

function native(name: string): string[] {
  return ENDINGS.map((ending) => `${name}.${ending}`)
}

function userCandidates({ places }: SourceOptions): Candidate[] {
  const file = firstExisting(places.config, native('config'))
  const own: Candidate = {
    scope: 'user',
    file,
    own: true,
    alternatives: alternatives(file, native('config')),
  }
  if (existsSync(file)) return [own]
  return [{ scope: 'user', file: join(places.settings, 'beans-agent', 'mcp.json'), own: false }, own]
}

function projectCandidates({ cwd, env, places }: SourceOptions): Candidate[] {
  const root = projectRoot(cwd)
  const file = firstExisting(root, native('busbar'))
  const localFile = firstExisting(join(root, '.busbar'), native('local'))
  const found: Candidate[] = []
  const given = env['MCP_CONFIG_PATH']
  if (!existsSync(file))
    for (const name of PROJECT_DEFAULTS)
      if (name !== 'mcp-servers.json' || !given)
        found.push({ scope: 'project', file: join(root, name), own: false })
  if (given)
    found.push({
      scope: 'project',
      file: absolute(given, cwd, places.home),
      own: false,
      asked: 'MCP_CONFIG_PATH',
    })
  found.push({ scope: 'project', file, own: true, alternatives: alternatives(file, native('busbar')) })
  found.push({
    scope: 'local',
    file: localFile,
    own: true,
    alternatives: alternatives(localFile, native('local')),
  })
  return found
}

function firstExisting(folder: string, names: readonly string[]): string {
  const name = names.find((candidate) => existsSync(join(folder, candidate))) ?? names[0]
  return join(folder, name ?? '')
}

function alternatives(file: string, names: readonly string[]): string[] {
  return names.map((name) => join(dirname(file), name)).filter((other) => other !== file && existsSync(other))
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...ancestors(parent)]
}
