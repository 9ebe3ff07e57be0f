import net, { type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { modelFetch } from './model-fetch.ts'

/** A server of bytes. */
async function serve(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

const fetching = (idle = 60_000) => modelFetch({ env: {}, idle })
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n'

for (const [what, answer, code] of [
  ['a status that means nothing', 'HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n', 'MODEL_REFUSED'],
  ['what is no answer', 'SSH-2.0-OpenSSH_9\r\n', 'CONNECTION_LOST'],
  ['nothing', '', 'CONNECTION_LOST'],
] as const)
  test(`[E1] ${what} is told`, async () => {
    const url = await serve((socket) => socket.end(answer))
    await expect(fetching()(url, { method: 'POST', body: '{}' })).rejects.toMatchObject({ code })
  })

test('[E1] what comes in one piece is read, and the connection serves again', async () => {
  const url = await serve((socket) => {
    const answer = () =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 2\r\n\r\nhi')
    socket.on('data', answer)
    answer()
  })
  const fetch = fetching()
  for (let round = 0; round < 3; round++)
    expect(await (await fetch(url, { method: 'POST' })).text()).toBe('hi')
})

test('[E1] a break in the middle reaches whoever reads, and so does silence', async () => {
  const cut = await serve((socket) =>
    socket.end(`${HEAD.replace('\r\n\r\n', '\r\nContent-Length: 9\r\n\r\n')}hi`),
  )
  const broken = await fetching()(cut, { method: 'POST' })
  await expect(broken.text()).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
  const silent = await serve((socket) => socket.write(`${HEAD}hi`))
  const quiet = await fetching(20)(silent, { method: 'POST' })
  await expect(quiet.text()).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' })
})

test('[E1] whoever stops reading is not sent more than a little', async () => {
  const piece = Buffer.alloc(1024 * 1024, 'x')
  const all = 256
  let sent = 0
  const url = await serve((socket) => {
    const more = () => {
      if (sent < all && !socket.destroyed) socket.write(piece, () => more())
      sent += 1
    }
    socket.write(HEAD)
    more()
  })
  const response = await fetching()(url, { method: 'POST' })
  const reader = response.body?.getReader()
  await reader?.read()
  let before = -1
  await vi.waitUntil(
    () => {
      const isStill = sent === before
      before = sent
      return isStill || sent >= all
    },
    { interval: 100, timeout: 20_000 },
  )
  expect(sent).toBeLessThan(all)
  await reader?.cancel()
})
