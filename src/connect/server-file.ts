// The files in which something is remembered of each server between runs. All of it can be found out again. What agents are
// given from there is what the server said, to the letter, and its fingerprint is the one that was accepted; so a secret that
// a server repeats is not masked there but stands there as a number, and is put back in when the file is read.

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../base/digest.ts'
import { type Places, prepareFolder, unsafeReason } from '../base/places.ts'
import { isRecord } from '../base/record.ts'
import { writeFileAtomic } from '../base/write-file.ts'
import type { OwnSecrets } from './own-secrets.ts'

type Hiding = Pick<OwnSecrets, 'hide' | 'restore'>

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
  read(server: string, identity: string, secrets: Hiding): Record<string, unknown> | undefined {
    const file = fileOf(this.#state, this.#kind, server)
    if (unsafeReason(file) !== undefined) return undefined
    try {
      const saved: unknown = JSON.parse(readFileSync(file, 'utf8'))
      const isOurs = isRecord(saved) && saved['format'] === FORMAT && saved['identity'] === identity
      if (!isOurs) return undefined
      const { hidden, digest } = saved
      return isRecord(hidden) ? restored(hidden, digest, secrets) : saved
    } catch {
      return undefined
    }
  }

  /** Throws what keeps it from being written; nothing is done where it would be longer than `longest`. */
  write(
    server: string,
    identity: string,
    secrets: Hiding,
    content: Readonly<Record<string, unknown>>,
    longest: number = Number.POSITIVE_INFINITY,
  ): void {
    const hidden = secrets.hide(content)
    const file = fileOf(this.#state, this.#kind, server)
    if (hidden === undefined) {
      rmSync(file, { force: true })
      return
    }
    const kept = hidden === content ? content : { hidden, digest: sha256(JSON.stringify(content)) }
    const text = JSON.stringify({ format: FORMAT, server, identity, ...kept })
    if (text.length > longest) return
    prepareFolder(this.#state)
    prepareFolder(join(this.#state, this.#kind))
    writeFileAtomic(file, text, { mode: 0o600, durable: false })
  }
}

/** Erases all that is remembered of a server; for one that was removed. */
export function forgetFiles({ state }: Places, server: string): void {
  for (const kind of ['servers', 'lists'] as const) rmSync(fileOf(state, kind, server), { force: true })
}

// --- internal ---

const FORMAT = 1

/** Undefined where it is not what was kept: another secret was given since. */
function restored(
  hidden: Readonly<Record<string, unknown>>,
  digest: unknown,
  secrets: Hiding,
): Record<string, unknown> | undefined {
  const content = secrets.restore(hidden)
  return sha256(JSON.stringify(content)) === digest ? content : undefined
}

function fileOf(state: string, kind: Kind, server: string): string {
  const name = server.replace(/[^\w-]/g, '_').slice(0, 40)
  return join(state, kind, `${name}-${sha256(server).slice(0, 12)}.json`)
}
