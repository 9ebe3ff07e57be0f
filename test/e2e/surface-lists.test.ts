// What servers list, as all agents see it: asked for once, kept while it holds, and never waited for long.

import { expect, onTestFinished, test, vi } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { codeOf, type HubServer, place, until } from './hub.ts'
import { ADA, openAll, pageOf, Scripted, surfaceOf, tool } from './scripted.ts'

test('the page of tools is the same bytes until something changes', async () => {
  const one = new Scripted({ tools: [tool('add')] })
  const { hub, surface } = await openAll({ one })
  const { bytes } = surface().toolsPage()
  expect(surface().toolsPage().bytes).toBe(bytes)
  one.script.tools = [tool('add'), tool('subtract')]
  one.tell('tools')
  await until(() => surface().toolsPage().bytes !== bytes && pageOf(surface()).length === 2)
  const after = surface().toolsPage().bytes
  const off = hub.tools.register({ name: 'double', run: () => '' })
  expect(surface().toolsPage().bytes).not.toBe(after)
  off()
  expect(surface().toolsPage().bytes).toEqual(after)
})

test('[C10] a server that hangs is named and does not keep the others’ lists; its last one serves', async () => {
  const slow = new Scripted({ resources: [{ uri: 'slow://1', name: 'slow' }], prompts: [{ name: 'greet' }] })
  const quick = new Scripted({ resources: [{ uri: 'quick://1', name: 'quick' }] })
  const broken = new Scripted({ resources: [] })
  slow.mute.add('resources/list')
  broken.refused.set('resources/list', -32000)
  broken.refused.set('resources/templates/list', -32601)
  const { surface } = await openAll({ slow, quick, broken })
  const both = await Promise.all([surface().resources(), surface().resources()])
  expect(both[0]).toBe(both[1])
  expect(both[0].items).toMatchObject([{ uri: 'quick://1' }])
  expect(both[0].leftOut).toEqual([
    { server: 'slow', reason: 'slow did not answer resources/list in time' },
    { server: 'broken', reason: expect.stringContaining('refused, as asked') },
  ])
  expect([slow.times('resources/list'), quick.times('resources/list')]).toEqual([1, 1])
  // One that has resources and has never heard of templates has none; that is nothing to complain of.
  expect((await surface().templates()).leftOut).toEqual([])
  // The question is not asked again while it is open, and its answer serves when it comes.
  await surface().resources()
  expect(slow.times('resources/list')).toBe(1)
  slow.release()
  await until(async () => (await surface().resources()).items.length === 2)
  expect(slow.times('resources/list')).toBe(1)
  slow.mute.add('resources/list')
  slow.tell('resources')
  await until(async () => (await surface().resources()).leftOut.some(({ server }) => server === 'slow'))
  expect((await surface().resources()).items).toMatchObject([{ uri: 'slow://1' }, { uri: 'quick://1' }])
  expect(await surface().resource('slow://1')).toEqual({ server: 'slow', uri: 'slow://1' })
})

test('[C4] lists are kept for all agents until the server says that they changed, comes back, or a minute has passed', async () => {
  const one = new Scripted({
    prompts: [{ name: 'greet' }],
    resources: [{ uri: 'a:1', name: 'a' }],
    pageSize: 1,
  })
  const { hub, surface } = await openAll({ one }, { ...ADA, bob: { servers: ['one'] } })
  const first = await surface().prompts()
  expect(await surface().prompts()).toBe(first)
  await surfaceOf(hub, 'bob').prompts()
  expect(await surface().prompt('mcp__one__greet')).toBeDefined()
  expect(one.times('prompts/list')).toBe(1)
  one.script.prompts = [{ name: 'greet' }, { name: 'part' }]
  one.tell('prompts')
  await until(async () => (await surface().prompts()).items.length === 2)
  // Two pages.
  expect(one.times('prompts/list')).toBe(3)
  expect(await surface().prompt('mcp__one__part')).toEqual({ server: 'one', name: 'part' })
  await surface().resources()
  expect(one.times('resources/list')).toBe(1)
  await hub.servers.reconnect('one')
  await surface().resources()
  expect(one.times('resources/list')).toBe(2)
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_001)
  onTestFinished(() => clock.mockRestore())
  // What was shown a minute ago is found without asking; what was not may be new.
  await surface().resource('a:1')
  expect(one.times('resources/list')).toBe(2)
  await surface().resource('a:2')
  expect(one.times('resources/list')).toBe(3)
})

test('a change while a list is under way is not lost', async () => {
  const one = new Scripted({ prompts: [{ name: 'old' }] })
  const { surface } = await openAll({ one })
  one.mute.add('prompts/list')
  const asking = surface().prompts()
  await until(() => one.times('prompts/list') === 1)
  one.tell('prompts')
  one.release()
  expect((await asking).items).toHaveLength(1)
  one.script.prompts = [{ name: 'new' }]
  await until(async () => JSON.stringify((await surface().prompts()).items).includes('"new"'))
})

test('who stops waiting for a list is let go; others still get it', async () => {
  const one = new Scripted({ prompts: [{ name: 'greet' }] })
  const { surface } = await openAll({ one })
  one.mute.add('prompts/list')
  const stop = new AbortController()
  const stopped = codeOf(surface().prompts(stop.signal))
  const waiting = surface().prompts()
  stop.abort()
  expect(await stopped).toBe('CALL_CANCELLED')
  one.release()
  expect((await waiting).items).toHaveLength(1)
  expect(one.times('prompts/list')).toBe(1)
})

test('no server is started only to be listed; what it has is known from before', async () => {
  const lazy = { ...serverCommand('plain'), start: 'lazy' } as HubServer
  const { hub, surface } = await openAll({ lazy })
  const before = await surface().resources()
  expect(before).toEqual({
    items: [],
    leftOut: [{ server: 'lazy', reason: expect.stringContaining('not up') }],
  })
  await surface().settled()
  expect(hub.servers.get('lazy').state).toBe('idle')
  await hub.servers.connect('lazy')
  expect((await surface().resources()).items).toHaveLength(2)
  await hub.servers.disconnect('lazy')
  const after = await surface().resources()
  expect(after.items).toHaveLength(2)
  expect(after.leftOut).toMatchObject([{ server: 'lazy' }])
  expect(hub.servers.get('lazy').state).toBe('idle')
  expect(surface().capabilities('legacy')).toHaveProperty('prompts')
  expect(await surface().resource('other://x')).toEqual({ server: 'lazy', uri: 'other://x' })
})

test('[C10] a server that was never seen is waited for, one that is known is not', async () => {
  const { open: openHub } = place()
  const first = new Scripted({ tools: [tool('add')] })
  first.mute.add('initialize')
  const hub = await openHub({ servers: { first: first.entry }, agents: ADA })
  await surfaceOf(hub).settled(1)
  expect(pageOf(surfaceOf(hub))).toEqual([])
  const settled = surfaceOf(hub).settled(60_000)
  await until(() => first.times('initialize') === 1)
  first.release()
  await settled
  expect(pageOf(surfaceOf(hub))).toHaveLength(1)
  // From now on it is known: nobody waits for it, even while it does not come up.
  first.mute.add('initialize')
  const back = hub.servers.reconnect('first')
  await until(() => hub.servers.get('first').state === 'starting')
  await surfaceOf(hub).settled(60_000)
  expect(pageOf(surfaceOf(hub))).toHaveLength(1)
  await until(() => first.times('initialize') === 2)
  first.release()
  await back
})

test('[C10] lists wait for a server that starts, known or not, and together no longer than 2 s', async () => {
  const { open: openHub } = place()
  const one = new Scripted({ prompts: [{ name: 'greet' }], resources: [{ uri: 'a:1', name: 'a' }] })
  const hub = await openHub({ servers: { one: one.entry }, agents: ADA })
  await hub.as().ready()
  one.mute.add('initialize')
  const back = hub.servers.reconnect('one')
  await until(() => one.times('initialize') === 2)
  const listed = Promise.all([surfaceOf(hub).prompts(), surfaceOf(hub).resources()])
  one.release()
  expect((await listed).map(({ items, leftOut }) => [items.length, leftOut])).toEqual([
    [1, []],
    [1, []],
  ])
  await back
  one.mute.add('initialize')
  const again = hub.servers.reconnect('one')
  await until(() => one.times('initialize') === 3)
  const since = performance.now()
  await surfaceOf(hub).prompts()
  const { items, leftOut } = await surfaceOf(hub).resources()
  expect(performance.now() - since).toBeLessThan(3_500)
  expect([items.length, leftOut]).toEqual([1, [{ server: 'one', reason: 'one is still starting' }]])
  one.release()
  await again
})

test('[B15] who was given a list without a server that came later, or lost it, is told, and nobody twice', async () => {
  const { open: openHub } = place()
  const late = new Scripted({ prompts: [{ name: 'greet' }], resources: [] })
  late.mute.add('initialize')
  const hub = await openHub({ servers: { late: late.entry }, agents: ADA })
  const told: string[] = []
  hub.on((event) => {
    if (event.type === 'list-change') told.push(`${event.server} ${event.list}`)
  })
  expect(surfaceOf(hub).capabilities('legacy')).toMatchObject({
    prompts: { listChanged: true },
    resources: { listChanged: true },
  })
  expect((await surfaceOf(hub).prompts()).items).toEqual([])
  expect((await surfaceOf(hub).resources()).items).toEqual([])
  late.release()
  // There still are no resources.
  await until(() => told.length > 0)
  await until(async () => (await surfaceOf(hub).prompts()).items.length === 1)
  expect(told).toEqual(['late prompts'])
  late.script.prompts = [{ name: 'greet' }, { name: 'part' }]
  late.tell('prompts')
  await until(async () => (await surfaceOf(hub).prompts()).items.length === 2)
  expect(told).toEqual(['late prompts', 'late prompts'])
  // The same after a restart is nothing new.
  await hub.servers.reconnect('late')
  await until(async () => (await surfaceOf(hub).prompts()).leftOut.length === 0)
  expect(told).toHaveLength(2)
  await hub.servers.toggle('late', false)
  await until(() => told.length === 3)
  expect((await surfaceOf(hub).prompts()).items).toEqual([])
  await hub.servers.toggle('late', true)
  await until(() => told.length === 4)
  expect((await surfaceOf(hub).prompts()).items).toHaveLength(2)
})

test('[B15] what a server that calls start has listed once is known in the next run', async () => {
  const { open: openHub } = place()
  const lazy = { ...serverCommand('plain'), start: 'lazy' } as HubServer
  const config = { servers: { lazy }, agents: ADA }
  const first = await openHub(config)
  await first.servers.connect('lazy')
  await first.close()
  // It is known to have some, and nobody has asked which: once it is started for that.
  const second = await openHub(config)
  expect((await surfaceOf(second).prompts()).items).toMatchObject([{ name: 'mcp__lazy__greet' }])
  expect((await surfaceOf(second).resources()).items).toHaveLength(2)
  await second.close()
  const third = await openHub(config)
  expect((await surfaceOf(third).prompts()).items).toMatchObject([{ name: 'mcp__lazy__greet' }])
  expect((await surfaceOf(third).resources()).items).toHaveLength(2)
  expect(third.servers.get('lazy').state).toBe('idle')
})
