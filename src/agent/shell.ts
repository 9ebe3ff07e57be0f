// What the parts of the agent share: what they need of the hub, and the conversations that something is done in.

import type { CallContext } from '../call/context.ts'
import type { AgentHandle } from '../call/handle.ts'
import type { Config } from '../config/schema.ts'
import type { Actor } from '../policy/access.ts'
import type { Regulator } from '../policy/energy.ts'
import type { EndedCall } from '../record/ended.ts'
import type { Store } from '../store/store.ts'
import type { Contents, Entry, Role } from './entries.ts'
import type { ConversationEvent } from './events.ts'
import type { Hooks } from './loop.ts'
import type { Models } from './model.ts'
import type { Pacer } from './pacer.ts'
import type { Urgency } from './regulator.ts'

/** What the agent asks of a hub. */
export interface Host {
  readonly context: CallContext
  readonly store: Pick<Store, 'conversations' | 'invocations'>
  readonly energy: Regulator | undefined
  readonly stateFolder: string
  readonly hooks?: Hooks | undefined
  config(): Config
  handle(agent: string): AgentHandle
  actor(agent: string): Actor
  /** Throws a fault that says what to set when there is none. */
  models(): Promise<Models>
  emit(event: ConversationEvent): void
  onCall(listener: (call: EndedCall) => void): () => void
  /** Told that somebody's energy is another. */
  onEnergy(listener: (agent: string) => void): () => void
  trouble(message: string): void
}

/** A conversation in which something is done, or is to be. */
export interface Task {
  readonly id: string
  readonly agent: string
  urgency: Urgency
  snoozedUntil: number | undefined
  /** What people said that the running turn has not taken in. */
  inbox: Entry[]
  /** Told when something came into it. */
  readonly arrivals: Set<() => void>
  /** Energy that its calls took in this turn. */
  spent: number
  /** Stops the turn that runs. */
  stop: AbortController
  /** What it waits for, and how often. */
  readonly waits: Record<Wait, number>
  /** It wants to ask a model, and there is too little energy. */
  pausing: boolean
  ended: boolean
  /** An earlier process had begun its turn. */
  resumed: boolean
}

export type Wait = 'approval' | 'energy'

/** Does something while the conversation is said to wait for it. */
export async function waiting<T>({ waits }: Task, what: Wait, work: () => Promise<T>): Promise<T> {
  waits[what] += 1
  try {
    return await work()
  } finally {
    waits[what] -= 1
  }
}

/** What a turn and its tools may do beside talking to the model. */
export interface Shell {
  readonly host: Host
  /** Fires when the process is about to end: no model is asked any more. */
  readonly closing: AbortSignal
  /** Fires when nothing is waited for any more. */
  readonly ending: AbortSignal
  /** Servers that were waited for in vain. */
  readonly hanging: Set<string>
  pacer(agent: string): Pacer
  /** Adds an entry to a conversation, on disk when this resolves. */
  write<R extends Role>(id: string, role: R, content: Contents[R]): Promise<Entry>
  tell(task: Pick<Task, 'id' | 'agent'>, event: EventBody): void
  /** Those of an agent that were not ended, latest first; not all where there are many. */
  others(agent: string): Promise<readonly OtherConversation[]>
  /** Whether an agent has a conversation that was not ended. */
  owns(agent: string, id: string): Promise<boolean>
  /** Tells the person something, also in another conversation. */
  say(task: Task, id: string, text: string): Promise<void>
  snooze(id: string, until: number): Promise<void>
}

export interface OtherConversation {
  readonly id: string
  readonly title?: string | undefined
  readonly status: string
}

type EventBody = ConversationEvent extends infer E
  ? E extends ConversationEvent
    ? Omit<E, 'type' | 'id' | 'agent'>
    : never
  : never
