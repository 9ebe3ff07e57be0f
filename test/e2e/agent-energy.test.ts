// What the agent does when energy is short, with others who have set some aside.

import { expect, test } from 'vitest'
import type { ScriptStep } from '../../src/agent/scripted.ts'
import { entriesOf, heard, listen, models, only } from './agent-hub.ts'
import { place, until } from './hub.ts'

test('[D7] what another conversation has set aside is waited for, and nothing else stands still meanwhile', async () => {
  const { open } = place()
  let answer = () => {}
  const gate = new Promise<void>((resolve) => (answer = resolve))
  const step: ScriptStep = async ({ messages }) => {
    const [first] = messages
    if (first?.role === 'user' && first.text === 'spend') return { tokens: { input: 0, output: 4500 } }
    await gate
    return { text: 'ok', tokens: { input: 0, output: 0 } }
  }
  const hub = await open(
    {
      servers: {},
      agents: { ada: { energy: { capacity: 100, recovery: 0 } } },
      // A request of 600 000 characters is thought to take 30 of the 55 that are left.
      agent: { model: { price: { input: 0.2, output: 10 } }, cheap: { price: { input: 0.2, output: 10 } } },
    } as never,
    { models: models(step) },
  )
  const listening = listen(hub)
  let refusals = 0
  hub.on((event) => {
    if (event.type !== 'conversation' || event.kind !== 'energy') return
    refusals += 1
    // If it went round and round, nothing but this would run any more.
    if (refusals > 200) void hub.close()
  })
  const begin = async (text: string) => {
    const { id } = await hub.conversations.create()
    await hub.conversations.post(id, text)
    return id
  }
  await hub.conversations.settled(await begin('spend'))
  const long = 'x'.repeat(600_000)
  const first = await begin(`a${long}`)
  await until(() => (hub.energy?.state('ada')?.reserved ?? 0) > 30)
  const second = await begin(`b${long}`)
  await heard(listening, second, 'energy')
  await until(async () => (await hub.conversations.get(second)).waiting === 'energy')
  expect(refusals).toBeLessThan(10)
  answer()
  // What the first one did not need wakes the second one; no energy comes back by itself.
  for (const id of [first, second]) {
    await hub.conversations.settled(id)
    expect(only(await entriesOf(hub, id), 'turn')).toMatchObject([{ reason: 'done' }])
  }
})

test('[D5][D7] who waits for energy hears what the person says', async () => {
  const { open } = place()
  const step: ScriptStep = ({ messages }) => {
    const last = messages.at(-1)
    if (last?.role !== 'user') return { text: 'hm' }
    if (last.text === 'spend') return { text: 'spent', tokens: { input: 0, output: 4000 } }
    return last.text === 'rest'
      ? { uses: [{ name: 'await_energy', arguments: { percent: 90 } }] }
      : { text: 'here' }
  }
  const hub = await open(
    {
      servers: {},
      agents: { ada: { energy: { capacity: 100, recovery: '0.001/min' } } },
      agent: { model: { price: { input: 0, output: 10 } } },
    } as never,
    { models: models(step) },
  )
  const listening = listen(hub)
  const { id } = await hub.conversations.create()
  await hub.conversations.post(id, 'spend')
  await hub.conversations.settled(id)
  await hub.conversations.post(id, 'rest')
  await heard(listening, id, 'energy')
  await hub.conversations.post(id, 'never mind')
  await hub.conversations.settled(id)
  const entries = await entriesOf(hub, id)
  expect(only(entries, 'outcome')).toMatchObject([
    { isError: false, text: expect.stringContaining('The person said something') },
  ])
  expect(only(entries, 'assistant').at(-1)?.text).toBe('here')
})

test('[D7] what is urgent stays so when the process ends, and when something else is said', async () => {
  const { open } = place()
  const config = {
    servers: {},
    agents: { ada: { energy: { capacity: 100, recovery: 0 } } },
    agent: { model: { price: { input: 0, output: 10 } }, cheap: { price: { input: 0, output: 0.001 } } },
  }
  const step =
    (hangs: boolean): ScriptStep =>
    async ({ messages, signal }) => {
      const [first] = messages
      if (first?.role === 'user' && first.text === 'spend') return { tokens: { input: 0, output: 9500 } }
      if (hangs) await new Promise((_, reject) => signal.addEventListener('abort', reject))
      return { text: 'answered' }
    }
  const hub = await open(config as never, { models: models(step(true)) })
  const spender = await hub.conversations.create()
  await hub.conversations.post(spender.id, 'spend')
  await hub.conversations.settled(spender.id)
  const { id } = await hub.conversations.create()
  await hub.conversations.post(id, 'HELP', { urgency: 'urgent' })
  await hub.conversations.post(id, 'please')
  await hub.close()
  const again = await open(config as never, { models: models(step(false)) })
  // Only what is urgent is answered at this level.
  await until(async () => (await again.conversations.get(id)).status === 'idle')
  expect(only(await entriesOf(again, id), 'assistant').at(-1)?.text).toBe('answered')
})

test('[D7] an answer that never ends is cut, and costs no more than it can be long', async () => {
  let left = false
  const endless = {
    name: 'endless',
    async *stream() {
      try {
        // Long enough to be as good as endless, and not to take a machine with it.
        for (let piece = 0; piece < 2000; piece++)
          yield { type: 'thinking' as const, text: 'x'.repeat(10_000) }
        yield { type: 'end' as const, reason: 'stop' as const, tokens: { input: 0, output: 5e6 } }
      } finally {
        left = true
      }
    },
  }
  const lying = {
    name: 'lying',
    async *stream() {
      yield { type: 'end' as const, reason: 'stop' as const, tokens: { input: 1e12, output: Number.NaN } }
    },
  }
  const config = { servers: {}, agents: { ada: { energy: { capacity: 1000, recovery: 0 } } } }
  for (const model of [endless, lying]) {
    const hub = await place().open(config as never, { models: { normal: model, cheap: model } })
    const { id } = await hub.conversations.create()
    await hub.conversations.post(id, 'go')
    await hub.conversations.settled(id)
    const [turn] = only(await entriesOf(hub, id), 'turn')
    expect(turn?.reason).toBe(model === endless ? 'length' : 'done')
    expect(turn?.energy).toBeGreaterThan(0)
    expect(turn?.energy).toBeLessThan(25)
  }
  expect(left).toBe(true)
})

test('[E1] of too many uses in one answer none is called', async () => {
  const { open } = place()
  const hub = await open(
    { servers: {}, agents: { ada: {} } },
    {
      models: models([
        { uses: Array.from({ length: 65 }, () => ({ name: 'think', arguments: { thought: 'x' } })) },
      ]),
    },
  )
  const { id } = await hub.conversations.create()
  await hub.conversations.post(id, 'go')
  await hub.conversations.settled(id)
  const entries = await entriesOf(hub, id)
  expect(only(entries, 'outcome')).toEqual([])
  expect(only(entries, 'turn')).toMatchObject([{ reason: 'length' }])
})
