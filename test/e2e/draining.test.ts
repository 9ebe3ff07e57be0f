// Stopping a server while calls are under way: they finish, nothing new begins, and what takes too long is cut off.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { codeOf, hubWith, isAlive, pidOf, until } from './hub.ts'

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
