// An answer of a person, and what of it is remembered for later calls.

import { Fault } from '../base/fault.ts'
import { uuid7 } from '../base/uuid.ts'
import { namesMethod } from '../connect/definitions.ts'
import type { Approval, Rule } from '../store/policy.ts'

export interface Answer {
  readonly decision: 'allow' | 'deny'
  /** Also for later calls of this tool by this agent, or of all tools of its server. */
  readonly remember?: 'tool' | 'server' | undefined
}

type Scope = NonNullable<Answer['remember']>

/** Programs need not be typed: an answer that is not understood says nothing, and never the widest there is. */
export function checked(answer: Answer): Answer {
  const { decision, remember }: { decision?: unknown; remember?: unknown } = Object(answer)
  if (decision !== 'allow' && decision !== 'deny') throw notUnderstood('decision', 'allow or deny')
  if (remember !== undefined && remember !== 'tool' && remember !== 'server')
    throw notUnderstood('remember', 'tool or server, or left out')
  return { decision, remember }
}

/** What an answer is remembered for. Never for more than what was meant by who saw this one question. */
export function scopeOf({ server, tool }: Approval, decision: Answer['decision'], remember: Scope): Scope {
  // A native tool belongs to no server, and who allows another request says nothing about tools.
  return server === '' || (decision === 'allow' && namesMethod(tool)) ? 'tool' : remember
}

/** What is kept of an answer for later calls. */
export function ruleFor(
  { agent, server, tool, identity }: Approval,
  decision: Answer['decision'],
  scope: Scope,
  now: number,
  by: string,
): Rule {
  const about = scope === 'tool' ? { tool } : {}
  return { id: uuid7(now), agent, server, ...about, identity, decision, createdAt: now, note: by }
}

// --- internal ---

function notUnderstood(key: string, expected: string): Fault {
  return new Fault('USAGE', `the answer is not understood: ${key} is ${expected}`, {
    hint: 'see docs/approvals.md',
  })
}
