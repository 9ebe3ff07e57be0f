import { expect, test } from 'vitest'
import { Fault } from '../base/fault.ts'
import { type Called, type LoopEvent, type LoopOptions, runLoop } from './loop.ts'
import type { ModelMessage, ToolUse } from './model.ts'
import { type ScriptStep, scriptedModel } from './scripted.ts'

const OFFER = { name: 'look', description: '', inputSchema: { type: 'object' } }

function found({ id, name }: ToolUse, text = 'found'): Called {
  return { outcome: { id, name, text, isError: false } }
}

async function run(
  steps: readonly ScriptStep[],
  more: Partial<LoopOptions> = {},
): Promise<{ events: LoopEvent[]; messages: readonly ModelMessage[] }> {
  const model = scriptedModel(steps)
  const signal = more.signal ?? new AbortController().signal
  const loop = runLoop({
    system: () => 'be brief',
    tools: () => [OFFER],
    messages: [{ role: 'user', text: 'go' }],
    ask: (round) => ({ model: model.name, events: model.stream({ ...round, maxTokens: 100 }) }),
    call: async (use) => found(use),
    limits: { rounds: 5 },
    ...more,
    signal,
  })
  const events: LoopEvent[] = []
  for (;;) {
    const next = await loop.next()
    if (next.done) return { events, messages: next.value }
    events.push(next.value)
  }
}

const LOOK: ScriptStep = { uses: [{ name: 'look' }] }

function endOf(events: readonly LoopEvent[]) {
  const last = events.at(-1)
  if (last?.type !== 'end') throw new Error('the last event is no end')
  return last
}

test('[E1] asks, calls, and asks again until there is nothing more to say', async () => {
  const { events, messages } = await run([LOOK, { text: 'done' }])
  expect(events.map(({ type }) => type)).toEqual(['answer', 'use', 'outcome', 'text', 'answer', 'end'])
  expect(endOf(events)).toEqual({ type: 'end', reason: 'done', rounds: 2 })
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tools', 'assistant'])
})

test('[E1] an answer is told before any of its uses is begun', async () => {
  const begun: string[] = []
  const model = scriptedModel([LOOK, { text: 'done' }])
  const loop = runLoop({
    system: () => '',
    tools: () => [OFFER],
    messages: [{ role: 'user', text: 'go' }],
    ask: (round) => ({ model: '', events: model.stream({ ...round, maxTokens: 1 }) }),
    call: async (use) => {
      begun.push(use.id)
      return found(use)
    },
    limits: { rounds: 5 },
    signal: new AbortController().signal,
  })
  expect((await loop.next()).value).toMatchObject({ type: 'answer' })
  expect(begun).toEqual([])
  expect((await loop.next()).value).toMatchObject({ type: 'use' })
  await loop.return([])
  expect(begun).toHaveLength(1)
})

test('[E1] uses of one round run side by side, and each outcome is told as it comes', async () => {
  const ends = new Map<string, () => void>()
  const call = (use: ToolUse) =>
    new Promise<Called>((resolve) => {
      ends.set(use.id, () => resolve(found(use, use.id)))
      // The last to come is the first to end.
      if (ends.size === 3) for (const end of [...ends.values()].reverse()) end()
    })
  const uses = ['a', 'b', 'c'].map((id) => ({ id, name: 'look' }))
  const { events } = await run([{ uses }, { text: 'x' }], { call })
  expect(events.flatMap((event) => (event.type === 'outcome' ? [event.outcome.id] : [])).sort()).toEqual([
    'a',
    'b',
    'c',
  ])
})

test('[E1] tools are offered anew in every round', async () => {
  let round = 0
  const seen: string[][] = []
  const look = (request: { tools: readonly { name: string }[] }) => {
    seen.push(request.tools.map(({ name }) => name))
    return { uses: [{ name: 'look' }] }
  }
  await run([look, look, { text: 'x' }], {
    tools: () => (round++ === 0 ? [OFFER] : [{ ...OFFER, name: 'other' }]),
  })
  expect(seen).toEqual([['look'], ['other']])
})

test.each([
  ['length', [{ text: 'half an ans', end: 'length' as const, uses: [{ name: 'look' }] }], 'length', 1],
  ['a refusal', [{ end: 'refused' as const }], 'refused', 1],
  ['too many rounds', Array.from({ length: 9 }, () => LOOK), 'rounds', 5],
])('[E1] %s ends a turn', async (_, steps, reason, rounds) => {
  const { events } = await run(steps)
  expect(endOf(events)).toMatchObject({ reason, rounds })
})

test('[E1] nothing of an answer that was cut off is called', async () => {
  const { events } = await run([{ text: 'x', end: 'length', uses: [{ name: 'look' }] }])
  expect(events.find(({ type }) => type === 'answer')).toMatchObject({ answer: { uses: [] } })
})

test('[E1] a stopped turn keeps what was said, and says that it was stopped', async () => {
  const stop = new AbortController()
  const model = scriptedModel([{ text: 'one two three four' }])
  const { events, messages } = await run([], {
    signal: stop.signal,
    ask: (round) => ({
      model: '',
      events: (async function* () {
        for await (const event of model.stream({ ...round, maxTokens: 1 })) {
          yield event
          stop.abort()
        }
      })(),
    }),
  })
  expect(endOf(events)).toMatchObject({ reason: 'stopped' })
  expect(messages.at(-1)).toEqual({ role: 'assistant', text: 'one ', uses: [] })
})

test('[E1] a fault of the model ends the turn and is told; anything else is a bug', async () => {
  const away = () => {
    throw new Fault('MODEL_UNAVAILABLE', 'gone')
  }
  const { events } = await run([away])
  expect(endOf(events)).toMatchObject({ reason: 'failed', fault: { code: 'MODEL_UNAVAILABLE' } })
  const bug = () => {
    throw new TypeError('oops')
  }
  await expect(run([bug])).rejects.toThrow('oops')
})

test('[E1] what is too long is made shorter once, and asked again', async () => {
  const long = () => {
    throw new Fault('MODEL_OVERFLOW', 'too long')
  }
  const compact = async (): Promise<ModelMessage[]> => [{ role: 'user', text: 'short' }]
  const shorter = await run([long, ({ messages }) => ({ text: JSON.stringify(messages) })], { compact })
  expect(endOf(shorter.events)).toMatchObject({ reason: 'done' })
  expect(shorter.messages[0]).toEqual({ role: 'user', text: 'short' })
  expect(endOf((await run([long, long], { compact })).events)).toMatchObject({
    reason: 'failed',
    fault: { code: 'MODEL_OVERFLOW' },
  })
  expect(endOf((await run([long])).events)).toMatchObject({ reason: 'failed' })
})

test('[E1] what a person says meanwhile is read before the next answer, also after the last', async () => {
  const inbox: ModelMessage[] = []
  const says = (text: string) => () => {
    inbox.push({ role: 'user', text })
    return text === 'b' ? { text: 'first' } : { uses: [{ name: 'look' }] }
  }
  const { events, messages } = await run([says('a'), says('b'), { text: 'second' }], {
    arrived: () => inbox.splice(0),
  })
  expect(endOf(events)).toMatchObject({ reason: 'done', rounds: 3 })
  expect(messages.flatMap((message) => (message.role === 'user' ? [message.text] : []))).toEqual([
    'go',
    'a',
    'b',
  ])
})

test('[E1] hooks stand before and after every call', async () => {
  const { events } = await run(
    [
      {
        uses: [
          { name: 'look', id: '1' },
          { name: 'look', id: '2' },
        ],
      },
      { text: 'x' },
    ],
    {
      hooks: {
        before: ({ id }) => (id === '1' ? 'not this one' : undefined),
        after: (_, outcome) => ({ ...outcome, text: outcome.text.toUpperCase() }),
      },
    },
  )
  const outcomes = events.flatMap((event) => (event.type === 'outcome' ? [event.outcome] : []))
  expect(outcomes.sort((a, b) => a.id.localeCompare(b.id))).toMatchObject([
    { text: 'not this one', isError: true },
    { text: 'FOUND', isError: false },
  ])
})

test('[E1] uses that were left open are called first', async () => {
  const use = { id: 'u', name: 'look', arguments: '{}' }
  const { events, messages } = await run([{ text: 'done' }], {
    messages: [
      { role: 'user', text: 'go' },
      { role: 'assistant', text: '', uses: [use] },
    ],
    pending: { uses: [use], outcomes: [] },
  })
  expect(events.map(({ type }) => type)).toEqual(['use', 'outcome', 'text', 'answer', 'end'])
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tools', 'assistant'])
})

test('[E1] a use gets an id that none before had, also none that is no longer shown', async () => {
  const use = { id: 'call_1', name: 'look' }
  const { events } = await run([{ uses: [use] }, { text: 'x' }], { taken: () => ['call_1', 'call_1-2'] })
  expect(events.flatMap((event) => (event.type === 'outcome' ? [event.outcome.id] : []))).toEqual([
    'call_1-3',
  ])
})

test('[E1] a hook that throws is told to the model, before a call and after it', async () => {
  const called: string[] = []
  const { events } = await run(
    [
      {
        uses: [
          { name: 'look', id: 'a' },
          { name: 'look', id: 'b' },
        ],
      },
      { text: 'x' },
    ],
    {
      call: async (use) => {
        called.push(use.id)
        return found(use, 'a secret')
      },
      hooks: {
        before: ({ id }) => {
          if (id === 'a') throw new Error('broken before')
          return undefined
        },
        after: () => {
          throw new Error('broken after')
        },
      },
    },
  )
  expect(called).toEqual(['b'])
  const outcomes = events.flatMap((event) => (event.type === 'outcome' ? [event.outcome] : []))
  expect(outcomes.sort((a, b) => a.id.localeCompare(b.id))).toMatchObject([
    { isError: true, text: 'It was not called: broken before' },
    { isError: true, text: 'It was called, but what came of it cannot be told: broken after' },
  ])
  expect(endOf(events)).toMatchObject({ reason: 'done' })
})

test('[E1] a call that breaks the turn stops the others, whose outcomes are told first', async () => {
  const told: string[] = []
  const call: LoopOptions['call'] = (use, _, signal) =>
    use.id === 'a'
      ? Promise.reject(new TypeError('oops'))
      : new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(found(use, 'cancelled')))
        })
  const model = scriptedModel([
    {
      uses: [
        { name: 'look', id: 'a' },
        { name: 'look', id: 'b' },
      ],
    },
  ])
  const loop = runLoop({
    system: () => '',
    tools: () => [OFFER],
    messages: [{ role: 'user', text: 'go' }],
    ask: (round) => ({ model: '', events: model.stream({ ...round, maxTokens: 1 }) }),
    call,
    limits: { rounds: 5 },
    signal: new AbortController().signal,
  })
  const drive = async () => {
    for await (const event of loop) if (event.type === 'outcome') told.push(event.outcome.text)
  }
  await expect(drive()).rejects.toThrow('oops')
  expect(told).toEqual(['cancelled'])
})

test('[E1] whoever reads no further has stopped all calls when that is over', async () => {
  let running = 0
  const call: LoopOptions['call'] = async (use, _, signal) => {
    running += 1
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    running -= 1
    return found(use)
  }
  const model = scriptedModel([LOOK])
  const loop = runLoop({
    system: () => '',
    tools: () => [OFFER],
    messages: [{ role: 'user', text: 'go' }],
    ask: (round) => ({ model: '', events: model.stream({ ...round, maxTokens: 1 }) }),
    call,
    limits: { rounds: 5 },
    signal: new AbortController().signal,
  })
  for await (const event of loop) if (event.type === 'use') break
  expect(running).toBe(0)
})
