// One row for every call, whatever happens to this process. A call is in the journal before it is sent and when it has
// ended, and in the store a moment later, many at once.

import { setImmediate as breathe } from 'node:timers/promises'
import { Fault } from '../base/fault.ts'
import { prepareFolder } from '../base/places.ts'
import { newMarker } from '../connect/process/marker.ts'
import { EndedCalls } from './ended.ts'
import { Journal, type Write } from './journal.ts'
import { beginLine, type CallEnd, type CallStart, endLine, OpenCall } from './line.ts'
import { OpenCalls } from './open-calls.ts'
import { appendEnded, type RecordStore, type Recovered, recoverOrphans } from './recover.ts'
import { Tally } from './tally.ts'

export type { CallEnd, CallStart, OpenCall }

/** Somebody who goes on when what was said is written down, or is told why it is not. Must not throw. */
export interface WriteWaiting {
  written(fault: Fault | undefined): void
}

export interface RecorderOptions {
  readonly store: RecordStore
  /** Where journals are; ours alone. */
  readonly folder: string
  /** Told what a person should know. Must not throw. */
  onTrouble(message: string): void
  /** What is kept of a result that was said. */
  readonly summary?: ((said: string) => string) | undefined
  /** When ended calls go to the store; see BATCH. */
  readonly batch?: Batch | undefined
  /** How a line reaches its file; for tests of a full disk. */
  readonly write?: Write | undefined
}

export class Recorder {
  readonly recovered: Recovered
  /** A mark of this process that is this recorder's alone; what its calls cost is taken from its lease of energy. */
  readonly owner: string = newMarker()
  readonly tally: Tally = new Tally()
  /** Told of each call that has ended, once it is written down. */
  readonly ended: EndedCalls = new EndedCalls()
  readonly #options: RecorderOptions
  readonly #batch: Batch
  readonly #open = new OpenCalls()
  #journal: Journal
  #journals = 0
  #rotateAt = ROTATE_BYTES
  #ticket = 0
  /** Whether something was said in this turn, which is written at its end: what has begun, and what has ended. */
  #hasSaid = false
  #begun: OpenCall[] = []
  #ended: OpenCall[] = []
  /** How many calls in a row did not wait for the end of the turn. */
  #hurried = 0
  #saying: Promise<Fault | undefined> | undefined
  #said: ((fault: Fault | undefined) => void) | undefined
  #waiting: WriteWaiting[] = []
  /** Ended and not yet in the store. */
  #pending: OpenCall[] = []
  /** Calls that have ended and are in the journal only. */
  #spilled = 0
  /** Bytes of answers that the pending hold. */
  #held = 0
  /** How many had ended when the timer was set, and when the oldest of them did. */
  #seen = 0
  #oldest = 0
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
      recovered = await recoverOrphans(store, folder)
    } catch (error) {
      onTrouble(`calls of an earlier run stay in ${folder} until the next start: ${reason(error)}`)
    }
    return new Recorder(options, recovered)
  }

  /** Use `Recorder.open`. */
  private constructor(options: RecorderOptions, recovered: Recovered) {
    this.#options = options
    this.#batch = options.batch ?? BATCH
    this.recovered = recovered
    this.#journal = this.#newJournal()
  }

  /**
   * To be called before the call is sent, which must wait for `written`, or until `waiting` is told. Throws only when the
   * recorder is closed.
   */
  begin(start: CallStart, waiting?: WriteWaiting): OpenCall {
    if (this.#closing !== undefined) throw new Fault('CLOSED', 'the record of calls was closed')
    const call = new OpenCall(++this.#ticket, start)
    this.#open.add(call)
    this.#begun.push(call)
    this.#say(waiting)
    return call
  }

  /** Once for each call; a second one is ignored. Whoever tells the outcome to others waits in the same way first. */
  end(call: OpenCall, end: CallEnd, waiting?: WriteWaiting): void {
    // It was ended by somebody else: by the recorder, when it was closed.
    if (!this.#open.remove(call)) void this.written().then((fault) => waiting?.written(fault))
    else {
      call.end = end
      this.#ended.push(call)
      this.#say(waiting)
    }
  }

  /**
   * Resolves when all that was said so far survives this process, or with why it does not. Calls of one turn share one
   * write. What has ended is then kept in memory; what is about to begin is up to whoever makes the call.
   */
  written(): Promise<Fault | undefined> {
    if (!this.#hasSaid) return DONE
    this.#saying ??= new Promise((resolve) => {
      this.#said = resolve
    })
    return this.#saying
  }

  /** Tries to bring everything that has ended to the store. Never rejects: `onTrouble` is told. */
  async flush(): Promise<void> {
    await this.#draining
    this.#writeLines()
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
      return new Journal(folder, this.owner, this.#journals++, write)
    } catch (error) {
      throw journalFault(folder, error)
    }
  }

  #say(waiting: WriteWaiting | undefined): void {
    if (!this.#hasSaid) this.#writeSoon()
    this.#hasSaid = true
    if (waiting === undefined) return
    // Behind those who wait for a promise and came before: calls are sent in the order in which they were made.
    if (this.#saying) void this.#saying.then((fault) => waiting.written(fault))
    else this.#waiting.push(waiting)
  }

  /**
   * Not at once: what came on all connections in this turn of the loop is one write. A call that is alone need not wait, but
   * one after the other that is refused at once must not keep timers and connections from their turn.
   */
  #writeSoon(): void {
    this.#hurried = this.#open.size > 1 ? 0 : this.#hurried + 1
    if (this.#hurried % MOST_HURRIED === 0) setImmediate(this.#writeLines)
    else void DONE.then(this.#writeLines)
  }

  readonly #writeLines = (): void => {
    if (!this.#hasSaid) return
    const begun = this.#begun
    const ended = this.#ended
    const said = this.#said
    const waiting = this.#waiting
    this.#hasSaid = false
    this.#begun = []
    this.#ended = []
    this.#saying = undefined
    this.#said = undefined
    this.#waiting = []
    let fault: Fault | undefined
    try {
      // What began and ended in one turn stands in that order.
      let lines = ''
      for (const { ticket, start } of begun) lines += beginLine(ticket, start)
      for (const { ticket, end } of ended) lines += endLine(ticket, end)
      this.#journal.append(lines)
    } catch (error) {
      fault = journalFault(this.#journal.path, error)
      if (ended.length > 0)
        this.#options.onTrouble(`${fault.message}; what has ended is kept in memory until the store has it`)
    }
    // What the journal holds need not fill the memory as well while the store is away.
    if (!fault && this.#pause > 0 && this.#pending.length >= MOST_HELD) this.#spilled += ended.length
    else this.#hold(ended)
    if (ended.length > 0) this.#schedule()
    said?.(fault)
    for (const { start, end } of ended) this.tally.add(start.names.server, end.outcome, end.duration)
    this.ended.tell(ended)
    for (const one of waiting) one.written(fault)
  }

  #hold(ended: readonly OpenCall[]): void {
    if (this.#pending.length === 0) this.#oldest = performance.now()
    for (const call of ended) {
      this.#pending.push(call)
      this.#held += call.end.resultBytes
    }
  }

  #schedule(): void {
    if (this.#draining !== undefined) return
    const { rows, bytes = BATCH.bytes, milliseconds } = this.#batch
    if (this.#pause === 0 && (this.#pending.length >= rows || this.#held >= bytes)) {
      if (this.#soon) return
      this.#soon = true
      // Not now: whoever waits for the call's answer goes first.
      setImmediate(() => {
        this.#soon = false
        void this.#drain()
      })
    } else this.#timer ??= this.#later(this.#pause || milliseconds)
  }

  #later(milliseconds: number): NodeJS.Timeout {
    this.#seen = this.#ticket
    return setTimeout(this.#onTime, milliseconds).unref()
  }

  readonly #onTime = (): void => {
    const { milliseconds, longest = BATCH.longest } = this.#batch
    const isBusy = this.#seen !== this.#ticket && performance.now() - this.#oldest < longest
    // In the middle of a burst of calls their rows can wait; they are in the journal.
    if (isBusy && this.#pause === 0) this.#timer = this.#later(milliseconds)
    else void this.#drain()
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
    const { store, summary = asIs } = this.#options
    const { invocations } = store
    try {
      while (this.#pending.length > 0) {
        const rows = this.#pending.slice(0, ROWS_AT_ONCE)
        await invocations.append(
          rows.map((call) => call.row(summary)),
          this.owner,
        )
        this.#pause = 0
        this.#pending = this.#pending.slice(rows.length)
        this.#held = 0
        if (this.#pending.length > 0) await breathe()
      }
      if (this.#spilled > 0) {
        await appendEnded(invocations, this.#journal.path)
        this.#spilled = 0
        this.#pause = 0
      }
      // More may have ended while the last part was under way; the journal is needed until that is written too.
      if (this.#pending.length + this.#ended.length === 0) this.#tidy()
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
          .all()
          .map(({ ticket, start }) => beginLine(ticket, start))
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
    for (const call of this.#open.all())
      this.end(call, {
        duration: Math.max(0, now - call.start.startedAt),
        outcome: 'cancelled',
        code: 'CLOSED',
        energy: call.start.reserved,
        resultBytes: 0,
      })
    await this.flush()
    clearTimeout(this.#timer)
    if (this.#pending.length + this.#spilled > 0) return this.#journal.close()
    this.#journal.remove()
    try {
      await this.#options.store.energy.release([this.owner])
    } catch (error) {
      // The next start does it.
      this.#options.onTrouble(`energy that was set aside stays so until the next start: ${reason(error)}`)
    }
  }
}

// --- internal ---

const DONE: Promise<undefined> = Promise.resolve(undefined)
interface Batch {
  /** So many at the latest. */
  readonly rows: number
  /** After so long without another call. */
  readonly milliseconds: number
  /** After so long at the latest. */
  readonly longest?: number
  /** When answers of so many bytes are held. */
  readonly bytes?: number
}

const BATCH = { rows: 4096, milliseconds: 100, longest: 1000, bytes: 8 * 1024 * 1024 } as const

const MOST_HURRIED = 64

/** In one transaction; then other work has its turn. */
const ROWS_AT_ONCE = 256
const ROTATE_BYTES = 4 * 1024 * 1024
const MOST_HELD = 10_000
const LONGEST_PAUSE_MS = 30_000

function journalFault(path: string, error: unknown): Fault {
  return new Fault('STORE_UNAVAILABLE', `${path} cannot be written: ${reason(error)}`, {
    hint: 'make room on the disk, or set BUSBAR_HOME to another folder',
    cause: error,
  })
}

function asIs(text: string): string {
  return text
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
