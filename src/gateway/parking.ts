// A legacy server asks in the middle of a request; a modern client is asked in the answer, and asks again with what the
// server wanted to know. Until then the request is parked: it stays under way with the server, and nobody waits for it.

import { randomHex, sha256 } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { keyFor, seal, unseal } from '../base/sealed.ts'
import { Stopper } from '../base/stop.ts'
import { canonicalArguments } from '../call/arguments.ts'
import type { Asker } from '../connect/asker.ts'
import { agentOf } from '../policy/access.ts'
import { ASKING_METHODS, META } from '../wire/era.ts'
import { find, type Id, type ReplyMessage, readMessage } from '../wire/message.ts'
import { param, type RawParams, withoutParams } from '../wire/params.ts'
import { scanObject } from '../wire/scan.ts'
import { type Asked, callerOf } from './asked.ts'
import type { Answered } from './pass.ts'
import { type Forwarding, forwardQuestion, type Question } from './questions.ts'
import { type Askable, askableOf, canBeAsked } from './session-id.ts'

/** Milliseconds for which a client may think about an answer. */
const PATIENCE = 10 * 60_000
/** As many may be parked for one agent. */
const MOST = 256
const MOST_OVER = 10_000
const MARK = 'busbar.'

/** What the client is told before the answer: what to ask, and what to come back with. */
export interface Inputs {
  readonly inputRequests: Readonly<Record<string, object>>
  readonly requestState: string
}

export class Parking {
  readonly #key: Buffer
  readonly #forwarding: Forwarding
  readonly #patience: number
  readonly #parked = new Map<string, ParkedCall>()
  /** Those that were answered, so that who comes once more is told so. */
  readonly #over = new Set<string>()

  constructor(key: Buffer, forwarding: Forwarding, patience: number = PATIENCE) {
    this.#key = keyFor('parked calls', key)
    this.#forwarding = forwarding
    this.#patience = patience
  }

  /** The call that a client comes back to, or a new one; undefined when it can be asked nothing. Throws when it may not. */
  callOf(asked: Asked, server: string): ParkedCall | undefined {
    const { params, message } = asked
    if (!ASKING_METHODS.has(message.method)) return undefined
    const askable = askableOf(params.meta?.[META.capabilities])
    return this.#resumed(asked) ?? (canBeAsked(askable) ? this.#begun(asked, server, askable) : undefined)
  }

  /** Keeps a call whose client has been asked something. */
  park(call: ParkedCall): Inputs {
    this.#parked.set(call.id, call)
    call.until = setTimeout(() => {
      this.#parked.delete(call.id)
      call.giveUp()
    }, this.#patience).unref()
    const claims = [call.id, call.agent, call.digest, call.round, Date.now() + this.#patience]
    return { inputRequests: call.inputRequests, requestState: `${MARK}${seal(claims, this.#key)}` }
  }

  close(): void {
    for (const call of this.#parked.values()) {
      clearTimeout(call.until)
      call.giveUp()
    }
    this.#parked.clear()
  }

  // --- internal ---

  /** A request that may have to wait for its client. */
  #begun(asked: Asked, server: string, askable: Askable): ParkedCall {
    const own = [...this.#parked.values()].filter(({ agent }) => agent === agentOf(asked.actor))
    if (own.length >= MOST)
      throw new Fault('GATEWAY_LIMIT', `${MOST} calls wait for answers of this agent's client`)
    return new ParkedCall(asked, server, askable, this.#forwarding)
  }

  /** Undefined when the client does not speak of a call of ours. */
  #resumed(asked: Asked): ParkedCall | undefined {
    const state = param(asked.params, 'requestState')
    if (typeof state !== 'string' || !state.startsWith(MARK)) return undefined
    const claims = unseal(state.slice(MARK.length), this.#key)
    if (claims === undefined) throw invalid('was not made here')
    const [id, agent, digest, round, until] = claims as [string, string, string, number, number]
    if (agent !== agentOf(asked.actor)) throw invalid("is somebody else's")
    if (digest !== digestOf(asked)) throw invalid('belongs to another request')
    if (Date.now() > until) throw invalid('has expired')
    const call = this.#parked.get(id)
    if (this.#over.has(`${id} ${round}`)) throw invalid('was used already')
    if (call === undefined)
      throw new Fault(
        'CONNECTION_LOST',
        'this call is not waited for any more; whether it was done is not known',
        {
          hint: 'look before you make it again',
        },
      )
    if (call.round !== round) throw invalid('was used already')
    this.#parked.delete(id)
    this.#use(`${id} ${round}`)
    clearTimeout(call.until)
    call.resume(asked)
    return call
  }

  #use(state: string): void {
    const [oldest] = this.#over
    if (this.#over.size >= MOST_OVER && oldest !== undefined) this.#over.delete(oldest)
    this.#over.add(state)
  }
}

interface Waiting {
  readonly request: object
  readonly question: Question
}

/** One request of a modern client, whoever waits for it at the moment. */
export class ParkedCall {
  readonly id: string = randomHex(16)
  readonly agent: string
  readonly digest: string
  readonly stop: Stopper = new Stopper()
  readonly asker: Asker
  until: NodeJS.Timeout | undefined
  /** What the server does about it. */
  work: Promise<Answered> | undefined
  /** How often its client was asked. */
  round = 0
  #asked: Asked
  #askable: Askable
  #next = 1
  readonly #questions = new Map<Id, Question>()
  readonly #waiting = new Map<Id, Waiting>()
  #wake: (() => void) | undefined

  constructor(asked: Asked, server: string, askable: Askable, forwarding: Forwarding) {
    this.#asked = asked
    this.agent = agentOf(asked.actor)
    this.digest = digestOf(asked)
    this.#askable = askable
    this.asker = {
      canAnswer: true,
      question: (message, stop) =>
        forwardQuestion(forwarding, {
          server,
          caller: callerOf(this.#asked),
          askable: this.#askable,
          message,
          stop,
          id: this.#next++,
          send: (body) => this.#add(body),
          expect: (id, question) => void this.#questions.set(id, question),
          forget: (id) => {
            this.#questions.delete(id)
            this.#waiting.delete(id)
          },
        }),
      remark: (message) => this.#asked.reply.notify(message.bytes),
    }
  }

  /** The request that its client waits for at the moment. */
  get asked(): Asked {
    return this.#asked
  }

  get inputRequests(): Record<string, object> {
    return Object.fromEntries([...this.#waiting].map(([id, { request }]) => [`q${id}`, request]))
  }

  /** Its answer, or undefined when its client has to be asked first. */
  async next(work: Promise<Answered>): Promise<Answered | undefined> {
    const asks = new Promise<undefined>((resolve) => {
      this.#wake = () => resolve(undefined)
      if (this.#waiting.size > 0) this.#wake()
    })
    const first = await Promise.race([work, asks])
    this.#wake = undefined
    if (first !== undefined) return first
    this.round += 1
    return undefined
  }

  /** Its client has come back, with answers to some of what it was asked. */
  resume(asked: Asked): void {
    this.#asked = asked
    const answers = answersIn(asked.params)
    for (const [id, { question }] of [...this.#waiting]) {
      const answer = answers.get(`q${id}`)
      if (answer === undefined) continue
      this.#waiting.delete(id)
      this.#questions.delete(id)
      question.answer({ reply: answer })
    }
  }

  /** Nobody comes back for it. */
  giveUp(): void {
    for (const { question } of this.#waiting.values())
      question.answer({ error: { code: -32603, message: 'the client did not answer in time' } })
    this.#waiting.clear()
    this.stop.abort()
  }

  // --- internal ---

  #add(body: Buffer): boolean {
    const message = readMessage(body)
    if (message.kind !== 'request') return true
    const question = this.#questions.get(message.id)
    if (question === undefined) return false
    const { method, params } = JSON.parse(body.toString('utf8'))
    this.#waiting.set(message.id, { request: { method, params: params ?? {} }, question })
    this.#wake?.()
    return true
  }
}

// --- internal ---

/** What differs between a request and the same one asked again. */
const CHANGING: ReadonlySet<string> = new Set(['inputResponses', 'requestState', '_meta'])

function digestOf({ message, scope, params }: Asked): string {
  const text = canonicalArguments(Buffer.from(withoutParams(params, CHANGING)))
  return sha256(`${scope ?? ''}\n${message.method}\n${text}`)
}

function invalid(reason: string): Fault {
  return new Fault('REQUEST_STATE_INVALID', `requestState ${reason}`, {
    hint: 'make the call anew, without it',
  })
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
