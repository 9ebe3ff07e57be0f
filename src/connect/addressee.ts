// Whom a server means by what it says in the middle of calls: the one of the stream that it came on; on a stream that all
// share, the only one who can be meant; else nobody. A wrong guess would show a question to somebody else.

import type { Numbered } from '../base/numbered.ts'
import { ASKING_METHODS } from '../wire/era.ts'
import type { RequestMessage } from '../wire/message.ts'
import type { Asker } from './asker.ts'
import type { Pending } from './pending.ts'
import { relatedTask, taskIn } from './related-task.ts'
import type { Turns } from './turns.ts'

/** Why nobody can tell who is meant. */
export interface Doubt {
  readonly doubt: string
  /** Whether time alone takes it away. */
  readonly passes?: boolean
}

/** Undefined: this process itself. */
export type Meant = Asker | Doubt | undefined

export function isDoubt(meant: Meant): meant is Doubt {
  return meant !== undefined && 'doubt' in meant
}

export class Addressees {
  readonly #pending: Numbered<Pending>
  readonly #turns: Turns
  readonly #own: boolean

  /** `own`: whether the server is for one agent or session alone. */
  constructor(pending: Numbered<Pending>, turns: Turns, own: boolean) {
    this.#pending = pending
    this.#turns = turns
    this.#own = own
  }

  /** Whom a question is for. What it shows about the server is remembered. */
  ofQuestion(message: RequestMessage, stream: number | undefined): Meant {
    if (stream !== undefined) return this.#ofStream(stream)
    const task = relatedTask(message)
    if (task !== undefined) return this.#waitingFor(task)
    const callers = this.#callers()
    const turns = this.#turns
    turns.aftermath.questioned()
    if (callers.size === 0) {
      const isTold = PERSONAL.has(message.method) && !this.#own && !turns.aftermath.excuses
      if (isTold) turns.end()
      return undefined
    }
    // Also where requests have streams of their own, this server does not use them: from now on its calls are kept apart.
    if (PERSONAL.has(message.method) && [...callers].some((caller) => caller?.canAnswer)) turns.taken = true
    const meant = turns.areOver ? BY_ITSELF : this.#onlyOf(callers)
    if (isDoubt(meant)) turns.doubted()
    return meant
  }

  /**
   * The requests that wait for the answer to a question: the one of its stream or its task, else all that are under way for
   * whom it is meant, because nobody can tell which of them it belongs to.
   */
  waiting(message: RequestMessage, stream: number | undefined, meant: Meant): readonly Pending[] {
    if (stream !== undefined) {
      const pending = this.#pending.get(stream)
      return pending ? [pending] : []
    }
    const task = relatedTask(message)
    return this.#pending
      .values()
      .filter(({ ask }) =>
        task === undefined
          ? ASKING_METHODS.has(ask.method) && (isDoubt(meant) || ask.asker === meant)
          : taskIn(ask) === task,
      )
  }

  /** Whom a remark is for, that says nothing of a request. */
  ofRemark(): Meant {
    const callers = this.#callers()
    if (callers.size > 1) return SEVERAL
    const [caller] = callers
    if (callers.size > 0 && this.#turns.aftermath.isLeftByOther(caller?.client)) return DOUBTS['given up']
    return caller === undefined || caller.remark ? caller : this.#onItsWay(caller)
  }

  // --- internal ---

  /** One who stands for all that cannot be asked: which of their requests is meant is known only where there is one. */
  #onItsWay(caller: Asker): Meant {
    // By its name nobody could tell that another of them gave up.
    if (this.#turns.aftermath.isLeftByOther(undefined)) return DOUBTS['given up']
    const asks = this.#pending
      .values()
      .filter(({ ask }) => ask.asker === caller && ASKING_METHODS.has(ask.method))
    const [only] = asks
    return asks.length === 1 && only ? { ...caller, remark: only.ask.onNotification } : SEVERAL
  }

  #onlyOf(callers: ReadonlySet<Asker | undefined>): Meant {
    if (callers.size > 1) return SEVERAL
    const [caller] = callers
    const how = this.#turns.aftermath.other(caller?.client)
    return how ? DOUBTS[how] : caller
  }

  /** Those who wait for something that a server may ask back about. */
  #callers(): ReadonlySet<Asker | undefined> {
    const callers = new Set<Asker | undefined>()
    for (const { ask } of this.#pending.values()) if (ASKING_METHODS.has(ask.method)) callers.add(ask.asker)
    return callers
  }

  /** A stream belongs to one request; when that is over, to nobody else's. */
  #ofStream(stream: number): Meant {
    const pending = this.#pending.get(stream)
    return pending ? pending.ask.asker : OVER
  }

  /** A question about a task is for whoever waits for that task's result. */
  #waitingFor(task: string): Meant {
    for (const { ask } of this.#pending.values()) if (taskIn(ask) === task) return ask.asker
    return NO_TASK
  }
}

// --- internal ---

/** What is asked of a person or of their model. Folders are asked for when a server starts, whoever calls then. */
const PERSONAL: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage'])

const so = (why: string): Doubt => ({ doubt: `${why}, so nobody can tell whom this question is for` })

const SEVERAL = so('several clients are calling at this moment')
const BY_ITSELF = so('this server has asked outside of calls before')
const DOUBTS = {
  answered: { ...so('a call of another client was answered a moment ago'), passes: true },
  'given up': so('another client gave up a call a moment ago, which was not answered'),
} as const
const OVER: Doubt = { doubt: 'the request that this question belongs to is over' }
const NO_TASK: Doubt = { doubt: 'nobody waits for the task that this question is about' }
