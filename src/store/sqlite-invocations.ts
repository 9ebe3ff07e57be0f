// The record of calls in SQLite.

import type { Clock } from '../base/clock.ts'
import type { Chain } from './chain.ts'
import type {
  ErrorPattern,
  Invocation,
  InvocationFilter,
  Invocations,
  PatternFilter,
  RecordedInvocation,
  Usage,
  UsageFilter,
  Verification,
} from './invocation.ts'
import { type Appended, appendRows, type NameCache, unknownOnly } from './sqlite-append.ts'
import type { Connection } from './sqlite-connection.ts'
import { isDuplicate } from './sqlite-fault.ts'
import { pruneRows } from './sqlite-prune.ts'
import { errorPatterns, listRows, usageBy } from './sqlite-report.ts'
import { verifyChain } from './sqlite-verify.ts'

export class SqliteInvocations implements Invocations {
  readonly #records: Connection
  readonly #chain: Chain
  readonly #clock: Clock
  readonly #onBroken: () => void
  readonly #names: NameCache = new Map()

  /** `onBroken` is called when rows had to be added behind a head record that is not ours. */
  constructor(records: Connection, chain: Chain, clock: Clock, onBroken: () => void) {
    this.#records = records
    this.#chain = chain
    this.#clock = clock
    this.#onBroken = onBroken
  }

  async append(rows: readonly Invocation[], owner?: string): Promise<void> {
    if (rows.length === 0) return
    const { names, intact } = await this.#write(rows, owner)
    if (this.#names.size + names.size > MOST_NAMES) this.#names.clear()
    for (const [key, id] of names) this.#names.set(key, id)
    if (!intact) this.#onBroken()
  }

  list(filter: InvocationFilter): Promise<RecordedInvocation[]> {
    return listRows(this.#records, filter)
  }

  usage(filter: UsageFilter): Promise<Usage[]> {
    return usageBy(this.#records, filter)
  }

  patterns(filter: PatternFilter): Promise<ErrorPattern[]> {
    return errorPatterns(this.#records, filter)
  }

  verify(): Promise<Verification> {
    return verifyChain(this.#records, this.#chain)
  }

  prune(before: number): Promise<number> {
    return pruneRows(this.#records, this.#chain, before)
  }

  // --- internal ---

  /** Ids are hardly ever there already, so each is looked for only when one proves to be. */
  async #write(rows: readonly Invocation[], owner: string | undefined): Promise<Appended> {
    const charging = { owner, clock: this.#clock }
    try {
      return await this.#records.write((session) =>
        appendRows(session, this.#chain, this.#names, rows, charging),
      )
    } catch (error) {
      if (!isDuplicate(error)) throw error
      return this.#records.write((session) =>
        appendRows(session, this.#chain, this.#names, unknownOnly(session, rows), charging),
      )
    }
  }
}

/** Whoever calls may make names up, and memory must not grow with them. */
const MOST_NAMES = 10_000
