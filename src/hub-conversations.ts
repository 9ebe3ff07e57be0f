// The conversations of a hub with its agent. The agent itself is loaded when the first one is wanted, or when an earlier
// process left something to do: a gateway without an agent never loads it.

import type { Agent } from './agent/agent.ts'
import {
  type ConversationView,
  type ListOptions,
  type MessagePage,
  type PostOptions,
  UNFINISHED,
  type WholeConversation,
} from './agent/conversation.ts'
import type { ConversationEvent } from './agent/events.ts'
import type { Hooks } from './agent/loop.ts'
import type { Models } from './agent/model.ts'
import type { ModelSource } from './agent/model-source.ts'
import type { Host } from './agent/shell.ts'
import { Fault } from './base/fault.ts'
import type { CallContext } from './call/context.ts'
import type { AgentHandle } from './call/handle.ts'
import type { Snapshot } from './config/snapshot.ts'
import type { Ledger } from './connect/process/ledger.ts'
import type { HubEvent } from './hub-options.ts'
import type { Actor } from './policy/access.ts'
import { present } from './record/records.ts'
import type { NativeTool } from './registry/native.ts'

export type { ConversationView, WholeConversation }

/** What the conversations' part of a hub asks of the rest of it. */
interface Rest {
  readonly context: CallContext
  readonly models: Models | undefined
  readonly hooks: Hooks | undefined
  ledger(): Ledger
  door(agent: string): AgentHandle
  actor(agent: string): Actor
  register(tool: NativeTool): () => void
  on(listener: (event: HubEvent) => void): () => void
  emit(event: ConversationEvent): void
}

export class HubConversations {
  readonly #rest: Rest
  #opening: Promise<Agent> | undefined
  #agent: Agent | undefined
  #source: Promise<ModelSource> | undefined
  #closed = false
  /** Something was left by an earlier process, and cannot be gone on with yet. */
  #left = false
  #told = ''
  /** Takes the tools of the workspace away. */
  #offs: (() => void)[] = []
  #workspace = ''
  #adopting: Promise<void> = Promise.resolve()

  constructor(rest: Rest) {
    this.#rest = rest
  }

  // Fields, not methods: each may be handed on by itself.
  /** Begins one, in the name of an agent; default: `agent.as`, the lead, or the only one. */
  readonly create = async (
    options: { readonly agent?: string | undefined } = {},
  ): Promise<ConversationView> => (await this.#open()).create(options.agent)
  /** Says something. Resolves with its number when it is on disk; what comes of it is told by events. */
  readonly post = async (id: string, text: string, options?: PostOptions): Promise<number> =>
    (await this.#open()).post(id, text, options)
  /** With all its messages, or those of a page. Looking takes nothing up, and works while another process runs them. */
  readonly get = async (id: string, page: MessagePage = {}): Promise<WholeConversation> => {
    const { store, whole } = await this.#reading()
    return this.#agent?.get(id, page) ?? whole(store, id, page)
  }
  /** Latest first. */
  readonly list = async (options: ListOptions = {}): Promise<ConversationView[]> => {
    const { store, listed } = await this.#reading()
    return this.#agent?.list(options) ?? listed(store, options)
  }
  /** Stops the turn that runs; false when none does. */
  readonly stop = async (id: string): Promise<boolean> => (await this.#open()).stop(id)
  /** Ends it for good; what was said stays. */
  readonly end = async (id: string): Promise<void> => (await this.#open()).end(id)
  /** Ends it and forgets what was said. */
  readonly remove = async (id: string): Promise<void> => (await this.#open()).remove(id)
  /** Resolves when nothing is done in it any more. */
  readonly settled = async (id: string): Promise<void> => (await this.#open()).settled(id)

  /** @internal Goes on with what an earlier process left, now or when the configuration has a model. Never rejects. */
  async start(): Promise<void> {
    const { context } = this.#rest
    try {
      const store = context.recording()?.store
      this.#left = ((await store?.conversations.list({ status: UNFINISHED, limit: 1 })) ?? []).length > 0
      if (!this.#left) return
      await this.#models()
      await (await this.#open()).resume()
      this.#left = false
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      if (!this.#closed && this.#told !== error.message)
        context.trouble(`conversations are not gone on with: ${error.message}`)
      this.#told = error.message
    }
  }

  /** @internal Follows a configuration. Never rejects. */
  adopt(active: Snapshot): Promise<void> {
    this.#adopting = this.#adopting.then(() => this.#adopt(active))
    return this.#adopting
  }

  /** @internal No model is asked any more. */
  windDown(): void {
    this.#closed = true
    this.#agent?.windDown()
  }

  /** @internal Nothing is done any more afterwards. */
  async close(): Promise<void> {
    this.windDown()
    await this.#adopting
    const agent = await this.#opening?.catch(() => undefined)
    await agent?.close()
  }

  // --- internal ---

  async #reading() {
    if (this.#closed) throw new Fault('CLOSED', 'the hub was closed')
    const { store } = present(this.#rest.context.recording())
    return { store, ...(await import('./agent/reading.ts')) }
  }

  #open(): Promise<Agent> {
    if (this.#closed) throw new Fault('CLOSED', 'the hub was closed')
    this.#opening ??= this.#load().catch((error: unknown) => {
      // Whoever asks later may have more luck.
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #load(): Promise<Agent> {
    const { Agent } = await import('./agent/agent.ts')
    const agent = await Agent.open(this.#host())
    if (this.#closed) agent.windDown()
    this.#agent = agent
    return agent
  }

  #host(): Host {
    const { context, hooks, on, emit, door, actor } = this.#rest
    const { store, energy, recorder } = present(context.recording())
    return {
      context,
      store,
      energy,
      hooks,
      stateFolder: context.active().places.state,
      config: () => context.active().config,
      handle: door,
      actor,
      models: () => this.#models(),
      emit,
      onCall: (listener) => recorder.ended.add(listener),
      onEnergy: (listener) => on((event) => event.type === 'energy' && listener(event.agent)),
      trouble: context.trouble,
    }
  }

  async #models(): Promise<Models> {
    this.#source ??= import('./agent/model-source.ts').then(
      ({ ModelSource }) => new ModelSource(this.#rest.models),
    )
    return (await this.#source).of(this.#rest.context.active())
  }

  async #adopt(active: Snapshot): Promise<void> {
    // Energy may come back faster now.
    this.#agent?.look()
    await this.#adoptWorkspace(active)
    if (this.#left && !this.#closed) await this.start()
  }

  async #adoptWorkspace(active: Snapshot): Promise<void> {
    const { agent, agents, lead } = active.config
    const wanted = JSON.stringify([agent.workspace, agent.tools, agent.as, lead, Object.keys(agents)])
    if (this.#closed || wanted === this.#workspace) return
    this.#workspace = wanted
    for (const off of this.#offs.splice(0)) off()
    if (agent.workspace === undefined) return
    try {
      const { toolsOf } = await import('./agent/workspace-tools.ts')
      for (const tool of toolsOf(active, this.#rest.ledger())) this.#offs.push(this.#rest.register(tool))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      // It may be there the next time.
      this.#workspace = ''
      this.#rest.context.trouble(`the agent has no workspace: ${error.message}`)
    }
  }
}
