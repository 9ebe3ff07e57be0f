// A call that a person has to allow first: asked about exactly what will be sent, and sent only when that is still what
// would be called.

import { sha256 } from '../base/digest.ts'
import { Fault } from '../base/fault.ts'
import { type Stop, Stopper } from '../base/stop.ts'
import type { Asker } from '../connect/asker.ts'
import type { Tool } from '../connect/definitions.ts'
import type { Question } from '../policy/approvals.ts'
import { canonicalArguments } from '../policy/canonical-arguments.ts'
import { argumentsForQuestion } from '../record/summary.ts'
import { serverTool } from '../registry/registry.ts'
import type { Approval } from '../store/policy.ts'
import { type RawParams, withMeta } from '../wire/params.ts'
import { admit, changedMeanwhile, type Leave, type Target } from './admit.ts'
import { type Beside, withBeside } from './beside.ts'
import type { CallContext } from './context.ts'
import { dialogueOf } from './dialogue.ts'
import type { Asking } from './passage.ts'
import { estimateFor, tariffFor } from './tariff.ts'
import { termsFor } from './terms.ts'

export interface Waiting {
  readonly signal?: Stop | undefined
  /** Milliseconds to wait for a person; default: as the door has it. */
  readonly approvalWait?: number | undefined
  /** The client that called, which may be asked itself. */
  readonly asker?: Asker | undefined
  /** What comes beside the arguments. */
  readonly beside?: Beside | undefined
}

/** What a person allowed, used up by this call. */
export interface Allowed {
  /** Nothing was done by it: the call was not sent. Never when it was, and nobody knows what became of it. */
  giveBack(): Promise<void>
  /** Nothing was done yet: it comes again with what its server wants to know first, and is still the one that was allowed. */
  comesAgain(): Promise<void>
}

/**
 * Waits until a person allowed the call. Throws why it may not be made, or not yet. Whoever calls it must look up again
 * what is called when this has waited: it may have changed. Undefined where nobody has to be asked.
 */
export async function askPerson(
  context: CallContext,
  asking: Asking,
  target: Target,
  { leave, entry }: { readonly leave: Leave; readonly entry?: { readonly tool: Tool } },
  text: string,
  { signal, approvalWait, asker, beside }: Waiting,
): Promise<Allowed | undefined> {
  if (asking.actor.kind === 'owner') return undefined
  const brakes = context.brakes()
  if (brakes === undefined) throw new Fault('CLOSED', 'nobody can be asked: the hub has not started')
  // Nobody is asked about what could not be made anyway.
  const tariff = tariffFor(context, target, entry?.tool)
  ;(await termsFor(context, asking, target, leave, tariff, text)).giveBack()
  refuseUnshowable(target, text, beside)
  const before = bindingOf(context, target)
  const { comingAgain } = brakes
  const again = `${asking.actor.id}\n${target.server}\n${target.tool}\n${hashOf(text, beside?.own)}`
  // What it brings for its server's question is the client's answer, where the server has asked; else it is part of the call.
  const brought = comingAgain.has(again) ? beside?.own : beside?.all
  const question: Question = {
    agent: asking.actor.id,
    server: target.server,
    tool: target.tool,
    fingerprint: before,
    identity: identityOf(context, target),
    argumentsHash: hashOf(text, brought),
    arguments: argumentsForQuestion(withBeside(text, brought), context.recording()?.scrub ?? ((it) => it)),
    risk: leave.risk,
    reason: leave.reason,
    surface: asking.surface,
    estimate: estimateFor(context, target, entry?.tool),
  }
  const isThere = asker?.canAnswer && context.rules().grants(asking.actor)?.approver === 'client'
  // Closes the dialogue when the call is cancelled, and when somebody else answered.
  const closed = new Stopper()
  const close = () => closed.abort()
  let approval: Approval
  if (isThere) signal?.addEventListener('abort', close)
  try {
    approval = await brakes.desk.permit(question, {
      wait: approvalWait ?? patienceOf(context, asking),
      limit: approvalWait,
      signal,
      client: isThere ? dialogueOf(asker, closed) : undefined,
    })
  } finally {
    signal?.removeEventListener('abort', close)
    close()
  }
  comingAgain.delete(again)
  const allowed = {
    giveBack: () => brakes.desk.giveBack(approval),
    comesAgain: () => {
      comingAgain.add(again)
      return brakes.desk.giveBack(approval)
    },
  }
  try {
    // It took a person's time, in which everything may have changed. This throws when it may not be called any more.
    admit(context, asking.actor, target)
    if (identityOf(context, target) !== question.identity) throw changedMeanwhile(target, 'server')
    if (bindingOf(context, target) !== before) throw changedMeanwhile(target, 'definition')
  } catch (error) {
    await allowed.giveBack()
    throw error
  }
  return allowed
}

/**
 * What is asked by other requests than calls. Their `_meta` belongs to one try: its progress token and trace are others the
 * next time, and the very same request must be found again.
 */
export function askedText(params: RawParams): string {
  return params.meta === undefined ? params.bytes.toString('utf8') : withMeta(params, undefined)
}

// --- internal ---

/** Nobody can allow what they cannot be shown to its end. */
function refuseUnshowable({ server, tool }: Target, text: string, beside: Beside | undefined): void {
  const size = Buffer.byteLength(text) + Buffer.byteLength(beside?.all ?? '')
  if (size <= MOST_SHOWN) return
  throw new Fault(
    'ARGUMENTS_INVALID',
    `the arguments of ${server === '' ? tool : `${server}/${tool}`} have ${size} bytes, too many for a person to be asked about`,
    {
      hint: `ask with less than ${MOST_SHOWN} bytes, or let it be called without asking: approval of ${server === '' ? tool : server}`,
      ...(server === '' ? {} : { server }),
    },
  )
}

/** Bytes. */
const MOST_SHOWN = 1_000_000

/** A model's client waits for a while anyway; a program is told at once, and can decide for itself. */
function patienceOf(context: CallContext, { surface }: Asking): number {
  return surface === 'gateway' ? context.active().config.approvals.wait : 0
}

/** What the call says: its arguments, and what comes beside them. */
function hashOf(text: string, beside: string | undefined): string {
  const said = canonicalArguments(Buffer.from(text))
  return sha256(beside === undefined ? said : `${said}\n${canonicalArguments(Buffer.from(beside))}`)
}

/** What runs under the server's name. */
function identityOf({ manager }: CallContext, { server }: Target): string | undefined {
  return manager.find(server)?.plan.identity
}

/** What is called: the definition of the tool, and of the server that has it. A swapped server is another one. */
function bindingOf({ manager, registry }: CallContext, { server, tool }: Target): string {
  if (server === '') return registry.native(tool)?.fingerprint ?? ''
  const connection = manager.find(server)
  const known = connection?.tool(tool)
  const fingerprint = connection && known ? serverTool(connection, known.tool).fingerprint : ''
  return sha256(`${connection?.plan.identity}\n${fingerprint}`)
}
