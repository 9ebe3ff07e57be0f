// A legacy server asks in the middle of a request; a modern client is asked in the answer, and asks again with what the
// server wanted to know. Until then the request is parked: it stays under way with the server, and nobody waits for it.

import { keyFor } from '../base/sealed.ts'
import { type Actor, agentOf } from '../policy/access.ts'
import { ASKING_METHODS, META } from '../wire/era.ts'
import { param } from '../wire/params.ts'
import type { Asked } from './asked.ts'
import { type Lot, ParkedCall } from './parked-call.ts'
import type { Answered } from './pass.ts'
import type { Forwarding } from './questions.ts'
import { digestOf, factsOf, type Over, openState, returning, sealState } from './request-state.ts'
import { askableOf, canBeAsked } from './session-id.ts'
import { refusal, step } from './translation.ts'
import { CALLS, type CallEvent, type CallState, MOST_PARKED } from './translation-calls.ts'

const MOST_OVER = 10_000

/** What the client is told before the answer: what to ask, and what to come back with. */
interface Inputs {
  readonly inputRequests: Readonly<Record<string, object>>
  readonly requestState: string
}

export interface ParkingOptions {
  readonly key: Buffer
  readonly forwarding: Forwarding
  /** Milliseconds for which a client may think about an answer. */
  readonly patience: () => number
  /** The same where others wait for the server meanwhile. */
  readonly shortPatience: (server: string) => number
}

interface Parked {
  readonly call: ParkedCall
  /** Epoch milliseconds. */
  readonly since: number
  timer: NodeJS.Timeout | undefined
}

export class Parking implements Lot {
  readonly #key: Buffer
  readonly #forwarding: Forwarding
  readonly #patience: () => number
  readonly #shortPatience: (server: string) => number
  readonly #parked = new Map<string, Parked>()
  /** What became of states that are worth nothing any more, so that who comes with one is told so. */
  readonly #over = new Map<string, Over>()

  constructor({ key, forwarding, patience, shortPatience }: ParkingOptions) {
    this.#key = keyFor('parked calls', key)
    this.#forwarding = forwarding
    this.#patience = patience
    this.#shortPatience = shortPatience
  }

  /**
   * The call that its client comes back to now, or a new one; undefined when it can be asked nothing. Throws when it may not.
   * `gives`: whether its server gives states of its own, as modern ones do.
   */
  callOf(asked: Asked, server: string, gives: boolean): ParkedCall | undefined {
    if (!ASKING_METHODS.has(asked.message.method)) return undefined
    const returned = this.#returned(asked)
    // With nothing in it that anybody gave out, it would be made as if it had never been asked about.
    if (returned === undefined && !gives && param(asked.params, 'requestState') !== undefined)
      refuse('new', 'comes back with a forged state')
    if (returned) return returned
    const askable = askableOf(asked.params.meta?.[META.capabilities])
    if (!canBeAsked(askable)) return undefined
    if (this.#isFull(asked)) refuse('new', 'begins as one too many')
    return new ParkedCall({ server, forwarding: this.#forwarding, lot: this })
  }

  /** What the server answers to a request, or what its client is asked first. `forward` is called for a new call only. */
  async reached(
    call: ParkedCall,
    asked: Asked,
    forward: () => Promise<Answered>,
  ): Promise<Answered | Inputs> {
    const reached = await (call.state === 'new' ? call.begins(asked, forward) : call.comesBack(asked))
    return reached === 'asked' ? this.#inputsFor(call, asked) : reached
  }

  enter(call: ParkedCall): void {
    const parked: Parked = { call, since: Date.now(), timer: undefined }
    this.#parked.set(call.id, parked)
    this.#expect(parked)
  }

  awaited(call: ParkedCall): void {
    const parked = this.#parked.get(call.id)
    if (parked) this.#expect(parked)
  }

  leave(call: ParkedCall, how: Over): void {
    call.isAwaited = false
    clearTimeout(this.#parked.get(call.id)?.timer)
    this.#parked.delete(call.id)
    const [oldest] = this.#over.keys()
    if (this.#over.size >= MOST_OVER && oldest !== undefined) this.#over.delete(oldest)
    this.#over.set(`${call.id} ${call.round}`, how)
  }

  /** Whether it is about a call that is parked here; whether it is right, `callOf` tells. */
  has(asked: Asked): boolean {
    if (!ASKING_METHODS.has(asked.message.method)) return false
    const claims = openState(asked, this.#key)
    return claims !== undefined && claims !== 'forged' && this.#parked.has(claims.id)
  }

  /** How many keep a server busy while nobody is there who could answer. */
  get unattended(): number {
    return this.#unattended().length
  }

  /** Ends those, in the name of whoever is not there. */
  endUnattended(): void {
    for (const call of this.#unattended()) call.tell('end for good')
  }

  /** Ends those that nobody may come back to. */
  recheck(isKnown: (actor: Actor) => boolean): void {
    for (const { call } of [...this.#parked.values()])
      if (!isKnown(call.asked.actor)) call.tell('end for good')
  }

  close(): void {
    for (const { call } of [...this.#parked.values()]) call.tell('end for good')
  }

  // --- internal ---

  /** Ends it when its time is over; sooner, when the server is wanted by others and not through with it. */
  #expect(parked: Parked): void {
    const { call, since } = parked
    const patience = this.#patience()
    const isShort = call.isAwaited && call.state === 'parked' && this.#shortPatience(call.server) < patience
    const end = () => {
      if (!isShort) call.tell('time is over')
      else if (call.state === 'parked') call.tell('gives way')
      else this.#expect(parked)
    }
    clearTimeout(parked.timer)
    const until = since + (isShort ? this.#shortPatience(call.server) : patience)
    parked.timer = setTimeout(end, until - Date.now()).unref()
  }

  #inputsFor({ id, round, inputRequests }: ParkedCall, asked: Asked): Inputs {
    const until = Date.now() + this.#patience()
    const claims = { id, round, agent: agentOf(asked.actor), digest: digestOf(asked), until }
    return { inputRequests, requestState: sealState(claims, this.#key) }
  }

  #isFull({ actor }: Asked): boolean {
    if (this.#parked.size < MOST_PARKED) return false
    const own = [...this.#parked.values()].filter(({ call }) => call.agent === agentOf(actor))
    return own.length >= MOST_PARKED
  }

  /** Undefined when the client does not speak of a call of ours. */
  #returned(asked: Asked): ParkedCall | undefined {
    const claims = openState(asked, this.#key)
    if (claims === undefined) return undefined
    if (claims === 'forged') return refuse('new', 'comes back with a forged state')
    const { call } = this.#parked.get(claims.id) ?? {}
    const over = this.#over.get(`${claims.id} ${claims.round}`)
    const event = returning(claims, { ...factsOf(asked), now: Date.now(), round: call?.round, over })
    return event === 'comes back' ? call : refuse(call?.state ?? 'new', event)
  }

  /** Over HTTP nobody waits; on a line the client is there until that ends. */
  #unattended(): ParkedCall[] {
    const calls = [...this.#parked.values()].map(({ call }) => call)
    return calls.filter(({ state, asked }) => state === 'parked' && asked.session?.closed !== false)
  }
}

// --- internal ---

const ERAS = { client: 'modern', server: 'legacy' } as const

/** What the table says about a request that does not become a call. */
function refuse(state: CallState, event: CallEvent): undefined {
  for (const effect of step(CALLS, state, event, ERAS).effects)
    if (typeof effect === 'object') throw refusal(effect)
  throw new Error(`${event} is not refused`)
}
