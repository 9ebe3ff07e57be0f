// The configuration of a hub, read and reduced to what may be acted on.

import type { Places } from './base/places.ts'
import { isRecord } from './base/record.ts'
import { effective } from './config/effective.ts'
import { graveProblems } from './config/grave.ts'
import { errorsOf, type LoadOptions, loadConfig } from './config/load.ts'
import { configFault, type Problem, problemLine, valueText } from './config/problem.ts'
import type { Snapshot } from './config/snapshot.ts'
import type { Program } from './config/tree.ts'
import { recordTrust, trustSubjects } from './config/trust.ts'
import type { InProcessServer } from './connect/in-process.ts'
import { withoutInstances } from './connect/instances.ts'
import type { HubOptions } from './hub-options.ts'

export interface Loaded {
  readonly active: Snapshot
  /** Servers that a program gave as they are. */
  readonly instances: Readonly<Record<string, InProcessServer>>
  /** What is wrong with single servers, by name. */
  readonly broken: Readonly<Record<string, string>>
  /** What else is wrong and stops nothing, a line each. */
  readonly told: readonly string[]
}

/**
 * Throws a fault with all that is wrong. Where a hub is there already, or may start with what is sound, a server with
 * problems costs only itself: it is there without being usable, and what is wrong with it is told.
 */
export async function loadActive(
  config: HubOptions['config'],
  { cwd, env, trust, tolerant }: HubOptions,
  places: Places,
  by: Program,
): Promise<Loaded> {
  const plain = config === undefined || typeof config === 'string' ? undefined : separated(config, by)
  const options: LoadOptions = {
    places,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...(typeof config === 'string' ? { config } : {}),
    ...(plain ? { data: plain.config, by } : {}),
  }
  const snapshot = await loadConfig(options)
  if (trust)
    await recordTrust(
      snapshot.places,
      trustSubjects(snapshot).filter(({ state }) => state !== 'trusted'),
    )
  const errors = [...(plain?.problems ?? []), ...errorsOf(snapshot)]
  const all = by === 'createHub' ? errors : errors.filter(({ server }) => server === undefined)
  const grave = tolerant ? graveProblems(snapshot) : all
  const isStrict = by === 'createHub' && !tolerant
  if (grave.length > 0) throw configFault(grave, { whole: true, ...(isStrict ? { hint: HINT } : {}) })
  return {
    active: effective(snapshot, trustSubjects(snapshot)),
    instances: plain?.instances ?? {},
    broken: brokenIn(errors),
    told: tolerant ? errors.map(problemLine) : [],
  }
}

// --- internal ---

const HINT =
  'mend it, or start with what is sound and be told the rest: createHub({ tolerant: true }); see docs/library.md'

/** What a program gives need not be what its type says. */
function separated(config: unknown, by: Program): ReturnType<typeof withoutInstances> {
  if (isRecord(config)) return withoutInstances(config, by)
  const message = `holds ${valueText(config)}; expected a map, or the path of a file`
  throw configFault([{ severity: 'error', file: by, message }])
}

function brokenIn(errors: readonly Problem[]): Record<string, string> {
  const names = new Set(errors.flatMap(({ server }) => server ?? []))
  return Object.fromEntries(
    [...names].map((name) => [name, configFault(errors.filter(({ server }) => server === name)).message]),
  )
}
