// A conversation as people and programs see it, and how its state stands in the store.

import { isRecord } from '../base/record.ts'
import type { Conversation } from '../store/work.ts'
import type { Entry } from './entries.ts'
import type { Urgency } from './regulator.ts'

/** `working`: a turn goes on, or is to be taken up; `snoozed`: until a time, or until somebody says something. */
export type ConversationStatus = 'idle' | 'working' | 'snoozed' | 'ended'

/** In which something is to be done, now or at a time. */
export const UNFINISHED: readonly ConversationStatus[] = ['working', 'snoozed']

export interface ConversationView {
  readonly id: string
  readonly agent: string
  readonly title?: string | undefined
  readonly createdAt: number
  readonly updatedAt: number
  readonly status: ConversationStatus
  /** What its turn waits for. */
  readonly waiting?: 'approval' | 'energy' | undefined
  readonly snoozedUntil?: number | undefined
}

/** With everything that was said and done, in order. */
export interface WholeConversation extends ConversationView {
  readonly messages: readonly Entry[]
}

/** Which of them, and how many; all where nothing is said. */
export interface ListOptions {
  readonly agent?: string | undefined
  readonly limit?: number | undefined
  /** Those behind this one: the id of the last that one has. */
  readonly before?: string | undefined
}

/** Which messages: those after a number, and how many at most. */
export interface MessagePage {
  readonly after?: number
  readonly limit?: number
}

export interface PostOptions {
  /** `urgent` goes on where others would wait for energy. */
  readonly urgency?: Exclude<Urgency, 'background'> | undefined
}

/** What is kept beside the messages. */
export interface KeptState {
  readonly status: ConversationStatus
  readonly until?: number | undefined
}

export function stateText(state: KeptState): string {
  return JSON.stringify(state)
}

export function keptState({ state }: Conversation): KeptState {
  try {
    const read: unknown = JSON.parse(state)
    if (isRecord(read) && isStatus(read['status'])) {
      const { status, until } = read
      return typeof until === 'number' ? { status, until } : { status }
    }
  } catch {
    // Told below.
  }
  // Somebody else's; its messages tell what is to be done.
  return { status: 'working' }
}

/** The beginning of what was said first. */
export function titleOf(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line
}

// --- internal ---

const LONGEST_TITLE = 60

function isStatus(text: unknown): text is ConversationStatus {
  return text === 'idle' || text === 'working' || text === 'snoozed' || text === 'ended'
}
