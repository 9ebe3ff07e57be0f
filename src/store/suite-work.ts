// What every store must do with jobs and conversations.

import { expect, test } from 'vitest'
import type { NewPlace } from './suite.ts'
import type { Conversation, Job } from './work.ts'

export function workSuite(name: string, place: NewPlace): void {
  const job = (id: string, more: Partial<Job> = {}): Job => ({
    id,
    kind: 'repair',
    params: '{}',
    priority: 0,
    status: 'queued',
    progress: 0,
    energy: 0,
    createdAt: 10,
    updatedAt: 10,
    ...more,
  })

  test(`${name}: jobs are claimed by priority, then age, each by one`, async () => {
    const { store, another } = await place()
    const other = await another()
    await store.jobs.add(job('young', { createdAt: 20 }))
    await store.jobs.add(job('old', { createdAt: 5 }))
    await store.jobs.add(job('urgent', { priority: 9, createdAt: 30 }))
    await store.jobs.add(job('paused', { priority: 99, status: 'paused' }))
    await store.jobs.add(job('search', { kind: 'search' }))
    expect((await store.jobs.list('queued')).map(({ id }) => id)).toEqual([
      'urgent',
      'old',
      'search',
      'young',
    ])
    expect(await store.jobs.claim(40, 'search')).toEqual(
      job('search', { kind: 'search', status: 'running', updatedAt: 40 }),
    )
    const claimed = []
    for (const from of [store, other, store, other]) claimed.push((await from.jobs.claim(50))?.id)
    expect(claimed).toEqual(['urgent', 'old', 'young', undefined])
    const again = await Promise.all([store.jobs.claim(60), other.jobs.claim(60)])
    expect(again).toEqual([undefined, undefined])
  })

  test(`${name}: a job changes only from the status it is thought to be in`, async () => {
    const { store } = await place()
    await store.jobs.add(job('a', { status: 'running' }))
    expect(await store.jobs.update('a', 'running', { progress: 0.5, message: 'half', updatedAt: 20 })).toBe(
      true,
    )
    expect(await store.jobs.update('a', 'running', { status: 'cancelled', updatedAt: 30 })).toBe(true)
    expect(await store.jobs.update('a', 'running', { status: 'done', result: '1', updatedAt: 40 })).toBe(
      false,
    )
    expect(await store.jobs.get('a')).toEqual(
      job('a', { status: 'cancelled', progress: 0.5, message: 'half', updatedAt: 30 }),
    )
    expect(await store.jobs.get('none')).toBeUndefined()
    expect(await store.jobs.list()).toHaveLength(1)
  })

  const conversation: Conversation = { id: 'c', agent: 'cto', createdAt: 1, updatedAt: 1, state: '{}' }

  test(`${name}: messages of a conversation are numbered without gaps, whoever speaks`, async () => {
    const { store, another } = await place()
    const other = await another()
    await store.conversations.add(conversation)
    const say = (from: typeof store, content: string, lasting?: boolean) =>
      from.conversations.say(
        'c',
        { role: 'user', content, createdAt: 5 },
        lasting === undefined ? {} : { lasting },
      )
    const numbers = await Promise.all([
      say(store, '"a"'),
      say(other, '"b"', false),
      say(store, '"c"', false),
      say(other, '"d"'),
    ])
    expect(numbers.toSorted()).toEqual([1, 2, 3, 4])
    const messages = await store.conversations.messages('c')
    expect(messages.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
    expect(messages[0]).toMatchObject({ conversation: 'c', role: 'user', createdAt: 5 })
    expect(await store.conversations.messages('c', { after: 1, limit: 2 })).toEqual(messages.slice(1, 3))
    expect(
      await store.conversations.say('none', { role: 'user', content: '1', createdAt: 1 }),
    ).toBeUndefined()
  })

  test(`${name}: conversations are listed latest first, changed, and removed with what was said`, async () => {
    const { store } = await place()
    await store.conversations.add(conversation)
    await store.conversations.add({ ...conversation, id: 'd', agent: 'cfo', title: 'Money', updatedAt: 9 })
    expect((await store.conversations.list()).map(({ id }) => id)).toEqual(['d', 'c'])
    expect(await store.conversations.update('c', { title: 'Code', state: '{"step":2}', updatedAt: 20 })).toBe(
      true,
    )
    expect(await store.conversations.update('none', { updatedAt: 20 })).toBe(false)
    await store.conversations.say('c', { role: 'user', content: '1', createdAt: 30 })
    expect(await store.conversations.list({ agent: 'cto' })).toEqual([
      { ...conversation, title: 'Code', state: '{"step":2}', updatedAt: 30 },
    ])
    expect(await store.conversations.remove('c')).toBe(true)
    expect(await store.conversations.remove('c')).toBe(false)
    expect(await store.conversations.get('c')).toBeUndefined()
    expect(await store.conversations.messages('c')).toEqual([])
  })

  test(`${name}: conversations are listed page by page, and by what is done in them`, async () => {
    const { store } = await place()
    const { conversations } = store
    const states = ['{"status":"idle"}', '{"status":"working"}', 'no JSON', '{"status":"ended"}', '{}']
    // Two of the same moment.
    for (const [at, state] of states.entries())
      await conversations.add({ ...conversation, id: `c${at}`, updatedAt: Math.min(at, 3), state })
    const ids = async (filter: Parameters<typeof conversations.list>[0]) =>
      (await conversations.list(filter)).map(({ id }) => id).join(' ')
    expect(await ids({})).toBe('c3 c4 c2 c1 c0')
    expect(await ids({ limit: 2 })).toBe('c3 c4')
    expect(await ids({ limit: 1, before: 'c3' })).toBe('c4')
    expect(await ids({ limit: 2, before: 'c4' })).toBe('c2 c1')
    expect(await ids({ before: 'c0' })).toBe('')
    expect(await ids({ before: 'none' })).toBe('')
    expect(await ids({ status: ['working', 'idle'] })).toBe('c4 c2 c1 c0')
    expect(await ids({ status: ['working'], before: 'c4', limit: 1, agent: 'cto' })).toBe('c2')
    expect(await ids({ agent: 'cfo' })).toBe('')
  })
}
