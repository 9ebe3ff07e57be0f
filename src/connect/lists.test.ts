// Lists that a server gives page by page, and what bounds them, on a transport that is a literal.

import { expect, test } from 'vitest'
import { Link } from './link.ts'
import type { OpenTransport } from './transport.ts'

const LIMIT = 100_000

/** A server whose pages are as told: each after so many milliseconds, with so many letters, and always another one. */
async function endless({ delay, letters }: { delay: number; letters: number }) {
  const asked: string[] = []
  const open: OpenTransport = (events) => {
    const say = (message: object) =>
      events.message(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })))
    return {
      streams: false,
      send: ({ method, id }) => {
        asked.push(method)
        if (method === 'initialize')
          say({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} } } })
        if (method !== 'tools/list') return
        const tools = [{ name: `t${asked.length}`, inputSchema: {}, description: 'x'.repeat(letters) }]
        setTimeout(() => say({ id, result: { tools, nextCursor: `page-${asked.length}` } }), delay)
      },
      drop: () => undefined,
      agree: () => undefined,
      diagnosis: () => ({}),
      close: async () => undefined,
    }
  }
  const ignore = () => undefined
  const link = await Link.connect({
    server: 'files',
    client: { name: 'busbar', version: '1' },
    open,
    expected: 'legacy',
    respawn: false,
    patience: 700,
    deadline: 10_000,
    signal: new AbortController().signal,
    handlers: {},
    limit: LIMIT,
    scrub: (text) => text,
    events: { changed: ignore, notification: ignore, oddity: ignore, closed: ignore },
  })
  return { link, asked }
}

test('[C4] all pages together have the time of one request, and half a list is none', async () => {
  const { link, asked } = await endless({ delay: 20, letters: 1 })
  await expect(link.list('tools/list', { idle: 110 })).rejects.toMatchObject({
    code: 'CALL_TIMEOUT',
    message: expect.stringMatching(
      /^files did not come to the end of tools\/list within 110 ms \(pages: \d+\)$/,
    ),
    hint: 'give it longer: timeouts.call of files',
    server: 'files',
  })
  // The page that was waited for is not wanted any more.
  expect(asked.at(-1)).toBe('notifications/cancelled')
})

test('[C4] a list of which not even a page comes is told as that', async () => {
  const { link } = await endless({ delay: 100, letters: 1 })
  await expect(link.list('tools/list', { idle: 20 })).rejects.toMatchObject({
    message: 'files did not answer tools/list within 20 ms',
  })
})

test('[C4] all pages together have the size of one message', async () => {
  const { link, asked } = await endless({ delay: 0, letters: 40_000 })
  await expect(link.list('tools/list', { idle: 10_000 })).rejects.toMatchObject({
    code: 'MESSAGE_TOO_LARGE',
    hint: 'raise limits.message of files',
  })
  expect(asked.filter((method) => method === 'tools/list')).toHaveLength(3)
})

test('[C4] who waits for a list may stop waiting', async () => {
  const { link } = await endless({ delay: 20, letters: 1 })
  const stop = new AbortController()
  const list = link.list('tools/list', { idle: 10_000, signal: stop.signal })
  stop.abort()
  await expect(list).rejects.toMatchObject({ code: 'CALL_CANCELLED' })
})
