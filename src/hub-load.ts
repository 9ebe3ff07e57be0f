// The configuration of a hub, read and reduced to what may be acted on.

import type { Places } from './base/places.ts'
import { isRecord } from './base/record.ts'
import { effective } from './config/effective.ts'
import { errorsOf, type LoadOptions, loadConfig } from './config/load.ts'
import { configFault, valueText } from './config/problem.ts'
import type { Snapshot } from './config/snapshot.ts'
import { PROGRAM } from './config/tree.ts'
import { recordTrust, trustSubjects } from './config/trust.ts'
import type { InProcessServer } from './connect/in-process.ts'
import { withoutInstances } from './connect/instances.ts'
import type { HubOptions } from './hub-options.ts'

interface Loaded {
  readonly active: Snapshot
  /** Servers that a program gave as they are. */
  readonly instances: Readonly<Record<string, InProcessServer>>
}

/** Throws a fault with all that is wrong. */
export async function loadActive(
  config: HubOptions['config'],
  { cwd, env, trust }: HubOptions,
  places: Places,
): Promise<Loaded> {
  const plain = config === undefined || typeof config === 'string' ? undefined : separated(config)
  const options: LoadOptions = {
    places,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...(typeof config === 'string' ? { config } : {}),
    ...(plain ? { data: plain.config } : {}),
  }
  const snapshot = await loadConfig(options)
  if (trust)
    await recordTrust(
      snapshot.places,
      trustSubjects(snapshot).filter(({ state }) => state !== 'trusted'),
    )
  const errors = [...(plain?.problems ?? []), ...errorsOf(snapshot)]
  if (errors.length > 0) throw configFault(errors)
  return { active: effective(snapshot, trustSubjects(snapshot)), instances: plain?.instances ?? {} }
}

// --- internal ---

/** What a program gives need not be what its type says. */
function separated(config: unknown): ReturnType<typeof withoutInstances> {
  if (isRecord(config)) return withoutInstances(config)
  const message = `holds ${valueText(config)}; expected a map, or the path of a file`
  throw configFault([{ severity: 'error', file: PROGRAM, message }])
}
