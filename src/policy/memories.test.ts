// What people say about later calls: how far it goes, and what it is bound to.

import { expect, test } from 'vitest'
import { changes } from '../base/changes.ts'
import type { Question } from './approvals.ts'
import { CALL, desk, idOf, NOW } from './testing.ts'

test('[D11] what is remembered is a rule for the tool or the whole server, and can be forgotten', async () => {
  const { desk: it, memories, file } = await desk()
  const id = await idOf(it.permit(CALL, NOW))
  const { count } = changes
  await it.answer(id, { decision: 'allow', remember: 'tool' }, 'ann')
  expect(changes.count).toBeGreaterThan(count)
  expect(memories.about('cto', 'github', 'merge', 'i1')).toMatchObject({ decision: 'allow', tool: 'merge' })
  expect(memories.about('cto', 'github', 'close', 'i1')).toBeUndefined()
  expect(memories.about('intern', 'github', 'merge', 'i1')).toBeUndefined()
  const other = await idOf(it.permit({ ...CALL, tool: 'delete' }, NOW))
  await it.answer(other, { decision: 'deny', remember: 'server' }, 'ann')
  // The stricter one counts.
  expect(memories.about('cto', 'github', 'merge', 'i1')).toMatchObject({ decision: 'deny' })
  const elsewhere = await desk(file)
  expect(elsewhere.memories.all).toHaveLength(2)
  await elsewhere.memories.remove(elsewhere.memories.about('cto', 'github', 'close', 'i1')?.id ?? '')
  await memories.refresh()
  expect(memories.about('cto', 'github', 'merge', 'i1')).toMatchObject({ decision: 'allow' })
  await expect(memories.remove('nothing')).rejects.toMatchObject({ code: 'APPROVAL_UNKNOWN' })
})

test('[D11] what is allowed for a whole server are its tools, and no other requests', async () => {
  const { desk: it, memories } = await desk()
  await it.answer(await idOf(it.permit(CALL, NOW)), { decision: 'allow', remember: 'server' }, 'ann')
  expect(memories.about('cto', 'github', 'close', 'i1')).toMatchObject({ decision: 'allow' })
  for (const method of ['#sampling/createMessage', '#custom/danger'])
    expect(memories.about('cto', 'github', method, 'i1')).toBeUndefined()
  // Who allows such a request for good allows that one alone.
  const sampling = await idOf(it.permit({ ...CALL, tool: '#sampling/createMessage' }, NOW))
  const answered = await it.answer(sampling, { decision: 'allow', remember: 'server' }, 'ann')
  expect(answered.remember).toBe('tool')
  expect(memories.about('cto', 'github', '#sampling/createMessage', 'i1')).toMatchObject({
    decision: 'allow',
  })
  expect(memories.about('cto', 'github', '#custom/danger', 'i1')).toBeUndefined()
  // What is denied for all of it is denied for these as well.
  const denied = await idOf(it.permit({ ...CALL, tool: 'delete' }, NOW))
  await it.answer(denied, { decision: 'deny', remember: 'server' }, 'ann')
  expect(memories.about('cto', 'github', '#custom/danger', 'i1')).toMatchObject({ decision: 'deny' })
})

test('[D11] what is allowed for good is allowed to what ran then, and not to what takes its name', async () => {
  const { desk: it, memories, store } = await desk()
  const about = (identity: string | undefined) => memories.about('cto', 'github', 'merge', identity)
  // As an older version wrote it.
  await store.rules.add({
    id: 'old',
    agent: 'cto',
    server: 'github',
    tool: 'merge',
    decision: 'allow',
    createdAt: 1,
  })
  await memories.refresh()
  expect([about('i1'), about(undefined)]).toEqual([undefined, undefined])
  const remember = async (call: Question, decision: 'allow' | 'deny') =>
    await it.answer(await idOf(it.permit(call, NOW)), { decision, remember: 'tool' }, 'ann')
  await remember(CALL, 'allow')
  expect(about('i1')).toMatchObject({ decision: 'allow', identity: 'i1' })
  expect([about('i2'), about(undefined)]).toEqual([undefined, undefined])
  expect(memories.all.map(({ identity }) => identity)).toEqual(['i1'])
  // Each of two that take turns is remembered.
  await remember({ ...CALL, identity: 'i2', argumentsHash: 'a2' }, 'allow')
  expect([about('i1')?.decision, about('i2')?.decision]).toEqual(['allow', 'allow'])
  // What is denied stays so.
  await remember({ ...CALL, argumentsHash: 'a3' }, 'deny')
  expect([about('i2')?.decision, about('i3')?.decision]).toEqual(['deny', 'deny'])
})

test('[D11] an answer that is not understood is refused, and nothing is written', async () => {
  const { desk: it, memories, trouble } = await desk()
  const id = await idOf(it.permit(CALL, NOW))
  const wrong = [
    { decision: 'allow', remember: true },
    { decision: 'allow', remember: 'all' },
    { decision: 'allow', remember: '' },
    { decision: 'allow', remember: null },
    { decision: 'yes' },
    { remember: 'tool' },
    true,
    null,
  ] as unknown as Parameters<typeof it.answer>[1][]
  for (const answer of wrong)
    await expect(it.answer(id, answer, 'ann')).rejects.toMatchObject({ code: 'USAGE' })
  for (const answer of wrong.slice(0, 6)) {
    const remove = it.addApprover(() => answer)
    await idOf(it.permit(CALL, NOW))
    remove()
  }
  expect(trouble).toHaveLength(6)
  expect((await it.get(id)).status).toBe('pending')
  expect(memories.all).toEqual([])
})

test('[D11] an answer that comes second leaves no rule behind', async () => {
  const { desk: it, memories } = await desk()
  const id = await idOf(it.permit(CALL, NOW))
  const [first, second] = await Promise.allSettled([
    it.answer(id, { decision: 'deny' }, 'ann'),
    it.answer(id, { decision: 'allow', remember: 'server' }, 'bob'),
  ])
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected'])
  expect(memories.all).toEqual([])
})
