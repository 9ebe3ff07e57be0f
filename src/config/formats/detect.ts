// Which tool wrote a file, told by its shape. The name of the file only breaks ties that the shape leaves open.

import { isRecord } from '../../base/record.ts'
import type { Document } from '../document.ts'
import type { EntryTraits } from './entry.ts'

export type FormatId =
  | 'busbar'
  | 'aicib'
  | 'beans'
  | 'mcp-servers'
  | 'mcp-json'
  | 'claude-code'
  | 'cline'
  | 'codex'
  | 'copilot'
  | 'gemini'
  | 'goose'
  | 'librechat'
  | 'opencode'
  | 'vscode'
  | 'windsurf'
  | 'zed'

export interface Format extends EntryTraits {
  readonly id: FormatId
  /** How it is called in messages. */
  readonly title: string
  /** Ours to edit in place; another tool's file is only ever read. */
  readonly ours: boolean
}

const OURS: EntryTraits & { ours: true } = {
  ours: true,
  strict: true,
  urlMeans: 'http',
  timeoutUnit: 'guess',
}
/** `$VAR` and `%VAR%` are variables in some tools' files; everywhere else they are text. */
const bareVariables = (text: string): string =>
  text
    .replace(/\$\{\s+(\w+)\s+\}/g, '${$1}')
    .replace(/\$([A-Za-z_]\w*)|%([A-Za-z_]\w*)%/g, (_, a, b) => `\${${a ?? b}}`)

const THEIRS: EntryTraits & { ours: false } = {
  ours: false,
  strict: false,
  urlMeans: 'http',
  timeoutUnit: 'guess',
}

export const FORMATS: Readonly<Record<FormatId, Format>> = {
  busbar: { id: 'busbar', title: 'Busbar', ...OURS },
  aicib: { id: 'aicib', title: 'integrations section', ...OURS },
  beans: { id: 'beans', title: 'servers map', ...OURS },
  'mcp-servers': { id: 'mcp-servers', title: 'servers list', ...OURS },
  'mcp-json': { id: 'mcp-json', title: 'mcpServers file', ...THEIRS },
  'claude-code': { id: 'claude-code', title: 'Claude Code', ...THEIRS, timeoutUnit: 'ms' },
  cline: { id: 'cline', title: 'Cline or Roo', ...THEIRS, timeoutUnit: 's' },
  codex: { id: 'codex', title: 'Codex', ...THEIRS },
  copilot: { id: 'copilot', title: 'Copilot', ...THEIRS, timeoutUnit: 'ms', rewrite: bareVariables },
  gemini: {
    id: 'gemini',
    title: 'Gemini',
    ...THEIRS,
    urlMeans: 'sse',
    timeoutUnit: 'ms',
    rewrite: bareVariables,
  },
  goose: { id: 'goose', title: 'Goose', ...THEIRS, timeoutUnit: 's', rewrite: bareVariables },
  librechat: {
    id: 'librechat',
    title: 'LibreChat',
    ...THEIRS,
    timeoutUnit: 'ms',
    // Filled in per user by LibreChat; here a value somebody must supply, never text to send as it stands.
    rewrite: (text) => text.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name) => `\${input:${name}}`),
  },
  opencode: { id: 'opencode', title: 'opencode', ...THEIRS, timeoutUnit: 'ms' },
  vscode: { id: 'vscode', title: 'VS Code', ...THEIRS },
  windsurf: { id: 'windsurf', title: 'Windsurf', ...THEIRS },
  zed: { id: 'zed', title: 'Zed', ...THEIRS, timeoutUnit: 's' },
}

const NATIVE_MARKS = ['agents', 'composio', 'defaults', 'extends', 'gateway', 'lead', 'steward', 'store']
const GEMINI_MARKS = ['httpUrl', 'includeTools', 'excludeTools', 'trust']
const CLINE_MARKS = ['autoApprove', 'alwaysAllow']
const LIBRECHAT_MARKS = [
  'serverInstructions',
  'requiresOAuth',
  'customUserVars',
  'iconPath',
  'chatMenu',
  'initTimeout',
]
const VSCODE_MARKS = ['dev', 'gallery', 'sandboxEnabled']

/**
 * The format of a document, or undefined when nothing in it looks like server definitions.
 * `own`: the file stands where only our native format is expected.
 */
export function detectFormat(document: Document, own = false): Format | undefined {
  const id = formatId(document.value, document.file.replaceAll('\\', '/'), own)
  return id && FORMATS[id]
}

// --- internal ---

function formatId(value: unknown, file: string, own: boolean): FormatId | undefined {
  if (value === null) return own ? 'busbar' : undefined
  if (!isRecord(value)) return undefined
  if ('integrations' in value && value['integrations'] !== null) return 'aicib'
  if (own) return Array.isArray(value['servers']) ? 'mcp-servers' : 'busbar'
  if (isRecord(value['context_servers'])) return 'zed'
  if (isRecord(value['mcp_servers'])) return 'codex'
  if (isRecord(value['mcpServers'])) return mcpServersFamily(value, value['mcpServers'], file)
  if (Array.isArray(value['servers'])) return 'mcp-servers'
  if (isRecord(value['servers'])) return serversFamily(value, value['servers'], file)
  if (isRecord(value['mcp'])) return mcpFamily(value['mcp'])
  if (isRecord(value['extensions'])) return 'goose'
  if (isRecord(value['projects']) && entries(value['projects']).some((project) => 'mcpServers' in project))
    return 'claude-code'
  if ('servers' in value || 'mcpServers' in value) return 'busbar'
  return value['version'] === 1 || NATIVE_MARKS.some((mark) => mark in value) ? 'busbar' : undefined
}

function mcpServersFamily(
  value: Record<string, unknown>,
  servers: Record<string, unknown>,
  file: string,
): FormatId {
  const marked = (marks: readonly string[]) =>
    entries(servers).some((entry) => marks.some((mark) => mark in entry))
  if (isRecord(value['projects'])) return 'claude-code'
  if (marked(LIBRECHAT_MARKS) || 'endpoints' in value || /librechat\.ya?ml$/.test(file)) return 'librechat'
  if (marked(GEMINI_MARKS) || isRecord(value['mcp']) || /\.gemini\//.test(file)) return 'gemini'
  if (marked(CLINE_MARKS) || /cline_mcp_settings|mcp_settings\.json|\.roo\//.test(file)) return 'cline'
  if (marked(['serverUrl']) || /windsurf/.test(file)) return 'windsurf'
  if (entries(servers).some((entry) => Array.isArray(entry['tools'])) || /\.copilot\//.test(file))
    return 'copilot'
  if (NATIVE_MARKS.some((mark) => mark in value) || value['version'] === 1) return 'busbar'
  return 'mcp-json'
}

function serversFamily(
  value: Record<string, unknown>,
  servers: Record<string, unknown>,
  file: string,
): FormatId {
  if (Array.isArray(value['inputs']) || /\.vscode\//.test(file) || /\/User\/(?:.*\/)?mcp\.json$/.test(file))
    return 'vscode'
  const marks = NATIVE_MARKS.filter((mark) => mark in value)
  if (marks.some((mark) => mark !== 'agents') || value['version'] === 1) return 'busbar'
  if (entries(servers).some((entry) => 'transport' in entry) || /\.?beans(?:-agent)?\/mcp\.json$/.test(file))
    return 'beans'
  if (marks.length === 0 && entries(servers).some((entry) => VSCODE_MARKS.some((mark) => mark in entry)))
    return 'vscode'
  return 'busbar'
}

/** opencode keeps servers under `mcp` or `mcp.servers`; VS Code's settings.json has `mcp.servers` too. */
function mcpFamily(mcp: Record<string, unknown>): FormatId {
  const nested = isRecord(mcp['servers']) && !('type' in mcp['servers']) ? mcp['servers'] : undefined
  if (nested === undefined) return 'opencode'
  const looksLikeOpencode = entries(nested).some(
    (entry) => Array.isArray(entry['command']) || entry['type'] === 'local' || entry['type'] === 'remote',
  )
  return looksLikeOpencode || !(Array.isArray(mcp['inputs']) || entries(nested).length > 0)
    ? 'opencode'
    : 'vscode'
}

function entries(map: Record<string, unknown>): Record<string, unknown>[] {
  return Object.values(map).filter(isRecord)
}
