// One turn of a conversation: drives the loop, writes down what it does before that has consequences, and tells it.

import { Fault } from '../base/fault.ts'
import type { AgentHandle } from '../call/handle.ts'
import { type Account, askCheaply, askModel } from './asking.ts'
import { callTool, offersFor } from './calling.ts'
import { cutOf, plainSummary, SUMMARY_SYSTEM, shortened, transcriptOf } from './compaction.ts'
import {
  type Earlier,
  type Entry,
  earlierOf,
  openUses,
  shownOf,
  type Turn,
  UNKNOWN_OUTCOME,
} from './entries.ts'
import { type LoopEvent, type LoopOptions, runLoop, type TurnReason } from './loop.ts'
import type { ModelMessage } from './model.ts'
import { systemPrompt } from './prompt.ts'
import { serversReady } from './readiness.ts'
import type { OtherConversation, Shell, Task } from './shell.ts'
import { outcomeOf } from './use.ts'

/** Goes on with a conversation until its turn is over, and writes that down. Rejects only when everything ends. */
export class TurnRun {
  readonly #shell: Shell
  readonly #task: Task
  readonly #entries: Entry[]
  /** What was done of it before: by an earlier process, when it was resumed. */
  readonly #before: Earlier
  readonly #account: Account
  #spentBefore = 0
  #startedAt = Date.now()
  #compactions: number
  #rounds: number
  /** Up to which of them the model has read what people said. */
  #seen = 0
  #others: readonly OtherConversation[] = []

  constructor(shell: Shell, task: Task, entries: readonly Entry[]) {
    this.#shell = shell
    this.#task = task
    this.#entries = [...entries]
    this.#before = earlierOf(entries)
    const { tokens, models, rounds, compactions } = this.#before
    this.#account = { models: new Set(models), ...tokens, last: undefined }
    this.#rounds = rounds
    this.#compactions = compactions
    task.spent = 0
  }

  async run(): Promise<TurnReason> {
    const { agent } = this.#task
    this.#shell.tell(this.#task, { kind: 'turn-start' })
    await this.#recall()
    const handle = this.#shell.host.handle(agent)
    await serversReady(
      handle,
      this.#shell.hanging,
      AbortSignal.any([this.#task.stop.signal, this.#shell.closing]),
    )
    this.#others = (await this.#shell.others(agent)).filter(({ id }) => id !== this.#task.id)
    const options = await this.#options(handle)
    for await (const event of runLoop(options)) {
      await this.#hear(event)
      if (event.type === 'end') return await this.#over(event.reason, event.fault)
    }
    throw new Error('a loop ended without saying so')
  }

  /** The turn is over, for this reason. */
  async over(reason: TurnReason, fault?: Fault): Promise<TurnReason> {
    return await this.#over(reason, fault)
  }

  /** All was said by an earlier process, and only that it is over was not written. */
  async close(reason: TurnReason): Promise<TurnReason> {
    await this.#recall()
    const broke = () => new Fault('MODEL_UNAVAILABLE', 'the model broke off in the middle of its answer')
    return await this.#over(reason, reason === 'failed' ? broke() : undefined)
  }

  // --- internal ---

  /** What the calls of this turn took that an earlier process made. */
  async #recall(): Promise<void> {
    if (!this.#task.resumed) return
    const { invocations } = this.#shell.host.store
    const { since, startedAt } = this.#before
    const calls = await invocations.list({ conversation: this.#task.id, since, limit: MOST_CALLS })
    this.#spentBefore = calls.reduce((sum, { energy = 0 }) => sum + energy, 0)
    const first = Math.min(this.#startedAt, startedAt)
    this.#startedAt = calls.reduce((earliest, call) => Math.min(earliest, call.startedAt), first)
  }

  async #options(handle: AgentHandle): Promise<LoopOptions> {
    const { host } = this.#shell
    const task = this.#task
    const pending = await this.#repair()
    const shown = shownOf(this.#entries)
    // What was said after the uses that go on now is given to the loop behind their outcomes.
    const at = pending ? shown.findLastIndex(({ message }) => message.role === 'tools') : shown.length
    let late = shown.slice(at + 1).map(({ message }) => message)
    return {
      system: () => this.#system(handle),
      tools: () => offersFor(handle),
      messages: shown.slice(0, at).map(({ message }) => message),
      pending,
      ask: (round) => {
        this.#seen = this.#heard()
        return askModel(this.#shell, task, this.#account, round)
      },
      call: (use, args, signal) => callTool(this.#shell, task, handle, use, args, signal),
      arrived: () => {
        const before = late
        late = []
        return [...before, ...this.#arrived()]
      },
      taken: () =>
        this.#entries.flatMap((entry) => (entry.role === 'assistant' ? entry.uses : [])).map(({ id }) => id),
      compact: () => this.#compact(),
      hooks: host.hooks,
      limits: { rounds: Math.max(0, host.config().agent.rounds - this.#before.rounds) },
      signal: task.stop.signal,
    }
  }

  #system(handle: AgentHandle): string {
    const { host } = this.#shell
    const state = host.energy?.state(this.#task.agent)
    return systemPrompt({
      task: this.#task,
      servers: handle.promptSection(),
      instructions: host.config().agent.instructions,
      energy: state,
      others: this.#others,
    })
  }

  /** What people said since the loop was last told. */
  #arrived(): ModelMessage[] {
    // What was said while the conversation was being read may be in both.
    const known = new Set(this.#entries.map(({ seq }) => seq))
    const arrived = this.#task.inbox.filter(({ seq }) => !known.has(seq))
    this.#task.inbox = []
    this.#add(...arrived)
    return arrived.flatMap((entry) =>
      entry.role === 'user' || entry.role === 'wake' ? [{ role: 'user' as const, text: entry.text }] : [],
    )
  }

  /** The last thing that people said that is taken in; what has a higher number is not, whatever was written since. */
  #heard(): number {
    return this.#entries.findLast(({ role }) => role === 'user' || role === 'wake')?.seq ?? 0
  }

  /**
   * What an earlier process had begun and not ended. Only a use that was waiting for a person was surely not sent, and is
   * taken up again, which is written down first: it can happen once. Of all others the model is told that nobody knows.
   */
  async #repair(): Promise<LoopOptions['pending']> {
    const { uses, outcomes } = openUses(this.#entries)
    if (uses.length === 0) return undefined
    const again = []
    const ended = [...outcomes]
    for (const { use, unsent } of uses) {
      if (unsent) {
        await this.#write('resumed', { use: use.id })
        again.push(use)
      } else {
        const outcome = outcomeOf(use, UNKNOWN_OUTCOME, true)
        await this.#write('outcome', outcome)
        ended.push(outcome)
      }
    }
    return again.length === 0 ? undefined : { uses: again, outcomes: ended }
  }

  async #hear(event: LoopEvent): Promise<void> {
    const task = this.#task
    switch (event.type) {
      case 'text':
      case 'thinking':
        this.#shell.tell(task, { kind: event.type, text: event.text })
        break
      case 'answer': {
        const { text, model } = event.answer
        // Also what was stopped, or broke off, was paid for.
        const { tokens, energy = 0 } = { ...event.answer, ...this.#account.last }
        const { seq } = await this.#write('assistant', { ...event.answer, tokens, energy, seen: this.#seen })
        this.#shell.tell(task, { kind: 'answer', seq, text, model, tokens })
        break
      }
      case 'use':
        this.#shell.tell(task, { kind: 'tool-start', use: event.use })
        break
      case 'outcome':
        await this.#write('outcome', event.outcome)
        this.#shell.tell(task, { kind: 'tool-end', outcome: event.outcome })
        break
      case 'end':
        this.#rounds = this.#before.rounds + event.rounds
    }
  }

  /** The conversation, shorter. Everything the loop has is an entry already. */
  async #compact(): Promise<readonly ModelMessage[] | undefined> {
    const shown = shownOf(this.#entries)
    const messages = shown.map(({ message }) => message)
    const cut = cutOf(messages)
    const isLong = messages.some((message) => shortened(message) !== message)
    if ((cut === undefined && !isLong) || this.#compactions >= MOST_COMPACTIONS) return undefined
    const from = cut ? (shown[cut.to]?.seq ?? 0) : 0
    const summary = await this.#summary(cut ? messages.slice(cut.from, cut.to) : [])
    const { seq } = await this.#write('compaction', { ...summary, from })
    this.#compactions += 1
    this.#shell.tell(this.#task, { kind: 'compacted', seq })
    return shownOf(this.#entries).map(({ message }) => message)
  }

  async #summary(middle: readonly ModelMessage[]) {
    const none = { model: '', tokens: { input: 0, output: 0 } }
    if (middle.length === 0) return { ...none, summary: '' }
    try {
      const { text, ...rest } = await askCheaply(this.#shell, this.#task, this.#account, {
        system: SUMMARY_SYSTEM,
        messages: [{ role: 'user', text: transcriptOf(middle) }],
        maxTokens: SUMMARY_TOKENS,
        signal: AbortSignal.any([this.#task.stop.signal, this.#shell.closing]),
      })
      if (text !== '') return { ...rest, summary: text }
    } catch (error) {
      // A summary that no model can write is no reason to give up.
      if (!(error instanceof Fault)) throw error
    }
    return { ...none, summary: plainSummary(middle) }
  }

  async #over(reason: TurnReason, fault: Fault | undefined): Promise<TurnReason> {
    const { input, output, models } = this.#account
    const turn: Turn = {
      reason,
      rounds: this.#rounds,
      tokens: { input, output },
      energy: Math.round((this.#spentBefore + this.#task.spent) * 1e6) / 1e6,
      models: [...models],
      compactions: this.#compactions,
      startedAt: this.#startedAt,
      endedAt: Date.now(),
      seen: this.#heard(),
      ...(fault ? { code: fault.code, error: fault.message, hint: fault.hint } : {}),
    }
    await this.#write('turn', turn)
    this.#shell.tell(this.#task, { kind: 'turn-end', turn })
    return reason
  }

  async #write(
    ...[role, content]: Parameters<Shell['write']> extends [string, ...infer R] ? R : never
  ): Promise<Entry> {
    const entry = await this.#shell.write(this.#task.id, role, content)
    this.#add(entry)
    return entry
  }

  #add(...entries: readonly Entry[]): void {
    this.#entries.push(...entries)
    this.#entries.sort((a, b) => a.seq - b.seq)
  }
}

// --- internal ---

const SUMMARY_TOKENS = 1024
const MOST_COMPACTIONS = 8
/** Of one turn; it makes far fewer. */
const MOST_CALLS = 100_000
