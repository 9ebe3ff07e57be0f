// One request of a modern client that may have to be asked something first, whoever waits for it at the moment. What
// becomes of it says the table; here it is done.

import { randomHex } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { Stopper } from '../base/stop.ts'
import type { Asker } from '../connect/asker.ts'
import { agentOf } from '../policy/access.ts'
import { META } from '../wire/era.ts'
import { find, type Id, type ReplyMessage, readMessage } from '../wire/message.ts'
import type { RawParams } from '../wire/params.ts'
import { scanObject } from '../wire/scan.ts'
import { type Asked, callerOf, clientOf } from './asked.ts'
import { isHeard } from './levels.ts'
import type { Answered } from './pass.ts'
import { type Forwarding, forwardQuestion, type Question } from './questions.ts'
import type { Over } from './request-state.ts'
import { askableOf } from './session-id.ts'
import { type Eras, step } from './translation.ts'
import { CALLS, type CallEffect, type CallEvent, type CallState } from './translation-calls.ts'

/** Where calls are kept that nobody waits for. */
export interface Lot {
  enter(call: ParkedCall): void
  leave(call: ParkedCall, how: Over): void
  /** Others wait for its server until it is over. */
  awaited(call: ParkedCall): void
}

interface Surroundings {
  readonly server: string
  readonly forwarding: Forwarding
  readonly lot: Lot
}

/** What a request of the client comes to: the answer, or that it has to be asked first. */
type Reached = Answered | 'asked'

/** What the server did in the end. */
type Outcome = { readonly answered: Answered } | { readonly error: unknown }

/** A request of the client that waits. */
interface Leg {
  resolve(reached: Reached): void
  reject(error: unknown): void
}

interface Open {
  readonly request: object
  readonly question: Question
}

export class ParkedCall {
  readonly id: string = randomHex(16)
  /** Tells the server that nobody wants its answer any more. */
  readonly stop: Stopper = new Stopper()
  /** The one through whom the server asks. */
  readonly asker: Asker
  readonly server: string
  /** How often its client was asked. */
  round = 0
  /** Whether others wait for the server until its client has answered. */
  isAwaited = false
  #state: CallState = 'new'
  readonly #lot: Lot
  #asked: Asked | undefined
  #leg: Leg | undefined
  #outcome: Outcome | undefined
  /** Ends listening to the connection and the session of the request. */
  #detach: () => void = () => undefined
  #next = 1
  readonly #expected = new Map<Id, Question>()
  readonly #open = new Map<Id, Open>()

  constructor({ server, forwarding, lot }: Surroundings) {
    this.#lot = lot
    this.server = server
    const client = () => clientOf(this.asked)
    this.asker = {
      get client() {
        return client()
      },
      canAnswer: true,
      question: (message, stop) => {
        const { asked } = this
        return forwardQuestion(forwarding, {
          server,
          client: 'modern',
          caller: callerOf(asked),
          askable: askableOf(asked.params.meta?.[META.capabilities]),
          message,
          stop,
          id: this.#next++,
          show: (body) => this.#show(body),
          expect: (id, question) => void this.#expected.set(id, question),
          forget: (id) => {
            this.#expected.delete(id)
            this.#open.delete(id)
          },
        })
      },
      remark: (message) => {
        const { reply, params } = this.asked
        if (isHeard(message, params.meta)) reply.notify(message.bytes)
      },
      awaited: () => {
        this.isAwaited = true
        this.#lot.awaited(this)
      },
    }
  }

  get state(): CallState {
    return this.#state
  }

  /** The request that its client waits for at the moment, or did last. */
  get asked(): Asked {
    if (this.#asked === undefined) throw new Error('a call without a request')
    return this.#asked
  }

  get agent(): string {
    return agentOf(this.asked.actor)
  }

  get inputRequests(): Record<string, object> {
    return Object.fromEntries([...this.#open].map(([id, { request }]) => [`q${id}`, request]))
  }

  /** A new one. `forward` is called at once, and gives what the server answers. */
  begins(asked: Asked, forward: () => Promise<Answered>): Promise<Reached> {
    const reached = this.#attend(asked)
    const effects = this.#step('begins', LEGACY)
    if (asked.gone.aborted) this.tell('client leaves')
    for (const effect of effects) if (effect === 'forward') void forward().then(this.#answered, this.#failed)
    return reached
  }

  /** Its client asks again, with answers to some of what it was asked. */
  comesBack(asked: Asked): Promise<Reached> {
    const reached = this.#attend(asked)
    this.tell('comes back')
    if (asked.gone.aborted) this.tell('client leaves')
    return reached
  }

  /** Something happened. False when a question cannot be put to its client any more. */
  tell(event: CallEvent, eras: Eras = LEGACY): boolean {
    const before = this.#state
    const effects = this.#step(event, eras)
    if (isParked(before) && !isParked(this.#state)) this.#lot.leave(this, overBy(event))
    for (const effect of effects) this.#carryOut(effect, event)
    if (this.#state === 'ended') this.#end()
    return !effects.includes('decline question')
  }

  // --- internal ---

  readonly #answered = (answered: Answered): void => {
    if (this.#state !== 'ended') this.#outcome = { answered }
    const eras = { client: 'modern', server: answered.era } as const
    this.tell(answered.asks ? 'question in the answer' : 'answer', eras)
  }

  readonly #failed = (error: unknown): void => {
    if (this.#state !== 'ended') this.#outcome = { error }
    this.tell('failure')
  }

  #step(event: CallEvent, eras: Eras): readonly CallEffect[] {
    const { next, effects } = step(CALLS, this.#state, event, eras)
    this.#state = next
    return effects
  }

  #carryOut(effect: CallEffect, event: CallEvent): void {
    switch (effect) {
      case 'ask in the answer':
        this.round += 1
        this.#lot.enter(this)
        this.#leg?.resolve('asked')
        break
      case 'resume':
        this.#resume()
        break
      case 'answer':
      case 'fail':
      case 'hand over':
        this.#settle()
        break
      case 'cancel':
        this.#giveUp(event === 'time is over' || event === 'gives way' ? LATE : GONE)
        this.stop.abort()
        break
      // What the server does is kept in any case; and who asks in vain hears so from whom they asked.
      case 'keep':
      case 'drop':
      case 'decline question':
      case 'forward':
      case 'push and ask again':
        break
      default:
        throw new Error(`${effect.refuse} is for whom speaks of this call, not for the call`)
    }
  }

  /** A request of the client waits from now on. */
  #attend(asked: Asked): Promise<Reached> {
    this.#detach()
    this.#asked = asked
    const { gone, session, message, reply } = asked
    const leaves = () => void this.tell('client leaves')
    const begun = session?.begin(message.id, reply, this.server)
    begun?.addEventListener('abort', () => void this.tell('client cancels'))
    gone.addEventListener('abort', leaves)
    this.#detach = () => {
      gone.removeEventListener('abort', leaves)
      if (begun) session?.finish(message.id, begun)
    }
    return new Promise<Reached>((resolve, reject) => {
      this.#leg = { resolve, reject }
    })
  }

  #settle(): void {
    if (this.#outcome === undefined) throw new Error('a call that ended with nothing')
    if ('answered' in this.#outcome) this.#leg?.resolve(this.#outcome.answered)
    else this.#leg?.reject(this.#outcome.error)
  }

  #resume(): void {
    const answers = answersIn(this.asked.params)
    for (const [id, { question }] of [...this.#open]) {
      const reply = answers.get(`q${id}`)
      if (reply) question.tell('client answers', { reply })
      else question.tell('client comes back without an answer')
    }
  }

  #giveUp(reason: string): void {
    for (const question of [...this.#expected.values()]) question.tell('client is gone', { reason })
  }

  #end(): void {
    this.#detach()
    this.#giveUp(GONE)
    // Nobody waits; or who does has gone.
    this.#leg?.reject(new Fault('CALL_CANCELLED', `${this.asked.message.method} was cancelled`))
  }

  /** A question for the client: false when it cannot be asked any more. */
  #show(body: Buffer): boolean {
    const message = readMessage(body)
    const question = message.kind === 'request' ? this.#expected.get(message.id) : undefined
    if (message.kind !== 'request' || question === undefined) return false
    const { method, params } = JSON.parse(body.toString('utf8'))
    this.#open.set(message.id, { request: { method, params: params ?? {} }, question })
    return this.tell('question')
  }
}

// --- internal ---

const GONE = 'the client has gone'
const LATE = 'the client did not answer in time'
/** Who asks in the middle of a call does so in the older way. */
const LEGACY: Eras = { client: 'modern', server: 'legacy' }

function isParked(state: CallState): boolean {
  return state === 'parked' || state === 'kept'
}

function overBy(event: CallEvent): Over {
  if (event === 'comes back') return 'used'
  return event === 'gives way' ? 'gave way' : 'expired'
}

/** The answers by what they answer, each as if a client had sent it by itself. */
function answersIn(params: RawParams): Map<string, ReplyMessage> {
  const member = params.members.find(({ key }) => key === 'inputResponses')
  const bytes = member && params.bytes.subarray(member.start, member.end)
  const scan = bytes && scanObject(bytes)
  const found = new Map<string, ReplyMessage>()
  if (bytes === undefined || !scan?.ok) return found
  for (const { key } of scan.members) {
    const at = find(scan.members, key)
    const message = at && readMessage(Buffer.concat([START, bytes.subarray(at.start, at.end), END]))
    if (message?.kind === 'result') found.set(key, message)
  }
  return found
}

const START = Buffer.from('{"jsonrpc":"2.0","id":0,"result":')
const END = Buffer.from('}')
