// What a server asks in the middle of things: brought to whom it means, and answered once.

import { Stopper } from '../base/stop.ts'
import { ERROR } from '../wire/era.ts'
import { type Id, memberValue, type NotificationMessage, type RequestMessage } from '../wire/message.ts'
import { type Addressees, isDoubt, type Meant } from './addressee.ts'
import { answerBody } from './answer-body.ts'
import type { Asker, Given } from './asker.ts'
import type { Turns } from './turns.ts'

export interface QuestionsOptions {
  readonly addressees: Addressees
  readonly turns: Turns
  /** Whether each request has a stream of its own. */
  streams(): boolean
  /** For what this process itself is asked. */
  ask(message: RequestMessage, respond: (given: Given) => void): void
  send(body: string | Buffer): void
}

export class ServerQuestions {
  readonly #options: QuestionsOptions
  /** Those that nobody has answered yet. */
  readonly #open = new Map<Id, Question>()

  constructor(options: QuestionsOptions) {
    this.#options = options
  }

  /** How many wait for an answer. */
  get size(): number {
    return this.#open.size
  }

  /** Goes to whom the server means, where that can be told. */
  take(message: RequestMessage, stream: number | undefined): void {
    const { addressees, turns, streams, ask, send } = this.#options
    const { id } = message
    const stop = new Stopper()
    const isNew = stream === undefined && streams() && !turns.taken
    const meant = message.method === 'ping' ? undefined : addressees.ofQuestion(message, stream)
    this.#open.set(id, { stop, meant })
    // From here on it is us whom the server waits for.
    const waiting = message.method === 'ping' ? [] : addressees.waiting(message, stream, meant)
    const holds = waiting.map(({ clock }) => clock?.hold())
    const goOn = () => {
      for (const end of holds) end?.()
    }
    stop.addEventListener('abort', goOn)
    const respond = (given: Given) => {
      this.#open.delete(id)
      goOn()
      if (!stop.aborted) send(answerBody(id, given))
    }
    if (isDoubt(meant)) {
      // Nobody took turns yet. Whose it is shows by whose call still waits when the others' time is over.
      if (isNew && meant.passes)
        return void turns.aftermath.passed().then(() => {
          goOn()
          if (stop.aborted) this.#open.delete(id)
          else this.take(message, stream)
        })
      respond({ error: { code: ERROR.internal, message: meant.doubt } })
      return
    }
    const answered = stream === undefined ? turns.asked(meant?.canAnswer ? meant : undefined) : undefined
    const inTurn = async (given: Given) => {
      await answered?.()
      respond(given)
    }
    if (meant) void meant.question(message, stop).then(inTurn)
    else ask(message, (given) => void inTurn(given))
  }

  /** The server does not want an answer any more. */
  withdraw(message: NotificationMessage): void {
    const { requestId } = (memberValue(message, 'params') ?? {}) as { requestId?: Id }
    if (requestId !== undefined) this.#open.get(requestId)?.stop.abort()
  }

  /** Whether the server has asked somebody back, as far as can be told. */
  isAsking(asker: Asker | undefined): boolean {
    for (const { meant } of this.#open.values()) if (meant === asker) return true
    return false
  }

  /** No answer can be given any more. */
  end(): void {
    for (const { stop } of this.#open.values()) stop.abort()
  }
}

// --- internal ---

interface Question {
  readonly stop: Stopper
  /** Whom it is for. */
  readonly meant: Meant
}
