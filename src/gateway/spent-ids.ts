// Ids of sessions that do not come back by themselves: of those that were ended, and of those that came to have more than
// their id says (subscriptions, a log level, a process of their own). Kept in a file, for the next run of the gateway.

import { appendFileSync, readFileSync } from 'node:fs'
import { sha256 } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { unsafeReason } from '../base/places.ts'
import { writeFileAtomic } from '../base/write-file.ts'

export interface SpentIdsOptions {
  /** Undefined: they are known in this run alone. Only the one gateway of a home writes it. */
  readonly file?: string | undefined
  /** Milliseconds after which an id is worth nothing anyway. */
  readonly worth: number
  /** Told when one could not be written down. */
  readonly report: (error: unknown) => void
}

export class SpentIds {
  readonly #options: SpentIdsOptions
  /** When each is forgotten, by the digest of the id; the oldest first. */
  readonly #until = new Map<string, number>()

  constructor(options: SpentIdsOptions) {
    this.#options = options
    if (options.file !== undefined) this.#read(options.file)
  }

  has(id: string): boolean {
    return this.#until.has(digestOf(id))
  }

  /** Written before it returns: who was told that something is so must not be told otherwise after a crash. */
  add(id: string): void {
    const digest = digestOf(id)
    if (this.#until.has(digest)) return
    const until = Date.now() + this.#options.worth
    this.#until.set(digest, until)
    for (const [oldest, over] of this.#until)
      if (over < Date.now() || this.#until.size > MOST) this.#until.delete(oldest)
      else break
    const { file, report } = this.#options
    if (file === undefined) return
    try {
      appendFileSync(file, `${digest} ${until}\n`, { mode: 0o600 })
    } catch (error) {
      // A full disk must not cost a session.
      report(error)
    }
  }

  // --- internal ---

  /** Reads those of earlier runs, and writes them anew without those that are over. */
  #read(file: string): void {
    const reason = unsafeReason(file)
    if (reason !== undefined)
      throw new Fault('STATE_REFUSED', `${file} ${reason}`, { hint: 'check who wrote it, then delete it' })
    let text = ''
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
      throw error
    }
    // A line that a crash cut off is nobody's digest.
    for (const [, digest = '', until] of text.matchAll(/^([0-9a-f]{32}) (\d+)$/gm))
      if (Number(until) > Date.now()) this.#until.set(digest, Number(until))
    const lines = [...this.#until].map(([digest, until]) => `${digest} ${until}\n`)
    writeFileAtomic(file, lines.join(''), { mode: 0o600 })
  }
}

// --- internal ---

const MOST = 50_000

function digestOf(id: string): string {
  return sha256(id).slice(0, 32)
}
