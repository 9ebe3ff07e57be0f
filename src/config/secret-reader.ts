// What `${secret:NAME}` stands for in one reading of the configuration, the same for as long as that reading is followed.

import { Fault } from '../base/fault.ts'
import { PEOPLE } from '../secrets/owners.ts'
import type { Secrets } from '../secrets/secrets.ts'

export type SecretReading =
  | { readonly kind: 'held'; readonly value: string; readonly version: number }
  | { readonly kind: 'missing' }
  /** Damaged, or nothing can be opened: never to be replaced by a default. */
  | { readonly kind: 'unusable'; readonly fault: Fault }

export interface SecretReader {
  read(name: string): SecretReading
}

/** What a secret may be called: what can stand in `${secret:…}` and in a shell without quotes. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/

/** Looks up the secrets of these names, once. */
export function secretReader(secrets: Secrets, names: readonly string[]): SecretReader {
  const readings = new Map(names.map((name) => [name, look(secrets, name)]))
  // Through a function only, so that no value gets into whatever a snapshot is written to.
  return { read: (name) => readings.get(name) ?? { kind: 'missing' } }
}

// --- internal ---

function look(secrets: Secrets, name: string): SecretReading {
  try {
    const held = secrets.get(PEOPLE, name)
    // As with variables: no server is ever given an empty token.
    return held === undefined || held.value === '' ? { kind: 'missing' } : { kind: 'held', ...held }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { kind: 'unusable', fault: error }
  }
}
