// What every store must do with tokens, rules, approvals and pins.

import { expect, test } from 'vitest'
import type { Approval, Pin } from './policy.ts'
import type { NewPlace } from './suite.ts'

export function policySuite(name: string, place: NewPlace): void {
  test(`${name}: tokens are added, found while they are good, and revoked by agent or by hash`, async () => {
    const { store } = await place()
    const token = (agent: string, hash: string, createdAt: number) => ({ agent, hash, createdAt })
    await store.agents.add(token('cto', 'aa1', 1))
    await store.agents.add({ ...token('cto', 'ab2', 2), expiresAt: 100 })
    await store.agents.add(token('cfo', 'ac3', 3))
    const active = async (now: number) => (await store.agents.active(now)).map(({ hash }) => hash)
    expect(await active(99)).toEqual(['ac3', 'aa1', 'ab2'])
    expect(await active(100)).toEqual(['ac3', 'aa1'])
    expect(await store.agents.revoke('cto', 50, 'ab')).toBe(1)
    expect(await active(60)).toEqual(['ac3', 'aa1'])
    expect(await store.agents.list('cto')).toEqual([
      token('cto', 'aa1', 1),
      { ...token('cto', 'ab2', 2), expiresAt: 100, revokedAt: 50 },
    ])
    expect(await store.agents.revoke('cto', 60)).toBe(1)
    expect(await store.agents.revoke('cto', 70)).toBe(0)
    expect(await active(60)).toEqual(['ac3'])
  })

  test(`${name}: a rule never comes back wider than it was given`, async () => {
    const { store } = await place()
    const wide = {
      id: 'b',
      server: 'github',
      decision: 'allow',
      createdAt: 1,
      note: 'said at the console',
    } as const
    const narrow = {
      id: 'a',
      agent: 'cto',
      server: 'git\0hub',
      tool: 'x',
      decision: 'deny',
      createdAt: 2,
    } as const
    await store.rules.add(wide)
    await store.rules.add(narrow)
    expect(await store.rules.list()).toEqual([wide, { ...narrow, server: 'git\ufffdhub' }])
    expect(await store.rules.remove('b')).toBe(true)
    expect(await store.rules.remove('b')).toBe(false)
    expect(await store.rules.list()).toHaveLength(1)
  })

  const approval: Approval = {
    id: 'p1',
    agent: 'cto',
    server: 'github',
    tool: 'merge',
    fingerprint: 'f',
    argumentsHash: 'h',
    arguments: '{}',
    estimate: 4.5,
    status: 'pending',
    createdAt: 10,
    expiresAt: 100,
  }

  test(`${name}: of all who decide an approval, one does`, async () => {
    const { store, another } = await place()
    const other = await another()
    await store.approvals.add(approval)
    const decided = await Promise.all([
      store.approvals.decide('p1', 'pending', 'allowed', { at: 20, by: 'ann', remember: 'always' }),
      other.approvals.decide('p1', 'pending', 'allowed', { at: 20, by: 'ann', remember: 'always' }),
      store.approvals.decide('p1', 'pending', 'allowed', { at: 20, by: 'ann', remember: 'always' }),
    ])
    expect(decided.filter(Boolean)).toHaveLength(1)
    expect(await store.approvals.decide('p1', 'allowed', 'used')).toBe(true)
    expect(await store.approvals.decide('p1', 'allowed', 'used')).toBe(false)
    expect(await store.approvals.decide('none', 'pending', 'denied')).toBe(false)
    const after = { status: 'used', decidedAt: 20, decidedBy: 'ann', remember: 'always' } as const
    expect(await other.approvals.get('p1')).toEqual({ ...approval, ...after })
  })

  test(`${name}: approvals are listed by status and agent, and expire at their end`, async () => {
    const { store } = await place()
    await store.approvals.add(approval)
    await store.approvals.add({ ...approval, id: 'p2', agent: 'cfo', createdAt: 5, expiresAt: 50 })
    expect((await store.approvals.list({ status: 'pending' })).map(({ id }) => id)).toEqual(['p2', 'p1'])
    expect(await store.approvals.expire(49)).toBe(0)
    expect(await store.approvals.expire(50)).toBe(1)
    expect(await store.approvals.list({ status: 'expired' })).toMatchObject([{ id: 'p2', decidedAt: 50 }])
    expect((await store.approvals.list({ agent: 'cto' })).map(({ id }) => id)).toEqual(['p1'])
    expect(await store.approvals.get('none')).toBeUndefined()
  })

  const pin: Pin = {
    server: 's',
    tool: 't',
    fingerprint: 'f1',
    definition: '{"v":1}',
    firstSeen: 1,
    acceptedAt: 1,
    pending: undefined,
    removedAt: undefined,
  }
  const pending = { fingerprint: 'f2', definition: '{"v":2}', seenAt: 5 }

  test(`${name}: [E9] a pin keeps what was accepted until what was shown is accepted`, async () => {
    const { store } = await place()
    expect(await store.pins.save([pin])).toEqual([])
    expect(await store.pins.accept('s', 't', 'f2', 2)).toBe(false)
    expect(await store.pins.save([{ ...pin, pending }])).toEqual([])
    expect(await store.pins.list()).toEqual([{ ...pin, pending }])
    await store.pins.save([{ ...pin, pending: { ...pending, fingerprint: 'f3' } }])
    expect(await store.pins.accept('s', 't', 'f2', 6)).toBe(false)
    expect(await store.pins.accept('s', 't', 'f3', 6)).toBe(true)
    const accepted = { ...pin, fingerprint: 'f3', definition: '{"v":2}', acceptedAt: 6 }
    expect(await store.pins.list('s')).toEqual([accepted])
    expect(await store.pins.list('other')).toEqual([])
    await store.pins.save([{ ...accepted, removedAt: 9 }])
    expect(await store.pins.list('s')).toEqual([{ ...accepted, removedAt: 9 }])
  })

  test(`${name}: [E9] who knows an older accepted definition is given the one there is, and changes nothing`, async () => {
    const { store, another } = await place()
    const other = await another()
    await store.pins.save([{ ...pin, pending }])
    await other.pins.accept('s', 't', 'f2', 6)
    const late = [
      { ...pin, removedAt: 8 },
      { ...pin, tool: 'u' },
    ]
    expect(await store.pins.save(late)).toMatchObject([{ tool: 't', fingerprint: 'f2', acceptedAt: 6 }])
    expect(await other.pins.list()).toMatchObject([
      { tool: 't', fingerprint: 'f2', removedAt: undefined },
      { tool: 'u', fingerprint: 'f1' },
    ])
  })

  test(`${name}: [E9] every name of a tool comes back as it was given`, async () => {
    const { store } = await place()
    const names = ['a', 'a\0', 'a\ufffd', 'a\ud800', 'a"b', 'a\\u0000', '#instructions', 'ä/𝒷']
    await store.pins.save(names.map((tool) => ({ ...pin, tool })))
    const tools = (await store.pins.list()).map(({ tool }) => tool)
    expect(new Set(tools)).toEqual(new Set(names))
  })
}
