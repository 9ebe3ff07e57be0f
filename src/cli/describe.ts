// Rows and records shared by the commands that show servers.

import { relative } from 'node:path'
import { Fault } from '../base/fault.ts'
import { nearest } from '../base/suggest.ts'
import type { ServerEntry, Snapshot } from '../config/snapshot.ts'
import { reportServer } from '../config/status.ts'
import type { Place } from '../config/tree.ts'
import { isTrusted } from '../config/trust.ts'
import type { ToolSummary } from '../connect/status.ts'
import type { Loaded } from './session.ts'

/** A server as `list --json` gives it. */
export interface ServerRow {
  readonly name: string
  readonly transport: string | null
  readonly status: string
  readonly enabled: boolean
  readonly scope: string
  readonly source: string
  readonly line?: number
  /** Its tools; null while they are not known, which takes a connection. */
  readonly tools: readonly ToolSummary[] | null
  readonly agents: readonly string[]
  readonly starts: boolean
  readonly trusted: boolean
  readonly description?: string
  readonly category?: string
  readonly missing?: readonly string[]
  readonly hides?: readonly string[]
  readonly error?: string
  /** Why it is not up in the gateway that runs. */
  readonly reason?: string
}

export function serverRows({ snapshot, subjects, active }: Loaded): ServerRow[] {
  return [...snapshot.servers.values()].map((entry) => serverRow(entry, { snapshot, subjects, active }))
}

export function serverRow(entry: ServerEntry, { snapshot, subjects, active }: Loaded): ServerRow {
  const report = reportServer(entry, snapshot, active)
  const trusted = isTrusted(entry, subjects)
  const line = entry.place.origin.position(entry.place.path)?.line
  const { description, category } = entry.definition ?? {}
  return {
    name: entry.name,
    transport: report.transport ?? null,
    status: report.status,
    enabled: report.enabled,
    scope: entry.scope,
    source: entry.place.origin.file,
    ...(line === undefined ? {} : { line }),
    tools: null,
    agents: report.agents,
    starts: report.starts && trusted,
    trusted,
    ...(description === undefined ? {} : { description }),
    ...(category === undefined ? {} : { category }),
    ...(report.missing.length === 0 ? {} : { missing: report.missing }),
    ...(entry.hides.length === 0 ? {} : { hides: entry.hides.map(placeText) }),
    ...(report.error === undefined ? {} : { error: report.error }),
  }
}

/** Composio is a section of its own, not an entry among the servers. */
export function isComposio({ place }: ServerEntry): boolean {
  return place.path.at(-1) === 'composio' && place.path.at(-2) !== 'servers'
}

/** `file:line`, the file as seen from here when that is shorter. */
export function placeText(place: Place): string {
  const line = place.origin.position(place.path)?.line
  return `${nearPath(place.origin.file)}${line === undefined ? '' : `:${line}`}`
}

/** A path from the working folder when it lies inside, else as it is. */
export function nearPath(file: string): string {
  if (!file.startsWith('/')) return file
  const near = relative(process.cwd(), file)
  return near !== '' && !near.startsWith('..') ? near : file
}

/** The server by that name, or the fault that says which names there are. */
export function serverNamed(snapshot: Snapshot, name: string): ServerEntry {
  const entry = snapshot.servers.get(name)
  if (entry) return entry
  const names = [...snapshot.servers.keys()]
  const near = nearest(name, names)
  throw new Fault('SERVER_UNKNOWN', `no server is called "${name}"`, {
    server: name,
    hint: near
      ? `did you mean "${near}"?`
      : names.length > 0
        ? `there are: ${names.slice(0, 12).join(', ')}`
        : 'add one: busbar add NAME -- COMMAND',
  })
}
