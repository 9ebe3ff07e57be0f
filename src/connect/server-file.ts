// The files in which something is remembered of each server between runs. All of it can be found out again.

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../base/digest.ts'
import { type Places, prepareFolder, unsafeReason } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { writeFileAtomic } from '../base/write-file.ts'

/** What is remembered: how it speaks and its tools, or what else it lists. */
type Kind = 'servers' | 'lists'

/** One file for each server; `identity` is its definition, so a changed server starts with no memory. */
export class ServerFiles {
  readonly #state: string
  readonly #kind: Kind

  constructor(places: Places, kind: Kind) {
    this.#state = places.state
    this.#kind = kind
  }

  /** A damaged one is as good as none. */
  read(server: string, identity: string): Record<string, unknown> | undefined {
    const file = fileOf(this.#state, this.#kind, server)
    if (unsafeReason(file) !== undefined) return undefined
    try {
      const saved: unknown = JSON.parse(readFileSync(file, 'utf8'))
      const isOurs = isRecord(saved) && saved['format'] === FORMAT && saved['identity'] === identity
      return isOurs ? saved : undefined
    } catch {
      return undefined
    }
  }

  /** Throws what keeps it from being written; nothing is done where it would be longer than `longest`. */
  write(server: string, identity: string, content: object, longest: number = Number.POSITIVE_INFINITY): void {
    const text = JSON.stringify({ format: FORMAT, server, identity, ...content })
    if (text.length > longest) return
    prepareFolder(this.#state)
    prepareFolder(join(this.#state, this.#kind))
    writeFileAtomic(fileOf(this.#state, this.#kind, server), text, { mode: 0o600, durable: false })
  }
}

/** Erases all that is remembered of a server; for one that was removed. */
export function forgetFiles({ state }: Places, server: string): void {
  for (const kind of ['servers', 'lists'] as const) rmSync(fileOf(state, kind, server), { force: true })
}

// --- internal ---

const FORMAT = 1

function fileOf(state: string, kind: Kind, server: string): string {
  const name = server.replace(/[^\w-]/g, '_').slice(0, 40)
  return join(state, kind, `${name}-${sha256(server).slice(0, 12)}.json`)
}
