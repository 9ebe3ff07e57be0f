// Has a tool called for a conversation. Tools of servers and of this process go the way of every call, with the same
// decisions; where a person must be asked, only this use waits.

import { Fault } from '../base/fault.ts'
import { JsonText } from '../call/argument-text.ts'
import type { AgentHandle } from '../call/handle.ts'
import { MeteredWork } from '../call/metered.ts'
import type { CallResult } from '../call/result.ts'
import { Closing } from './closing.ts'
import type { Called } from './loop.ts'
import type { ToolOffer, ToolUse } from './model.ts'
import { OWN_TOOLS } from './own-tools.ts'
import { type Shell, type Task, waiting } from './shell.ts'
import { outcomeOf } from './use.ts'

/** What the model may use now: the loop's own tools, and what the agent is shown. */
export function offersFor(handle: AgentHandle): ToolOffer[] {
  const own = [...OWN_TOOLS.values()].map((tool) => tool.offer)
  const { tools } = handle.toolsFor({ format: 'ai-sdk' })
  const others = tools.flatMap(({ name, description, inputSchema }) =>
    typeof name === 'string' && !OWN_TOOLS.has(name)
      ? [
          {
            name,
            description: typeof description === 'string' ? description : '',
            inputSchema: inputSchema as ToolOffer['inputSchema'],
          },
        ]
      : [],
  )
  return [...own, ...others]
}

/** Rejects only when everything ends. */
export async function callTool(
  shell: Shell,
  task: Task,
  handle: AgentHandle,
  use: ToolUse,
  args: string,
  also: AbortSignal,
): Promise<Called> {
  // A process that ends waits for what tools do as long as it can.
  const gone = new AbortController()
  also.addEventListener('abort', () => shell.closing.aborted || gone.abort(also.reason), { once: true })
  const signal = AbortSignal.any([task.stop.signal, shell.ending, gone.signal])
  try {
    const own = OWN_TOOLS.get(use.name)
    if (own) return await callOwn(shell, task, use, args, signal)
    const result = await callAllowed(shell, task, handle, use, args, signal)
    const limit = shell.pacer(task.agent).pace(task.urgency).resultBytes
    return { outcome: outcomeOf(use, scrubbed(shell, result.forModel({ limit })), result.isError) }
  } catch (error) {
    // Nobody knows what became of it; that is what is said at the next start.
    if (shell.closing.aborted) throw new Closing()
    if (task.stop.signal.aborted) return { outcome: outcomeOf(use, STOPPED, true) }
    if (!(error instanceof Fault)) throw error
    return { outcome: outcomeOf(use, scrubbed(shell, wordsOf(error)), true) }
  }
}

// --- internal ---

const STOPPED = 'The person stopped this turn. The call was cancelled; it may have happened all the same.'

/** Before a question expires, so that no other is put in its place. */
const EARLIER = 1000

/**
 * A call that a person has to allow is marked as waiting only while nothing is sent, so that mark, if it is the last one of a
 * use, proves just that, whatever became of the question: the policy may allow the call meanwhile without using it up, and
 * another use of the same tool may use it up, after which this one has a question of its own.
 */
async function callAllowed(
  shell: Shell,
  task: Task,
  handle: AgentHandle,
  use: ToolUse,
  args: string,
  signal: AbortSignal,
): Promise<CallResult> {
  const text = new JsonText(args)
  for (;;) {
    try {
      return await handle.call(use.name, text, { signal, conversation: task.id, approvalWait: 0 })
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'APPROVAL_PENDING') throw error
      if (!(await isAnswered(shell, task, use, error, signal))) throw error
    }
    await shell.write(task.id, 'resumed', { use: use.id })
  }
}

/** Waits for the answer to the question that a call was refused with; false when nobody gave one. */
async function isAnswered(
  shell: Shell,
  task: Task,
  use: ToolUse,
  { details }: Fault,
  signal: AbortSignal,
): Promise<boolean> {
  const { approval, expiresAt } = details ?? {}
  const desk = shell.host.context.brakes()?.desk
  if (typeof approval !== 'string' || desk === undefined) return false
  await shell.write(task.id, 'waiting', { use: use.id, approval })
  shell.tell(task, { kind: 'approval', use: use.id, approval })
  const wait = Math.max(0, Date.parse(String(expiresAt)) - Date.now() - EARLIER)
  return (await waiting(task, 'approval', () => desk.settled(approval, { wait, signal }))) !== 'pending'
}

/** Recorded like every call, at no cost: waiting is no effort. */
async function callOwn(
  shell: Shell,
  task: Task,
  use: ToolUse,
  args: string,
  signal: AbortSignal,
): Promise<Called> {
  const tool = OWN_TOOLS.get(use.name)
  if (tool === undefined) throw new Error(`${use.name} is no tool of the loop`)
  const { context, actor } = shell.host
  const read: Readonly<Record<string, unknown>> = JSON.parse(args)
  const work = await MeteredWork.begin(
    context,
    { actor: actor(task.agent), surface: 'agent', conversation: task.id },
    { name: use.name, arguments: read, estimate: 0 },
  )
  try {
    const { text, isError = false, ends } = await tool.run(shell, task, read, signal)
    await work.ended(0, text, isError)
    return { outcome: outcomeOf(use, text, isError), ends }
  } catch (error) {
    await work.failed(0, error)
    throw error
  }
}

function wordsOf({ code, message, hint }: Fault): string {
  switch (code) {
    case 'APPROVAL_PENDING':
      return 'Nobody answered the question whether this may be called. It was not called.'
    case 'OUT_OF_ENERGY':
      return `${message}. It was not called; await_energy waits until there is enough.`
    default:
      return hint === undefined ? message : `${message} — ${hint}`
  }
}

/** No secret of the configuration goes to a provider of models, whatever a tool returned. */
function scrubbed({ host }: Shell, text: string): string {
  return host.context.recording()?.scrub(text) ?? text
}
