// From a document of any known format to one native shape.

import { isRecord } from '../../base/record.ts'
import { leadsToUs } from '../clients/entry.ts'
import { type Document, problemIn } from '../document.ts'
import type { Path } from '../edit/change.ts'
import { type Problem, valueText } from '../problem.ts'
import { readAgents, readIntegrations } from './agents.ts'
import type { Format } from './detect.ts'
import { readServerEntry } from './server-entry.ts'
import { dig, Shape } from './shape.ts'

export interface Reading {
  readonly shape: Shape
  readonly problems: readonly Problem[]
}

/** Where each format keeps its servers. */
function serverContainers(format: Format, value: unknown, root: string): Path[] {
  const has = (...path: string[]) => isRecord(dig(value, path))
  switch (format.id) {
    case 'busbar':
      return [['servers'], ['mcpServers']].filter((path) => dig(value, path) !== undefined)
    case 'aicib':
      return [['integrations', 'servers'], ['servers'], ['mcpServers']].filter(
        (path) => dig(value, path) !== undefined,
      )
    case 'beans':
    case 'mcp-servers':
      return [['servers']]
    case 'vscode':
      return has('servers') ? [['servers']] : [['mcp', 'servers']]
    case 'zed':
      return [['context_servers']]
    case 'codex':
      return [['mcp_servers']]
    case 'opencode': {
      // A server may be called `servers`, too.
      const nested = dig(value, ['mcp', 'servers'])
      return isRecord(nested) && !isServer(nested) ? [['mcp', 'servers']] : [['mcp']]
    }
    case 'goose':
      return [['extensions']]
    case 'claude-code':
      return [['mcpServers'], ['projects', root, 'mcpServers']].filter((path) => has(...path))
    default:
      return [['mcpServers']]
  }
}

/** Reads a document. `root` is the project folder: ~/.claude.json keeps servers by project. */
export function readFormat(document: Document, known: Format, root: string): Reading {
  const shape = new Shape()
  const problems: Problem[] = []
  const value = isRecord(document.value) ? document.value : {}
  const format = withInputs(known, value)
  for (const container of serverContainers(format, value, root)) {
    const servers = dig(value, container)
    if (Array.isArray(servers)) readServerList(document, format, shape, problems, container, servers)
    else if (isRecord(servers)) readServerMap(document, format, shape, problems, container, servers)
    else if (servers !== null && servers !== undefined)
      problems.push(
        problemIn(document, container, `is ${valueText(servers)}; expected a map of servers by name`),
      )
  }
  if (format.id === 'claude-code') switchOff(value, ['projects', root, 'disabledMcpServers'], shape)
  if (format.id === 'gemini') readGeminiLists(value, shape)
  if (format.id === 'aicib') readIntegrations(document, shape, problems)
  if (format.id === 'busbar' || format.id === 'aicib') readSettings(value, format, shape)
  if (format.id === 'mcp-servers') readSwitches(document, value, shape, problems)
  if (format.ours) readAgents(document, format, shape, problems)
  return { shape, problems }
}

// --- internal ---

/** Sections of the native format, taken over as they stand. */
const SETTINGS = new Set([
  'version',
  'enabled',
  'lead',
  'defaults',
  'gateway',
  'agent',
  'steward',
  'store',
  'composio',
])
const READ_ELSEWHERE = new Set(['servers', 'mcpServers', 'agents', 'integrations', 'extends', '$schema'])

function readServerMap(
  document: Document,
  format: Format,
  shape: Shape,
  problems: Problem[],
  container: Path,
  servers: Record<string, unknown>,
): void {
  for (const [key, raw] of Object.entries(servers)) {
    const from = [...container, key]
    if (!format.ours && isRecord(raw) && isSomethingElse(format, raw)) continue
    const name = format.ours ? key : freeName(key, servers)
    if (shape.get(['servers', name]) !== undefined) {
      if (format.ours) problems.push(problemIn(document, from, 'is defined twice in this file'))
      // In ~/.claude.json the project's own entry goes before the general one.
      if (format.id !== 'claude-code') continue
    }
    readServerEntry(raw, { from, target: ['servers', name], shape, traits: format, document })
  }
}

/** The list form: `id` is the name, `name` the prefix of its tools. */
function readServerList(
  document: Document,
  format: Format,
  shape: Shape,
  problems: Problem[],
  container: Path,
  servers: readonly unknown[],
): void {
  servers.forEach((raw, index) => {
    const from = [...container, index]
    if (!isRecord(raw)) {
      problems.push(
        problemIn(document, from, `is ${valueText(raw)}; expected a server with id, name and command`),
      )
      return
    }
    const { id, name, ...entry } = raw
    const key = id ?? name
    if (typeof key !== 'string' || key === '') {
      problems.push(
        problemIn(document, [...from, 'id'], `is ${valueText(key)}; expected a text, the server's name`),
      )
      return
    }
    if (shape.get(['servers', key]) !== undefined) {
      problems.push(problemIn(document, [...from, 'id'], `is ${valueText(key)}, which an earlier server has`))
      return
    }
    readServerEntry(entry, { from, target: ['servers', key], shape, traits: format, document })
    if (typeof name === 'string' && name !== key)
      shape.put(['servers', key, 'prefix'], name, [...from, 'name'])
    else if (name !== undefined && typeof name !== 'string')
      problems.push(problemIn(document, [...from, 'name'], `is ${valueText(name)}; expected a text`))
  })
}

/** Cline's marketplace names servers like `github.com/owner/repo`; our addresses are `server/tool`. */
function freeName(key: string, servers: Record<string, unknown>): string {
  const name = key.trim().replaceAll('/', '-')
  if (name === key) return name
  let free = name
  for (let count = 2; Object.hasOwn(servers, free); count++) free = `${name}-${count}`
  return free
}

/** Entries of another tool that are no servers: Goose's own parts, Zed's extensions, opencode's bare switches. */
function isSomethingElse(format: Format, raw: Record<string, unknown>): boolean {
  // What `busbar connect` wrote there: as a server of ours it would lead in a circle.
  if (leadsToUs(raw)) return true
  const says = (...keys: string[]) => keys.some((key) => raw[key] !== undefined && raw[key] !== null)
  if (format.id === 'goose') return !['stdio', 'sse', 'streamable_http'].includes(String(raw['type']))
  if (format.id === 'zed') return says('settings') && !says('command', 'url')
  if (format.id === 'opencode')
    return Object.keys(raw).every((key) => key === 'enabled' || key === 'disabled')
  return false
}

function isServer(raw: Record<string, unknown>): boolean {
  return ['command', 'cmd', 'url', 'type'].some(
    (key) => typeof raw[key] === 'string' || Array.isArray(raw[key]),
  )
}

function readSettings(value: Record<string, unknown>, format: Format, shape: Shape): void {
  for (const [key, section] of Object.entries(value)) {
    if (READ_ELSEWHERE.has(key) || section === null) continue
    // In somebody's company file the other sections are none of our business.
    if (format.id === 'aicib' && !SETTINGS.has(key)) continue
    // Off in one place is off.
    if (key === 'enabled' && shape.get(['enabled']) === false) continue
    if (isRecord(section)) {
      shape.ensure([key], {}, [key])
      for (const [name, item] of Object.entries(section)) shape.put([key, name], item, [key, name])
    } else shape.put([key], section, [key])
  }
}

function readSwitches(
  document: Document,
  value: Record<string, unknown>,
  shape: Shape,
  problems: Problem[],
): void {
  const switches: [string, Path, (on: boolean) => unknown][] = [
    ['subAgentEnabled', ['steward', 'enabled'], (on) => on],
    ['autoDiscoveryEnabled', ['steward', 'autoDiscovery'], (on) => on],
    ['toolApprovalRequired', ['defaults', 'approval'], (on) => (on ? 'always' : 'never')],
  ]
  for (const [key, target, convert] of switches) {
    const given = value[key]
    if (given === undefined || given === null) continue
    if (typeof given === 'boolean') shape.put(target, convert(given), [key])
    else problems.push(problemIn(document, [key], `is ${valueText(given)}; expected true or false`))
  }
}

/** Claude Code and Gemini name the servers that are off in a list beside them. */
function switchOff(value: Record<string, unknown>, from: Path, shape: Shape): void {
  const names = dig(value, from)
  if (!Array.isArray(names)) return
  names.forEach((name, index) => {
    if (typeof name === 'string' && isRecord(shape.get(['servers', name])))
      shape.put(['servers', name, 'enabled'], false, [...from, index])
  })
}

/** In Gemini's settings a list of allowed servers switches all others off. */
function readGeminiLists(value: Record<string, unknown>, shape: Shape): void {
  switchOff(value, ['mcp', 'excluded'], shape)
  const allowed = dig(value, ['mcp', 'allowed'])
  const servers = shape.get(['servers'])
  if (!Array.isArray(allowed) || allowed.length === 0 || !isRecord(servers)) return
  for (const name of Object.keys(servers))
    if (!allowed.includes(name)) shape.put(['servers', name, 'enabled'], false, ['mcp', 'allowed'])
}

/** VS Code keeps the default of what it asks for (`${input:id}`) in a list; here it stands with the reference. */
function withInputs(format: Format, value: Record<string, unknown>): Format {
  const list = value['inputs'] ?? dig(value, ['mcp', 'inputs'])
  const defaults = new Map<string, string>()
  for (const item of Array.isArray(list) ? list : []) {
    const { id, default: text } = isRecord(item) ? item : {}
    if (typeof id === 'string' && typeof text === 'string' && /^[^${}]+$/.test(text)) defaults.set(id, text)
  }
  if (defaults.size === 0) return format
  const rewrite = (text: string) =>
    (format.rewrite?.(text) ?? text).replace(/\$\{input:([^${}]+)\}/g, (whole, id: string) => {
      const fallback = defaults.get(id)
      return fallback === undefined ? whole : `\${input:${id}:-${fallback}}`
    })
  return { ...format, rewrite }
}
