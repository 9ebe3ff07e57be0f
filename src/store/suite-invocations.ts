// What every store must do with the record of calls.

import { expect, test } from 'vitest'
import type { Invocation } from './invocation.ts'
import type { NewPlace } from './suite.ts'

/** A call with everything said about it that is not what a test is about. */
export function invocation(id: string, more: Partial<Invocation> = {}): Invocation {
  return {
    id,
    agent: 'cto',
    server: 'github',
    tool: 'get_issue',
    surface: 'gateway',
    startedAt: 1000,
    duration: 12.5,
    outcome: 'ok',
    requestBytes: 10,
    resultBytes: 20,
    ...more,
  }
}

export function invocationSuite(name: string, place: NewPlace): void {
  test(`${name}: gives back every field of a call, newest first`, async () => {
    const { store } = await place()
    const full = invocation('b', {
      agent: 'cto/reviewer',
      conversation: 'c1',
      outcome: 'error',
      code: 'TOOL_FAILED',
      error: 'no issue 12 \ud800 \u2028 é',
      pattern: 'no issue <number>',
      energy: 2.25,
      arguments: '{"number":12}',
      result: 'no\nissue',
    })
    await store.invocations.append([invocation('a'), full])
    const [second, first] = await store.invocations.list({})
    expect(second).toEqual({ ...full, error: 'no issue 12 \ufffd \u2028 é', seq: 2 })
    expect(first).toEqual({ ...invocation('a'), seq: 1 })
  })

  test(`${name}: takes values that no column can hold exactly, and still verifies`, async () => {
    const { store } = await place()
    await store.invocations.append([
      invocation('odd\0id', { error: 'a\0b', duration: Number.NaN, energy: Number.POSITIVE_INFINITY }),
      invocation('large', { startedAt: 1e300, requestBytes: 2.5, resultBytes: -0, duration: 1e-300 }),
    ])
    expect(await store.invocations.list({})).toMatchObject([
      { id: 'large', startedAt: Number.MAX_SAFE_INTEGER, requestBytes: 2, resultBytes: 0, duration: 0 },
      { id: 'odd\ufffdid', error: 'a\ufffdb', duration: 0, energy: 0 },
    ])
    expect(await store.invocations.verify()).toEqual({ ok: true, rows: 2 })
  })

  test(`${name}: a call is recorded once, whoever brings it and how often`, async () => {
    const { store, another } = await place()
    const other = await another()
    await store.invocations.append([invocation('a'), invocation('a', { outcome: 'error' }), invocation('b')])
    await other.invocations.append([invocation('b', { outcome: 'error' }), invocation('c')])
    await store.invocations.append([invocation('c')])
    const rows = await store.invocations.list({})
    expect(rows.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(['c ok', 'b ok', 'a ok'])
    expect(await other.invocations.verify()).toEqual({ ok: true, rows: 3 })
    expect(await store.servers.totals()).toMatchObject([{ server: 'github', useCount: 3, errorCount: 0 }])
  })

  test(`${name}: many rows at once and several writers make one chain`, async () => {
    const { store, another } = await place()
    const other = await another()
    const batch = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => invocation(`${prefix}${index}`, { tool: `t${index % 7}` }))
    await Promise.all([
      store.invocations.append(batch('a', 103)),
      other.invocations.append(batch('b', 50)),
      store.invocations.append(batch('c', 1)),
      other.invocations.append(batch('d', 8)),
    ])
    await store.invocations.append([])
    expect(await store.invocations.verify()).toEqual({ ok: true, rows: 162 })
    expect(new Set((await store.invocations.list({ limit: 1000 })).map(({ id }) => id)).size).toBe(162)
  })

  test(`${name}: lists by every filter, in pages`, async () => {
    const { store } = await place()
    await store.invocations.append([
      invocation('a', { agent: 'x', startedAt: 1 }),
      invocation('b', { server: 'files', startedAt: 2 }),
      invocation('c', { tool: '#ping', startedAt: 3 }),
      invocation('d', { outcome: 'denied', startedAt: 4 }),
      invocation('e', { conversation: 'c1', startedAt: 5 }),
    ])
    const ids = async (filter: Parameters<typeof store.invocations.list>[0]) =>
      (await store.invocations.list(filter)).map(({ id }) => id).join('')
    expect(await ids({ agent: 'x' })).toBe('a')
    expect(await ids({ server: 'files' })).toBe('b')
    expect(await ids({ tool: '#ping' })).toBe('c')
    expect(await ids({ outcome: 'denied' })).toBe('d')
    expect(await ids({ conversation: 'c1' })).toBe('e')
    expect(await ids({ since: 3 })).toBe('edc')
    expect(await ids({ limit: 2 })).toBe('ed')
    expect(await ids({ limit: 2, before: 4 })).toBe('cb')
    expect(await ids({ server: 'github', since: 2, limit: 2 })).toBe('ed')
    expect(await ids({ agent: 'nobody' })).toBe('')
  })

  test(`${name}: sums up use by agent, server and tool`, async () => {
    const { store } = await place()
    const rows = Array.from({ length: 20 }, (_, index) =>
      invocation(`a${index}`, { duration: index + 1, startedAt: index, energy: 0.5 }),
    )
    await store.invocations.append([
      ...rows,
      invocation('f', { agent: '', server: 'files', tool: 'read', outcome: 'timeout', startedAt: 50 }),
    ])
    const github = { calls: 20, errors: 0, energy: 10, p50: 10, p95: 19, lastUsed: 19 }
    const files = { calls: 1, errors: 1, energy: 0, p50: 12.5, p95: 12.5, lastUsed: 50 }
    expect(await store.invocations.usage({ by: 'server' })).toEqual([
      { key: 'github', ...github },
      { key: 'files', ...files },
    ])
    expect(await store.invocations.usage({ by: 'tool' })).toEqual([
      { key: 'github/get_issue', ...github },
      { key: 'files/read', ...files },
    ])
    expect(await store.invocations.usage({ by: 'agent', since: 50 })).toEqual([{ key: '', ...files }])
  })

  test(`${name}: groups errors by their pattern, with the latest as example`, async () => {
    const { store } = await place()
    const failed = (id: string, number: number, startedAt: number, server = 'github') =>
      invocation(id, {
        server,
        outcome: 'error',
        error: `no issue ${number}`,
        pattern: 'no issue <number>',
        startedAt,
      })
    await store.invocations.append([
      failed('a', 1, 10),
      failed('b', 2, 30),
      failed('c', 3, 20, 'files'),
      invocation('d'),
    ])
    expect(await store.invocations.patterns({})).toEqual([
      {
        server: 'github',
        tool: 'get_issue',
        pattern: 'no issue <number>',
        count: 2,
        lastSeen: 30,
        example: 'no issue 2',
      },
      {
        server: 'files',
        tool: 'get_issue',
        pattern: 'no issue <number>',
        count: 1,
        lastSeen: 20,
        example: 'no issue 3',
      },
    ])
    expect(await store.invocations.patterns({ since: 15, server: 'github' })).toMatchObject([{ count: 1 }])
  })

  test(`${name}: a server's totals grow with its calls and outlive them`, async () => {
    const { store } = await place()
    await store.servers.noteServers(['github', 'idle'], 5)
    await store.servers.noteServers(['github'], 9)
    await store.invocations.append([
      invocation('a', { startedAt: 100, energy: 1 }),
      invocation('b', { startedAt: 90, outcome: 'error', error: 'late news', energy: 2 }),
    ])
    await store.invocations.append([
      invocation('c', { startedAt: 80, outcome: 'denied', code: 'NO_ACCESS' }),
      invocation('d', { server: '', tool: 'native', startedAt: 70 }),
    ])
    await store.invocations.prune(1000)
    expect(await store.invocations.list({})).toEqual([])
    expect(await store.servers.totals()).toEqual([
      { server: '', addedAt: 70, useCount: 1, errorCount: 0, lastUsed: 70, energy: 0, duration: 12.5 },
      {
        server: 'github',
        addedAt: 5,
        useCount: 3,
        errorCount: 2,
        lastUsed: 100,
        lastError: 'late news',
        lastErrorAt: 90,
        energy: 3,
        duration: 37.5,
      },
      { server: 'idle', addedAt: 5, useCount: 0, errorCount: 0, energy: 0, duration: 0 },
    ])
  })

  test(`${name}: pruning takes the oldest rows up to the first that stays, and the rest still verifies`, async () => {
    const { store } = await place()
    const at = (id: string, startedAt: number) => invocation(id, { startedAt })
    await store.invocations.append([at('a', 1), at('b', 2), at('c', 50), at('d', 3), at('e', 60)])
    expect(await store.invocations.prune(10)).toBe(2)
    expect(await store.invocations.verify()).toEqual({ ok: true, rows: 3 })
    expect(await store.invocations.prune(10)).toBe(0)
    await store.invocations.append([at('f', 70)])
    expect(await store.invocations.prune(55)).toBe(2)
    expect((await store.invocations.list({})).map(({ id }) => id)).toEqual(['f', 'e'])
    expect(await store.invocations.verify()).toEqual({ ok: true, rows: 2 })
    expect(await store.invocations.prune(1000)).toBe(2)
    expect(await store.invocations.verify()).toEqual({ ok: true, rows: 0 })
    await store.invocations.append([at('g', 80)])
    expect(await store.invocations.verify()).toEqual({ ok: true, rows: 1 })
  })

  test(`${name}: verifies and prunes more rows than a page while others write`, async () => {
    const { store, another } = await place()
    const other = await another()
    const rows = Array.from({ length: 6000 }, (_, index) => invocation(`a${index}`, { startedAt: index }))
    await store.invocations.append(rows)
    const [verified, pruned] = await Promise.all([
      store.invocations.verify(),
      other.invocations.prune(5500),
      other.invocations.append([invocation('late', { startedAt: 9000 })]),
    ])
    expect(verified.ok).toBe(true)
    expect(pruned).toBe(5500)
    expect(await store.invocations.verify()).toEqual({ ok: true, rows: 501 })
  })
}
