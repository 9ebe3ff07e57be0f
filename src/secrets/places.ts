// Where secrets and their key are, by themselves: who only watches a file loads no ciphers.

import { join } from 'node:path'
import type { Places } from '../base/places.ts'

/** The file of secrets itself. */
export function secretsFile({ state }: Places): string {
  return join(state, 'secrets.json')
}

/** The file of a key; beside the configuration, so that the state folder alone opens nothing. */
export function keyFile({ config }: Places, id: string): string {
  return join(config, `secrets-${id}.key`)
}
