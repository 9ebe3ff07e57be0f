import { expect, test } from 'vitest'
import { requestGuarded } from './request.ts'
import { openStreamable } from './streamable.ts'
import { json, message, open, result, serve } from './test-rig.ts'

const headers = { Authorization: 'Bearer secret' }

for (const status of [307, 308])
  test(`${status} within the origin keeps method and body`, async () => {
    const rig = await serve((hit, response) => {
      if (hit.path === '/mcp') response.writeHead(status, { location: '/mcp/?a=1' }).end('moved')
      else json(response, result(hit.message.id))
    })
    const { transport, told } = await open(openStreamable({ url: rig.url, limit: 1000, headers }))
    transport.send(message(1, 'tools/call'))
    await told.reply(1)
    expect(rig.hits.map(({ method, path, body }) => [method, path, body.length > 0])).toEqual([
      ['POST', '/mcp', true],
      ['POST', '/mcp/?a=1', true],
    ])
  })

for (const status of [301, 302, 303])
  test(`${status} to a message is not followed`, async () => {
    const rig = await serve((_hit, response) => response.writeHead(status, { location: '/other' }).end())
    const { transport, told } = await open(openStreamable({ url: rig.url, limit: 1000, headers }))
    transport.send(message(1, 'tools/call'))
    const fault = await told.failure(1)
    expect(fault).toMatchObject({ code: 'SERVER_UNREACHABLE', details: { status } })
    expect(fault.message).toContain(`has moved to http://127.0.0.1:${rig.port}/other`)
    expect(rig.hits).toHaveLength(1)
  })

for (const status of [301, 302, 307, 308])
  test(`${status} to another origin is refused, and the other never hears of it`, async () => {
    const other = await serve((_hit, response) => response.end())
    const rig = await serve((_hit, response) => response.writeHead(status, { location: other.url }).end())
    const { transport, told } = await open(openStreamable({ url: rig.url, limit: 1000, headers }))
    transport.send(message(1, 'tools/call'))
    const fault = await told.failure(1)
    expect(fault.code).toBe('ADDRESS_REFUSED')
    expect(fault.message).toContain(other.url)
    expect(other.sockets.size + other.hits.length).toBe(0)
  })

for (const [location, shown] of [
  ['file:///etc/passwd', 'file:///etc/passwd'],
  ['data:text/html,x?y', 'data:text/html,x'],
  ['ftp://user:word@ftp.example/a', 'ftp://ftp.example/a'],
] as const)
  test(`a redirect to ${location} is refused, and shown as what it is`, async () => {
    const rig = await serve((_hit, response) => response.writeHead(307, { location }).end())
    const { transport, told } = await open(openStreamable({ url: rig.url, limit: 1000, headers }))
    transport.send(message(1, 'tools/call'))
    expect(await told.failure(1)).toMatchObject({
      code: 'ADDRESS_REFUSED',
      message: `127.0.0.1:${rig.port} wants to send us on to ${shown}, which is no server`,
    })
  })

test('a redirect whose page never ends is followed all the same', async () => {
  const rig = await serve((hit, response) => {
    if (hit.path !== '/mcp') return json(response, result(hit.message.id))
    response.writeHead(307, { location: '/mcp/' })
    const more = (error?: Error | null) => {
      if (!error) setImmediate(() => response.write('x'.repeat(100_000), more))
    }
    more()
  })
  const { transport, told } = await open(openStreamable({ url: rig.url, limit: 1000 }))
  transport.send(message(1, 'tools/call'))
  await told.reply(1)
  await rig.until(() => rig.gone.length === 1)
})

test('a server that sends us in circles is given up', async () => {
  const rig = await serve((_hit, response) => response.writeHead(307, { location: '/mcp' }).end())
  const { transport, told } = await open(openStreamable({ url: rig.url, limit: 1000 }))
  transport.send(message(1, 'tools/call'))
  expect((await told.failure(1)).message).toContain('keeps sending us on')
  expect(rig.hits).toHaveLength(4)
})

test('a redirect to nowhere is a failure, not a crash', async () => {
  const rig = await serve((_hit, response) => response.writeHead(307, { location: 'http://[' }).end())
  const { transport, told } = await open(openStreamable({ url: rig.url, limit: 1000 }))
  transport.send(message(1, 'tools/call'))
  expect((await told.failure(1)).message).toContain('without saying where to')
})

test('a request beside the protocol follows pages within the origin and nowhere else', async () => {
  const other = await serve((_hit, response) => response.end('other'))
  const rig = await serve((hit, response) => {
    if (hit.path === '/away') response.writeHead(302, { location: other.url }).end()
    else if (hit.path === '/here') response.writeHead(302, { location: '/there' }).end()
    else if (hit.path === '/form') json(response, hit.body, 400)
    else json(response, { ok: hit.headers.authorization })
  })
  const origin = `http://127.0.0.1:${rig.port}`
  const there = await requestGuarded({ url: `${origin}/here`, headers })
  expect([there.status, there.body.toString()]).toEqual([200, '{"ok":"Bearer secret"}'])
  await expect(requestGuarded({ url: `${origin}/away`, headers })).rejects.toMatchObject({
    code: 'ADDRESS_REFUSED',
  })
  const form = await requestGuarded({
    url: `${origin}/form`,
    method: 'POST',
    body: 'a=b',
    contentType: 'application/x-www-form-urlencoded',
  })
  expect([form.status, form.body.toString()]).toEqual([400, 'a=b'])
  expect(other.hits).toEqual([])
})

test('a request beside the protocol has a limit of size, and can be given up', async () => {
  const rig = await serve((hit, response) => {
    if (hit.path === '/big') json(response, 'x'.repeat(1001))
  })
  const origin = `http://127.0.0.1:${rig.port}`
  await expect(requestGuarded({ url: `${origin}/big`, limit: 1000 })).rejects.toMatchObject({
    code: 'MESSAGE_TOO_LARGE',
  })
  const abort = new AbortController()
  const asked = requestGuarded({ url: `${origin}/never`, signal: abort.signal })
  await rig.until(() => rig.hits.length === 2)
  abort.abort(new Error('enough'))
  await expect(asked).rejects.toThrow('enough')
  await expect(requestGuarded({ url: `${origin}/never`, timeout: 1 })).rejects.toMatchObject({
    code: 'SERVER_UNREACHABLE',
  })
  await rig.until(() => rig.sockets.size === 0)
})
