import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startTokenProxy } from './token-proxy.ts'

test('the proxy replaces the token, and of Host and Origin only its own port', async () => {
  const seen: IncomingMessage[] = []
  const { proxy, port } = await behindProxy((incoming, response) => {
    seen.push(incoming)
    response.writeHead(418, { 'X-Mine': 'yes' }).end('short and stout')
  })
  const own = new URL(proxy)
  const answers = [
    await send(proxy, { Authorization: 'Bearer wrong', 'MCP-METHOD': 'ping', Origin: own.origin }),
    await send(proxy, { Host: `localhost:${own.port}` }),
    await send(proxy, { Host: 'evil.example.com', Origin: 'http://evil.example.com' }),
  ]
  expect(answers.map(({ status, mine, text }) => [status, mine, text])).toEqual(
    Array(3).fill([418, 'yes', 'short and stout']),
  )
  expect(seen.map(({ headers: { host, origin, authorization } }) => [host, origin, authorization])).toEqual([
    [`127.0.0.1:${port}`, `http://127.0.0.1:${port}`, 'Bearer good'],
    [`localhost:${port}`, undefined, 'Bearer good'],
    ['evil.example.com', 'http://evil.example.com', 'Bearer good'],
  ])
  expect(seen.map(({ method, url }) => [method, url])).toEqual(Array(3).fill(['POST', '/mcp/fixture?a=1']))
  expect(seen[0]?.rawHeaders).toContain('MCP-METHOD')
})

test('the proxy streams each event as it comes, and an abort reaches the target', {
  timeout: 5_000,
}, async () => {
  const signals = new EventEmitter()
  const aborted = once(signals, 'aborted')
  const { proxy } = await behindProxy((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write('data: 1\n\n')
    // The second event waits for the first to have arrived, which never happens if anything is held back.
    signals.once('first', () => response.write('data: 2\n\n'))
    response.on('close', () => signals.emit('aborted'))
  })
  const abort = new AbortController()
  const { body } = await fetch(proxy, { method: 'POST', body: '{}', signal: abort.signal })
  const events: string[] = []
  const reading = (async () => {
    for await (const chunk of body ?? []) {
      events.push(Buffer.from(chunk).toString())
      signals.emit('first')
      if (events.length === 2) abort.abort()
    }
  })()
  await expect(reading).rejects.toThrow('abort')
  await aborted
  expect(events).toEqual(['data: 1\n\n', 'data: 2\n\n'])
})

// --- internal ---

async function behindProxy(
  handle: (incoming: IncomingMessage, response: ServerResponse) => void,
): Promise<{ proxy: string; port: number }> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const target = `http://127.0.0.1:${port}/mcp/fixture?a=1`
  const proxy = await startTokenProxy({ target, token: 'good' })
  onTestFinished(proxy.close)
  return { proxy: proxy.url, port }
}

/** Not fetch, which does not let a caller set Host. */
function send(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; mine: unknown; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', headers }, async (answer) => {
      let text = ''
      for await (const chunk of answer) text += chunk
      resolve({ status: answer.statusCode, mine: answer.headers['x-mine'], text })
    })
    outgoing.on('error', reject)
    outgoing.end('{}')
  })
}
