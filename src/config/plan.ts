// What must change in a file to add, remove or switch a server or an agent, in whichever of our formats it is written.

import { isRecord } from '../base/record.ts'
import type { Change, Path } from './edit/change.ts'
import type { Format } from './formats/detect.ts'
import { dig } from './formats/shape.ts'

/** A file to be changed: its format and its data (null for a new one). */
export interface Target {
  readonly format: Format
  readonly value: unknown
}

/** Where a server stands in the file, or undefined. */
export function serverPath(target: Target, name: string): Path | undefined {
  const { value } = target
  for (const container of containers(target)) {
    const servers = dig(value, container)
    if (Array.isArray(servers)) {
      const index = servers.findIndex((item) => isRecord(item) && (item['id'] ?? item['name']) === name)
      if (index >= 0) return [...container, index]
    } else if (isRecord(servers) && Object.hasOwn(servers, name)) return [...container, name]
  }
  return undefined
}

/** Adds a server, or replaces the one of that name. `entry` is in the native form. */
export function addServer(target: Target, name: string, entry: Readonly<Record<string, unknown>>): Change[] {
  const { format, value } = target
  const existing = serverPath(target, name)
  if (format.id === 'mcp-servers') {
    const { type, ...rest } = entry
    const item = {
      id: name,
      name,
      ...(type === 'stdio' ? {} : { type }),
      ...rest,
      enabled: entry['enabled'] ?? true,
    }
    return existing
      ? [{ kind: 'set', path: existing, value: clean(item) }]
      : [{ kind: 'append', path: ['servers'], value: clean(item) }]
  }
  const container = existing?.slice(0, -1) ?? containers(target).find((path) => isRecord(dig(value, path)))
  const path = [...(container ?? containers(target)[0] ?? ['servers']), name]
  return [{ kind: 'set', path, value: clean(inFormat(format, entry)) }]
}

/** Takes a server's definition away. */
export function removeServer(target: Target, name: string): Change[] {
  const path = serverPath(target, name)
  return path ? [{ kind: 'delete', path }] : []
}

/** Takes a name out of every list: agents, workers, per-agent lists, defaults, and `allow` patterns of that server. */
export function removeMentions(target: Target, name: string): Change[] {
  return nameLists(target).flatMap((path): Change[] => {
    const list = dig(target.value, path)
    if (list === name) return [{ kind: 'delete', path }]
    const items = Array.isArray(list) ? list.filter((item) => mentions(item, name, path)) : []
    return [...new Set(items)].map((value) => ({ kind: 'drop', path, value }))
  })
}

/** Switches a server on or off with the word the file uses. */
export function switchServer(target: Target, name: string, on: boolean): Change[] {
  const path = serverPath(target, name)
  if (path === undefined) return []
  const entry = dig(target.value, path)
  if (isRecord(entry) && 'disabled' in entry) {
    const changes: Change[] = [{ kind: 'set', path: [...path, 'disabled'], value: !on }]
    return 'enabled' in entry ? [...changes, { kind: 'set', path: [...path, 'enabled'], value: on }] : changes
  }
  const now = isRecord(entry) ? (entry['enabled'] ?? true) : undefined
  return now === on ? [] : [{ kind: 'set', path: [...path, 'enabled'], value: on }]
}

/** Gives an agent a server. */
export function assignServer(target: Target, agent: string, name: string): Change[] {
  const { format, value } = target
  const perAgent = ['integrations', 'per_agent', agent]
  if (format.id === 'aicib' && Array.isArray(dig(value, perAgent)))
    return [{ kind: 'append', path: perAgent, value: name }]
  const definition = dig(value, ['agents', agent])
  const single = isRecord(definition) ? (definition['servers'] ?? definition['mcp_servers']) : undefined
  if (single === '*') return []
  const key =
    format.id === 'aicib' || (isRecord(definition) && 'mcp_servers' in definition) ? 'mcp_servers' : 'servers'
  const path = ['agents', agent, key]
  if (typeof single === 'string') return [{ kind: 'set', path, value: [single, name] }]
  return [{ kind: 'append', path, value: name }]
}

export function addAgent(target: Target, name: string, entry: Readonly<Record<string, unknown>>): Change[] {
  const { servers, ...rest } = entry
  const key = target.format.id === 'aicib' ? 'mcp_servers' : 'servers'
  const value = clean({ ...rest, ...(servers === undefined ? {} : { [key]: servers }) })
  return [{ kind: 'set', path: ['agents', name], value }]
}

/** Takes an agent away, with its per-agent list and the lead that names it. */
export function removeAgent(target: Target, name: string): Change[] {
  const changes: Change[] = []
  for (const path of [
    ['agents', name],
    ['integrations', 'per_agent', name],
  ])
    if (dig(target.value, path) !== undefined) changes.push({ kind: 'delete', path })
  if (dig(target.value, ['lead']) === name) changes.push({ kind: 'delete', path: ['lead'] })
  return changes
}

// --- internal ---

function containers({ format, value }: Target): Path[] {
  if (format.id === 'aicib') return [['integrations', 'servers'], ['servers'], ['mcpServers']]
  if (format.id === 'codex') return [['mcp_servers']]
  if (format.id !== 'busbar') return [['servers']]
  const usesSynonym = isRecord(value) && isRecord(value['mcpServers']) && !isRecord(value['servers'])
  return usesSynonym ? [['mcpServers'], ['servers']] : [['servers'], ['mcpServers']]
}

/** The native entry with the words of the format. */
function inFormat(format: Format, entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { type, ...rest } = entry
  const transport = type ?? (entry['url'] === undefined ? 'stdio' : 'http')
  if (format.id === 'beans') return { transport, ...rest }
  // The `integrations:` format wants args even when there are none.
  if (format.id === 'aicib' && entry['command'] !== undefined)
    return { command: entry['command'], args: entry['args'] ?? [], ...rest }
  return type === undefined || type === 'stdio' ? rest : { type, ...rest }
}

/** Every list in the file that names servers. */
function nameLists({ format, value }: Target): Path[] {
  const paths: Path[] = [['defaults', 'servers']]
  if (format.id === 'aicib') {
    paths.push(['integrations', 'default_servers'])
    for (const agent of keys(value, ['integrations', 'per_agent']))
      paths.push(['integrations', 'per_agent', agent])
  }
  for (const agent of keys(value, ['agents'])) {
    paths.push(...holderLists(['agents', agent]))
    const workers = ['agents', agent, 'workers']
    for (const worker of keys(value, workers)) paths.push(...holderLists([...workers, worker]))
    const list = dig(value, workers)
    if (Array.isArray(list))
      list.forEach((item, index) => {
        paths.push(...holderLists([...workers, index]))
        for (const worker of Object.keys(isRecord(item) ? item : {}))
          if (isRecord(Reflect.get(item, worker))) paths.push(...holderLists([...workers, index, worker]))
      })
  }
  return paths
}

function holderLists(holder: Path): Path[] {
  return ['servers', 'mcp_servers', 'allow'].map((key) => [...holder, key])
}

/** `deny` patterns stay: taking one away could open something when a server of that name comes back. */
function mentions(item: unknown, name: string, path: Path): boolean {
  if (path.at(-1) !== 'allow') return item === name
  return typeof item === 'string' && (item === name || item.startsWith(`${name}/`))
}

function keys(value: unknown, path: Path): string[] {
  const found = dig(value, path)
  return isRecord(found) ? Object.keys(found) : []
}

function clean(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined))
}
