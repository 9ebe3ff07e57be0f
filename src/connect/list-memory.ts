// What servers that are started by calls listed beside tools, kept between runs: without it nobody would know of their
// prompts and resources, or each list would have to start them.

import type { Places } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import type { OwnSecrets } from './own-secrets.ts'
import { ServerFiles } from './server-file.ts'

/** What is listed, by the name of its kind. */
export type KeptLists = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

export class ListMemory {
  readonly #files: ServerFiles

  constructor(places: Places) {
    this.#files = new ServerFiles(places, 'lists')
  }

  read(server: string, identity: string, secrets: OwnSecrets): KeptLists {
    const lists = this.#files.read(server, identity, secrets)?.['lists']
    return isRecord(lists) ? (lists as KeptLists) : {}
  }

  /** Adds a list to those that are kept. One too long for that, or a full disk, costs a start and nothing else. */
  keep(server: string, identity: string, secrets: OwnSecrets, lists: KeptLists): void {
    try {
      const all = { ...this.read(server, identity, secrets), ...lists }
      this.#files.write(server, identity, secrets, { lists: all }, LONGEST)
    } catch {
      // See above.
    }
  }
}

// --- internal ---

const LONGEST = 1024 * 1024
