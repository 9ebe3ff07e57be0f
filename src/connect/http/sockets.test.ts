import net, { type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { AnswerHeaders } from '../../wire/http-answer.ts'
import type { Body } from '../../wire/message.ts'
import { Dialer } from './dial.ts'

/** A server of bytes: told of each request on each connection, it says whatever it likes. */
async function serve(answer: (text: string, socket: Socket, connection: number) => void) {
  const sockets: Socket[] = []
  const server = net.createServer((socket) => {
    const connection = sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk) => answer(chunk.toString('latin1'), socket, connection))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const dialer = new Dialer({ url: `http://127.0.0.1:${port}/` })
  onTestFinished(async () => {
    dialer.destroy()
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return { dialer, sockets }
}

interface Answer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: string
}

function ask(dialer: Dialer, path: string, body?: Body): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let head: Omit<Answer, 'body'> | undefined
    const parts: Buffer[] = []
    dialer.send(
      {
        head: (status, headers) => {
          head = { status, headers }
        },
        data: (chunk) => parts.push(chunk),
        end: () => head && resolve({ ...head, body: Buffer.concat(parts).toString() }),
        broken: (error, at) => reject(Object.assign(error, { at })),
      },
      'POST',
      path,
      'host: x\r\n',
      body,
    )
  })
}

const SILENT = { head: () => {}, data: () => {}, end: () => {}, broken: () => {} }

async function unusedPort(): Promise<number> {
  const server = net.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const pathOf = (text: string) => /^POST (\S+)/.exec(text)?.[1] ?? ''
const ok = (body: string, more = '') =>
  `HTTP/1.1 200 OK\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`

test('[B2] a connection serves one request after the other, and requests at once have one each', async () => {
  const { dialer, sockets } = await serve((text, socket) => socket.write(ok(pathOf(text))))
  for (const path of ['/a', '/b', '/c']) expect((await ask(dialer, path)).body).toBe(path)
  expect(sockets).toHaveLength(1)
  const bodies = await Promise.all(['/d', '/e', '/f'].map((path) => ask(dialer, path)))
  expect(bodies.map(({ body }) => body)).toEqual(['/d', '/e', '/f'])
  expect(sockets).toHaveLength(3)
})

test('[B2] an answer too many is nobody’s: the next request goes to another connection', async () => {
  const { dialer, sockets } = await serve((text, socket) => socket.write(ok(pathOf(text)) + ok('evil')))
  expect((await ask(dialer, '/a')).body).toBe('/a')
  expect((await ask(dialer, '/b')).body).toBe('/b')
  expect(sockets).toHaveLength(2)
})

test('[B2] what comes while nothing is asked ends the connection', async () => {
  const { dialer, sockets } = await serve((text, socket) => socket.write(ok(pathOf(text))))
  await ask(dialer, '/a')
  const [first] = sockets
  const closed = new Promise((resolve) => first?.once('close', resolve))
  first?.write(ok('evil'))
  await closed
  expect((await ask(dialer, '/b')).body).toBe('/b')
  expect(sockets).toHaveLength(2)
})

test('[B2] a server that wants to close, or soon will, is not asked on that connection again', async () => {
  for (const header of ['Connection: close\r\n', 'Keep-Alive: timeout=0\r\n']) {
    const { dialer, sockets } = await serve((text, socket) => socket.write(ok(pathOf(text), header)))
    await ask(dialer, '/a')
    await ask(dialer, '/b')
    expect(sockets).toHaveLength(2)
  }
})

test('[B2] a connection that breaks tells whether it stood, whether it had served, and whether anything came', async () => {
  const { dialer, sockets } = await serve((text, socket) => {
    const path = pathOf(text)
    if (path === '/good') socket.write(ok('good'))
    else socket.end(path === '/cut' ? 'HTTP/1.1 200 OK\r\nContent-Le' : '')
  })
  await expect(ask(dialer, '/bad')).rejects.toMatchObject({ code: 'ECONNRESET', at: 'open' })
  await ask(dialer, '/good')
  await expect(ask(dialer, '/bad')).rejects.toMatchObject({ code: 'ECONNRESET', at: 'reused' })
  await ask(dialer, '/good')
  await expect(ask(dialer, '/cut')).rejects.toMatchObject({ code: 'ECONNRESET', at: 'open' })
  const nobody = new Dialer({ url: `http://127.0.0.1:${await unusedPort()}/` })
  await expect(ask(nobody, '/')).rejects.toMatchObject({ code: 'ECONNREFUSED', at: 'opening' })
  expect(sockets).toHaveLength(3)
})

test('[B2] where one kept connection turns out to be gone, the others are not tried', async () => {
  // The first two serve once, and are gone when they are needed again.
  const { dialer, sockets } = await serve((text, socket, connection) => {
    if (pathOf(text) === '/first' || connection > 2) socket.write(ok(`${connection}`))
    else socket.destroy()
  })
  await Promise.all([ask(dialer, '/first'), ask(dialer, '/first')])
  expect(sockets).toHaveLength(2)
  await expect(ask(dialer, '/second')).rejects.toMatchObject({ at: 'reused' })
  expect((await ask(dialer, '/third')).body).toBe('3')
})

test('[B2] closed is closed: what comes later opens no connection', async () => {
  const { dialer, sockets } = await serve((text, socket) => socket.write(ok(pathOf(text))))
  await ask(dialer, '/a')
  dialer.destroy()
  expect(() => dialer.send(SILENT, 'POST', '/b', '')).toThrow(expect.objectContaining({ code: 'CLOSED' }))
  expect(sockets).toHaveLength(1)
})

test('[B2] a mistake of whoever listens is not taken for one of the server', async () => {
  const { dialer } = await serve((text, socket) => socket.write(ok(pathOf(text))))
  const mistakes: unknown[] = []
  const before = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  const caught = new Promise((resolve) => {
    process.once('uncaughtException', (error) => resolve(mistakes.push(error.message)))
  })
  onTestFinished(() => {
    for (const listener of before) process.on('uncaughtException', listener)
  })
  const told: string[] = []
  dialer.send(
    {
      ...SILENT,
      end: () => {
        throw new Error('a mistake of the test')
      },
      broken: () => told.push('broken'),
    },
    'POST',
    '/a',
    '',
  )
  await caught
  expect([mistakes, told]).toEqual([['a mistake of the test'], []])
})

test('[B2] reading can be put off, and the connection serves again after it', async () => {
  const { dialer, sockets } = await serve((text, socket) =>
    socket.write(ok(`${pathOf(text)} ${'x'.repeat(100_000)}`)),
  )
  const first = await new Promise<number>((resolve) => {
    let size = 0
    const asker = {
      ...SILENT,
      data: (chunk: Buffer) => {
        size += chunk.length
        socket.pause(asker)
        setImmediate(() => socket.resume(asker))
      },
      end: () => resolve(size),
    }
    const socket = dialer.send(asker, 'POST', '/a', '')
  })
  expect(first).toBe(100_003)
  // Paused when its last piece came.
  await new Promise<void>((resolve) => {
    const asker = { ...SILENT, data: () => socket.pause(asker), end: () => resolve() }
    const socket = dialer.send(asker, 'POST', '/b', '')
    const timer = setInterval(() => socket.resume(asker))
    onTestFinished(() => clearInterval(timer))
  })
  expect((await ask(dialer, '/c')).body).toContain('/c')
  expect(sockets).toHaveLength(1)
})

test('[B2] a path that begins with two slashes is a path', async () => {
  const { dialer } = await serve(() => {})
  expect(dialer.at('//evil.example/x').href).toBe(`${dialer.url.origin}//evil.example/x`)
})

test('[B2] an answer before all of the question was sent is heard, and the connection is not used again', async () => {
  const { dialer, sockets } = await serve((text, socket) => {
    if (!text.startsWith('POST')) return
    // It reads no more of it.
    socket.pause()
    socket.write(`HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n`)
  })
  expect((await ask(dialer, '/a', Buffer.alloc(32 * 1024 * 1024))).status).toBe(413)
  expect((await ask(dialer, '/b')).status).toBe(413)
  expect(sockets).toHaveLength(2)
})

for (const [what, body] of [
  ['plain text', 'plain'],
  ['text of more than one byte a character', 'é…\u{1f600}'],
  ['text of single bytes that are no ASCII', 'é'],
  ['a few bytes', Buffer.from('é')],
  ['many bytes', Buffer.alloc(100_000, 'é')],
] as const)
  test(`[B2] ${what} arrives as it is`, async () => {
    const sent = Buffer.from(body as string).toString('latin1')
    let came = ''
    const { dialer } = await serve((text, socket) => {
      came += text
      if (came.length >= came.indexOf('\r\n\r\n') + 4 + sent.length) socket.write(ok('done'))
    })
    await ask(dialer, '/', body)
    expect(came).toBe(`POST / HTTP/1.1\r\nhost: x\r\n\r\n${sent}`)
  })
