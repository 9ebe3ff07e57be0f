// The agent: all conversations of a hub, each with a task of its own, so that none waits for another's tools or questions.
// What a person says is on disk before it is acknowledged, and never waits for a turn.

import { Fault } from '../base/fault.ts'
import { uuid7 } from '../base/uuid.ts'
import type { Conversation } from '../store/work.ts'
import { Alarms } from './alarms.ts'
import { Closing } from './closing.ts'
import {
  type ConversationView,
  type KeptState,
  keptState,
  type ListOptions,
  type MessagePage,
  type PostOptions,
  stateText,
  titleOf,
  UNFINISHED,
  type WholeConversation,
} from './conversation.ts'
import { type Contents, type Entry, entriesOf, type Role, reasonOf, stateOf, urgencyOf } from './entries.ts'
import type { ConversationEvent } from './events.ts'
import { holdLock } from './hold.ts'
import { defaultAgent } from './identity.ts'
import { Pacers } from './pacers.ts'
import { listed, unknownConversation, whole } from './reading.ts'
import type { Host, OtherConversation, Shell, Task } from './shell.ts'
import { arrive, type Running, serially, viewOf } from './task.ts'
import { Tasks } from './tasks.ts'
import { TurnRun } from './turn.ts'

export class Agent implements Shell {
  readonly host: Host
  readonly hanging: Set<string> = new Set()
  readonly #closing = new AbortController()
  readonly #ending = new AbortController()
  readonly #tasks: Tasks
  readonly #alarms = new Alarms((id) => void this.#wake(id))
  readonly #pacers: Pacers
  readonly #offs: (() => void)[]
  readonly #release: () => void
  #resuming: Promise<void> | undefined

  /** Takes over the conversations of this home; see `resume`. Another process may have them. */
  static async open(host: Host): Promise<Agent> {
    return new Agent(host, await holdLock(host.stateFolder))
  }

  /** Use `Agent.open`. */
  private constructor(host: Host, release: () => void) {
    this.host = host
    this.#tasks = new Tasks(host.store)
    this.#release = release
    this.#pacers = new Pacers(host, (id, until, level) => this.#pausing(id, until, level))
    this.#offs = [
      host.onEnergy((agent) => this.#pacers.look(agent)),
      host.onCall(({ agent, conversation, energy = 0 }) => {
        const task = this.#tasks.get(conversation)
        if (task) task.spent += energy
        // What was set aside for it is there for others now.
        if (agent !== '') this.#pacers.look(agent)
      }),
    ]
  }

  /** Goes on with what is to be done, once. Only where there is a model: without one every turn would fail. */
  resume(): Promise<void> {
    this.#resuming ??= this.#resume().catch((error: unknown) => {
      this.#resuming = undefined
      throw error
    })
    return this.#resuming
  }

  get closing(): AbortSignal {
    return this.#closing.signal
  }

  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** Begins one, in the name of an agent. Nothing happens before something is said. */
  async create(agent?: string): Promise<ConversationView> {
    const name = agent ?? defaultAgent(this.host.config())
    this.host.actor(name)
    await this.host.models()
    await this.resume()
    const now = Date.now()
    const state = stateText({ status: 'idle' })
    const conversation: Conversation = { id: uuid7(now), agent: name, createdAt: now, updatedAt: now, state }
    await this.host.store.conversations.add(conversation)
    this.tell(conversation, { kind: 'created' })
    return viewOf(conversation, undefined)
  }

  /** Resolves with its number when what a person says is on disk. The turn it begins, or joins, is told by events. */
  async post(id: string, text: string, { urgency = 'asked' }: PostOptions = {}): Promise<number> {
    if (text.trim() === '') throw new Fault('USAGE', 'there is nothing to say in an empty message')
    if (text.length > LONGEST_MESSAGE)
      throw new Fault('USAGE', `a message is at most ${LONGEST_MESSAGE} characters long`)
    this.#refuseClosed()
    await this.host.models()
    await this.resume()
    return await this.#tasks.with(id, async (task) => {
      // Of a removed agent nobody can answer it.
      this.host.actor(task.agent)
      const seq = await serially(task, async () => {
        if (task.ended) throw ended(id)
        await this.#keep(task, { status: 'working' }, text)
        const entry = await this.write(id, 'user', { text, urgency })
        arrive(task, entry, urgency)
        return entry.seq
      })
      this.tell(task, { kind: 'message', seq, text })
      this.#drive(task)
      this.pacer(task.agent).look()
      return seq
    })
  }

  get(id: string, page: MessagePage = {}): Promise<WholeConversation> {
    return whole(this.host.store, id, page, this.#tasks.all)
  }

  /** Latest first. */
  list(options: ListOptions = {}): Promise<ConversationView[]> {
    return listed(this.host.store, options, this.#tasks.all)
  }

  /** Stops the turn that runs; false when none does. */
  async stop(id: string): Promise<boolean> {
    const turn = this.#tasks.get(id)?.turn
    if (turn === undefined) {
      await this.#tasks.kept(id)
      return false
    }
    this.#tasks.get(id)?.stop.abort(new Fault('CALL_CANCELLED', 'a person stopped the turn'))
    await turn
    return true
  }

  /** Ends it for good: its turn is stopped, and nothing more can be said in it. What was said stays. */
  async end(id: string): Promise<void> {
    this.#refuseClosed()
    await this.#tasks.with(id, async (task) => {
      await this.#end(task)
      task.stop.abort(new Fault('CALL_CANCELLED', 'the conversation was ended'))
      await task.driving
    })
  }

  /** Ends it, and forgets what was said. What its calls did stays in the record. */
  async remove(id: string): Promise<void> {
    const { agent } = await this.#tasks.kept(id)
    await this.end(id)
    await this.host.store.conversations.remove(id)
    this.tell({ id, agent }, { kind: 'removed' })
  }

  /** Resolves when nothing is done in it any more. */
  async settled(id: string): Promise<void> {
    for (let task = this.#tasks.get(id); task?.driving; task = this.#tasks.get(id)) await task.driving
  }

  /** Something may have changed for everybody. */
  look(): void {
    this.#pacers.look()
  }

  /** No model is asked any more; what tools do is waited for. */
  windDown(): void {
    this.#alarms.close()
    this.#closing.abort(new Closing())
    this.#pacers.close(new Closing())
  }

  /** Resolves when nothing is done any more. What was under way is taken up by whoever opens it next. */
  async close(): Promise<void> {
    this.windDown()
    this.#ending.abort(new Closing())
    for (const off of this.#offs) off()
    await Promise.all([...this.#tasks.all.values()].flatMap(({ driving, work }) => [driving, work]))
    this.#release()
  }

  // --- for turns and their tools ---

  pacer(agent: string): ReturnType<Pacers['of']> {
    return this.#pacers.of(agent)
  }

  async write<R extends Role>(id: string, role: R, content: Contents[R]): Promise<Entry> {
    const createdAt = Date.now()
    const message = { role, content: JSON.stringify(content), createdAt }
    // What a person said is acknowledged. The rest is many times as much, and waits for no disk, as the record of calls does.
    const seq = await this.host.store.conversations.say(id, message, { lasting: role === 'user' })
    if (seq === undefined) throw unknownConversation(id)
    // The compiler does not see that a role goes with its content.
    return { ...content, role, seq, at: createdAt } as Entry
  }

  tell({ id, agent }: Pick<Task, 'id' | 'agent'>, event: Parameters<Shell['tell']>[1]): void {
    this.host.emit({ type: 'conversation', id, agent, ...event } as ConversationEvent)
  }

  async others(agent: string): Promise<readonly OtherConversation[]> {
    const status = ['idle', 'working', 'snoozed']
    const found = await this.host.store.conversations.list({ agent, status, limit: MOST_OTHERS })
    return found.map((conversation) => viewOf(conversation, this.#tasks.get(conversation.id)))
  }

  async owns(agent: string, id: string): Promise<boolean> {
    const conversation = await this.host.store.conversations.get(id)
    return conversation?.agent === agent && keptState(conversation).status !== 'ended'
  }

  async say(task: Task, id: string, text: string): Promise<void> {
    const said = id === task.id ? { text } : { text, from: task.id }
    const { seq } = await this.write(id, 'said', said)
    this.tell({ id, agent: task.agent }, { kind: 'said', seq, ...said })
  }

  async snooze(id: string, until: number): Promise<void> {
    await this.#tasks.with(id, async (task) => {
      await serially(task, async () => {
        if (task.ended) throw ended(id)
        // One that works is taken up again as it is; the state says when.
        await this.#keep(task, { status: task.driving ? 'working' : 'snoozed', until })
      })
      this.tell(task, { kind: 'snoozed', until })
    })
  }

  // --- internal ---

  #refuseClosed(): void {
    if (this.#closing.signal.aborted) throw new Fault('CLOSED', 'the hub was closed')
  }

  /** What was being done when the last process ended, and what was put aside until a time. */
  async #resume(): Promise<void> {
    for (const conversation of await this.host.store.conversations.list({ status: UNFINISHED })) {
      const { status, until } = keptState(conversation)
      this.#alarms.set(conversation.id, until)
      if (status !== 'working') continue
      const task = this.#tasks.open(conversation)
      task.resumed = true
      this.#drive(task)
    }
  }

  #drive(task: Running): void {
    task.due = true
    task.driving ??= this.#turns(task).finally(() => {
      task.driving = undefined
      // Said after the last look.
      if (task.due && !task.ended && !this.#closing.signal.aborted) this.#drive(task)
      else this.#tasks.forget(task)
    })
  }

  /** One turn after the other, until nothing is to be done. Never rejects. */
  async #turns(task: Running): Promise<void> {
    try {
      while (task.due && !task.ended && !this.#closing.signal.aborted) {
        task.due = false
        task.stop = new AbortController()
        const turn = this.#turn(task)
        task.turn = turn.catch(() => undefined)
        await turn
        task.turn = undefined
        await serially(task, async () => {
          // Somebody spoke meanwhile: the state stays as they set it.
          if (task.due || task.ended) return
          const until = task.snoozedUntil
          await this.#keep(task, until === undefined ? { status: 'idle' } : { status: 'snoozed', until })
        })
      }
    } catch (error) {
      const isGone = error instanceof Fault && error.code === 'CONVERSATION_UNKNOWN'
      if (!this.#closing.signal.aborted && !isGone)
        this.host.trouble(`conversation ${task.id} stopped: ${messageOf(error)}`)
    } finally {
      task.turn = undefined
    }
  }

  async #turn(task: Running): Promise<void> {
    // What is in the inbox is in the store, too.
    task.inbox = []
    const entries = entriesOf(await this.host.store.conversations.messages(task.id))
    const state = stateOf(entries)
    if (state === 'nothing') return
    task.urgency = urgencyOf(entries)
    const run = new TurnRun(this, task, entries)
    try {
      const reason = state === 'said' ? await run.close(reasonOf(entries)) : await run.run()
      if (reason === 'ended') await this.#end(task)
    } catch (error) {
      if (this.#closing.signal.aborted) throw error
      const fault = error instanceof Fault ? error : new Fault('INTERNAL', messageOf(error), { cause: error })
      if (fault.code === 'CONVERSATION_UNKNOWN') throw fault
      await run.over('failed', fault)
    }
    // What is said from now on is for the next one, which looks for itself.
    task.urgency = 'background'
    task.resumed = false
    task.pausing = false
    // What came after the last look of the turn is to be done, also where the agent had put it aside.
    if (task.inbox.length > 0) {
      task.due = true
      await serially(task, () => this.#keep(task, { status: 'working' }))
    }
  }

  async #end(task: Running): Promise<void> {
    if (task.ended) return
    task.ended = true
    await serially(task, () => this.#keep(task, { status: 'ended' }))
    this.tell(task, { kind: 'ended' })
  }

  /** `said`: by a person, of which the first is the title. */
  async #keep(task: Running, state: KeptState, said?: string): Promise<void> {
    task.snoozedUntil = state.until
    this.#alarms.set(task.id, state.until)
    if (task.state.status === state.status && task.state.until === state.until) return
    const { conversations } = this.host.store
    const isFirst = said !== undefined && (await conversations.get(task.id))?.title === undefined
    await conversations.update(task.id, {
      state: stateText(state),
      updatedAt: Date.now(),
      ...(isFirst ? { title: titleOf(said) } : {}),
    })
    task.state = state
  }

  async #wake(id: string): Promise<void> {
    try {
      await this.#tasks.with(id, async (task) => {
        await serially(task, async () => {
          if (task.ended || task.snoozedUntil === undefined) return
          this.#refuseClosed()
          await this.#keep(task, { status: 'working' })
          arrive(task, await this.write(id, 'wake', { text: AWAKE }), 'background')
        })
        this.#drive(task)
        this.pacer(task.agent).look()
      })
    } catch (error) {
      if (!(error instanceof Fault)) this.host.trouble(`conversation ${id} did not wake: ${messageOf(error)}`)
    }
  }

  #pausing(id: string, until: number | undefined, level: number): void {
    const task = this.#tasks.get(id)
    if (task === undefined) return
    task.pausing = true
    this.tell(task, { kind: 'energy', level, ...(until === undefined ? {} : { until }) })
  }
}

// --- internal ---

const AWAKE = '[The time for which you put this conversation aside is over. Go on, or end it.]'
const LONGEST_MESSAGE = 1_000_000
/** Those that a model is told of, and the one that it is in. */
const MOST_OTHERS = 11

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function ended(id: string): Fault {
  return new Fault('USAGE', `conversation ${id} has ended`, { hint: 'begin another one' })
}
