// What servers that are started by calls listed beside tools, kept between runs: without it nobody would know of their
// prompts and resources, or each list would have to start them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../base/digest.ts'
import { type Places, prepareFolder, unsafeReason } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { writeFileAtomic } from '../base/write-file.ts'

/** What is listed, by the name of its kind. */
export type KeptLists = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** One file for each server; `identity` is its definition, so a changed server starts with no memory. */
export class ListMemory {
  readonly #folder: string
  readonly #state: string

  constructor(places: Places) {
    this.#state = places.state
    this.#folder = join(places.state, 'lists')
  }

  read(server: string, identity: string): KeptLists {
    const file = this.#file(server)
    if (unsafeReason(file) !== undefined) return {}
    try {
      const saved = JSON.parse(readFileSync(file, 'utf8'))
      return saved.format === FORMAT && saved.identity === identity && isRecord(saved.lists)
        ? (saved.lists as KeptLists)
        : {}
    } catch {
      // It can be made again, so a damaged one is as good as none.
      return {}
    }
  }

  /** Adds a list to those that are kept. One too long for that, or a full disk, costs a start and nothing else. */
  keep(server: string, identity: string, lists: KeptLists): void {
    const kept = { ...this.read(server, identity), ...lists }
    const text = JSON.stringify({ format: FORMAT, server, identity, lists: kept })
    if (text.length > LONGEST) return
    try {
      prepareFolder(this.#state)
      prepareFolder(this.#folder)
      writeFileAtomic(this.#file(server), text, { mode: 0o600, durable: false })
    } catch {
      // See above.
    }
  }

  // --- internal ---

  #file(server: string): string {
    return join(
      this.#folder,
      `${server.replace(/[^\w-]/g, '_').slice(0, 40)}-${sha256(server).slice(0, 12)}.json`,
    )
  }
}

const FORMAT = 1
const LONGEST = 1024 * 1024
