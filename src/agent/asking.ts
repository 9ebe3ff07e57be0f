// Asks a model for a conversation: when it is its turn, the one that the energy is enough for, paid for and recorded.

import { Fault } from '../base/fault.ts'
import { MeteredWork } from '../call/metered.ts'
import type { Asking } from '../call/passage.ts'
import { abortable } from './abortable.ts'
import { believable, longestAnswer, MOST_USES } from './bounds.ts'
import { Closing } from './closing.ts'
import type { Asked, Round } from './loop.ts'
import type { Model, ModelEvent, ModelRequest, Tokens } from './model.ts'
import type { Seat } from './pacer.ts'
import { costOf, type Price, priceOf, requestTokens, tokensOf } from './price.ts'
import { type Shell, type Task, waiting } from './shell.ts'

/** What was asked of models in a turn. */
export interface Account {
  readonly models: Set<string>
  input: number
  output: number
  /** What the last answer took. */
  last: { readonly tokens: Tokens; readonly energy: number } | undefined
}

/** Asks for the next answer. It waits as long as it must, and rejects when nobody wants it any more. */
export async function askModel(shell: Shell, task: Task, account: Account, round: Round): Promise<Asked> {
  const signal = AbortSignal.any([round.signal, shell.closing])
  const pacer = shell.pacer(task.agent)
  for (let refusals = 0; ; refusals++) {
    const seat = await pacer.take(task, round.signal)
    task.pausing = false
    try {
      const models = await shell.host.models()
      const model = models[seat.pace.model]
      const request: ModelRequest = { ...round, maxTokens: seat.pace.maxTokens, signal }
      const work = await begin(shell, task, model, request, priceFor(shell, seat.pace.model))
      account.models.add(model.name)
      return { model: model.name, events: paid(shell, account, model, request, work, seat) }
    } catch (error) {
      seat.leave()
      if (!(error instanceof Fault) || error.code !== 'OUT_OF_ENERGY') throw error
      await restFor(shell, task, error, refusals, round.signal)
    }
  }
}

/** One answer of the cheap model, for what the agent needs for itself. */
export async function askCheaply(
  shell: Shell,
  task: Task,
  account: Account,
  request: Omit<ModelRequest, 'tools'>,
): Promise<{ text: string; model: string; tokens: Tokens; energy: number }> {
  const { cheap } = await shell.host.models()
  const price = priceFor(shell, 'cheap')
  const whole: ModelRequest = { ...request, tools: [] }
  const work = await begin(shell, task, cheap, whole, price)
  account.models.add(cheap.name)
  let text = ''
  let tokens: Tokens = { input: 0, output: 0 }
  for await (const event of paid(shell, account, cheap, whole, work)) {
    if (event.type === 'text') text += event.text
    if (event.type === 'end') tokens = event.tokens
  }
  return { text, model: cheap.name, tokens, energy: costOf(tokens, price) }
}

// --- internal ---

/** What is set aside for an answer before it is known how long it is. */
const USUAL_OUTPUT = 500
/** Milliseconds between two refusals, at least, the longer the more there were. */
const FIRST_PAUSE = 20
const LONGEST_PAUSE = 2_000

interface Begun {
  readonly work: MeteredWork
  readonly price: Price
  readonly input: number
}

function priceFor({ host }: Shell, which: 'normal' | 'cheap'): Price {
  return priceOf(host.config().agent, which)
}

async function begin(
  { host }: Shell,
  task: Task,
  { name }: Model,
  request: ModelRequest,
  price: Price,
): Promise<Begun> {
  const input = requestTokens(request)
  const asking: Asking = { actor: host.actor(task.agent), surface: 'agent', conversation: task.id }
  const work = await MeteredWork.begin(host.context, asking, {
    name: 'model',
    arguments: {
      model: name,
      messages: request.messages.length,
      tools: request.tools.length,
      maxTokens: request.maxTokens,
    },
    estimate: costOf({ input, output: Math.min(USUAL_OUTPUT, request.maxTokens) }, price),
  })
  return { work, price, input }
}

/** What the model says, paid for when it has ended; what was cut off costs what was read and said of it. */
async function* paid(
  { closing }: Shell,
  account: Account,
  model: Model,
  request: ModelRequest,
  { work, price, input }: Begun,
  seat?: Seat,
): AsyncGenerator<ModelEvent, void, undefined> {
  const { maxTokens } = request
  const enough = new AbortController()
  const signal = AbortSignal.any([request.signal, enough.signal])
  let characters = 0
  let uses = 0
  let over = false
  account.last = undefined
  try {
    for await (const event of abortable(model.stream({ ...request, signal }), signal)) {
      if (event.type !== 'end') {
        characters += lengthOf(event)
        uses += event.type === 'use' ? 1 : 0
        if (characters <= longestAnswer(maxTokens) && uses <= MOST_USES) {
          yield event
          continue
        }
      }
      over = true
      const isCut = event.type !== 'end'
      const tokens = counted(isCut ? sofar() : event.tokens)
      const reason = isCut ? 'length' : event.reason
      await work.ended(
        costOf(tokens, price),
        `${reason}; ${tokens.input} tokens read, ${tokens.output} written`,
      )
      seat?.leave()
      yield { type: 'end', reason, tokens }
      return
    }
    throw new Fault('MODEL_UNAVAILABLE', `${model.name} stopped in the middle of an answer`)
  } catch (error) {
    if (!over) {
      over = true
      await work.failed(characters === 0 ? 0 : partly(), error)
    }
    throw closing.aborted ? new Closing() : error
  } finally {
    // Whoever reads no further has stopped it.
    if (!over) await work.failed(partly(), new Fault('CALL_CANCELLED', `${model.name} was stopped`))
    seat?.leave()
    enough.abort()
  }

  function partly(): number {
    return costOf(counted(sofar()), price)
  }

  function sofar(): Tokens {
    return { input, output: tokensOf(characters) }
  }

  function counted(said: Tokens): Tokens {
    const tokens = believable(said, { characters: input * 4, maxTokens })
    account.input += tokens.input
    account.output += tokens.output
    account.last = { tokens, energy: costOf(tokens, price) }
    return tokens
  }
}

function lengthOf(event: Exclude<ModelEvent, { type: 'end' }>): number {
  return event.type === 'use' ? event.use.name.length + event.use.arguments.length : event.text.length
}

/** There is energy, but not enough for this, or others have set it aside. */
async function restFor(
  shell: Shell,
  task: Task,
  fault: Fault,
  refusals: number,
  signal: AbortSignal,
): Promise<void> {
  const { needed, left, enoughAt } = fault.details ?? {}
  shell.tell(task, {
    kind: 'energy',
    level: typeof left === 'number' ? left : 0,
    ...(typeof enoughAt === 'number' ? { until: enoughAt } : {}),
  })
  const amount = typeof needed === 'number' ? needed : 0
  const pause = Math.min(FIRST_PAUSE * 2 ** refusals, LONGEST_PAUSE)
  await waiting(task, 'energy', () => shell.pacer(task.agent).restForRoom(amount, pause, signal))
}
