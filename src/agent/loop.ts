// The loop: asks the model, has its tools called, asks again, until it has nothing more to say. It keeps nothing and knows
// no store, no energy and no approvals. Whoever drives it writes down each event before asking for the next one; an answer
// with its uses is told before any of them is begun.

import { Fault } from '../base/fault.ts'
import type { EndReason, ModelEvent, ModelMessage, Tokens, ToolOffer, ToolOutcome, ToolUse } from './model.ts'
import { argumentsOf, idsIn, outcomeOf, unknownTool, withOwnIds } from './use.ts'

/** Why a turn ended. `failed` says more in its fault. */
export type TurnReason = 'done' | 'length' | 'refused' | 'rounds' | 'stopped' | 'failed' | 'snoozed' | 'ended'

export type LoopEvent =
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  /** What the model said in one round, whole. */
  | { readonly type: 'answer'; readonly answer: Answer }
  | { readonly type: 'use'; readonly use: ToolUse }
  | { readonly type: 'outcome'; readonly outcome: ToolOutcome }
  /** Always the last. */
  | { readonly type: 'end'; readonly reason: TurnReason; readonly rounds: number; readonly fault?: Fault }

interface Answer {
  readonly text: string
  readonly uses: readonly ToolUse[]
  readonly model: string
  readonly reason: EndReason | 'stopped' | 'failed'
  readonly tokens: Tokens
}

/** A model that was asked. */
export interface Asked {
  readonly model: string
  readonly events: AsyncIterable<ModelEvent>
}

export interface Round {
  readonly system: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolOffer[]
  readonly signal: AbortSignal
}

export interface Called {
  readonly outcome: ToolOutcome
  /** The tool ends the turn. */
  readonly ends?: TurnReason | undefined
}

/** What stands before and after every tool call. Where one throws, the model is told that instead: no hook, no call. */
export interface Hooks {
  /** A text is told to the model instead of calling. */
  before?(use: ToolUse): string | undefined | Promise<string | undefined>
  after?(use: ToolUse, outcome: ToolOutcome): ToolOutcome | Promise<ToolOutcome>
}

export interface LoopOptions {
  /** Asked for before every round, like `tools`: both follow what is so now. */
  system(): string
  tools(): readonly ToolOffer[]
  readonly messages: readonly ModelMessage[]
  /** Uses of the last message that were not ended, and the outcomes of those that were. */
  readonly pending?:
    | { readonly uses: readonly ToolUse[]; readonly outcomes: readonly ToolOutcome[] }
    | undefined
  ask(round: Round): Asked | Promise<Asked>
  /** Rejects only when everything ends; else it settles, also soon after `signal`, which fires when another one rejects. */
  call(use: ToolUse, args: string, signal: AbortSignal): Promise<Called>
  /** What people said meanwhile. */
  arrived?(): readonly ModelMessage[]
  /** Ids that uses have had, also in what is no longer shown; default: those of `messages`. */
  taken?(): Iterable<string>
  /** The same conversation, shorter; undefined when it cannot be. */
  compact?(): Promise<readonly ModelMessage[] | undefined>
  readonly hooks?: Hooks | undefined
  readonly limits: { readonly rounds: number }
  readonly signal: AbortSignal
}

/** Runs one turn. Returns the messages as they are after it. */
export async function* runLoop(options: LoopOptions): AsyncGenerator<LoopEvent, readonly ModelMessage[]> {
  const { limits, signal, pending } = options
  let messages = [...options.messages]
  let rounds = 0
  let reason: TurnReason | undefined
  let fault: Fault | undefined
  // Whoever has these taken up again knows that they are safe to call.
  if (pending) reason = yield* callAll(options, pending.uses, undefined, messages, pending.outcomes)
  while (reason === undefined) {
    // Before the inbox is emptied: what a person said is for the next turn then.
    if (signal.aborted) reason = 'stopped'
    else if (rounds >= limits.rounds) reason = 'rounds'
    if (reason !== undefined) break
    messages.push(...(options.arrived?.() ?? []))
    rounds += 1
    const tools = options.tools()
    let heard = yield* hear(options, messages, tools)
    if (heard.overflows) {
      const shorter = await options.compact?.()
      if (shorter) {
        messages = [...shorter]
        heard = yield* hear(options, messages, tools)
      }
    }
    fault = heard.fault
    reason = yield* takeUp(options, heard, tools, messages)
  }
  yield { type: 'end', reason, rounds, ...(fault === undefined ? {} : { fault }) }
  return messages
}

// --- internal ---

interface Heard {
  readonly answer: Answer
  readonly fault?: Fault | undefined
  readonly overflows?: boolean
}

const NOTHING: Tokens = { input: 0, output: 0 }

/** One answer of the model, told as it comes. What goes wrong is a part of it. */
async function* hear(
  options: LoopOptions,
  messages: readonly ModelMessage[],
  tools: readonly ToolOffer[],
): AsyncGenerator<LoopEvent, Heard> {
  const { signal } = options
  const uses: ToolUse[] = []
  let text = ''
  let model = ''
  try {
    const asked = await options.ask({ system: options.system(), messages, tools, signal })
    model = asked.model
    for await (const event of asked.events)
      switch (event.type) {
        case 'text':
          text += event.text
          yield event
          break
        case 'thinking':
          yield event
          break
        case 'use':
          uses.push(event.use)
          break
        case 'end':
          return { answer: { text, uses, model, reason: event.reason, tokens: event.tokens } }
      }
    throw new Fault('MODEL_UNAVAILABLE', 'the model’s answer was cut off')
  } catch (error) {
    const answer = { text, uses: [], model, tokens: NOTHING }
    if (signal.aborted) return { answer: { ...answer, reason: 'stopped' } }
    if (!(error instanceof Fault)) throw error
    const overflows = error.code === 'MODEL_OVERFLOW' && text === ''
    return { answer: { ...answer, reason: 'failed' }, fault: error, overflows }
  }
}

/** Does what the answer asks for. Tells why the turn ends, if it does. */
async function* takeUp(
  options: LoopOptions,
  { answer }: Heard,
  tools: readonly ToolOffer[],
  messages: ModelMessage[],
): AsyncGenerator<LoopEvent, TurnReason | undefined> {
  const { text, reason } = answer
  // Of an answer that was cut off, nobody knows whether what it wants is whole.
  const whole = reason === 'stop' || reason === 'uses'
  const uses = whole ? withOwnIds(answer.uses, options.taken?.() ?? idsIn(messages)) : []
  if (whole || text !== '') {
    yield { type: 'answer', answer: { ...answer, uses } }
    messages.push({ role: 'assistant', text, uses })
  }
  if (reason !== 'stop' && reason !== 'uses') return reason
  if (uses.length > 0) return yield* callAll(options, uses, tools, messages)
  const arrived = options.arrived?.() ?? []
  messages.push(...arrived)
  return arrived.length > 0 ? undefined : 'done'
}

/** Calls all of them at once, and tells each outcome as it comes. None goes on when this is over, however it ends. */
async function* callAll(
  options: LoopOptions,
  uses: readonly ToolUse[],
  tools: readonly ToolOffer[] | undefined,
  messages: ModelMessage[],
  before: readonly ToolOutcome[] = [],
): AsyncGenerator<LoopEvent, TurnReason | undefined> {
  const outcomes = [...before]
  let ends: TurnReason | undefined
  let broken: { readonly error: unknown } | undefined
  const stop = new AbortController()
  const running = new Map(
    uses.map((use) => [
      use.id,
      callOne(options, use, tools, stop.signal).then(
        (called) => ({ use, called }),
        (error: unknown) => ({ use, error }),
      ),
    ]),
  )
  try {
    for (const use of uses) yield { type: 'use', use }
    while (running.size > 0) {
      const one = await Promise.race(running.values())
      running.delete(one.use.id)
      if ('error' in one) {
        broken ??= one
        stop.abort(new Fault('CALL_CANCELLED', 'another call of the same answer broke the turn'))
        continue
      }
      ends ??= one.called.ends
      outcomes.push(one.called.outcome)
      yield { type: 'outcome', outcome: one.called.outcome }
    }
  } finally {
    stop.abort(new Fault('CALL_CANCELLED', 'the turn is over'))
    await Promise.all(running.values())
  }
  if (broken) throw broken.error
  if (outcomes.length > 0) messages.push({ role: 'tools', outcomes })
  return ends
}

async function callOne(
  { call, hooks }: LoopOptions,
  use: ToolUse,
  tools: readonly ToolOffer[] | undefined,
  signal: AbortSignal,
): Promise<Called> {
  const args = argumentsOf(use)
  const problem = (tools && unknownTool(use, tools)) ?? (args.ok ? await hold(hooks, use) : args.problem)
  if (problem !== undefined || !args.ok) return { outcome: outcomeOf(use, problem ?? '', true) }
  const { outcome, ends } = await call(use, args.text, signal)
  try {
    return { outcome: (await hooks?.after?.(use, outcome)) ?? outcome, ends }
  } catch (error) {
    // What the hook would have taken out of it must not be told either.
    const text = `It was called, but what came of it cannot be told: ${messageOf(error)}`
    return { outcome: outcomeOf(use, text, true), ends }
  }
}

async function hold(hooks: Hooks | undefined, use: ToolUse): Promise<string | undefined> {
  try {
    return await hooks?.before?.(use)
  } catch (error) {
    return `It was not called: ${messageOf(error)}`
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
