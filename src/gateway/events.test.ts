// The stream of events, over real HTTP, from a real hub.

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createHub, type Hub } from '../hub.ts'
import { EventFeed } from './events.ts'

const SECRET = 'hunter2-of-the-server'

async function rig(): Promise<{ hub: Hub; feed: EventFeed; read(last?: string): Promise<IncomingMessage> }> {
  const home = mkdtempSync(join(tmpdir(), 'busbar-events-'))
  const servers = { off: { command: 'none', enabled: false, env: { API_KEY: SECRET } } }
  const hub = await createHub({ config: { servers }, home, cwd: home })
  const feed = new EventFeed(hub)
  const server = createServer((request, response) => feed.serve(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    feed.close()
    server.closeAllConnections()
    server.close()
    await hub.close()
    rmSync(home, { recursive: true, force: true })
  })
  const { port } = server.address() as AddressInfo
  return {
    hub,
    feed,
    async read(last) {
      const headers = last === undefined ? {} : { 'last-event-id': last }
      const [response] = await once(get({ host: '127.0.0.1', port, headers, agent: false }), 'response')
      response.on('error', () => undefined)
      return response
    },
  }
}

/** Makes two events. */
function change(hub: Hub): void {
  hub.tools.register({ name: 'native', run: () => '' })()
}

test('a stream begins with where it stands, tells what happens, and ends with the feed', async () => {
  const { hub, feed, read } = await rig()
  const whole = text(await read())
  change(hub)
  feed.close()
  const [start, first, second] = (await whole).split('\n\n')
  const [, epoch] = /^id: ([0-9a-f]+)\.0$/.exec(start ?? '') ?? []
  expect(first).toBe(`id: ${epoch}.1\nevent: tools-change\ndata: {"server":""}`)
  expect(second).toBe(`id: ${epoch}.2\nevent: tools-change\ndata: {"server":""}`)
})

test('who does not read is let go, and told when they come back that they missed something', async () => {
  const { hub, feed, read } = await rig()
  const lazy = await read()
  const start = String(await once(lazy, 'data'))
  lazy.pause()
  // All in one go, so that nothing can be sent meanwhile.
  for (let round = 0; round < 20_000; round++) change(hub)
  const gone = vi.fn()
  lazy.on('close', gone).resume()
  await vi.waitUntil(() => gone.mock.calls.length > 0, { timeout: 20_000 })
  expect(lazy.complete).toBe(false)
  const again = text(await read(/id: (\S+)/.exec(start)?.[1]))
  feed.close()
  expect(await again).toMatch(/^id: [0-9a-f]+\.40000\nevent: reset\ndata: \{\}\n\n$/)
})

test('what a text says stays data', async () => {
  const { hub, feed, read } = await rig()
  const whole = text(await read())
  hub.context.trouble(`line\n\nid: 7\nevent: reset\ndata: {}\r\n\u2028${SECRET}`)
  feed.close()
  const blocks = (await whole).split('\n\n').filter((block) => block.includes('event:'))
  expect(blocks).toHaveLength(1)
  expect(blocks[0]).toMatch(/^id: [0-9a-f]+\.1\nevent: trouble\ndata: \{"message":"line\\n\\nid: 7/)
  expect(blocks[0]).not.toContain(SECRET)
})
