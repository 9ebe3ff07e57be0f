// What is remembered of a server between runs: the era it speaks and the definitions it gave. So its tools are known
// before it is up, and the next start does not ask what the last one found out.

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../base/digest.ts'
import { type Places, prepareFolder, unsafeReason } from '../base/places.ts'
import { writeFileAtomic } from '../base/write-file.ts'
import type { Agreement } from '../wire/era.ts'
import type { Definitions } from './definitions.ts'

export interface Remembered {
  readonly agreement: Agreement
  readonly definitions: Definitions
  /** When it was last connected, in milliseconds since 1970; 0 when it has failed to start since then. */
  readonly at: number
}

/** A verdict older than this is asked for again: servers get updated. */
export const VERDICT_AGE = 7 * 24 * 60 * 60 * 1000

/** One file for each server; `identity` is its definition, so a changed server starts with no memory. */
export class Memory {
  readonly #folder: string
  readonly #state: string

  constructor(places: Places) {
    this.#state = places.state
    this.#folder = join(places.state, 'servers')
  }

  read(server: string, identity: string): Remembered | undefined {
    const file = this.#file(server)
    if (unsafeReason(file) !== undefined) return undefined
    try {
      const saved = JSON.parse(readFileSync(file, 'utf8'))
      return saved.format === FORMAT && saved.identity === identity ? saved : undefined
    } catch {
      // It can be made again, so a damaged one is as good as none.
      return undefined
    }
  }

  write(server: string, identity: string, remembered: Remembered): void {
    prepareFolder(this.#state)
    prepareFolder(this.#folder)
    const text = JSON.stringify({ format: FORMAT, server, identity, ...remembered })
    writeFileAtomic(this.#file(server), text, { mode: 0o600, durable: false })
  }

  forget(server: string): void {
    rmSync(this.#file(server), { force: true })
  }

  #file(server: string): string {
    return join(
      this.#folder,
      `${server.replace(/[^\w-]/g, '_').slice(0, 40)}-${sha256(server).slice(0, 12)}.json`,
    )
  }
}

// --- internal ---

const FORMAT = 1
