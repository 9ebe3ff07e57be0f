// What must change in a file to give an agent something, take it away, or switch the agent on and off.

import { matchesGlob } from '../base/glob.ts'
import { isRecord } from '../base/record.ts'
import type { Change, Path } from './edit/change.ts'
import { dig } from './formats/shape.ts'
import { assignServer, type Target } from './plan.ts'

/** Where an agent, or a worker (`agent/worker`), stands in a file; undefined when it is not in it. */
export function holderPath({ value }: Target, id: string): Path | undefined {
  const [agent = '', worker] = id.split('/')
  const path: Path = worker === undefined ? ['agents', agent] : ['agents', agent, 'workers', worker]
  return isRecord(dig(value, path)) ? path : undefined
}

/** Gives a server (`github`), or a tool (`github/get_*`): takes it out of what is denied and puts it in what is allowed. */
export function grant(target: Target, id: string, pattern: string): Change[] {
  const holder = holderPath(target, id)
  if (holder === undefined) return []
  const denied = listAt(target, [...holder, 'deny'])
  if (denied.includes(pattern)) return [{ kind: 'drop', path: [...holder, 'deny'], value: pattern }]
  const cut = pattern.indexOf('/')
  const server = cut < 0 ? pattern : pattern.slice(0, cut)
  const changes = hasServer(target, holder, server) ? [] : serverChanges(target, holder, id, server)
  if (cut < 0) return changes
  const allowed = dig(target.value, [...holder, 'allow'])
  const covered = listAt(target, [...holder, 'allow']).some((text) => matchesGlob(text, pattern))
  return allowed === undefined || covered
    ? changes
    : [...changes, { kind: 'append', path: [...holder, 'allow'], value: pattern }]
}

/** Takes a server out of an agent's list, or denies it a tool. */
export function revoke(target: Target, id: string, pattern: string): Change[] {
  const holder = holderPath(target, id)
  if (holder === undefined) return []
  if (pattern.includes('/')) return [{ kind: 'append', path: [...holder, 'deny'], value: pattern }]
  const lists: Path[] = [
    [...holder, 'servers'],
    [...holder, 'mcp_servers'],
    ['integrations', 'per_agent', id],
  ]
  return lists
    .filter((path) => listAt(target, path).includes(pattern))
    .map((path) => ({ kind: 'drop', path, value: pattern }))
}

/** Sets one value of an agent, such as `enabled` or `approval`. */
export function setOf(target: Target, id: string, key: string, value: unknown): Change[] {
  const holder = holderPath(target, id)
  return holder ? [{ kind: 'set', path: [...holder, key], value }] : []
}

// --- internal ---

function listAt({ value }: Target, path: Path): string[] {
  const list = dig(value, path)
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
}

function hasServer(target: Target, holder: Path, server: string): boolean {
  const lists = [
    [...holder, 'servers'],
    [...holder, 'mcp_servers'],
  ]
  return lists.some((path) => listAt(target, path).some((text) => matchesGlob(text, server)))
}

function serverChanges(target: Target, holder: Path, id: string, server: string): Change[] {
  if (!id.includes('/')) return assignServer(target, id, server)
  const key = dig(target.value, [...holder, 'mcp_servers']) === undefined ? 'servers' : 'mcp_servers'
  return [{ kind: 'append', path: [...holder, key], value: server }]
}
