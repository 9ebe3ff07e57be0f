// The other end of a conversation at the terminal, wherever the agent runs: in the gateway, or in this very process.

import type { ConversationView, WholeConversation } from '../agent/conversation.ts'
import type { ConversationEvent } from '../agent/events.ts'
import { Fault } from '../base/fault.ts'
import type { ApprovalView } from '../call/approval-view.ts'
import type { Answer } from '../policy/approval-answer.ts'
import type { AgentEnergy } from '../policy/energy-report.ts'

/** What is told while a conversation goes on. */
export type ChatEvent =
  | ConversationEvent
  /** A question was asked, answered or is over. */
  | { readonly type: 'approval'; readonly id: string; readonly status: string }
  /** Some events were missed. */
  | { readonly type: 'reset' }
  /** Nothing will be told any more. */
  | { readonly type: 'lost'; readonly fault: Fault }

export interface ChatTool {
  readonly name: string
  readonly description?: string | undefined
}

export interface ChatLine {
  /** Whether a turn goes on when this process ends. */
  readonly outlives: boolean
  /** Waits until what an agent can use is known, where that is for this process to wait for. */
  prepare(agent: string | undefined): Promise<void>
  /** Begins a conversation, which nobody is to hear of before something is said. */
  create(agent: string | undefined): Promise<{ readonly id: string; readonly agent: string }>
  /** Some of them, behind the one whose id is given; none when there are no more. */
  list(before?: string): Promise<readonly ConversationView[]>
  get(id: string): Promise<WholeConversation>
  post(id: string, text: string): Promise<void>
  stop(id: string): Promise<void>
  tools(agent: string): Promise<readonly ChatTool[]>
  energy(agent: string): Promise<AgentEnergy | undefined>
  approval(id: string): Promise<ApprovalView>
  answer(id: string, answer: Answer): Promise<void>
}

/** Hears of everything from the moment the line is there. */
export type Listener = (event: ChatEvent) => void

/** The conversation that an id, or the end of one, means. */
export async function findConversation(line: ChatLine, text: string): Promise<string> {
  const found: ConversationView[] = []
  for (let page = await line.list(); page.length > 0; page = await line.list(page.at(-1)?.id))
    found.push(...page.filter(({ id }) => id === text || (text.length >= 4 && id.endsWith(text))))
  const [only, another] = found
  if (only !== undefined && another === undefined) return only.id
  throw new Fault(
    'CONVERSATION_UNKNOWN',
    only === undefined ? `no conversation has the id "${text}"` : `several conversations end in "${text}"`,
    { hint: 'busbar chat without --conversation begins a new one' },
  )
}
