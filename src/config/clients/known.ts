// The clients that Busbar can be written into: where each looks for its servers, and how it writes one down.

import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import type { Environment, Places } from '../../base/places.ts'
import { isRecord } from '../../base/record.ts'
import type { Syntax } from '../document.ts'

/** The name of our entry in a client's file. */
export const ENTRY_NAME = 'busbar'

export type ClientScope = 'user' | 'project'

/** How a client comes to the gateway, with the token that says who it is. */
export type Way =
  | { readonly kind: 'http'; readonly url: string; readonly token: string }
  | {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      /** Without the token. */
      readonly env: Readonly<Record<string, string>>
      readonly token: string
    }

/** A client's file of one scope. */
export interface ClientFile {
  readonly scope: ClientScope
  readonly file: string
  /** It is there when the client was ever started here. */
  readonly mark: string
}

export interface KnownClient {
  readonly id: string
  readonly title: string
  readonly syntax: Syntax
  /** Whether it speaks streamable HTTP with headers of its own; otherwise it can only start a program. */
  readonly http: boolean
  /** The user's first. */
  readonly files: readonly ClientFile[]
  /** Where the entries stand in a file that holds this. */
  readonly container: (value: unknown) => readonly string[]
  readonly entry: (way: Way) => Record<string, unknown>
  /** What makes it read the file anew. */
  readonly afterwards: string
}

/** The clients with their files for this person, project and environment. */
export function knownClients(
  places: Places,
  root: string,
  env: Environment,
  platform: string = process.platform,
): KnownClient[] {
  const { home, settings } = places
  const support = platform === 'darwin' ? join(home, 'Library', 'Application Support') : settings
  // A variable that holds a relative path would mean another folder for each program.
  const folder = (name: string) => (isAbsolute(env[name] ?? '') ? env[name] : undefined)
  const user = (file: string, mark = dirname(file)): ClientFile => ({ scope: 'user', file, mark })
  const project = (file: string): ClientFile => ({ scope: 'project', file: join(root, file), mark: root })
  const under =
    (...path: string[]) =>
    () =>
      path
  const claude = folder('CLAUDE_CONFIG_DIR')
  return [
    {
      id: 'claude-code',
      title: 'Claude Code',
      syntax: 'json',
      http: true,
      files: [
        claude === undefined
          ? user(join(home, '.claude.json'), join(home, '.claude'))
          : user(join(claude, '.claude.json')),
        project('.mcp.json'),
      ],
      container: under('mcpServers'),
      entry: (way) => ({ type: way.kind, ...usual(way) }),
      afterwards: 'start Claude Code anew, and see /mcp there',
    },
    {
      id: 'claude-desktop',
      title: 'Claude Desktop',
      syntax: 'json',
      http: false,
      files: [user(join(support, 'Claude', 'claude_desktop_config.json'))],
      container: under('mcpServers'),
      entry: usual,
      afterwards: 'quit Claude Desktop and start it anew',
    },
    {
      id: 'cursor',
      title: 'Cursor',
      syntax: 'json',
      http: true,
      files: [user(join(home, '.cursor', 'mcp.json')), project('.cursor/mcp.json')],
      container: under('mcpServers'),
      entry: usual,
      afterwards: 'see Cursor Settings > MCP; switch it on if it is off',
    },
    {
      id: 'vscode',
      title: 'VS Code',
      syntax: 'json',
      http: true,
      files: [user(join(codeFolder(support, folder), 'mcp.json')), project('.vscode/mcp.json')],
      container: under('servers'),
      entry: (way) => ({ type: way.kind, ...usual(way) }),
      afterwards: 'run "MCP: List Servers" in VS Code, and start busbar there',
    },
    {
      id: 'windsurf',
      title: 'Windsurf',
      syntax: 'json',
      http: true,
      files: [user(join(home, '.codeium', 'windsurf', 'mcp_config.json'))],
      container: under('mcpServers'),
      entry: (way) => usual(way, 'serverUrl'),
      afterwards: 'refresh the MCP servers in Windsurf',
    },
    {
      id: 'zed',
      title: 'Zed',
      syntax: 'json',
      http: true,
      // Also on macOS.
      files: [user(join(settings, 'zed', 'settings.json')), project('.zed/settings.json')],
      container: under('context_servers'),
      entry: usual,
      afterwards: 'Zed takes it over at once',
    },
    {
      id: 'codex',
      title: 'Codex',
      syntax: 'toml',
      http: true,
      files: [
        user(join(folder('CODEX_HOME') ?? join(home, '.codex'), 'config.toml')),
        project('.codex/config.toml'),
      ],
      container: under('mcp_servers'),
      entry: (way) => usual(way, 'url', 'http_headers'),
      afterwards: 'start Codex anew',
    },
    {
      id: 'gemini',
      title: 'Gemini CLI',
      syntax: 'json',
      http: true,
      files: [
        user(join(folder('GEMINI_CLI_HOME') ?? home, '.gemini', 'settings.json')),
        project('.gemini/settings.json'),
      ],
      container: under('mcpServers'),
      // Its `url` means the old transport.
      entry: (way) => usual(way, 'httpUrl'),
      afterwards: 'start Gemini CLI anew, and see /mcp there',
    },
    {
      id: 'opencode',
      title: 'opencode',
      syntax: 'json',
      http: true,
      files: [
        user(folder('OPENCODE_CONFIG') ?? either(join(settings, 'opencode'), OPENCODE_NAMES)),
        project(either(root, OPENCODE_NAMES).slice(root.length + 1)),
      ],
      container: (value) => (hasServers(value) ? ['mcp', 'servers'] : ['mcp']),
      entry: openCodeEntry,
      afterwards: 'start opencode anew',
    },
    {
      id: 'goose',
      title: 'Goose',
      syntax: 'yaml',
      http: true,
      files: [user(gooseFile(settings, folder))],
      container: under('extensions'),
      entry: gooseEntry,
      afterwards: 'start a new Goose session',
    },
  ]
}

// --- internal ---

const OPENCODE_NAMES = ['opencode.jsonc', 'opencode.json']

/** What most of them write. */
function usual(way: Way, address = 'url', headers = 'headers'): Record<string, unknown> {
  if (way.kind === 'http') return { [address]: way.url, [headers]: { Authorization: `Bearer ${way.token}` } }
  const { command, args, env, token } = way
  return { command, args, env: { ...env, BUSBAR_TOKEN: token } }
}

function openCodeEntry(way: Way): Record<string, unknown> {
  if (way.kind === 'http') return { type: 'remote', ...usual(way) }
  const { command, args, env, token } = way
  return { type: 'local', command: [command, ...args], environment: { ...env, BUSBAR_TOKEN: token } }
}

function gooseEntry(way: Way): Record<string, unknown> {
  const common = { enabled: true, name: ENTRY_NAME, description: 'Tools behind Busbar', timeout: 300 }
  if (way.kind === 'http') return { ...common, type: 'streamable_http', ...usual(way, 'uri') }
  const { command, args, env, token } = way
  return { ...common, type: 'stdio', cmd: command, args, envs: { ...env, BUSBAR_TOKEN: token } }
}

/** The newer form; a server may be called `servers`, too. */
function hasServers(value: unknown): boolean {
  const mcp = isRecord(value) ? value['mcp'] : undefined
  const servers = isRecord(mcp) ? mcp['servers'] : undefined
  return isRecord(servers) && typeof servers['type'] !== 'string'
}

/** The settings of VS Code or of one that is like it: the first that was ever started here. */
function codeFolder(support: string, folder: (name: string) => string | undefined): string {
  const portable = folder('VSCODE_PORTABLE')
  if (portable !== undefined) return join(portable, 'user-data', 'User')
  const base = folder('VSCODE_APPDATA') ?? support
  const all = ['Code', 'Code - Insiders', 'VSCodium'].map((name) => join(base, name, 'User'))
  return all.find((it) => existsSync(it)) ?? join(base, 'Code', 'User')
}

function gooseFile(settings: string, folder: (name: string) => string | undefined): string {
  const root = folder('GOOSE_PATH_ROOT')
  return root === undefined ? join(settings, 'goose', 'config.yaml') : join(root, 'config', 'config.yaml')
}

function either(base: string, names: readonly string[]): string {
  const name = names.find((it) => existsSync(join(base, it))) ?? names.at(-1) ?? ''
  return join(base, name)
}
