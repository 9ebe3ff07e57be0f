// Which secrets a part of the configuration refers to, and whether they are still the same.

import { variablesOf } from './expand.ts'
import { secretsIn } from './missing.ts'
import type { SecretReader } from './secret-reader.ts'

/** Changes when one of the secrets in `value` does, and tells nothing about what they are. Undefined without any. */
export function secretStamps(
  value: unknown,
  reader: SecretReader | undefined,
): Readonly<Record<string, string>> | undefined {
  const names = secretsIn(variablesOf(value))
  if (names.length === 0) return undefined
  return Object.fromEntries(names.map((name) => [name, stampOf(name, reader)]))
}

// --- internal ---

function stampOf(name: string, reader: SecretReader | undefined): string {
  const reading = reader?.read(name)
  if (reading?.kind === 'held') return String(reading.version)
  return reading?.kind === 'unusable' ? reading.fault.code : 'missing'
}
