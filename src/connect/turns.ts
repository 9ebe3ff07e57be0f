// A server on one shared stream does not say which call a question of its belongs to. So that it can be told all the same,
// a call that may ask back is made while nobody else's is under way. What was seen to ask nothing goes side by side.

import type { Stop } from '../base/stop.ts'
import { Aftermath } from './aftermath.ts'
import type { Asker } from './asker.ts'
import { Habits } from './habits.ts'
import { abortable } from './pause.ts'

/** Whom a call is made for; undefined for all who cannot be asked. */
type Party = Asker | undefined

/** Says that a call is over. */
export type Leave = (how: 'answered' | 'given up') => void

interface Call {
  readonly party: Party
  readonly subject: string
  /** Milliseconds that it may take without a sign of life. */
  readonly idle: number
  /** Whether it may ask back, as far as was known when it began. */
  alone: boolean
  asked: boolean | 'doubtful'
  /** Questions of its that are not answered yet: meanwhile it does nothing but wait. */
  open: number
}

/** Milliseconds for which an answer waits for what was let in beside its call; never more than a sixth of what that may take. */
const MOST_BESIDE = 10_000

interface Waiting {
  readonly call: Call
  readonly go: () => void
}

export class Turns {
  readonly #server: string
  readonly #habits = new Habits()
  readonly aftermath: Aftermath = new Aftermath(this.#habits, () => this.#admit())
  readonly #inside = new Set<Call>()
  #waiting: Waiting[] = []
  /** Those who were answered, and whose servers do not know it yet. */
  readonly #goingOn = new Set<{ readonly party: Party; readonly done: () => void }>()
  #isOver = false

  /** Whether it is noted who calls: from when somebody can be asked. */
  watched = false
  /** Whether one waits for the other: where no stream says whom the server means. */
  taken = false

  constructor(server: string) {
    this.#server = server
  }

  /** Whether the server was seen to ask outside of calls: turns would not tell whom it means, so nobody waits for one. */
  get areOver(): boolean {
    return this.#isOver
  }

  end(): void {
    this.#isOver = true
    this.aftermath.clear()
  }

  /** Resolves when it may be sent. */
  async enter(subject: string, party: Party, idle: number, signal: Stop): Promise<Leave> {
    const call: Call = { party, subject, idle, alone: false, asked: false, open: 0 }
    const isNext = this.#waiting.length === 0 || this.#isOwn(party) || this.#mayPass(call)
    if (isNext && this.#mayEnter(call)) this.#begin(call)
    else await this.#turn(call, signal)
    return (how) => this.#leave(call, how)
  }

  /**
   * A question came that is for this one: whatever is under way for it may have asked. The returned function says that it
   * was answered, and resolves when the server may be told: what was let in meanwhile must not be taken for its next question.
   */
  asked(party: Party): () => Promise<void> | undefined {
    const calls = [...this.#inside].filter((call) => call.party === party)
    for (const call of calls) {
      call.asked = true
      call.alone = true
      call.open += 1
    }
    this.#hurry()
    this.#admit()
    return () => this.#goOn(calls)
  }

  /** A question came, and nobody can tell whom it is for. */
  doubted(): void {
    for (const call of this.#inside) call.asked ||= 'doubtful'
  }

  // --- internal ---

  #mayEnter({ party, subject }: Call): boolean {
    if (this.#isOver || !this.taken) return true
    const alone = this.#habits.mayAsk(subject)
    if (this.#goesBeside(party, alone)) return true
    for (const other of this.#inside) if (other.party !== party && (alone || other.alone)) return false
    return !this.#isHeldUp(party, alone)
  }

  /**
   * Whether it may go beside a call that waits for an answer of its client: it is expected to ask nothing, or its client
   * cannot be asked. Should a question come all the same, nobody is asked.
   */
  #goesBeside(party: Party, alone: boolean): boolean {
    if (alone && party !== undefined) return false
    for (const other of this.#inside) if (other.party !== party && other.open > 0) return true
    return false
  }

  /** Whether a call must wait because others may still be meant whose calls are over. */
  #isHeldUp(party: Party, alone: boolean): boolean {
    return alone && party !== undefined && this.aftermath.other(party.client) !== undefined
  }

  /** Whether it delays nobody who came before it: the first of them waits for a client, or for time to pass. */
  #mayPass({ party, subject }: Call): boolean {
    const first = this.#waiting[0]?.call
    const alone = this.#habits.mayAsk(subject)
    if (this.#goesBeside(party, alone)) return true
    if (first === undefined || alone) return false
    return this.#isHeldUp(first.party, this.#habits.mayAsk(first.subject))
  }

  /** Tells those whom everybody waits for. */
  #hurry(): void {
    if (this.#waiting.length === 0) return
    for (const { party, open } of this.#inside) if (open > 0) party?.awaited?.()
  }

  /** A question is answered: who waits from now on waits for the whole call, and the answer for who was let in beside it. */
  #goOn(calls: readonly Call[]): Promise<void> | undefined {
    for (const call of calls) call.open -= 1
    const [own] = calls
    if (own === undefined || this.#areAlone(own.party)) return undefined
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#goingOn.delete(going)
        resolve()
      }
      const timer = setTimeout(done, Math.min(MOST_BESIDE, own.idle / 6)).unref()
      const going = { party: own.party, done }
      this.#goingOn.add(going)
    })
  }

  #areAlone(party: Party): boolean {
    for (const call of this.#inside) if (call.party !== party) return false
    return true
  }

  /** Whether everything under way is for the same one: then it may go on, although others wait. */
  #isOwn(party: Party): boolean {
    return this.#inside.size > 0 && this.#areAlone(party)
  }

  #begin(call: Call): void {
    call.alone = this.#habits.mayAsk(call.subject)
    this.#inside.add(call)
  }

  async #turn(call: Call, signal: Stop): Promise<void> {
    let go: (() => void) | undefined
    const turn = new Promise<void>((resolve) => {
      go = resolve
    })
    const waiting: Waiting = { call, go: () => go?.() }
    this.#waiting.push(waiting)
    this.#hurry()
    try {
      await abortable(turn, signal, this.#server)
    } catch (error) {
      this.#waiting = this.#waiting.filter((it) => it !== waiting)
      // It may have been its turn in the very same moment.
      this.#leave(call, 'given up')
      throw error
    }
  }

  #leave(call: Call, how: 'answered' | 'given up'): void {
    const { subject, party, idle, asked } = call
    if (this.#inside.delete(call) && (how === 'answered' || asked === true)) {
      this.#habits.called(subject, asked)
      if (how === 'answered') this.aftermath.answered({ subject, client: party?.client, idle })
    }
    for (const going of this.#goingOn) if (this.#areAlone(going.party)) going.done()
    this.#admit()
  }

  /** Lets in whose turn it is. */
  #admit(): void {
    for (const waiting of [...this.#waiting]) {
      const isNext = waiting === this.#waiting[0] || this.#mayPass(waiting.call)
      if (!isNext || !this.#mayEnter(waiting.call)) continue
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
      this.#begin(waiting.call)
      waiting.go()
    }
  }
}
