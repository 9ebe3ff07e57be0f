// Questions that come up in a conversation, answered where it is held: one after another, by a line each.

import { Fault } from '../base/fault.ts'
import type { ApprovalView } from '../call/approval-view.ts'
import type { Answer } from '../policy/approval-answer.ts'
import type { ChatLine } from './chat-line.ts'
import type { ChatScreen } from './chat-screen.ts'
import type { Output } from './output.ts'
import { approvalLines, shortId } from './show-approval.ts'

export class ChatQuestions {
  readonly #out: Output
  readonly #line: ChatLine
  readonly #screen: ChatScreen
  readonly #open: ApprovalView[] = []

  constructor(out: Output, line: ChatLine, screen: ChatScreen) {
    this.#out = out
    this.#line = line
    this.#screen = screen
  }

  /** What to ask for in the next line, and about which question; undefined when nothing is open. */
  get prompt(): { readonly text: string; readonly about: string } | undefined {
    const [first] = this.#open
    return first && { text: PROMPT, about: first.id }
  }

  /** A use waits for the answer. Without somebody to ask here, they are told where it can be given. */
  async ask(id: string, here: boolean): Promise<void> {
    const approval = await this.#line.approval(id).catch(ignoreUnknown)
    if (approval?.status !== 'pending' || this.#open.some((other) => other.id === id)) return
    if (!here) {
      this.#screen.lines([
        ...approvalLines(this.#out, approval),
        `answer it: busbar approve allow ${shortId(id)}, or deny`,
      ])
      return
    }
    this.#open.push(approval)
    if (this.#open.length === 1) this.#show()
  }

  /** Somebody has answered it, here or elsewhere, or its time is over. */
  settle(id: string): void {
    const at = this.#open.findIndex((approval) => approval.id === id)
    if (at < 0) return
    this.#open.splice(at, 1)
    if (at === 0 && this.#open.length > 0) this.#show()
  }

  /** Takes a line for the answer to the question that it was asked for, and to no other. */
  async answer(id: string, text: string): Promise<void> {
    const approval = this.#open.find((open) => open.id === id)
    if (approval === undefined) {
      this.#screen.note('that question is answered already, or its time is over')
      return
    }
    const word = text.trim().toLowerCase()
    if (word === 'v' || word === 'view') {
      this.#screen.lines(approvalLines(this.#out, approval, { full: true }))
      return
    }
    const answer = ANSWERS[word]
    if (answer === undefined) {
      this.#screen.note(HELP)
      return
    }
    try {
      await this.#line.answer(approval.id, answer)
      this.#screen.note(
        answer.decision === 'deny' ? 'denied' : answer.remember ? 'allowed, from now on' : 'allowed',
      )
    } catch (error) {
      ignoreUnknown(error)
      this.#screen.note('somebody else has answered it, or its time is over')
    }
    this.settle(approval.id)
  }

  // --- internal ---

  #show(): void {
    const [approval] = this.#open
    if (approval) this.#screen.lines(approvalLines(this.#out, approval))
  }
}

// --- internal ---

const PROMPT = 'allow? [y]es, [n]o, [a]lways, [v]iew '
const HELP = 'y: allow this call · n: deny it · a: allow this tool from now on · v: view all of the arguments'

/** Somebody else was faster, or its time was over. */
function ignoreUnknown(error: unknown): undefined {
  if (error instanceof Fault && error.code === 'APPROVAL_UNKNOWN') return undefined
  throw error
}

const ALLOW: Answer = { decision: 'allow' }
const ALWAYS: Answer = { decision: 'allow', remember: 'tool' }
const DENY: Answer = { decision: 'deny' }

/** Nothing is allowed by a line that was not meant for it: only these words are answers. */
const ANSWERS: Readonly<Partial<Record<string, Answer>>> = {
  y: ALLOW,
  yes: ALLOW,
  a: ALWAYS,
  always: ALWAYS,
  n: DENY,
  no: DENY,
}
