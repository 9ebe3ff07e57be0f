// Who of an agent's conversations may ask a model now. Seats are given by the scheduler, as many as the regulator allows;
// nobody looks before something has changed: a seat is free, energy is there, or the time has come at which it must be.

import { type Level, type Pace, regulate, type Urgency } from './regulator.ts'
import { nextOf } from './scheduler.ts'

/** A conversation that wants to ask. What it tells may change while it waits. */
export interface Asker {
  readonly id: string
  readonly urgency: Urgency
  readonly snoozedUntil: number | undefined
}

export interface PacerOptions {
  /** Undefined where the agent's energy is unlimited. */
  energy(): Level | undefined
  /** Milliseconds until so much can be set aside for a call, Infinity when it never will; what others hold is not there. */
  enoughIn(amount: number): number
  /** Looks at what other processes did to the energy. Must not reject. */
  refresh(): Promise<void>
  /** Told when a conversation has to wait for energy, and for how long, once each time. */
  onPause(id: string, milliseconds: number): void
}

export interface Seat {
  readonly pace: Pace
  /** To be called once the model has answered; a second time is ignored. */
  leave(): void
}

interface Waiting {
  readonly asker: Asker
  readonly since: number
  pausing: boolean
  grant(seat: Seat): void
  refuse(error: unknown): void
}

interface Resting {
  /** Milliseconds until it can go on, as far as one knows now. */
  left(): number
  /** Not before, whatever there is; milliseconds of the clock that does not go back. */
  readonly earliest: number
  wake(): void
  refuse(error: unknown): void
}

export class Pacer {
  /** The conversation that the agent chose. */
  selected: string | undefined
  readonly #options: PacerOptions
  readonly #waiting = new Set<Waiting>()
  readonly #resting = new Set<Resting>()
  #model: 'normal' | 'cheap' = 'normal'
  #seated = 0
  #timer: NodeJS.Timeout | undefined
  #ended: Error | undefined

  constructor(options: PacerOptions) {
    this.#options = options
  }

  /** Waits for its turn. Rejects when the signal fires, or with what `close` was given. */
  take(asker: Asker, signal: AbortSignal): Promise<Seat> {
    return this.#enter<Seat, Waiting>(this.#waiting, signal, (grant, refuse) => ({
      asker,
      since: Date.now(),
      pausing: false,
      grant,
      refuse,
    }))
  }

  /** Waits until there is so much energy. */
  rest(level: number, signal: AbortSignal): Promise<void> {
    return this.#rest(() => this.#until(level), 0, signal)
  }

  /**
   * Waits until so much can be set aside, after that was refused. At least `pause` milliseconds: whoever refused and whoever
   * is asked here may not agree, and then nothing else in this process would ever have its turn again.
   */
  restForRoom(amount: number, pause: number, signal: AbortSignal): Promise<void> {
    return this.#rest(() => this.#options.enoughIn(amount), Math.max(LEAST, pause), signal)
  }

  /** How a conversation would go on now. */
  pace(urgency: Urgency): Pace {
    return regulate(this.#options.energy(), urgency, { model: this.#model, pausing: false })
  }

  /** Something may have changed. */
  look(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#ended) return
    const energy = this.#options.energy()
    const now = performance.now()
    for (const one of [...this.#resting]) if (now >= one.earliest && one.left() <= 0) one.wake()
    while (this.#seatOne(energy));
    this.#wait(energy)
  }

  close(reason: Error): void {
    this.#ended = reason
    clearTimeout(this.#timer)
    for (const one of [...this.#waiting, ...this.#resting]) one.refuse(reason)
  }

  // --- internal ---

  #rest(left: () => number, pause: number, signal: AbortSignal): Promise<void> {
    const earliest = performance.now() + pause
    return this.#enter<void, Resting>(this.#resting, signal, (wake, refuse) => ({
      left,
      earliest,
      wake,
      refuse,
    }))
  }

  /** Milliseconds until there is so much. */
  #until(level: number): number {
    const energy = this.#options.energy()
    const missing = energy === undefined ? 0 : Math.min(level, energy.capacity) - energy.level
    if (energy === undefined || missing <= 0) return 0
    return energy.recovery > 0 ? (missing / energy.recovery) * 60_000 : Number.POSITIVE_INFINITY
  }

  #enter<T, W extends { refuse(error: unknown): void }>(
    all: Set<W>,
    signal: AbortSignal,
    make: (resolve: (value: T) => void, refuse: (error: unknown) => void) => W,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#ended) return reject(this.#ended)
      if (signal.aborted) return reject(signal.reason)
      const leave = () => {
        all.delete(one)
        signal.removeEventListener('abort', onAbort)
      }
      const onAbort = () => one.refuse(signal.reason)
      const one = make(
        (value) => {
          leave()
          resolve(value)
        },
        (error) => {
          leave()
          reject(error)
        },
      )
      signal.addEventListener('abort', onAbort, { once: true })
      all.add(one)
      this.look()
    })
  }

  /** Lets one go, if one may. */
  #seatOne(energy: Level | undefined): boolean {
    const candidates = [...this.#waiting].map((waiting) => {
      const { asker, since, pausing } = waiting
      const pace = regulate(energy, asker.urgency, { model: this.#model, pausing })
      return {
        waiting,
        pace,
        since,
        id: asker.id,
        urgency: asker.urgency,
        snoozedUntil: asker.snoozedUntil,
        selected: asker.id === this.selected,
        affordable: pace.pause === 0,
      }
    })
    const next = nextOf(candidates, Date.now())
    if (next === undefined || this.#seated >= next.pace.parallel) return false
    this.#seated += 1
    this.#model = next.pace.model
    let seated = true
    next.waiting.grant({
      pace: next.pace,
      leave: () => {
        if (!seated) return
        seated = false
        this.#seated -= 1
        this.look()
      },
    })
    return true
  }

  /** Comes back when the first of those who wait can go on; until then only if something changes. */
  #wait(energy: Level | undefined): void {
    let soonest = Number.POSITIVE_INFINITY
    for (const waiting of this.#waiting) {
      const { asker, pausing } = waiting
      const snoozed = (asker.snoozedUntil ?? 0) - Date.now()
      if (snoozed > 0) soonest = Math.min(soonest, snoozed)
      const { pause } = regulate(energy, asker.urgency, { model: this.#model, pausing })
      if (pause === 0) continue
      // Another process may give it energy at any time.
      soonest = Math.min(soonest, pause, REFRESH)
      if (pausing) continue
      waiting.pausing = true
      this.#options.onPause(asker.id, pause)
    }
    const now = performance.now()
    for (const { left, earliest } of this.#resting)
      soonest = Math.min(soonest, Math.max(left(), earliest - now), REFRESH)
    if (soonest === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(() => void this.#again(), Math.min(Math.max(LEAST, soonest), LONGEST))
  }

  async #again(): Promise<void> {
    await this.#options.refresh()
    this.look()
  }
}

// --- internal ---

/** Milliseconds. */
const REFRESH = 30_000
/** Rounding must not make it come back before there is anything to see. */
const LEAST = 20
/** More than a timer can wait; it would come at once. */
const LONGEST = 2 ** 31 - 1
