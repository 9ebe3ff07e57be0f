// What is remembered of a server between runs: the era it speaks and the definitions it gave. So its tools are known
// before it is up, and the next start does not ask what the last one found out.

import type { Places } from '../base/places.ts'
import type { Agreement } from '../wire/era.ts'
import type { Definitions } from './definitions.ts'
import type { OwnSecrets } from './own-secrets.ts'
import { ServerFiles } from './server-file.ts'

export interface Remembered {
  readonly agreement: Agreement
  readonly definitions: Definitions
  /** When it was last connected, in milliseconds since 1970; 0 when it has failed to start since then. */
  readonly at: number
}

/** A verdict older than this is asked for again: servers get updated. */
export const VERDICT_AGE = 7 * 24 * 60 * 60 * 1000

export class Memory {
  readonly #files: ServerFiles

  constructor(places: Places) {
    this.#files = new ServerFiles(places, 'servers')
  }

  read(server: string, identity: string, secrets: OwnSecrets): Remembered | undefined {
    return this.#files.read(server, identity, secrets) as Remembered | undefined
  }

  write(server: string, identity: string, remembered: Remembered, secrets: OwnSecrets): void {
    this.#files.write(server, identity, secrets, { ...remembered })
  }
}
