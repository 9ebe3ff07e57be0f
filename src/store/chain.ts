// The seals on the record of calls. Each row's seal covers the row before it, so nothing can be changed, taken out or
// put in without breaking every seal after it; the head's covers where the record ends, so its end cannot be cut off.

import { sha256 } from '../base/digest.ts'
import type { Outcome } from './invocation.ts'

/** A row as it is sealed and stored: every column, names spelled out, null for what is absent. */
export interface ChainRow {
  readonly seq: number
  readonly id: string
  readonly agent: string | null
  readonly server: string | null
  readonly tool: string | null
  readonly surface: string | null
  readonly conversation: string | null
  readonly startedAt: number
  readonly duration: number
  readonly outcome: Outcome
  readonly code: string | null
  readonly error: string | null
  readonly pattern: string | null
  readonly energy: number | null
  readonly requestBytes: number
  readonly resultBytes: number
  readonly arguments: string | null
  readonly result: string | null
}

/** A place in the chain: the row, how many there were up to it, and its seal. */
export interface Mark {
  readonly seq: number
  readonly count: number
  readonly hash: string
}

/** Where every chain begins. */
export const GENESIS: Mark = { seq: 0, count: 0, hash: '' }

/** Stands for the seal before a row that was added to a broken chain; no row has it, so the break stays visible. */
export const BROKEN = 'broken'

/**
 * SHA-256 over the key and a text. A keyed hash of this form can be carried on to a longer text without the key, which is
 * why HMAC hashes twice; here it leads nowhere, since no text that is sealed is the beginning of another.
 */
export class Chain {
  readonly #hash: typeof import('node:crypto').hash
  /** Exactly one block. */
  readonly #key: string

  constructor(key: string | Uint8Array) {
    this.#hash = process.getBuiltinModule('node:crypto').hash
    this.#key = sha256(key)
  }

  /** The seal of a row after the row with seal `previous`. */
  link(previous: string, row: ChainRow): string {
    return this.#seal(rowText(previous, row))
  }

  /** The seal of a mark; `part` keeps a checkpoint from being passed off as the head. */
  seal(part: string, { seq, count, hash }: Mark): string {
    return this.#seal([part, seq, count, hash, ''].join(END))
  }

  // --- internal ---

  #seal(text: string): string {
    return this.#hash('sha256', this.#key + text, 'base64')
  }
}

// --- internal ---

/** Ends every part of what is sealed, and stands in none: the store takes no text with it. */
const END = '\0'
/** Stands for null. A text that begins so is written with one more. */
const NULL = '\u0001'

/** One text for one row, joined because that takes half the time of JSON. */
function rowText(previous: string, row: ChainRow): string {
  return [
    previous,
    row.seq,
    row.id,
    part(row.agent),
    part(row.server),
    part(row.tool),
    part(row.surface),
    part(row.conversation),
    row.startedAt,
    row.duration,
    row.outcome,
    part(row.code),
    part(row.error),
    part(row.pattern),
    row.energy ?? NULL,
    row.requestBytes,
    row.resultBytes,
    part(row.arguments),
    part(row.result),
    '',
  ].join(END)
}

function part(text: string | null): string {
  if (text === null) return NULL
  return text.charCodeAt(0) === 1 ? NULL + text : text
}
