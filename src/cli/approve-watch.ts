// `busbar approve watch`: questions as they come, answered with one key.

import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../base/fault.ts'
import type { ApprovalView } from '../call/approval-view.ts'
import type { Answer } from '../policy/approval-answer.ts'
import type { Desk } from './approvals.ts'
import { Keys } from './keys.ts'
import { safe, safeJson } from './output.ts'
import { canAsk } from './prompt.ts'
import type { Session } from './session.ts'
import { approvalLines, oneLine, shortId } from './show-approval.ts'

/** Milliseconds between two looks. */
const LOOK_EVERY = 500
/** Of the time, looking takes no more than one part in so many. */
const REST = 4
/** Questions that are printed without looking up. */
const AT_A_TIME = 100

/** Until it is interrupted. Without a terminal every question is printed once, for another program to answer. */
export async function watchApprovals(
  session: Session,
  withDesk: (work: (desk: Desk) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { out, signal } = session
  const seen = new Set<string>()
  const release = session.hold()
  // The terminal gives Ctrl-C as a key from here on; then it is what it always was.
  const keys = canAsk() && !out.json ? new Keys(() => process.kill(process.pid, 'SIGINT')) : undefined
  if (!out.json) out.note(keys ? 'Waiting for questions; Ctrl-C ends this.' : 'Watching; Ctrl-C ends this.')
  try {
    let isGone = false
    while (!signal.aborted)
      try {
        await withDesk(async (desk) => {
          if (isGone) out.note('going on')
          isGone = false
          await look(session, desk, keys, seen)
        })
      } catch (error) {
        if (signal.aborted || !(error instanceof Fault && GONE.has(error.code))) throw error
        if (!isGone) out.note('the gateway has gone; what it asks when it is back is shown here')
        isGone = true
        await sleep(LOOK_EVERY, undefined, { signal })
      }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    keys?.close()
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

const GONE: ReadonlySet<string> = new Set(['GATEWAY_ABSENT', 'CLOSED', 'SERVER_UNREACHABLE'])

async function look(session: Session, desk: Desk, keys: Keys | undefined, seen: Set<string>): Promise<void> {
  const { signal } = session
  while (!signal.aborted) {
    const began = performance.now()
    const unseen = (await desk.list('pending')).filter(({ id }) => !seen.has(id))
    const took = performance.now() - began
    const [first] = unseen
    if (first === undefined) await sleep(Math.max(LOOK_EVERY, REST * took), undefined, { signal })
    else if (keys) {
      // Looked up for each: while a person thinks about one, others may be answered elsewhere.
      seen.add(first.id)
      await decide(session, desk, keys, first)
    } else await showAll(session, unseen, seen)
  }
}

async function showAll(session: Session, unseen: readonly ApprovalView[], seen: Set<string>): Promise<void> {
  for (const [index, approval] of unseen.entries()) {
    // Ctrl-C is heard between two steps.
    if (index % AT_A_TIME === 0) await immediate()
    if (session.signal.aborted) return
    seen.add(approval.id)
    show(session, approval)
  }
}

function show({ out }: Session, approval: ApprovalView): void {
  if (out.json) out.raw(`${safeJson(JSON.stringify(approval))}\n`)
  else out.answer({}, () => approvalLines(out, approval))
}

async function decide(session: Session, desk: Desk, keys: Keys, approval: ApprovalView): Promise<void> {
  const { out } = session
  out.answer({}, () => ['', ...approvalLines(out, approval)])
  for (;;) {
    const typed = await asked(session, desk, keys, approval)
    if (typed === undefined) return
    const meant = watchWord(typed)
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

const PROMPT = '[a]llow once, [t]ool always, [s]erver always, [d]eny, [v]iew, [k]eep, [?] '

/** What was typed once the question was on the screen; undefined when it was answered elsewhere or its time was over. */
async function asked(
  { out, signal }: Session,
  desk: Desk,
  keys: Keys,
  { id }: ApprovalView,
): Promise<string | undefined> {
  const done = new AbortController()
  const stop = AbortSignal.any([signal, done.signal])
  const typing = (async () => {
    // Whoever was typing something else has not read it yet.
    await keys.quiet(stop)
    process.stderr.write(PROMPT)
    const typed = await keys.next(stop)
    process.stderr.write(`${safe(typed)}\n`)
    return typed
  })()
  // The one of the two that is not waited for fails by being stopped.
  typing.catch(() => undefined)
  const elsewhere = settledElsewhere(desk, id, stop)
  elsewhere.catch(() => undefined)
  try {
    const first = await Promise.race([typing, elsewhere])
    if (typeof first === 'string') return first
    out.note(`\n${shortId(id)} ${first.over}`)
    return undefined
  } catch (error) {
    process.stderr.write('\n')
    throw error
  } finally {
    done.abort()
  }
}

/** What became of a question without this terminal. */
async function settledElsewhere(desk: Desk, id: string, signal: AbortSignal): Promise<{ over: string }> {
  for (;;) {
    const { status, decidedBy, expiresAt } = await desk.get(id)
    if (status === 'expired' || (status === 'pending' && expiresAt <= Date.now()))
      return { over: 'was not answered in time' }
    if (status === 'cancelled') return { over: 'was taken back: its call was cancelled' }
    if (status !== 'pending') {
      const what = status === 'denied' ? 'denied' : 'allowed'
      return { over: `was ${what} elsewhere${decidedBy === undefined ? '' : ` (${oneLine(decidedBy)})`}` }
    }
    await sleep(LOOK_EVERY, undefined, { signal })
  }
}
