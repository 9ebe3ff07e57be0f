// Stopping a server while calls are under way: they finish, nothing new begins, and what takes too long is cut off.

import { expect, test } from 'vitest'
import { serverCommand, spawnCount } from '../servers/start.ts'
import { codeOf, hubWith, isAlive, pidOf, place, until, watchedStarts } from './hub.ts'

const plain = serverCommand('plain')
const slow = { steps: 1, delay: 700 }

for (const share of ['process', 'agent'] as const)
  test(`[B3][C7] disable takes the tools at once and lets calls finish (share: ${share})`, async () => {
    const hub = await hubWith({ one: { ...plain, share } })
    const call = hub.as().call('one/progress', slow)
    await until(() => hub.servers.get('one').inFlight === 1)
    const pid = hub.servers.get('one').pid ?? 0
    const disabled = hub.servers.disable('one')
    expect(hub.servers.get('one').status).toBe('disabled')
    expect(hub.as().tools('one')).toEqual([])
    expect(await codeOf(hub.as().call('one/echo', { text: 'x' }))).toBe('SERVER_UNAVAILABLE')
    expect((await call).text).toBe('1 steps')
    expect(await disabled).toMatchObject({ status: 'disabled' })
    expect(isAlive(pid)).toBe(false)
    expect(await hub.servers.enable('one')).toMatchObject({ status: 'connected' })
  })

test('[B3][C7] disconnect lets calls finish; one that comes meanwhile starts the server anew after them', async () => {
  const hub = await hubWith({ one: plain })
  const pid = await pidOf(hub, 'one')
  const call = hub.as().call('one/progress', slow)
  await until(() => hub.servers.get('one').inFlight === 1)
  const stopped = hub.servers.disconnect('one')
  const next = pidOf(hub, 'one')
  expect((await call).text).toBe('1 steps')
  await stopped
  expect(isAlive(pid)).toBe(false)
  expect(await next).not.toBe(pid)
})

test('[B3][C10] what is enabled again while calls finish starts after them, and what takes too long is cut off', async () => {
  const hub = await hubWith({ one: plain })
  const pid = await pidOf(hub, 'one')
  const call = codeOf(hub.as().call('one/sleep', { ms: 60_000 }))
  await until(() => hub.servers.get('one').inFlight === 1)
  const began = performance.now()
  const disabled = hub.servers.disable('one')
  expect(await hub.servers.enable('one')).toMatchObject({ status: 'connected' })
  await disabled
  expect(await call).toBe('CONNECTION_LOST')
  expect(performance.now() - began).toBeGreaterThan(4_900)
  expect(await pidOf(hub, 'one')).not.toBe(pid)
})

for (const share of ['process', 'agent'] as const)
  test(`[B3] a call that waits for a start goes to the next one when it is reconnected (share: ${share})`, async () => {
    const home = place()
    const { env, log, overlaps } = watchedStarts(home.sandbox)
    const slow = { ...serverCommand('slow', { delay: 400 }), env, share }
    const hub = await home.open({ servers: { slow } }, { start: false })
    if (share === 'agent') await hub.servers.connect('slow')
    const before = spawnCount(log)
    const call = hub.as().call('slow/pid')
    await until(() => spawnCount(log) > before)
    expect(await hub.servers.reconnect('slow')).toMatchObject({ status: 'connected' })
    const { pid } = JSON.parse((await call).text)
    expect(isAlive(pid)).toBe(true)
    if (share === 'process') expect(pid).toBe(hub.servers.get('slow').pid)
    if (share === 'process') expect(overlaps()).toBe(0)
  })

test('[B3] a call that waits for its turn is made on the next one when it is reconnected', async () => {
  const hub = await hubWith({ one: { ...plain, limits: { inFlight: 1 } } })
  const long = codeOf(hub.as().call('one/sleep', { ms: 60_000 }))
  await until(() => hub.servers.get('one').inFlight === 1)
  const next = hub.as().call('one/echo', { text: 'later' })
  await hub.servers.reconnect('one')
  expect([await long, (await next).text]).toEqual(['CONNECTION_LOST', 'later'])
})

for (const how of ['disconnect', 'disable'] as const)
  test(`[B3][C5] ${how}: what a modern server asks while its calls finish keeps no call longer than the server stays`, async () => {
    let asked = 0
    const hub = await hubWith(
      { elicit: serverCommand('elicit', { era: 'modern' }) },
      {
        onElicitation: () => {
          asked += 1
          return asked === 1 ? { action: 'decline' } : new Promise(() => undefined)
        },
      },
    )
    // The first call finds its way, the second one knows it.
    expect((await hub.as().call('elicit/ask')).text).toContain('decline')
    const calls = [1, 2].map(() => codeOf(hub.as().call('elicit/ask', { after: 300 })))
    await until(() => hub.servers.get('elicit').inFlight === 2)
    await hub.servers[how]('elicit')
    expect(await Promise.all(calls)).toEqual(['CALL_CANCELLED', 'CALL_CANCELLED'])
    expect(asked).toBe(3)
  })
