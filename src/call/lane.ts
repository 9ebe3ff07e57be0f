// What was found out for calls of one tool by one agent, through one door, for as long as nothing changes: how they are
// checked, written down, sent and paid for. Calls on it only differ in their arguments.

import { changes } from '../base/changes.ts'
import type { Stop } from '../base/stop.ts'
import type { Link } from '../connect/link.ts'
import type { Ask, Form } from '../connect/pending.ts'
import { limitsOf } from '../connect/send.ts'
import { agentOf } from '../policy/access.ts'
import type { LoopBreaker } from '../policy/loop-breaker.ts'
import { Names } from '../record/names.ts'
import type { Records } from '../record/records.ts'
import type { Tracing } from '../record/trace.ts'
import type { CallContext } from './context.ts'
import type { Asking } from './passage.ts'
import type { Fit } from './result.ts'
import type { Route } from './route.ts'
import type { Acceptor } from './validate.ts'

export interface Lane {
  readonly context: CallContext
  readonly route: Route
  readonly acceptor: Acceptor
  readonly recording: Records | undefined
  readonly tracing: Tracing | undefined
  readonly loops: LoopBreaker
  /** How many changes there were when all this was found out: see `changes`. */
  readonly count: number
  readonly names: Names
  /** It is over when the server has another. */
  readonly link: Link
  /** Fires when that one is stopped. */
  readonly stopping: Stop
  readonly form: Form
  /** What is asked by a call that brings nothing but arguments. */
  readonly ask: Ask
  readonly fit: Fit
}

/** Undefined where something is to be found out, asked or refused first, or where something of this process is called. */
export function newLane(context: CallContext, { actor, surface }: Asking, route: Route): Lane | undefined {
  const { connection, leave, target, entry } = route
  const { plan, live: link, stopping, instances } = connection
  const loops = context.brakes()?.loops
  if (leave.verdict !== 'allow' || link === undefined || instances !== undefined || loops === undefined)
    return undefined
  const acceptor = context.validators.ready(entry.fingerprint, entry.tool.inputSchema)
  if (acceptor === undefined) return undefined
  // That is run in the context of whoever calls, which only the long way keeps. Of a legacy server nobody knows whom it asks.
  const answers = context.handlers.onElicitation ?? context.handlers.onSampling
  if (plan.transport === 'sdk' || (answers !== undefined && link.agreement.era !== 'legacy')) return undefined
  const { server, tool } = target
  const { spill } = context
  return {
    context,
    route,
    acceptor,
    recording: context.recording(),
    tracing: context.tracing(),
    loops,
    count: changes.count,
    names: new Names(agentOf(actor), server, tool, surface),
    link,
    stopping,
    form: link.form('tools/call', `"name":${JSON.stringify(tool)},"arguments":`),
    ask: { method: 'tools/call', name: tool, ...limitsOf(plan, undefined) },
    fit: (text, limit) => spill.fit(actor, text, limit),
  }
}
