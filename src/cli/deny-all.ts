// `busbar approve deny --all`: everything that waits when it is typed, of one agent or of all. There is no such way to allow.

import { Fault } from '../base/fault.ts'
import type { Desk } from './approvals.ts'
import type { StatusLine } from './status-line.ts'

/** At once, on the way to a gateway. */
const ABREAST = 16

/** Denies what waits; those that somebody else answers meanwhile are theirs. Returns the ids that were denied. */
export async function denyAll(
  desk: Desk,
  agent: string | undefined,
  line: StatusLine,
  signal: AbortSignal,
): Promise<string[]> {
  const denied: string[] = []
  const tried = new Set<string>()
  const began = Date.now()
  // A list is cut when it is long, and what was denied is in the next one no more.
  for (;;) {
    const waiting = (await desk.list('pending', agent)).filter(
      ({ id, createdAt }) => createdAt <= began && !tried.has(id),
    )
    if (waiting.length === 0) return denied
    for (let at = 0; at < waiting.length; at += ABREAST) {
      signal.throwIfAborted()
      line.show(`${denied.length} denied, ${waiting.length - at} to go …`)
      await Promise.all(
        waiting.slice(at, at + ABREAST).map(async ({ id }) => {
          tried.add(id)
          if (await isDenied(desk, id)) denied.push(id)
        }),
      )
    }
  }
}

// --- internal ---

/** Whether it was; not when it was answered, taken back or too old by then. */
async function isDenied(desk: Desk, id: string): Promise<boolean> {
  try {
    await desk.answer(id, { decision: 'deny', remember: undefined })
    return true
  } catch (error) {
    if (error instanceof Fault && error.code === 'APPROVAL_UNKNOWN') return false
    throw error
  }
}
