// `busbar approve watch`: questions as they come, answered with one key.

import { createInterface } from 'node:readline/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../base/fault.ts'
import type { ApprovalView } from '../call/approval-view.ts'
import type { Answer } from '../policy/approvals.ts'
import type { Desk } from './approvals.ts'
import { safeJson } from './output.ts'
import { canAsk } from './prompt.ts'
import type { Session } from './session.ts'
import { approvalLines, shortId } from './show-approval.ts'

/** Milliseconds between two looks. */
const LOOK_EVERY = 500

/** Until it is interrupted. Without a terminal every question is printed once, for another program to answer. */
export async function watchApprovals(session: Session, desk: Desk): Promise<void> {
  const { out, signal } = session
  const seen = new Set<string>()
  const release = session.hold()
  if (!out.json)
    out.note(canAsk() ? 'Waiting for questions; Ctrl-C ends this.' : 'Watching; Ctrl-C ends this.')
  try {
    while (!signal.aborted) {
      for (const approval of await desk.list('pending')) {
        if (signal.aborted) break
        if (seen.has(approval.id)) continue
        seen.add(approval.id)
        if (canAsk() && !out.json) await decide(session, desk, approval)
        else show(session, approval)
      }
      await sleep(LOOK_EVERY, undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    release()
  }
}

/** What a person means by what they typed: one of the words or its first letter, and nothing that only begins like it. */
export function watchWord(typed: string): Answer | 'view' | 'keep' | 'help' | undefined {
  const word = typed.trim().toLowerCase()
  const [whole] = Object.keys(WORDS).filter((it) => it === word || it.slice(0, 1) === word)
  return whole === undefined ? undefined : WORDS[whole]
}

// --- internal ---

function show({ out }: Session, approval: ApprovalView): void {
  if (out.json) out.raw(`${safeJson(JSON.stringify(approval))}\n`)
  else out.answer({}, () => approvalLines(out, approval))
}

async function decide(session: Session, desk: Desk, approval: ApprovalView): Promise<void> {
  const { out } = session
  out.answer({}, () => ['', ...approvalLines(out, approval)])
  for (;;) {
    const meant = watchWord(await asked(session))
    if (meant === 'view') out.answer({}, () => approvalLines(out, approval, { full: true }))
    else if (meant === 'keep') {
      out.note(`left open; answer it later: busbar approve allow ${shortId(approval.id)}`)
      return
    } else if (meant === undefined || meant === 'help') out.note(HELP)
    else {
      await give(session, desk, approval, meant)
      return
    }
  }
}

async function give({ out }: Session, desk: Desk, { id }: ApprovalView, answer: Answer): Promise<void> {
  try {
    const after = await desk.answer(id, answer)
    const scope = after.remember === undefined ? '' : `, and from now on for this ${after.remember}`
    out.note(`${after.status === 'denied' ? 'denied' : 'allowed'}${scope}`)
  } catch (error) {
    // Somebody else was faster, or its time was over.
    if (!(error instanceof Fault) || error.code !== 'APPROVAL_UNKNOWN') throw error
    out.note(error.message)
  }
}

const WORDS: Readonly<Record<string, Answer | 'view' | 'keep' | 'help'>> = {
  allow: { decision: 'allow' },
  tool: { decision: 'allow', remember: 'tool' },
  server: { decision: 'allow', remember: 'server' },
  deny: { decision: 'deny' },
  view: 'view',
  keep: 'keep',
  help: 'help',
  '?': 'help',
}

const HELP =
  'a: allow this call once · t: allow this tool from now on · s: allow every tool of this server from now on · ' +
  'd: deny this call · v: view all of the arguments · k: keep it open'

async function asked({ signal }: Session): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const line = await terminal.question(
      '[a]llow once, [t]ool always, [s]erver always, [d]eny, [v]iew, [k]eep, [?] ',
      {
        signal,
      },
    )
    return line
  } finally {
    terminal.close()
  }
}
