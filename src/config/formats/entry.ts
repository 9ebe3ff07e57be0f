// One server entry while it is being read.

import type { Document } from '../document.ts'
import type { Path } from '../edit/change.ts'
import type { Shape } from './shape.ts'

/** How a format's entries differ from the common form. */
export interface EntryTraits {
  /** Keys we do not know are an error (our own formats) or another tool's business. */
  readonly strict: boolean
  /** What a `url` without a type means; Gemini reads it as SSE. */
  readonly urlMeans: 'http' | 'sse'
  /** Unit of a bare `timeout`; `guess`: below 1000 it can only be seconds. */
  readonly timeoutUnit: 'ms' | 's' | 'guess'
  /** Rewrites the format's own variable syntax to `${…}`. */
  readonly rewrite?: (text: string) => string
}

/** Where an entry stands in the file, and where it goes. */
export interface EntryPlace {
  readonly from: Path
  readonly target: Path
  readonly shape: Shape
  readonly traits: EntryTraits
  readonly document: Document
}

/** The entry while it is read: which of its keys have been understood, and where results go. */
export class Entry {
  readonly raw: Readonly<Record<string, unknown>>
  readonly traits: EntryTraits
  readonly #place: EntryPlace
  readonly #rest: Set<string>

  constructor(raw: Readonly<Record<string, unknown>>, place: EntryPlace) {
    this.raw = raw
    this.traits = place.traits
    this.#place = place
    this.#rest = new Set(Object.keys(raw))
  }

  /** The first of these keys that is present; all of them count as understood. */
  take(...keys: string[]): { key: string; value: unknown } | undefined {
    let key: string | undefined
    for (const candidate of keys) {
      if (!this.#rest.delete(candidate) && !Object.hasOwn(this.raw, candidate)) continue
      if (key === undefined && !this.#isBlank(this.raw[candidate])) key = candidate
    }
    return key === undefined ? undefined : { key, value: this.raw[key] }
  }

  put(target: Path, value: unknown, ...from: Path): void {
    const place = this.#place
    place.shape.put([...place.target, ...target], this.#text(value), [...place.from, ...from])
  }

  get rest(): readonly string[] {
    return [...this.#rest]
  }

  /** A number or boolean where text is wanted, as it was typed: `1.10` under `env` is a version, not 1.1. */
  typed(value: unknown, from: Path): unknown {
    if (typeof value !== 'number' && typeof value !== 'boolean') return value
    return this.#place.document.typed([...this.#place.from, ...from]) ?? String(value)
  }

  /** Other tools write empty texts for what is not set. */
  #isBlank(value: unknown): boolean {
    return value === undefined || value === null || (value === '' && !this.traits.strict)
  }

  /** The format's own variable syntax becomes ours. */
  #text(value: unknown): unknown {
    if (typeof value === 'string') return this.traits.rewrite ? this.traits.rewrite(value) : value
    return Array.isArray(value) ? value.map((item) => this.#text(item)) : value
  }
}
