// What a server asks of a client in the middle of a request: passed on when the client said that it can answer, and, where
// a model is to be used, when a person agreed.

import { Fault } from '../base/fault.ts'
import type { Stop } from '../base/stop.ts'
import type { Consented } from '../call/consent.ts'
import type { Caller } from '../call/own-instance.ts'
import type { Given } from '../connect/asker.ts'
import type { Actor } from '../policy/access.ts'
import { ERROR, type Era } from '../wire/era.ts'
import {
  find,
  type Id,
  memberValue,
  type NotificationMessage,
  type ReplyMessage,
  type RequestMessage,
  slice,
} from '../wire/message.ts'
import type { Askable } from './session-id.ts'
import { step } from './translation.ts'
import {
  QUESTIONS,
  type QuestionEffect,
  type QuestionEvent,
  type QuestionState,
} from './translation-questions.ts'

/** A question that a client has yet to answer. */
export interface Question {
  readonly progressToken: unknown
  /** Something happened to it: see the table. */
  tell(event: QuestionEvent, what?: What): void
  progress(message: NotificationMessage): void
}

/** What the client said, or why it was not asked. */
interface What {
  readonly reply?: ReplyMessage
  readonly reason?: string
}

export interface Forwarding {
  /** Waits until a person agreed that a server uses a client's model. Throws why not. */
  consent(actor: Actor, server: string, params: string, stop: Stop): Promise<Consented>
  /** Tells a server something, in the instance that somebody's requests go to. */
  tell(server: string, message: NotificationMessage, caller: Caller): void
  /** The folders of a client are others now. */
  rootsChanged(caller: Caller): void
  /** The client of a session has gone for good. */
  gone(session: string): void
}

interface Asking {
  readonly server: string
  /** The era of the client. */
  readonly client: Era
  readonly caller: Caller
  readonly askable: Askable
  readonly message: RequestMessage
  readonly stop: Stop
  /** Under which number the client is asked. */
  readonly id: number
  /** Sends the client something, or puts it into its next answer. False when that cannot reach it. */
  show(body: Buffer): boolean
  expect(id: Id, question: Question): void
  forget(id: Id): void
}

/** Never rejects: a server is always answered. */
export async function forwardQuestion(forwarding: Forwarding, asking: Asking): Promise<Given> {
  const { message, askable, server, caller, stop } = asking
  const question = new PutQuestion(forwarding, asking)
  stop.addEventListener('abort', () => question.tell('server takes it back', { reason: 'withdrawn' }))
  if (stop.aborted) question.tell('server takes it back', { reason: 'withdrawn' })
  try {
    const wrong = refusal(message.method, question.params, askable)
    if (question.state === 'over') return await question.given
    if (wrong !== undefined) question.tell('client cannot answer', { reason: wrong })
    else if (message.method !== 'sampling/createMessage') question.tell('may be asked')
    else {
      const text = slice(message, 'params')?.toString() ?? '{}'
      const consented = await forwarding.consent(caller.actor, server, text, stop)
      question.tell('may be asked')
      const given = await question.given
      if ('reply' in given) await consented.answered(given.reply)
      else await consented.failed(new Fault('CALL_CANCELLED', UNANSWERED))
    }
    return await question.given
  } catch (error) {
    const reason = error instanceof Fault ? error.message : 'something went wrong in Busbar itself'
    question.tell('person refuses', { reason })
    return { error: { code: ERROR.internal, message: reason } }
  }
}

export function cannotAnswer(method: string): string {
  return `the client that made this call cannot answer ${method}`
}

// --- internal ---

const UNANSWERED = 'the client did not answer'

class PutQuestion implements Question {
  readonly #forwarding: Forwarding
  readonly #asking: Asking
  #state: QuestionState = 'put'
  #resolve: ((given: Given) => void) | undefined
  /** What the server is answered. */
  readonly given: Promise<Given> = new Promise((resolve) => {
    this.#resolve = resolve
  })
  readonly params: Record<string, unknown> | undefined

  constructor(forwarding: Forwarding, asking: Asking) {
    this.#forwarding = forwarding
    this.#asking = asking
    this.params = memberValue(asking.message, 'params') as Record<string, unknown> | undefined
  }

  get state(): QuestionState {
    return this.#state
  }

  get progressToken(): unknown {
    return (this.params?.['_meta'] as { progressToken?: unknown } | undefined)?.progressToken
  }

  progress(message: NotificationMessage): void {
    const { server, caller } = this.#asking
    this.#forwarding.tell(server, message, caller)
  }

  tell(event: QuestionEvent, what: What = {}): void {
    const { client, id, forget } = this.#asking
    // To a client it makes no difference who wants to know.
    const { next, effects } = step(QUESTIONS, this.#state, event, { client, server: 'legacy' })
    this.#state = next
    if (next === 'over') forget(id)
    for (const effect of effects) this.#carryOut(effect, what)
  }

  #carryOut(effect: QuestionEffect, { reply, reason = UNANSWERED }: What): void {
    const { id, message, show, expect } = this.#asking
    switch (effect) {
      case 'push':
      case 'put in the answer':
        expect(id, this)
        if (!show(underId(message, id)))
          this.tell('client out of reach', { reason: 'the client cannot be reached at this moment' })
        return
      case 'take back':
        show(Buffer.from(JSON.stringify({ ...WITHDRAWAL, params: { requestId: id } })))
        return
      case 'take to the server':
        if (reply) this.#resolve?.({ reply })
        return
      default:
        this.#resolve?.({ error: { code: effect.decline, message: reason } })
    }
  }
}

const WITHDRAWAL = { jsonrpc: '2.0', method: 'notifications/cancelled' }

/** Why the client is not asked. */
function refusal(
  method: string,
  params: Record<string, unknown> | undefined,
  { form, url, sampling, roots }: Askable,
): string | undefined {
  const cannot = cannotAnswer(method)
  switch (method) {
    case 'roots/list':
      return roots ? undefined : cannot
    case 'sampling/createMessage':
      return sampling ? undefined : cannot
    case 'elicitation/create': {
      if (params?.['mode'] !== 'url') return form ? undefined : cannot
      const address = params['url']
      const isWeb = typeof address === 'string' && /^https?:\/\//i.test(address) && URL.canParse(address)
      if (!isWeb) return 'only http and https addresses can be shown'
      return url ? undefined : `${cannot} with an address`
    }
    default:
      return `${method} is not offered here`
  }
}

/** The same question under another number; nothing else is touched. */
function underId({ bytes, members }: RequestMessage, id: number): Buffer {
  const member = find(members, 'id')
  if (member === undefined) return bytes
  return Buffer.concat([bytes.subarray(0, member.start), Buffer.from(String(id)), bytes.subarray(member.end)])
}
