// The secrets that one server was given, and how they are kept out of whatever is shown and kept of it. What agents are given
// of a server is as the server says it.

import { inspect } from 'node:util'
import { Fault } from '../base/fault.ts'
import { HiddenText } from '../base/hidden-text.ts'
import { mapTexts } from '../base/map-texts.ts'
import { maskPasswords, scrubber } from '../base/redact.ts'

export interface GivenSecrets {
  /** Whatever may be one. */
  readonly all: readonly string[]
  /** Those of which there is no doubt. */
  readonly sure: readonly string[]
}

export class OwnSecrets {
  readonly #read: () => GivenSecrets
  #given: GivenSecrets | undefined
  #texts: ((text: string) => string) | undefined
  #names: ((text: string) => string) | undefined
  #values: ((text: string) => string) | undefined
  #hidden: HiddenText | undefined

  constructor(read: () => GivenSecrets) {
    this.#read = read
  }

  /** Reads them again, for a server that is started again: a file may hold others by now. The former stay unseen, too. */
  renew(): void {
    const { all, sure } = this.#given ?? { all: [], sure: [] }
    const now = this.#read()
    this.#given = {
      all: [...new Set([...now.all, ...all])],
      sure: [...new Set([...now.sure, ...sure])],
    }
    this.#texts = undefined
    this.#names = undefined
    this.#values = undefined
    this.#hidden = undefined
  }

  /** A text without them. */
  readonly scrub = (text: string): string => {
    this.#texts ??= scrubber(this.#secrets.all)
    return this.#texts(text)
  }

  /**
   * The same for names and addresses, by which things are asked for: a short secret is often a word, such as the password
   * `postgres`, and so is what only stands under the name of one, such as `service_account` for `AUTH_MODE`. Nothing could be
   * found any more under a name without it.
   */
  readonly scrubName = (name: string): string => {
    this.#names ??= scrubber(this.#secrets.sure.filter((it) => it.length >= NO_WORD && !WORDS.test(it)))
    return maskPasswords(this.#names(name))
  }

  /** The same for values that a schema allows, which may be what an ordinary setting says, too. */
  readonly #scrubValue = (text: string): string => {
    this.#values ??= scrubber(this.#secrets.sure)
    return this.#values(text)
  }

  /** Whatever a server says of itself or its tools, to be looked at; an unchanged part is the same object. */
  shown<T>(value: T): T {
    return mapTexts(value, (text, key) => {
      if (NAMING.has(key)) return this.scrubName(text)
      return VALUES.has(key) ? this.#scrubValue(text) : this.scrub(text)
    })
  }

  /** What went wrong with it, without them. */
  clean(fault: Fault): Fault {
    const { code, message, hint, details, server, cause } = fault
    const [text, next, more] = [this.scrub(message), hint && this.scrub(hint), details && this.shown(details)]
    const why = this.#cleanCause(cause)
    if (text === message && next === hint && more === details && why === cause) return fault
    return new Fault(code, text, { hint: next, details: more, server, cause: why })
  }

  /** Data for a file, from which `restore` makes the same again; undefined where a secret would be in it all the same. */
  hide<T extends object>(data: T): T | undefined {
    const hidden = mapTexts(data, (text) => this.#hiding.hide(text))
    // Those that came while the program ran, such as tokens, will be others.
    const text = JSON.stringify(hidden)
    return this.scrub(text) === text ? hidden : undefined
  }

  restore<T>(hidden: T): T {
    return mapTexts(hidden, (text) => this.#hiding.restore(text))
  }

  // --- internal ---

  /** Whoever prints an error prints what it came of, too. */
  #cleanCause(cause: unknown): unknown {
    if (cause instanceof Fault) return this.clean(cause)
    const text = inspect(cause)
    const clean = this.scrub(text)
    return clean === text ? cause : new Error(clean)
  }

  get #secrets(): GivenSecrets {
    this.#given ??= this.#read()
    return this.#given
  }

  get #hiding(): HiddenText {
    this.#hidden ??= new HiddenText(this.#secrets.all)
    return this.#hidden
  }
}

// --- internal ---

/** Characters from which on a secret is no word that anybody would name something by. */
const NO_WORD = 12
const WORDS = /^[a-z]+(?:[\W_]+[a-z]+)*$/i

const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default'])

/**
 * Members by which something is asked for; the names of members are that, too. And those whose values are words of JSON Schema,
 * MCP and Busbar, without which a schema says something else, or nothing.
 */
const NAMING: ReadonlySet<string> = new Set([
  '',
  'name',
  'address',
  'server',
  'uri',
  'uriTemplate',
  'required',
  'type',
  'format',
  '$ref',
  '$schema',
  'mimeType',
  'status',
])
