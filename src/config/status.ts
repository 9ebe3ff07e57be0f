// What can be said of each server without starting anything.

import { inputVariable, missingVariables, type Scope } from './expand.ts'
import type { ServerEntry, Snapshot } from './load.ts'
import { type Problem, problemLine } from './problem.ts'
import { type Transport, transportOf } from './schema-server.ts'
import type { Place } from './tree.ts'
import { texts } from './validate.ts'

/** The five words used everywhere, of which three can be told from the configuration alone. */
export type Status = 'pending' | 'connected' | 'failed' | 'needs-auth' | 'disabled'

export interface ServerReport {
  readonly name: string
  readonly transport: Transport | undefined
  readonly status: Status
  readonly enabled: boolean
  /** Agents and workers that may use it. */
  readonly agents: readonly string[]
  /** Whether it starts with Busbar. */
  readonly starts: boolean
  readonly missing: readonly string[]
  readonly error: string | undefined
}

/** Looks only: nothing is warned about, expanded or started. */
export function reportServer(entry: ServerEntry, snapshot: Snapshot): ServerReport {
  const { config } = snapshot
  const enabled = entry.definition?.enabled ?? true
  const missing = missingOf(entry, snapshot)
  const agents = snapshot.assignments.filter((it) => it.servers.includes(entry.name)).map((it) => it.id)
  const on = enabled && config.enabled
  const common = {
    name: entry.name,
    transport: entry.definition ? transportOf(entry.definition) : undefined,
    enabled,
    agents,
    missing,
    starts: on && entry.problems.length === 0 && missing.length === 0 && snapshot.starts.has(entry.name),
  }
  if (entry.problems.length > 0)
    return { ...common, status: 'failed', error: entry.problems.map(problemLine).join('\n') }
  if (!on) return { ...common, status: 'disabled', error: undefined }
  if (missing.length > 0) return { ...common, status: 'failed', error: `needs ${missingText(missing)}` }
  return { ...common, status: 'pending', error: undefined }
}

/** Exactly one warning for each enabled server that is skipped because of missing variables. */
export function missingWarnings(snapshot: Snapshot): Problem[] {
  return [...snapshot.servers.values()].flatMap((entry): Problem[] => {
    const report = reportServer(entry, snapshot)
    if (report.status !== 'failed' || entry.problems.length > 0) return []
    const place = placeOfMissing(entry, snapshot)
    return [
      {
        severity: 'warning',
        file: place.origin.file,
        ...place.origin.position(place.path),
        message: `${entry.name} is skipped: ${missingText(report.missing)} ${report.missing.length > 1 ? 'are' : 'is'} not set`,
        hint: `run: export ${report.missing.map(exportName).join('=… ')}=…`,
        server: entry.name,
      },
    ]
  })
}

/** Where a server's variables are taken from. */
export function scopeOf(entry: ServerEntry, snapshot: Snapshot): Scope {
  const source = entry.sources.at(-1)
  const inputs = new Map(entry.sources.flatMap((it) => [...it.inputs]))
  return { env: snapshot.env, inputs, root: source?.root ?? snapshot.root, home: snapshot.places.home }
}

/** The side-effect-free check: can this server's variables all be filled in? */
export function missingOf(entry: ServerEntry, snapshot: Snapshot): string[] {
  return entry.definition ? missingVariables(entry.definition, scopeOf(entry, snapshot)) : []
}

// --- internal ---

function missingText(names: readonly string[]): string {
  return names.map((name) => (name.startsWith('input:') ? `\${${name}}` : name)).join(', ')
}

function exportName(name: string): string {
  return name.startsWith('input:') ? inputVariable(name.slice('input:'.length)) : name
}

function placeOfMissing(entry: ServerEntry, snapshot: Snapshot): Place {
  const scope = scopeOf(entry, snapshot)
  const found = entry.tree && texts(entry.tree).find(({ text }) => missingVariables(text, scope).length > 0)
  return found?.at.place ?? entry.place
}
