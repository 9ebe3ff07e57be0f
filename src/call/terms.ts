// The last of what stands before a call: that it is no loop, and that there is energy for it.

import type { Tool } from '../connect/definitions.ts'
import { agentOf } from '../policy/access.ts'
import type { LoopBreaker } from '../policy/loop-breaker.ts'
import { type Leave, mayWrite, type Target } from './admit.ts'
import type { CallContext } from './context.ts'
import { type Meter, reserve } from './meter.ts'
import type { Asking, Terms } from './passage.ts'

/** Throws or rejects why it may not be sent. A promise only where the ledger must be asked. */
export function termsFor(
  context: CallContext,
  asking: Asking,
  target: Target,
  leave: Leave,
  definition: Tool | undefined,
  text: string,
): Terms | Promise<Terms> {
  const loops = context.brakes()?.loops
  refuseLoop(context, asking, target, text)
  const onEnd = loops && noteTo(loops, context, asking, target, text)
  const reserved = reserve(context, asking, target, definition)
  const terms = (meter: Meter | undefined): Terms => ({ mayWrite: mayWrite(leave), meter, onEnd })
  return reserved instanceof Promise ? reserved.then(terms) : terms(reserved)
}

/** Throws when this very call has failed again and again. */
export function refuseLoop(
  context: CallContext,
  { actor }: Asking,
  { server, tool }: Target,
  text: string,
): void {
  const agent = agentOf(actor)
  // The owner knows what they are doing.
  if (agent === '') return
  const fault = context.brakes()?.loops.check({ agent, server, tool, text })
  if (fault) throw fault
}

// --- internal ---

/** Only what a server or a tool did counts: nobody is in a loop by being refused. */
function noteTo(
  loops: LoopBreaker,
  context: CallContext,
  { actor }: Asking,
  { server, tool }: Target,
  text: string,
): Terms['onEnd'] {
  const agent = agentOf(actor)
  if (agent === '') return undefined
  return (outcome, message = '') => {
    if (outcome === 'cancelled' || outcome === 'denied') return
    const scrub = context.recording()?.scrub
    loops.note({ agent, server, tool, text }, outcome !== 'ok', scrub ? scrub(message) : message)
  }
}
