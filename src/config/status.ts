// What can be said of each server without starting anything.

import { locateEnvFile, readIfFile } from './command.ts'
import { parseEnvFile } from './env-file.ts'
import { type Expanded, expandValue, missingVariables, type Scope } from './expand.ts'
import { isLoader } from './hazards.ts'
import { faultOf, missingHint, missingText, notSet } from './missing.ts'
import { type Problem, pathText, problemLine } from './problem.ts'
import { type Server, type Transport, transportOf } from './schema-server.ts'
import type { ServerEntry, Snapshot } from './snapshot.ts'
import { type Place, plain, type Tree } from './tree.ts'
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

/** Looks only: nothing is warned about, expanded or started. `active`: what may be acted on. */
export function reportServer(
  entry: ServerEntry,
  snapshot: Snapshot,
  active: Snapshot = snapshot,
): ServerReport {
  const { config } = active
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
    starts: on && entry.problems.length === 0 && missing.length === 0 && active.starts.has(entry.name),
  }
  if (entry.problems.length > 0)
    return { ...common, status: 'failed', error: entry.problems.map(problemLine).join('\n') }
  if (!on) return { ...common, status: 'disabled', error: undefined }
  if (missing.length > 0) {
    const fault = faultOf(missing, snapshot.secrets)
    const why = fault ? `: ${fault.message}` : ''
    return { ...common, status: 'failed', error: `needs ${missingText(missing)}${why}` }
  }
  return { ...common, status: 'pending', error: undefined }
}

/** A server of what may be acted on, ready to be started: every variable filled in, or the names of those that are missing. */
export function resolveServer(entry: ServerEntry, snapshot: Snapshot): Expanded<Server> | undefined {
  const missing = missingOf(entry, snapshot)
  if (missing.length > 0) return { ok: false, missing }
  const expanded = entry.definition && expandValue(entry.definition, scopeOf(entry, snapshot))
  const file = entry.definition && locateEnvFile(entry.definition, scopeOf(entry, snapshot))
  if (!expanded?.ok || file === undefined) return expanded
  // What stands in the file was not shown when it was trusted, so it may not make the program load something.
  const values = Object.entries(parseEnvFile(readIfFile(file) ?? '')).filter(([name]) => !isLoader(name))
  return {
    ok: true,
    value: { ...expanded.value, env: { ...Object.fromEntries(values), ...expanded.value.env } },
  }
}

/**
 * Exactly one warning for each enabled server that is skipped because of missing variables, and one for each agent and
 * section that lacks some.
 */
export function missingWarnings(snapshot: Snapshot): Problem[] {
  const servers = [...snapshot.servers.values()].flatMap((entry): Problem[] => {
    const { status, missing } = reportServer(entry, snapshot)
    if (status !== 'failed' || entry.problems.length > 0) return []
    const place = entry.tree
      ? placeOfMissing(entry.tree, scopeOf(entry, snapshot), entry.place)
      : entry.mention
    const message = `${entry.name} is skipped: ${notSet(missing, snapshot.secrets)}`
    const hint = missingHint(missing, snapshot.secrets)
    return [warning(place, message, hint, { server: entry.name })]
  })
  return [...servers, ...settingsWarnings(snapshot)]
}

/** Where a server's variables are taken from. */
export function scopeOf(entry: ServerEntry, snapshot: Snapshot): Scope {
  const scope = settingsScope(snapshot)
  return { ...scope, root: entry.sources[0]?.root ?? scope.root }
}

/** Where those of everything else are. */
export function settingsScope({ env, root, places, secrets }: Snapshot): Scope {
  return { env, root, home: places.home, secrets }
}

/** The side-effect-free check: can this server's variables all be filled in, and is its envFile there? */
export function missingOf(entry: ServerEntry, snapshot: Snapshot): string[] {
  if (!entry.definition) return []
  const missing = missingVariables(entry.definition, scopeOf(entry, snapshot))
  const file = locateEnvFile(entry.definition, scopeOf(entry, snapshot))
  if (file === undefined || readIfFile(file) !== undefined) return missing
  return [...missing, `envFile ${entry.definition.envFile}`]
}

// --- internal ---

/** Agents' tokens, the store, the model's key: whatever lacks a variable is as if it were not written. */
function settingsWarnings(snapshot: Snapshot): Problem[] {
  const scope = settingsScope(snapshot)
  if (snapshot.tree.kind !== 'map' || !snapshot.config.enabled) return []
  return [...snapshot.tree.entries].flatMap(([section, tree]): Problem[] => {
    // Servers are looked at one by one, and Composio is one of them.
    if (section === 'servers' || section === 'composio') return []
    const parts = section === 'agents' && tree.kind === 'map' ? [...tree.entries] : [[section, tree] as const]
    return parts.flatMap(([name, part]): Problem[] => {
      const missing = missingVariables(plain(part), scope)
      if (missing.length === 0) return []
      const place = placeOfMissing(part, scope, part.place)
      const who = section === 'agents' ? { agent: name } : {}
      const message = `${pathText(place.path)} is left out: ${notSet(missing, snapshot.secrets)}`
      return [warning(place, message, missingHint(missing, snapshot.secrets), who)]
    })
  })
}

function warning(place: Place, message: string, hint: string, extra: Partial<Problem>): Problem {
  return {
    severity: 'warning',
    file: place.origin.file,
    ...place.origin.position(place.path),
    message,
    hint,
    ...extra,
  }
}

/** The first value that refers to something missing. */
function placeOfMissing(tree: Tree, scope: Scope, otherwise: Place): Place {
  return texts(tree).find(({ text }) => missingVariables(text, scope).length > 0)?.at.place ?? otherwise
}
