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
