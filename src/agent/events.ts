// What is told of conversations while they go on.

import type { Turn } from './entries.ts'
import type { Tokens, ToolOutcome, ToolUse } from './model.ts'

export type ConversationEvent = {
  readonly type: 'conversation'
  readonly id: string
  readonly agent: string
} & (
  | { readonly kind: 'created' | 'ended' | 'removed' | 'turn-start' }
  /** A person's message is on disk. */
  | { readonly kind: 'message'; readonly seq: number; readonly text: string }
  /** A piece of what the model says, or thinks. */
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  /** All it said in one round. */
  | {
      readonly kind: 'answer'
      readonly seq: number
      readonly text: string
      readonly model: string
      readonly tokens: Tokens
    }
  /** Told to the person by `respond`; `from`: in another conversation, whose doing it is. */
  | {
      readonly kind: 'said'
      readonly seq: number
      readonly text: string
      readonly from?: string | undefined
    }
  | { readonly kind: 'tool-start'; readonly use: ToolUse }
  | { readonly kind: 'tool-end'; readonly outcome: ToolOutcome }
  /** A use waits until a person has answered the question of this id. */
  | { readonly kind: 'approval'; readonly use: string; readonly approval: string }
  /** It waits for energy; `until`: epoch milliseconds, absent when none comes back by itself. */
  | { readonly kind: 'energy'; readonly level: number; readonly until?: number | undefined }
  | { readonly kind: 'compacted'; readonly seq: number }
  | { readonly kind: 'snoozed'; readonly until: number }
  | { readonly kind: 'turn-end'; readonly turn: Turn }
)
