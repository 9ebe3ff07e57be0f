// Checks arguments against the schemas of tools. What a schema says in a way that cannot be checked safely is not
// checked, and that is said; the server has the last word anyway.

import { setImmediate as turn } from 'node:timers/promises'
import { type ArgumentProblem, problemsOf, shown } from './argument-problems.ts'
import { isTooLarge } from './schema-reading.ts'

export type Checked =
  | { readonly ok: true }
  | { readonly ok: false; readonly problems: readonly ArgumentProblem[] }

export interface Validator {
  /** Why it does not check everything, for people. */
  readonly flaw?: string
  /** Never throws and never changes the value. */
  check(value: unknown): Checked
  /** The same for whom the problems do not matter. May throw where it cannot be told. */
  isValid(value: unknown): boolean
}

/** Validators by the fingerprints of their schemas; the one that was not used for longest goes first. */
export class Validators {
  readonly #kept = new Map<string, { readonly validator: Validator; used: number }>()
  #uses = 0
  readonly #coming = new Map<string, Promise<Validator>>()
  readonly #limit: number

  constructor(limit: number = 2000) {
    this.#limit = limit
  }

  get size(): number {
    return this.#kept.size
  }

  /** The validator of a schema, compiled when it is not there yet. Never rejects. */
  async get(fingerprint: string, schema: Readonly<Record<string, unknown>>): Promise<Validator> {
    const known = this.ready(fingerprint)
    if (known !== undefined) return known
    const coming = this.#coming.get(fingerprint) ?? this.#compile(fingerprint, schema)
    this.#coming.set(fingerprint, coming)
    return await coming
  }

  /** The same without waiting, if it was compiled before. */
  ready(fingerprint: string): Validator | undefined {
    const kept = this.#kept.get(fingerprint)
    if (kept === undefined) return undefined
    this.#uses += 1
    kept.used = this.#uses
    return kept.validator
  }

  /** Loads the compiler while there is time; the first call would have to wait for it. */
  warm(): void {
    void import('./schema-compile.ts').catch(() => undefined)
  }

  async #compile(fingerprint: string, schema: Readonly<Record<string, unknown>>): Promise<Validator> {
    const validator = await compiled(schema)
    this.#coming.delete(fingerprint)
    this.#uses += 1
    this.#kept.set(fingerprint, { validator, used: this.#uses })
    if (this.#kept.size > this.#limit) this.#letGo()
    return validator
  }

  #letGo(): void {
    let oldest: [string, number] | undefined
    for (const [fingerprint, { used }] of this.#kept)
      if (oldest === undefined || used < oldest[1]) oldest = [fingerprint, used]
    if (oldest) this.#kept.delete(oldest[0])
  }
}

// --- internal ---

const FINE: Checked = { ok: true }

async function compiled(schema: Readonly<Record<string, unknown>>): Promise<Validator> {
  try {
    const { compileSchema, TOO_LARGE } = await import('./schema-compile.ts')
    if (isTooLarge(schema)) return unchecked(TOO_LARGE)
    const result = await compileSchema(schema, () => turn())
    if (typeof result === 'string') return unchecked(result)
    const { errors, isValid, flaw } = result
    return {
      ...(flaw === undefined ? {} : { flaw }),
      check: (value) => checked(errors, value),
      isValid,
    }
  } catch (error) {
    return unchecked(`the schema cannot be checked: ${shown(error instanceof Error ? error.message : error)}`)
  }
}

function unchecked(flaw: string): Validator {
  return { flaw, check: () => FINE, isValid: () => true }
}

function checked(errors: (value: unknown) => Parameters<typeof problemsOf>[0], value: unknown): Checked {
  try {
    const found = errors(value)
    return found.length === 0 ? FINE : { ok: false, problems: problemsOf(found, value) }
  } catch {
    // Too many steps or too deep. Not let through: arguments could be made for this.
    return { ok: false, problems: [{ path: '', message: 'is too much to be checked against this schema' }] }
  }
}
