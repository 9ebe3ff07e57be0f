// A tool that was called before is called again by what was found out then. Whatever changes in between holds for the very
// next call, and for one that was made and is not sent yet.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { type Hub, type HubEvent, place } from './hub.ts'

const plain = serverCommand('plain')
const settings = (ada: object = {}, s: object = {}) => ({
  servers: { s: { ...plain, ...s } },
  agents: { ada: { servers: ['s'], approval: 'never', ...ada } },
})

/** A hub in which an agent has called a tool twice, the second time the short way. */
async function called({
  onEvent,
  ada,
}: {
  onEvent?: (event: HubEvent) => void
  ada?: object
} = {}): Promise<{ hub: Hub; call: () => Promise<string> }> {
  const hub = await place().open(settings(ada), onEvent ? { onEvent } : {})
  const handle = hub.as('ada')
  await handle.ready()
  const call = () =>
    handle.call('s/echo', { text: 'x' }).then(
      ({ text }) => text,
      ({ code }) => code,
    )
  expect([await call(), await call()]).toEqual(['x', 'x'])
  return { hub, call }
}

const CHANGES: [string, (hub: Hub) => unknown, string][] = [
  ['a server that is taken away', (hub) => hub.servers.apply(settings({ servers: [] })), 'NO_ACCESS'],
  ['a rule that denies', (hub) => hub.servers.apply(settings({ deny: ['s/echo'] })), 'NO_ACCESS'],
  ['a rule that asks', (hub) => hub.servers.apply(settings({ approval: 'always' })), 'APPROVAL_PENDING'],
  [
    'a tool left out',
    (hub) => hub.servers.apply(settings({}, { tools: { exclude: ['echo'] } })),
    'TOOL_UNKNOWN',
  ],
  ['a disabled agent', (hub) => hub.servers.apply(settings({ enabled: false })), 'NO_ACCESS'],
  [
    'a removed server',
    (hub) => hub.servers.apply({ servers: { other: plain }, agents: { ada: { servers: ['other'] } } }),
    'NO_ACCESS',
  ],
  ['a hidden server', (hub) => hub.servers.toggle('s', false), 'SERVER_UNAVAILABLE'],
  ['a disabled server', (hub) => hub.servers.disable('s'), 'SERVER_UNAVAILABLE'],
]
for (const [title, change, code] of CHANGES)
  test(`[C10][D14] ${title} holds for the very next call, also where a listener looks at it in the middle`, async () => {
    const looks: (() => unknown)[] = []
    const { hub, call } = await called({ onEvent: () => looks.forEach((look) => void look()) })
    // Whoever looks makes what is kept for later.
    looks.push(() => hub.as('ada').tools())
    await change(hub)
    expect([await call(), await call()]).toEqual([code, code])
  })

test('[C10][B12] a call that was made and is not sent yet does not reach a server that was hidden meanwhile', async () => {
  const { hub, call } = await called()
  const made = call()
  const hidden = hub.servers.toggle('s', false)
  expect(await made).toBe('SERVER_UNAVAILABLE')
  await hidden
  await hub.servers.toggle('s', true)
  expect(await call()).toBe('x')
})

test('[C10][B3] a server that was started anew is called by its new process', async () => {
  const { hub, call } = await called()
  const before = hub.servers.get('s')?.pid
  await hub.servers.reconnect('s')
  expect([await call(), await call()]).toEqual(['x', 'x'])
  expect(hub.servers.get('s')?.pid).not.toBe(before)
})

test('[D2][D7] an agent that can hold less from now on spends no more than that, whatever was set aside before', async () => {
  const { hub, call } = await called({ ada: { energy: { capacity: 1000, recovery: '0/min' } } })
  const less = settings({ energy: { capacity: 2, recovery: '0/min' } }, { price: { '*': 1 } })
  await hub.servers.apply(less)
  expect([await call(), await call(), await call()]).toEqual(['x', 'OUT_OF_ENERGY', 'OUT_OF_ENERGY'])
})
