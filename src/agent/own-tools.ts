// The loop's own tools: they act on the agent's conversations and on its pace, and on nothing else, so nobody is asked. For
// the same reason only its own conversation can be ended or put aside: what a result talks the model into here must not
// take away what somebody waits for elsewhere.

import { isRecord } from '../base/record.ts'
import type { TurnReason } from './loop.ts'
import type { ToolOffer } from './model.ts'
import { type Shell, type Task, waiting } from './shell.ts'

interface OwnOutcome {
  readonly text: string
  readonly isError?: boolean
  readonly ends?: TurnReason
}

interface OwnTool {
  readonly offer: ToolOffer
  run(
    shell: Shell,
    task: Task,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<OwnOutcome>
}

const CONVERSATION = {
  type: 'string',
  description: 'Id of another conversation of yours; default: this one.',
}
/** Minutes. */
const LONGEST_SNOOZE = 60 * 24 * 30

export const OWN_TOOLS: ReadonlyMap<string, OwnTool> = new Map(
  [respond(), awaitEnergy(), selectConversation(), think(), endConversation(), snoozeConversation()].map(
    (tool) => [tool.offer.name, tool],
  ),
)

// --- internal ---

function offer(
  name: string,
  description: string,
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[] = [],
): ToolOffer {
  return {
    name,
    description,
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
  }
}

function respond(): OwnTool {
  const text = { type: 'string', description: 'What the person is told.' }
  return {
    offer: offer(
      'respond',
      'Tells the person something now, while you go on working. What you write at the end of a turn needs no tool.',
      { text, conversation: CONVERSATION },
      ['text'],
    ),
    run: async (shell, task, args) => {
      const said = textIn(args, 'text')
      if (said === undefined) return wrong('text is missing')
      const id = await conversationIn(shell, task, args)
      if (id === undefined) return noSuch(args)
      await shell.say(task, id, said)
      return { text: 'The person was told.' }
    },
  }
}

function awaitEnergy(): OwnTool {
  const percent = {
    type: 'number',
    minimum: 1,
    maximum: 100,
    description: 'Per cent of what you can hold; default 50.',
  }
  return {
    offer: offer('await_energy', 'Waits until you have so much energy again. Other conversations go on.', {
      percent,
    }),
    run: async (shell, task, args, signal) => {
      const wanted = args['percent'] ?? 50
      if (typeof wanted !== 'number' || !(wanted >= 1 && wanted <= 100))
        return wrong('percent is from 1 to 100')
      const state = shell.host.energy?.state(task.agent)
      if (state === undefined) return { text: 'Your energy is unlimited.' }
      const level = (wanted / 100) * state.capacity
      if (state.level < level && state.recovery === 0)
        return wrong('your energy does not come back by itself; tell the person that it must be refilled')
      let heard = false
      if (state.level < level) {
        const until = Date.now() + ((level - state.level) / state.recovery) * 60_000
        shell.tell(task, { kind: 'energy', level: state.level, until })
        heard = await waiting(task, 'energy', () => restOrHear(shell, task, level, signal))
      }
      const now = Math.floor(shell.host.energy?.state(task.agent)?.level ?? level)
      return {
        text: `${heard ? 'The person said something, so the wait is over. ' : ''}Your energy is ${now} now.`,
      }
    },
  }
}

/** Waits for energy; true when something was said before it was there. */
async function restOrHear(shell: Shell, task: Task, level: number, signal: AbortSignal): Promise<boolean> {
  const arrived = new AbortController()
  const tell = () => arrived.abort()
  task.arrivals.add(tell)
  if (task.inbox.length > 0) tell()
  try {
    await shell.pacer(task.agent).rest(level, AbortSignal.any([signal, arrived.signal]))
    return false
  } catch (error) {
    if (signal.aborted || !arrived.signal.aborted) throw error
    return true
  } finally {
    task.arrivals.delete(tell)
  }
}

function selectConversation(): OwnTool {
  const conversation = { type: 'string', description: 'Id of a conversation of yours.' }
  return {
    offer: offer(
      'select_conversation',
      'Lets a conversation of yours go before the others from now on.',
      { conversation },
      ['conversation'],
    ),
    run: async (shell, task, args) => {
      const id = await conversationIn(shell, task, args)
      if (id === undefined) return noSuch(args)
      const pacer = shell.pacer(task.agent)
      pacer.selected = id
      pacer.look()
      return { text: `${id} goes before the others now.` }
    },
  }
}

function think(): OwnTool {
  const thought = { type: 'string', description: 'The thought.' }
  return {
    offer: offer('think', 'Notes a thought for yourself. The person is not told.', { thought }, ['thought']),
    run: async (shell, task, args) => {
      const thought = textIn(args, 'thought')
      if (thought === undefined) return wrong('thought is missing')
      shell.tell(task, { kind: 'thinking', text: thought })
      return { text: 'Noted.' }
    },
  }
}

function endConversation(): OwnTool {
  return {
    offer: offer(
      'end_conversation',
      'Ends this conversation for good. Only when the person has what they asked for.',
      {},
    ),
    run: async (_, task, args) =>
      isOther(task, args) ? wrong(ONLY_THIS) : { text: 'The conversation has ended.', ends: 'ended' },
  }
}

function snoozeConversation(): OwnTool {
  const minutes = {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: LONGEST_SNOOZE,
    description: 'For how long.',
  }
  return {
    offer: offer(
      'snooze_conversation',
      'Puts this conversation aside for a while. It goes on then, or when the person says something.',
      { minutes },
      ['minutes'],
    ),
    run: async (shell, task, args) => {
      const { minutes: wanted } = args
      if (typeof wanted !== 'number' || !(wanted > 0 && wanted <= LONGEST_SNOOZE))
        return wrong(`minutes is more than 0 and at most ${LONGEST_SNOOZE}`)
      if (isOther(task, args)) return wrong(ONLY_THIS)
      const until = Math.round(Date.now() + wanted * 60_000)
      await shell.snooze(task.id, until)
      return { text: `This conversation sleeps until ${new Date(until).toISOString()}.`, ends: 'snoozed' }
    },
  }
}

const ONLY_THIS = 'that can be done to this conversation only'

function isOther(task: Task, args: Readonly<Record<string, unknown>>): boolean {
  const id = args['conversation']
  return id !== undefined && id !== '' && id !== task.id
}

/** The conversation that is meant, if the agent has it. */
async function conversationIn(
  shell: Shell,
  task: Task,
  args: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const id = args['conversation']
  if (id === undefined || id === '' || id === task.id) return task.id
  return typeof id === 'string' && (await shell.owns(task.agent, id)) ? id : undefined
}

function textIn(args: unknown, key: string): string | undefined {
  const text = isRecord(args) ? args[key] : undefined
  return typeof text === 'string' && text !== '' ? text : undefined
}

function wrong(text: string): OwnOutcome {
  return { text: `It was not done: ${text}.`, isError: true }
}

function noSuch(args: Readonly<Record<string, unknown>>): OwnOutcome {
  return wrong(`you have no conversation ${JSON.stringify(args['conversation'])}`)
}
