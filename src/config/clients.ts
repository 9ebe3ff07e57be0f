// Where other tools keep their servers on this machine.

import { join } from 'node:path'
import type { Places } from '../base/places.ts'

export interface Client {
  readonly id: string
  readonly title: string
  /** Files it reads, with the scope an import of them belongs to. */
  readonly files: readonly { readonly file: string; readonly scope: 'user' | 'project' }[]
}

/** The clients that are known, with the places of their files for this person and project. */
export function clientsOf(places: Places, root: string, platform: string = process.platform): Client[] {
  const { home, settings } = places
  const mac = platform === 'darwin'
  const support = mac ? join(home, 'Library', 'Application Support') : settings
  const code = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf'].map((name) =>
    join(support, name, 'User'),
  )
  const extension = (name: string, file: string) =>
    code.map((folder) => join(folder, 'globalStorage', name, 'settings', file))
  const user = (...files: string[]) => files.map((file) => ({ file, scope: 'user' as const }))
  const project = (...files: string[]) =>
    files.map((file) => ({ file: join(root, file), scope: 'project' as const }))
  return [
    {
      id: 'claude-code',
      title: 'Claude Code',
      files: [...user(join(home, '.claude.json')), ...project('.mcp.json')],
    },
    {
      id: 'claude-desktop',
      title: 'Claude Desktop',
      files: user(join(support, 'Claude', 'claude_desktop_config.json')),
    },
    {
      id: 'cursor',
      title: 'Cursor',
      files: [...user(join(home, '.cursor', 'mcp.json')), ...project('.cursor/mcp.json')],
    },
    {
      id: 'vscode',
      title: 'VS Code',
      files: [
        ...user(
          ...code.slice(0, 3).flatMap((folder) => [join(folder, 'mcp.json'), join(folder, 'settings.json')]),
        ),
        ...project('.vscode/mcp.json'),
      ],
    },
    {
      id: 'windsurf',
      title: 'Windsurf',
      files: user(
        join(home, '.codeium', 'windsurf', 'mcp_config.json'),
        join(home, '.codeium', 'mcp_config.json'),
      ),
    },
    {
      id: 'cline',
      title: 'Cline',
      files: user(
        ...extension('saoudrizwan.claude-dev', 'cline_mcp_settings.json'),
        join(home, '.cline', 'mcp.json'),
      ),
    },
    {
      id: 'roo',
      title: 'Roo Code',
      files: [
        ...user(...extension('rooveterinaryinc.roo-cline', 'mcp_settings.json')),
        ...project('.roo/mcp.json'),
      ],
    },
    {
      id: 'zed',
      title: 'Zed',
      files: [...user(join(settings, 'zed', 'settings.json')), ...project('.zed/settings.json')],
    },
    {
      id: 'codex',
      title: 'Codex',
      files: [...user(join(home, '.codex', 'config.toml')), ...project('.codex/config.toml')],
    },
    {
      id: 'gemini',
      title: 'Gemini CLI',
      files: [...user(join(home, '.gemini', 'settings.json')), ...project('.gemini/settings.json')],
    },
    {
      id: 'opencode',
      title: 'opencode',
      files: [
        ...user(...['opencode.json', 'opencode.jsonc'].map((name) => join(settings, 'opencode', name))),
        ...project('opencode.json', 'opencode.jsonc', '.opencode/opencode.json'),
      ],
    },
    { id: 'goose', title: 'Goose', files: user(join(settings, 'goose', 'config.yaml')) },
    { id: 'copilot', title: 'Copilot CLI', files: user(join(home, '.copilot', 'mcp-config.json')) },
    { id: 'librechat', title: 'LibreChat', files: project('librechat.yaml') },
    { id: 'shared', title: 'shared mcp.json', files: user(join(settings, 'mcp', 'mcp.json')) },
  ]
}
