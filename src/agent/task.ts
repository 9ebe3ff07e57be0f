// A conversation in which something is done, as this process holds it.

import type { Conversation } from '../store/work.ts'
import { type ConversationView, type KeptState, keptState } from './conversation.ts'
import type { Entry } from './entries.ts'
import { moreUrgent, type Urgency } from './regulator.ts'
import type { Task } from './shell.ts'

export interface Running extends Task {
  /** Something was said since the task last looked. */
  due: boolean
  /** As long as something is done. */
  driving: Promise<void> | undefined
  /** The turn that runs. */
  turn: Promise<void> | undefined
  /** Who holds it now; until nobody does, it is the only one of its id. */
  holds: number
  /** Changes of its state, one after the other. */
  work: Promise<unknown>
  state: KeptState
}

export function taskOf(conversation: Conversation): Running {
  const state = keptState(conversation)
  return {
    id: conversation.id,
    agent: conversation.agent,
    urgency: 'background',
    snoozedUntil: state.until,
    inbox: [],
    arrivals: new Set(),
    spent: 0,
    stop: new AbortController(),
    waits: { approval: 0, energy: 0 },
    pausing: false,
    ended: state.status === 'ended',
    resumed: false,
    due: false,
    driving: undefined,
    turn: undefined,
    holds: 0,
    work: Promise.resolve(),
    state,
  }
}

/** Something was said, of this urgency. */
export function arrive(task: Running, entry: Entry, urgency: Urgency): void {
  task.inbox.push(entry)
  // What is said later makes nothing less urgent.
  task.urgency = moreUrgent(task.urgency, urgency)
  for (const tell of [...task.arrivals]) tell()
}

/** Does something after everything before it. */
export function serially<T>(task: Running, work: () => Promise<T>): Promise<T> {
  const done = task.work.then(work)
  task.work = done.catch(() => undefined)
  return done
}

/** As people see it; `task` where something is done in it. */
export function viewOf(conversation: Conversation, task: Running | undefined): ConversationView {
  const { id, agent, title, createdAt, updatedAt } = conversation
  const { status, until } = task?.state ?? keptState(conversation)
  const waiting = task && waitOf(task)
  return {
    id,
    agent,
    ...(title === undefined ? {} : { title }),
    createdAt,
    updatedAt,
    status,
    ...(waiting === undefined ? {} : { waiting }),
    ...(until === undefined ? {} : { snoozedUntil: until }),
  }
}

// --- internal ---

function waitOf({ waits, pausing }: Running): 'approval' | 'energy' | undefined {
  if (waits.approval > 0) return 'approval'
  return waits.energy > 0 || pausing ? 'energy' : undefined
}
