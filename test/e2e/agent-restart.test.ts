// Conversations whose process ends: what is taken up again, and what never is.

import { expect, test } from 'vitest'
import type { ScriptStep } from '../../src/agent/scripted.ts'
import { entriesOf, heard, listen, models, only } from './agent-hub.ts'
import { type Hub, place, until } from './hub.ts'

/** Pays, then tells what came of it. */
const PAYS: ScriptStep = ({ messages }) => {
  const last = messages.at(-1)
  return last?.role === 'tools'
    ? { text: `told: ${last.outcomes[0]?.text}` }
    : { uses: [{ id: 'u', name: 'pay' }] }
}

/** A tool that notes that it was called, and then hangs or not. */
function paying(hub: Hub, paid: string[], then: () => unknown = () => 'ok'): void {
  hub.tools.register({
    name: 'pay',
    annotations: { readOnlyHint: false, destructiveHint: true },
    run: () => {
      paid.push('paid')
      return then()
    },
  })
}

const agents = (approval: 'always' | 'never') => ({
  servers: {},
  agents: { ada: { approval, energy: 'unlimited' as const } },
})

test('[D16][E1] a call that waited for a person, and is allowed by the policy meanwhile, is still made once', async () => {
  const { open } = place()
  const paid: string[] = []
  const options = { models: models(PAYS) }
  const first = await open(agents('always'), options)
  paying(first, paid)
  const listening = listen(first)
  const { id } = await first.conversations.create()
  await first.conversations.post(id, 'Pay the bill.')
  await heard(listening, id, 'approval')
  await first.close()

  // Nobody has to be asked any more, so the question is never used; and the process ends while the call is made.
  const second = await open(agents('never'), { ...options, start: false })
  paying(second, paid, () => new Promise(() => undefined))
  await second.conversations.create()
  await until(() => paid.length === 1)
  await second.close()

  const third = await open(agents('never'), { ...options, start: false })
  paying(third, paid)
  await third.conversations.create()
  await third.conversations.settled(id)
  expect(paid).toHaveLength(1)
  const entries = await entriesOf(third, id)
  expect(only(entries, 'outcome')).toMatchObject([
    { isError: true, text: expect.stringContaining('unknown') },
  ])
  expect(only(entries, 'turn')).toMatchObject([{ reason: 'done' }])
})

test('[E1] of two uses that are the same each has a question that is told, and a call', async () => {
  const { open } = place()
  const paid: string[] = []
  const twice: ScriptStep = ({ messages }) =>
    messages.at(-1)?.role === 'tools'
      ? { text: 'done' }
      : {
          uses: [
            { id: 'a', name: 'pay' },
            { id: 'b', name: 'pay' },
          ],
        }
  const hub = await open(agents('always'), { models: models(twice) })
  paying(hub, paid)
  const listening = listen(hub)
  const { id } = await hub.conversations.create()
  await hub.conversations.post(id, 'Pay twice.')
  const told = () =>
    new Set(listening.of(id).flatMap((event) => (event.kind === 'approval' ? [event.approval] : [])))
  for (const count of [1, 2]) {
    await until(() => told().size === count)
    await hub.approvals.answer([...told()][count - 1] ?? '', { decision: 'allow' }, 'test')
  }
  await hub.conversations.settled(id)
  expect(paid).toHaveLength(2)
  const entries = await entriesOf(hub, id)
  expect(new Set(only(entries, 'waiting').map(({ approval }) => approval))).toEqual(told())
  expect(only(entries, 'outcome').map(({ isError }) => isError)).toEqual([false, false])
})
