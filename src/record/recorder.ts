// One row for every call, whatever happens to this process. A call is in the journal before it is sent and when it has
// ended, and in the store a moment later, many at once.

import { setImmediate as breathe } from 'node:timers/promises'
import { Fault } from '../base/fault.ts'
import { Numbered } from '../base/numbered.ts'
import { prepareFolder } from '../base/places.ts'
import type { Invocations } from '../store/invocation.ts'
import { Journal, type Write } from './journal.ts'
import { beginLine, type CallEnd, type CallStart, endLine, toInvocation } from './line.ts'
import { appendEnded, type Recovered, recoverOrphans } from './recover.ts'

export type { CallEnd, CallStart }

export interface RecorderOptions {
  readonly store: { readonly invocations: Invocations }
  /** Where journals are; ours alone. */
  readonly folder: string
  /** Told what a person should know. Must not throw. */
  onTrouble(message: string): void
  /** When ended calls go to the store: at so many, or after so long. */
  readonly batch?: { readonly rows: number; readonly milliseconds: number } | undefined
  /** How a line reaches its file; for tests of a full disk. */
  readonly write?: Write | undefined
}

export class Recorder {
  readonly recovered: Recovered
  readonly #options: RecorderOptions
  readonly #batch: { readonly rows: number; readonly milliseconds: number }
  readonly #open = new Numbered<CallStart>()
  #journal: Journal
  #rotateAt = ROTATE_BYTES
  #ticket = 0
  /** Ended and not yet in the store. */
  #pending: Ended[] = []
  /** Calls that have ended and are in the journal only. */
  #spilled = 0
  /** How long to wait before the store is tried again; 0 while it works. */
  #pause = 0
  #timer: NodeJS.Timeout | undefined
  #soon = false
  #draining: Promise<void> | undefined
  #closing: Promise<void> | undefined

  /** Records what dead processes left, then takes calls. A store that fails is told of and does not stop it. */
  static async open(options: RecorderOptions): Promise<Recorder> {
    const { store, folder, onTrouble } = options
    prepareFolder(folder)
    let recovered: Recovered = { ended: 0, unknown: 0 }
    try {
      recovered = await recoverOrphans(store.invocations, folder)
    } catch (error) {
      onTrouble(`calls of an earlier run stay in ${folder} until the next start: ${reason(error)}`)
    }
    return new Recorder(options, recovered)
  }

  /** Use `Recorder.open`. */
  private constructor(options: RecorderOptions, recovered: Recovered) {
    this.#options = options
    this.#batch = options.batch ?? { rows: 256, milliseconds: 100 }
    this.recovered = recovered
    this.#journal = this.#newJournal()
  }

  /** To be called before the call is sent. Throws a Fault when that cannot be written; the caller decides what may go on. */
  begin(start: CallStart): number {
    if (this.#closing !== undefined) throw new Fault('CLOSED', 'the record of calls was closed')
    const ticket = ++this.#ticket
    try {
      this.#journal.append(beginLine(ticket, start))
    } catch (error) {
      throw journalFault(this.#journal.path, error)
    }
    this.#open.set(ticket, start)
    return ticket
  }

  /** Once for each ticket; a second one is ignored. Survives this process when it returns. Never throws. */
  end(ticket: number, end: CallEnd): void {
    const start = this.#open.take(ticket)
    if (start === undefined) return
    let written = true
    try {
      this.#journal.append(endLine(ticket, end))
    } catch (error) {
      written = false
      this.#options.onTrouble(
        `${journalFault(this.#journal.path, error).message}; the call is kept in memory`,
      )
    }
    // What the journal holds need not fill the memory as well while the store is away.
    if (written && this.#pause > 0 && this.#pending.length >= MOST_HELD) this.#spilled += 1
    else this.#pending.push({ start, end })
    this.#schedule()
  }

  /** Tries to bring everything that has ended to the store. Never rejects: `onTrouble` is told. */
  async flush(): Promise<void> {
    await this.#draining
    await this.#drain()
  }

  /** What is still open was cancelled. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  // --- internal ---

  #newJournal(): Journal {
    const { folder, write } = this.#options
    try {
      return new Journal(folder, write)
    } catch (error) {
      throw journalFault(folder, error)
    }
  }

  #schedule(): void {
    if (this.#draining !== undefined) return
    if (this.#pause === 0 && this.#pending.length >= this.#batch.rows) {
      if (this.#soon) return
      this.#soon = true
      // Not now: whoever waits for the call's answer goes first.
      setImmediate(() => {
        this.#soon = false
        void this.#drain()
      })
    } else this.#timer ??= this.#later(this.#pause || this.#batch.milliseconds)
  }

  #later(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => void this.#drain(), milliseconds).unref()
  }

  /** One at a time; a second caller gets the first one's promise. */
  #drain(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#draining ??= this.#write().finally(() => {
      this.#draining = undefined
      if (this.#pending.length + this.#spilled > 0 && this.#closing === undefined) this.#schedule()
    })
    return this.#draining
  }

  async #write(): Promise<void> {
    const { invocations } = this.#options.store
    try {
      while (this.#pending.length > 0) {
        const rows = this.#pending.slice(0, this.#batch.rows)
        await invocations.append(rows.map(({ start, end }) => toInvocation(start, end)))
        this.#pause = 0
        this.#pending = this.#pending.slice(rows.length)
        if (this.#pending.length > 0) await breathe()
      }
      if (this.#spilled > 0) {
        await appendEnded(invocations, this.#journal.path)
        this.#spilled = 0
        this.#pause = 0
      }
      // More may have ended while the last part was under way; the journal is needed until that is written too.
      if (this.#pending.length === 0) this.#tidy()
    } catch (error) {
      if (this.#pause === 0)
        this.#options.onTrouble(
          `calls are kept in ${this.#journal.path} until the store works: ${reason(error)}`,
        )
      this.#pause = Math.min(LONGEST_PAUSE_MS, 2 * (this.#pause || this.#batch.milliseconds))
    }
  }

  /** Everything that has ended is in the store; the journal is needed for what is open only. */
  #tidy(): void {
    if (this.#open.size === 0) {
      if (this.#journal.size > 0) this.#journal.truncate()
    } else if (this.#journal.size > this.#rotateAt) this.#rotate()
  }

  /** The open calls stand in the new journal before the old one goes; both at once say nothing twice. */
  #rotate(): void {
    const next = this.#newJournal()
    try {
      next.append(
        this.#open
          .entries()
          .map(([ticket, start]) => beginLine(ticket, start))
          .join(''),
      )
    } catch (error) {
      next.remove()
      throw error
    }
    const old = this.#journal
    this.#journal = next
    this.#rotateAt = Math.max(ROTATE_BYTES, 2 * next.size)
    old.remove()
  }

  async #close(): Promise<void> {
    const now = Date.now()
    for (const [ticket, { startedAt }] of this.#open.entries())
      this.end(ticket, {
        duration: Math.max(0, now - startedAt),
        outcome: 'cancelled',
        code: 'CLOSED',
        resultBytes: 0,
      })
    await this.flush()
    clearTimeout(this.#timer)
    if (this.#pending.length + this.#spilled === 0) this.#journal.remove()
    else this.#journal.close()
  }
}

// --- internal ---

interface Ended {
  readonly start: CallStart
  readonly end: CallEnd
}

const ROTATE_BYTES = 4 * 1024 * 1024
const MOST_HELD = 10_000
const LONGEST_PAUSE_MS = 30_000

function journalFault(path: string, error: unknown): Fault {
  return new Fault('STORE_UNAVAILABLE', `${path} cannot be written: ${reason(error)}`, {
    hint: 'make room on the disk, or set BUSBAR_HOME to another folder',
    cause: error,
  })
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
