// Servers that are there and do not answer, and such as only seem so.

import { expect, test } from 'vitest'
import { serverCommand, spawnCount, startServer } from '../servers/start.ts'
import {
  asked,
  between,
  codeOf,
  hubWith,
  kill,
  ownServer,
  pidOf,
  place,
  until,
  watchedStarts,
} from './hub.ts'

for (const era of ['legacy', 'modern'] as const)
  test(`[E8] ${era}: a server that stops answering loses its tools and gets them back`, async () => {
    const hub = await hubWith({ ill: { ...serverCommand('plain', { era }), timeouts: { health: 100 } } })
    const pid = await pidOf(hub, 'ill')
    const { lastPing } = hub.servers.get('ill')
    kill(pid, 'SIGSTOP')
    await until(() => hub.as().tools('ill').length === 0)
    expect(hub.servers.get('ill')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('silent'),
    })
    expect(await codeOf(hub.as().call('ill/echo', { text: 'x' }))).toBe('SERVER_UNREACHABLE')
    kill(pid, 'SIGCONT')
    await until(() => hub.as().tools('ill').length > 0)
    expect(await pidOf(hub, 'ill')).toBe(pid)
    await until(() => hub.servers.get('ill').lastPing !== lastPing)
  })

for (const era of ['legacy', 'modern'] as const)
  test(`[E8][D12] ${era}: a server that stays silent is started anew, and never are two of it alive`, async () => {
    const home = place()
    const { env, log, overlaps } = watchedStarts(home.sandbox)
    const hub = await home.open({
      servers: { ill: { ...serverCommand('plain', { era }), env, timeouts: { health: 100 } } },
    })
    await hub.as().ready()
    const pid = await pidOf(hub, 'ill')
    kill(pid, 'SIGSTOP')
    await until(() => hub.as().tools('ill').length === 0)
    await until(() => hub.as().tools('ill').length > 0, 10_000)
    expect(await pidOf(hub, 'ill')).not.toBe(pid)
    expect([spawnCount(log), overlaps()]).toEqual([2, 0])
  })

test('[E8] a server that is stuck while it is called again and again is started anew', async () => {
  const home = place()
  const { env, log, overlaps } = watchedStarts(home.sandbox)
  const timeouts = { health: 100, call: 400 }
  const hub = await home.open({ servers: { ill: { ...serverCommand('plain'), env, timeouts } } })
  await hub.as().ready()
  const pid = await pidOf(hub, 'ill')
  kill(pid, 'SIGSTOP')
  const codes = new Set<string>()
  // Never without a call under way, until one is answered again.
  await until(() =>
    hub
      .as()
      .call('ill/echo', { text: 'x' })
      .then(
        () => true,
        ({ code }) => codes.add(code) && false,
      ),
  )
  expect(codes).toContain('CALL_TIMEOUT')
  expect(await pidOf(hub, 'ill')).not.toBe(pid)
  expect([spawnCount(log), overlaps()]).toEqual([2, 0])
})

test('[E8] a server that works on one long call is left alone', async () => {
  const home = place()
  const own = ownServer(
    home.sandbox,
    '{ quick: () => 1, work: () => { const end = Date.now() + 5000; while (Date.now() < end); return "done" } }',
  )
  const hub = await home.open({ servers: { own: { ...own, timeouts: { health: 100 } } } })
  await hub.as().ready()
  const work = asked(hub, 'own/work')
  expect(await codeOf(hub.as().call('own/quick', {}, { timeout: 300 }))).toBe('CALL_TIMEOUT')
  expect(await work).toBe('done')
  expect(hub.servers.get('own').errors).toEqual([])
})

for (const status of [502, 404])
  test(`[E8] a server whose place answers ${status} to everything loses its tools, and has them back when it is back`, async () => {
    let isDown = false
    const { url } = await between((await startServer('plain', { era: 'modern' })).url, () =>
      isDown ? { status } : undefined,
    )
    const hub = await hubWith({ far: { url, timeouts: { health: 100 } } })
    isDown = true
    await until(() => hub.as().tools('far').length === 0)
    await until(() => hub.servers.get('far').status === 'failed')
    expect(hub.servers.get('far').error).toContain(`answered ${status}`)
    expect(await codeOf(hub.as().call('far/echo', { text: 'x' }))).toBe('SERVER_UNREACHABLE')
    isDown = false
    await until(() => hub.as().tools('far').length > 0)
    expect((await hub.as().call('far/echo', { text: 'back' })).text).toBe('back')
  })
