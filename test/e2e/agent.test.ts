// The built-in agent with real servers and a scripted model, in a hub of the built library.

import { expect, test } from 'vitest'
import { entriesOf, heard, listen, models, only, talk } from './agent-hub.ts'
import { faultOf, ownServer, place, until } from './hub.ts'

const AGENTS = { ada: { servers: ['*'], approval: 'never', naming: 's_t' } } as const

test('[E1] a turn uses the tools that are there, puts results in history, and says what it cost', async () => {
  const { open, sandbox } = place()
  const server = ownServer(sandbox, `{ add: ({ a, b }) => a + b }`)
  const { normal, cheap } = models([
    { text: 'Let me see. ', uses: [{ name: 'sums_add', arguments: { a: 2, b: 40 } }] },
    (request) => ({ text: `It is ${JSON.stringify(request.messages.at(-1))}` }),
  ])
  const hub = await open({ servers: { sums: server }, agents: AGENTS }, { models: { normal, cheap } })
  await hub.as('ada').ready()
  const listening = listen(hub)
  const { id, agent } = await hub.conversations.create()
  expect(agent).toBe('ada')
  const entries = await talk(hub, id, 'What is 2 + 40?')
  expect(entries.map(({ role }) => role)).toEqual(['user', 'assistant', 'outcome', 'assistant', 'turn'])
  expect(only(entries, 'outcome')).toMatchObject([{ name: 'sums_add', text: '42', isError: false }])
  expect(only(entries, 'assistant').at(-1)?.text).toContain('42')
  const [turn] = only(entries, 'turn')
  expect(turn).toMatchObject({ reason: 'done', rounds: 2, models: ['scripted/normal'], compactions: 0 })
  await hub.flush()
  const calls = await hub.calls.list({ conversation: id })
  expect(calls.map(({ server, tool, outcome }) => [server, tool, outcome])).toEqual([
    ['', 'model', 'ok'],
    ['sums', 'add', 'ok'],
    ['', 'model', 'ok'],
  ])
  const spent = calls.reduce((sum, { energy = 0 }) => sum + energy, 0)
  expect(turn?.energy).toBeCloseTo(spent, 6)
  expect(turn?.energy).toBeGreaterThan(0)
  expect(listening.of(id).map(({ kind }) => kind)).toEqual(
    expect.arrayContaining([
      'created',
      'message',
      'turn-start',
      'text',
      'answer',
      'tool-start',
      'tool-end',
      'turn-end',
    ]),
  )
  expect((await hub.conversations.list()).map(({ id, title, status }) => [id, title, status])).toEqual([
    [id, 'What is 2 + 40?', 'idle'],
  ])
})

test('[E1] broken arguments, unknown tools and failing ones are told to the model, which goes on', async () => {
  const { open, sandbox } = place()
  const server = ownServer(sandbox, `{ fail: () => { throw new Error('no luck') } }`)
  const hub = await open(
    { servers: { own: server }, agents: AGENTS },
    {
      models: models([
        {
          uses: [
            { id: 'same', name: 'own_fail', arguments: '{"a":' },
            { id: 'same', name: 'own_fial' },
            { id: 'same', name: 'own_fail', arguments: '[1]' },
            { id: 'same', name: 'own_fail', arguments: '' },
          ],
        },
        { text: 'I see.' },
      ]),
    },
  )
  await hub.as('ada').ready()
  const { id } = await hub.conversations.create()
  const entries = await talk(hub, id, 'Try.')
  const outcomes = only(entries, 'outcome')
  expect(outcomes.every(({ isError }) => isError)).toBe(true)
  expect(outcomes.map(({ text }) => text).sort()).toEqual([
    expect.stringContaining('no JSON object'),
    expect.stringContaining('no valid JSON'),
    expect.stringContaining('Did you mean own_fail?'),
    'no luck',
  ])
  expect(new Set(outcomes.map(({ id }) => id)).size).toBe(4)
  expect(only(entries, 'turn')[0]).toMatchObject({ reason: 'done', rounds: 2 })
})

test('[D5] the loop’s own tools answer, think, select, snooze and end', async () => {
  const { open } = place()
  const said: string[] = []
  const hub = await open(
    { servers: {}, agents: AGENTS },
    {
      models: models((request) => {
        const last = request.messages.at(-1)
        const text = last?.role === 'user' ? last.text : ''
        said.push(text)
        if (text.startsWith('use ')) {
          const [, name = '', args = '{}'] = /^use (\S+) ?(.*)$/.exec(text) ?? []
          return { uses: [{ name, arguments: args || '{}' }] }
        }
        return { text: 'ok' }
      }),
    },
  )
  const listening = listen(hub)
  const { id } = await hub.conversations.create()
  const other = await hub.conversations.create()
  await talk(hub, id, 'use respond {"text":"soon"}')
  expect(await heard(listening, id, 'said')).toMatchObject({ text: 'soon' })
  await talk(hub, id, `use respond {"text":"over there","conversation":"${other.id}"}`)
  expect(only(await entriesOf(hub, other.id), 'said')).toMatchObject([{ text: 'over there', from: id }])
  expect(await heard(listening, other.id, 'said')).toMatchObject({ text: 'over there', from: id })
  await talk(hub, id, 'use respond {"text":"x","conversation":"nobody"}')
  await talk(hub, id, 'use think {"thought":"hm"}')
  await talk(hub, id, `use select_conversation {"conversation":"${other.id}"}`)
  await talk(hub, id, 'use await_energy {"percent":1}')
  const entries = await entriesOf(hub, id)
  expect(only(entries, 'outcome').map(({ isError }) => isError)).toEqual([
    false,
    false,
    true,
    false,
    false,
    false,
  ])

  const snoozed = await talk(hub, id, 'use snooze_conversation {"minutes":0.001}')
  expect(only(snoozed, 'turn').at(-1)).toMatchObject({ reason: 'snoozed' })
  // It wakes by itself.
  await heard(listening, id, 'snoozed')
  await until(async () => only(await entriesOf(hub, id), 'wake').length === 1)
  await hub.conversations.settled(id)
  expect(said.at(-1)).toContain('put this conversation aside')
  await talk(hub, id, 'use snooze_conversation {"minutes":60}')
  expect(await hub.conversations.get(id)).toMatchObject({
    status: 'snoozed',
    snoozedUntil: expect.any(Number),
  })
  await talk(hub, id, 'are you there?')
  expect(await hub.conversations.get(id)).toMatchObject({ status: 'idle' })

  // What somebody waits for elsewhere is not for this conversation to take away.
  for (const tool of ['end_conversation {', 'snooze_conversation {"minutes":60,']) {
    const refused = await talk(hub, id, `use ${tool}"conversation":"${other.id}"}`)
    expect(only(refused, 'outcome').at(-1)).toMatchObject({
      isError: true,
      text: expect.stringContaining('this conversation only'),
    })
    expect(await hub.conversations.get(other.id)).toMatchObject({ status: 'idle' })
  }
  await talk(hub, id, 'use end_conversation')
  expect(await hub.conversations.get(id)).toMatchObject({ status: 'ended' })
  expect(await faultOf(hub.conversations.post(id, 'hello?'))).toMatchObject({ code: 'USAGE' })
  expect(await faultOf(hub.conversations.get('none'))).toMatchObject({ code: 'CONVERSATION_UNKNOWN' })
  await hub.flush()
  const tools = (await hub.calls.list({ conversation: id })).map(({ tool }) => tool)
  for (const name of [
    'respond',
    'think',
    'select_conversation',
    'await_energy',
    'snooze_conversation',
    'end_conversation',
  ])
    expect(tools).toContain(name)
})
