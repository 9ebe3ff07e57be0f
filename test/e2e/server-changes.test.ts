// Servers that come, go and change while a hub runs, and tools that are new.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { type HubEvent, hubWith, place } from './hub.ts'

const plain = serverCommand('plain')

test('[B8][C7] a server that is added and waits for its first call offers at once what it had the last time', async () => {
  const home = place()
  const lazy = { ...plain, start: 'lazy' } as const
  const before = await home.open({ servers: { s: lazy } })
  await before.as().call('s/echo', { text: 'x' })
  await before.close()
  const events: HubEvent[] = []
  const hub = await home.open({ servers: {} }, { onEvent: (event) => events.push(event) })
  expect(hub.as().tools()).toEqual([])
  await hub.servers.apply({ servers: { s: lazy } })
  expect(hub.as().tools('s')).toHaveLength(11)
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['server-status', 'tools-change']))
  expect(hub.servers.get('s')?.pid).toBeUndefined()
})

test('[B4] what becomes of a server that was replaced is not told of the one in its place', async () => {
  const events: HubEvent[] = []
  const home = place()
  const hub = await home.open({ servers: { s: plain } }, { onEvent: (event) => events.push(event) })
  await hub.as().ready()
  await hub.servers.apply({ servers: { s: { ...plain, env: { NEW: '1' }, start: 'lazy' } } })
  const told = events.flatMap((event) => (event.type === 'server-status' ? [event.status.status] : []))
  expect([told.at(-1), hub.servers.get('s')?.status]).toEqual(['pending', 'pending'])
})

for (const era of ['legacy', 'modern'] as const)
  test(`[B7][C5] ${era}: a tool that its server told of a moment ago can be called at once`, async () => {
    const hub = await hubWith({ s: serverCommand('changing', { era }) })
    for (let count = 1; count <= 3; count++) {
      await hub.as().call('s/change', { kind: 'add' })
      expect((await hub.as().call(`s/added-${count}`)).isError).toBe(false)
    }
  })

test('[B4] an address that is none costs its own server only', async () => {
  const hub = await place().open({ servers: {} })
  for (const url of ['notaurl', 'ftp://x/'])
    expect(await hub.servers.setServers({ good: plain, bad: { url } })).toMatchObject({
      errors: { bad: expect.stringContaining('expected an http(s) or ws(s) address') },
    })
  expect((await hub.as().call('good/echo', { text: 'x' })).text).toBe('x')
})
