// Conversations whose process ends: what is taken up again, and what never is.

import { expect, test } from 'vitest'
import type { ScriptStep } from '../../src/agent/scripted.ts'
import { entriesOf, heard, listen, models, only } from './agent-hub.ts'
import { faultOf, type Hub, place, until } from './hub.ts'

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

test('[D16][E1] the record of a turn counts what was done of it before the process ended', async () => {
  const { open } = place()
  const looks: ScriptStep = ({ messages }) => {
    const count = messages.filter(({ role }) => role === 'tools').length
    const tokens = { input: 100, output: 10 }
    return count < 3 ? { uses: [{ name: 'look' }], tokens } : { text: 'seen', tokens }
  }
  const config = { servers: {}, agents: { ada: { approval: 'never' as const } }, agent: { rounds: 4 } }
  const options = { models: models(looks) }
  const first = await open(config as never, options)
  let calls = 0
  first.tools.register({
    name: 'look',
    run: () => {
      calls += 1
      return calls === 2 ? new Promise(() => undefined) : 'found'
    },
  })
  const { id } = await first.conversations.create()
  await first.conversations.post(id, 'Look three times.')
  await until(() => calls === 2)
  await first.close()
  const second = await open(config as never, { ...options, start: false })
  second.tools.register({ name: 'look', run: () => 'found' })
  await second.conversations.create()
  await second.conversations.settled(id)
  const entries = await entriesOf(second, id)
  const [turn] = only(entries, 'turn')
  expect(turn).toMatchObject({
    reason: 'done',
    rounds: 4,
    tokens: { input: 400, output: 40 },
    models: ['scripted/normal'],
    startedAt: only(entries, 'user')[0]?.at,
  })
  await second.flush()
  const spent = (await second.calls.list({ conversation: id })).reduce(
    (sum, { energy = 0 }) => sum + energy,
    0,
  )
  expect(turn?.energy).toBeCloseTo(spent, 5)
  const answers = only(entries, 'assistant').map(({ energy = 0 }) => energy)
  expect(answers).toEqual([0.03, 0.03, 0.03, 0.03])
})

test('[E1] a conversation of an agent that is no more ends its turn, and nothing can be said in it', async () => {
  const { open } = place()
  const two = { servers: {}, agents: { ada: {}, bob: {} } }
  const one = { servers: {}, agents: { ada: {} } }
  const hangs: ScriptStep = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const first = await open(two, { models: models(hangs) })
  const { id } = await first.conversations.create({ agent: 'bob' })
  await first.conversations.post(id, 'Hello?')
  await first.close()
  const second = await open(one, { models: models([{ text: 'hello' }]) })
  await until(async () => (await second.conversations.get(id)).status === 'idle')
  const [turn] = only(await entriesOf(second, id), 'turn')
  expect(turn).toMatchObject({ reason: 'failed', error: expect.stringContaining('bob') })
  expect((await faultOf(second.conversations.post(id, 'Still there?'))).code).toBe(turn?.code)
  expect(only(await entriesOf(second, id), 'user')).toHaveLength(1)
})

test('[D16][E1] without a model what was left is only looked at, and gone on with when there is one', async () => {
  const { open, sandbox } = place()
  const config = { servers: {}, agents: { ada: {} } }
  const hangs: ScriptStep = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const first = await open(config, { models: models(hangs) })
  const { id } = await first.conversations.create()
  await first.conversations.post(id, 'Important.')
  await first.close()

  const second = await open(config)
  expect((await second.conversations.list()).map(({ status }) => status)).toEqual(['working'])
  expect((await second.conversations.get(id)).messages.map(({ role }) => role)).toEqual(['user'])
  expect((await faultOf(second.conversations.post(id, 'Hello?'))).code).toBe('MODEL_REFUSED')
  expect((await second.conversations.get(id)).messages.map(({ role }) => role)).toEqual(['user'])
  const name = sandbox.write('script.json', JSON.stringify([{ text: 'Here I am.' }]))
  await second.servers.apply({ ...config, agent: { model: { provider: 'scripted', name } } } as never)
  await until(async () => (await second.conversations.get(id)).status === 'idle')
  const entries = await entriesOf(second, id)
  expect(entries.map(({ role }) => role)).toEqual(['user', 'assistant', 'turn'])
  expect(only(entries, 'turn')).toMatchObject([{ reason: 'done' }])
})

test('[E1] conversations are listed page by page, looked at by anybody, and never all read for a turn', async () => {
  const { open } = place()
  const options = { models: models(() => ({ text: 'ok' })) }
  const hub = await open(agents('never'), options)
  const ids: string[] = []
  for (let count = 0; count < 14; count++) ids.push((await hub.conversations.create()).id)
  const [first = ''] = ids
  await hub.conversations.post(first, 'one')
  await hub.conversations.settled(first)
  const { conversations } = hub.store
  const limits: (number | undefined)[] = []
  const list = conversations.list.bind(conversations)
  conversations.list = (filter) => {
    limits.push(filter?.limit)
    return list(filter)
  }
  await hub.conversations.post(first, 'two')
  await hub.conversations.settled(first)
  expect(limits).toEqual([11])

  const seen: string[] = []
  for (let page = await hub.conversations.list({ limit: 5 }); page.length > 0; ) {
    expect(page.length).toBeLessThanOrEqual(5)
    seen.push(...page.map(({ id }) => id))
    page = await hub.conversations.list({ limit: 5, before: seen.at(-1) })
  }
  expect(seen[0]).toBe(first)
  expect([...seen].sort()).toEqual([...ids].sort())
  const { messages } = await hub.conversations.get(first, { after: 3, limit: 2 })
  expect(messages.map(({ role, seq }) => [role, seq])).toEqual([
    ['user', 4],
    ['assistant', 5],
  ])
  // Another process may look, too, while this one runs them.
  const other = await open(agents('never'), { ...options, start: false })
  expect(await other.conversations.list({ limit: 1 })).toMatchObject([{ id: first }])
})
