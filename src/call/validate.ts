// Checks arguments against the schemas of tools. What a schema says in a way that cannot be checked safely is not
// checked, and that is said; the server has the last word anyway.

import { setImmediate as turn } from 'node:timers/promises'
import { type ArgumentProblem, problemsOf, shown } from './argument-problems.ts'
import { plainCheck } from './plain-schema.ts'
import { isTooLarge } from './schema-reading.ts'

export type Checked =
  | { readonly ok: true }
  | { readonly ok: false; readonly problems: readonly ArgumentProblem[] }

/** Says yes for sure; a no may be for whoever knows more to decide. May throw where it cannot be told. */
export interface Acceptor {
  isValid(value: unknown): boolean
}

export interface Validator extends Acceptor {
  /** Why it does not check everything, for people. */
  readonly flaw?: string
  /** Never throws and never changes the value. */
  check(value: unknown): Checked
}

type Schema = Readonly<Record<string, unknown>>

interface Kept {
  readonly acceptor: Acceptor
  /** There once it was compiled, which a schema of few words need not be while nothing is wrong. */
  readonly validator: Validator | undefined
  used: number
}

/** Validators by the fingerprints of their schemas; the one that was not used for longest goes first. */
export class Validators {
  readonly #kept = new Map<string, Kept>()
  #uses = 0
  readonly #coming = new Map<string, Promise<Validator>>()
  readonly #limit: number
  #isWarm = false

  constructor(limit: number = 2000) {
    this.#limit = limit
  }

  get size(): number {
    return this.#kept.size
  }

  /** The validator of a schema, compiled when it is not there yet. Never rejects. */
  async get(fingerprint: string, schema: Schema): Promise<Validator> {
    const known = this.compiled(fingerprint)
    if (known !== undefined) return known
    const coming = this.#coming.get(fingerprint) ?? this.#compile(fingerprint, schema)
    this.#coming.set(fingerprint, coming)
    return await coming
  }

  /** The same without waiting, if it was compiled before. */
  compiled(fingerprint: string): Validator | undefined {
    return this.#find(fingerprint)?.validator
  }

  /** What says yes without waiting; undefined for a schema that must be compiled first. */
  ready(fingerprint: string, schema: Schema): Acceptor | undefined {
    const kept = this.#find(fingerprint)
    if (kept !== undefined) return kept.acceptor
    const acceptor = plainAcceptor(schema)
    if (acceptor) this.#keep(fingerprint, acceptor, undefined)
    return acceptor
  }

  /** Loads the compiler while there is time, where a call of one of these tools would have to wait for it. */
  prepare(tools: Iterable<{ readonly inputSchema: Schema }>): void {
    if (this.#isWarm) return
    let left = MOST_LOOKED_AT
    for (const { inputSchema } of tools) {
      if (plainAcceptor(inputSchema) === undefined) {
        this.#isWarm = true
        void import('./schema-compile.ts').catch(() => undefined)
        return
      }
      left -= 1
      if (left === 0) return
    }
  }

  #find(fingerprint: string): Kept | undefined {
    const kept = this.#kept.get(fingerprint)
    if (kept === undefined) return undefined
    this.#uses += 1
    kept.used = this.#uses
    return kept
  }

  #keep(fingerprint: string, acceptor: Acceptor, validator: Validator | undefined): void {
    this.#uses += 1
    this.#kept.set(fingerprint, { acceptor, validator, used: this.#uses })
    if (this.#kept.size > this.#limit) this.#letGo()
  }

  async #compile(fingerprint: string, schema: Schema): Promise<Validator> {
    const validator = await compiled(schema)
    this.#coming.delete(fingerprint)
    this.#keep(fingerprint, validator, validator)
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

/** Of a server with thousands of tools; of those that it has besides, a first call may wait. */
const MOST_LOOKED_AT = 50

function plainAcceptor(schema: Schema): Acceptor | undefined {
  try {
    const isValid = isTooLarge(schema) ? undefined : plainCheck(schema)
    return isValid && { isValid }
  } catch {
    // A schema of this process may be more than data; the compiler says what is wrong with it.
    return undefined
  }
}

async function compiled(schema: Schema): Promise<Validator> {
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
