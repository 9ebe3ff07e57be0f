// One conversation from beginning to end: real servers, a question to a person, energy that runs low, a cheaper model, a
// wait, and recovery; and every step of it in the record, with what it took.

import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FILESYSTEM, heard, listen, MEMORY, models, official, only } from './agent-hub.ts'
import { place, until } from './hub.ts'

test('[E1][D7][D5] a conversation asks, runs low, takes the cheap model, waits, recovers and finishes', async () => {
  const { open, sandbox } = place()
  sandbox.write('plan.txt', 'buy bread')
  const project = realpathSync(sandbox.project)
  const tokens = (output: number) => ({ input: 1000, output })
  const scripted = models([
    {
      text: 'I look. ',
      uses: [
        { name: 'files_read_text_file', arguments: { path: join(project, 'plan.txt') } },
        {
          name: 'memory_create_entities',
          arguments: { entities: [{ name: 'bread', entityType: 'thing', observations: ['wanted'] }] },
        },
      ],
      tokens: tokens(4000),
    },
    {
      uses: [{ name: 'files_write_file', arguments: { path: join(project, 'done.txt'), content: 'bread' } }],
      tokens: tokens(2000),
    },
    { text: 'Nearly. ', uses: [{ name: 'memory_read_graph' }], tokens: tokens(3200) },
    { text: 'All done.', tokens: tokens(100) },
  ])
  const config = (recovery: string) => ({
    servers: {
      files: { ...official(FILESYSTEM, project), trustAnnotations: true },
      memory: {
        ...official(MEMORY),
        env: { MEMORY_FILE_PATH: join(project, 'memory.json') },
        approval: { '*': 'allow' },
      },
    },
    agents: {
      ada: { servers: ['*'], approval: 'writes', naming: 's_t', energy: { capacity: 100, recovery } },
    },
    agent: {
      model: { price: { input: 0, output: 10 } },
      cheap: { price: { input: 0, output: 10 } },
    },
  })
  const hub = await open(config('0/min') as never, { models: scripted })
  await hub.as('ada').ready()
  const listening = listen(hub)
  const { id } = await hub.conversations.create()
  expect(await hub.conversations.post(id, 'Do what the plan says.')).toBe(1)

  // A person is asked, and only this conversation waits.
  const { approval } = await heard(listening, id, 'approval')
  expect(await hub.conversations.get(id)).toMatchObject({ status: 'working', waiting: 'approval' })
  expect(sandbox.exists(join(project, 'done.txt'))).toBe(false)
  await hub.approvals.answer(approval, { decision: 'allow' }, 'test')

  // Then it waits for energy that does not come back by itself.
  const low = await heard(listening, id, 'energy')
  expect(low).not.toHaveProperty('until')
  expect(await hub.conversations.get(id)).toMatchObject({ status: 'working', waiting: 'energy' })
  expect(sandbox.read(join(project, 'done.txt'))).toBe('bread')
  await hub.flush()
  const spent = (await hub.calls.list({ agent: 'ada' })).reduce((sum, { energy = 0 }) => sum + energy, 0)
  expect(hub.energy?.state('ada')?.level).toBeCloseTo(100 - spent, 5)
  expect(low.level).toBeLessThan(10)

  await hub.servers.apply(config('6000/min') as never)
  await hub.conversations.settled(id)
  const { messages, status } = await hub.conversations.get(id)
  expect(status).toBe('idle')
  expect(only(messages, 'assistant').map(({ model }) => model)).toEqual([
    'scripted/normal',
    'scripted/normal',
    'scripted/cheap',
    'scripted/cheap',
  ])
  expect(only(messages, 'outcome').map(({ isError }) => isError)).toEqual([false, false, false, false])
  expect(only(messages, 'assistant').at(-1)?.text).toBe('All done.')
  const [turn] = only(messages, 'turn')
  expect(turn).toMatchObject({
    reason: 'done',
    rounds: 4,
    tokens: { input: 4000, output: 9300 },
    models: ['scripted/normal', 'scripted/cheap'],
  })

  await hub.flush()
  const calls = (await hub.calls.list({ conversation: id })).reverse()
  expect(calls.every(({ agent, surface }) => agent === 'ada' && surface === 'agent')).toBe(true)
  const steps = calls.map(({ server, tool, outcome }) => `${server}/${tool} ${outcome}`)
  expect(steps.filter((step) => !step.startsWith('files/read') && !step.startsWith('memory/create'))).toEqual(
    [
      '/model ok',
      '/model ok',
      'files/write_file denied',
      'files/write_file ok',
      '/model ok',
      'memory/read_graph ok',
      '/model ok',
    ],
  )
  expect(steps.slice(1, 3).sort()).toEqual(['files/read_text_file ok', 'memory/create_entities ok'])
  expect(calls.filter(({ tool }) => tool === 'model').map(({ energy }) => energy)).toEqual([40, 20, 32, 1])
  expect(turn?.energy).toBeCloseTo(
    calls.reduce((sum, { energy = 0 }) => sum + energy, 0),
    5,
  )
  expect(await hub.calls.verify()).toMatchObject({ ok: true })
})

test('[D5][D7] await_energy waits for what it asks, and others go on', async () => {
  const { open } = place()
  const scripted = models(({ messages }) => {
    const [first] = messages
    const isLast = messages.at(-1)?.role === 'tools'
    if (isLast || first?.role !== 'user') return { text: 'rested', tokens: { input: 0, output: 0 } }
    if (first.text === 'spend') return { text: 'spent', tokens: { input: 0, output: 4000 } }
    return { uses: [{ name: 'await_energy', arguments: { percent: 70 } }], tokens: { input: 0, output: 0 } }
  })
  const config = (recovery: string) => ({
    servers: {},
    agents: { ada: { energy: { capacity: 100, recovery } } },
    agent: { model: { price: { input: 0, output: 10 } } },
  })
  const hub = await open(config('0.001/min') as never, { models: scripted })
  const listening = listen(hub)
  const spender = await hub.conversations.create()
  await hub.conversations.post(spender.id, 'spend')
  await hub.conversations.settled(spender.id)
  const { id } = await hub.conversations.create()
  await hub.conversations.post(id, 'rest')
  expect(await heard(listening, id, 'energy')).toMatchObject({ level: 60, until: expect.any(Number) })
  expect(await hub.conversations.get(id)).toMatchObject({ waiting: 'energy' })
  // Meanwhile another conversation is answered.
  const other = await hub.conversations.create()
  await hub.conversations.post(other.id, 'spend')
  await until(async () => (await hub.conversations.get(other.id)).status === 'idle')
  await hub.servers.apply(config('60000/min') as never)
  await hub.conversations.settled(id)
  const { messages } = await hub.conversations.get(id)
  expect(only(messages, 'outcome')).toMatchObject([{ name: 'await_energy', isError: false }])
  expect(hub.energy?.state('ada')?.level).toBeGreaterThanOrEqual(70)
})
