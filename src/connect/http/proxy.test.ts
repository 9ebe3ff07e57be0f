import { once } from 'node:events'
import https from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { proxyFor } from './proxy.ts'
import { openStreamable } from './streamable.ts'
import { testCertificate } from './test-certificate.ts'
import { startProxy } from './test-proxy.ts'
import { json, message, open, result, serve } from './test-rig.ts'

const PROXY = 'http://proxy.example:3128'
const choices: [string, Record<string, string>, string | undefined][] = [
  ['https://a.example/', {}, undefined],
  ['https://a.example/', { HTTPS_PROXY: PROXY }, PROXY],
  ['https://a.example/', { https_proxy: PROXY, HTTPS_PROXY: 'http://other' }, PROXY],
  ['https://a.example/', { HTTP_PROXY: PROXY }, undefined],
  ['http://a.example/', { HTTP_PROXY: PROXY }, PROXY],
  ['http://a.example/', { ALL_PROXY: PROXY }, PROXY],
  ['https://a.example/', { all_proxy: PROXY }, PROXY],
  ['https://a.example/', { HTTPS_PROXY: 'proxy.example:3128' }, PROXY],
  ['https://a.example/', { HTTPS_PROXY: '' }, undefined],
  ['https://a.example/', { HTTPS_PROXY: PROXY, NO_PROXY: '*' }, undefined],
  ['https://a.example/', { HTTPS_PROXY: PROXY, NO_PROXY: 'b.example, a.example' }, undefined],
  ['https://x.a.example/', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example' }, undefined],
  ['https://x.a.example/', { HTTPS_PROXY: PROXY, no_proxy: '.a.example' }, undefined],
  ['https://x.a.example/', { HTTPS_PROXY: PROXY, no_proxy: '*.a.example' }, undefined],
  ['https://xa.example/', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example' }, PROXY],
  ['https://a.example/', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example:443' }, undefined],
  ['https://a.example:8443/', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example:443' }, PROXY],
  ['https://10.1.2.3/', { HTTPS_PROXY: PROXY, NO_PROXY: '10.0.0.0/8' }, undefined],
  ['https://11.1.2.3/', { HTTPS_PROXY: PROXY, NO_PROXY: '10.0.0.0/8' }, PROXY],
  ['https://[fd00::1]:8443/', { HTTPS_PROXY: PROXY, NO_PROXY: '[fd00::1]:8443' }, undefined],
  ['https://a.example/', { HTTPS_PROXY: PROXY, NO_PROXY: ',,' }, PROXY],
  ['http://localhost:1/', { HTTP_PROXY: PROXY }, undefined],
  ['http://127.9.9.9:1/', { ALL_PROXY: PROXY }, undefined],
  ['http://[::1]:1/', { HTTP_PROXY: PROXY }, undefined],
]
for (const [url, env, expected] of choices)
  test(`${url} with ${JSON.stringify(env)} goes through ${expected ?? 'no proxy'}`, () => {
    expect(proxyFor(new URL(url), env)?.origin).toBe(expected)
  })

test('a kind of proxy that cannot be used is not gone around in silence', () => {
  expect(() => proxyFor(new URL('https://a.example/'), { ALL_PROXY: 'socks5://p:1080' })).toThrow(/socks5/)
  expect(() => proxyFor(new URL('https://a.example/'), { ALL_PROXY: 'http://' })).toThrow(/ALL_PROXY/)
})

const BASIC = `Basic ${Buffer.from('user:pa ss').toString('base64')}`
// Whoever asks it would find that the name leads nowhere.
const resolve = () => Promise.reject(new Error('the proxy looks names up, not we'))

test('http goes through a proxy by the whole address', async () => {
  const target = await serve((_hit, response) => response.end())
  const { asked, passwords, env } = await startProxy(target)
  const { transport, told } = await open(
    openStreamable({ url: 'http://mcp.example.com/a?b=1', limit: 1000, env, resolve }),
  )
  transport.send(message(1, 'initialize'))
  expect((await told.reply(1)).result).toBe('through the proxy')
  expect(asked).toEqual(['POST http://mcp.example.com/a?b=1 for mcp.example.com'])
  expect(passwords).toEqual([BASIC])
})

test('https goes through a tunnel, and the certificate is the one of the server', async () => {
  const pair = testCertificate(['mcp.example.com'])
  const target = await serve(
    (hit, response) => json(response, result(hit.message.id, hit.headers['proxy-authorization'] ?? 'none')),
    https.createServer(pair),
  )
  const { asked, passwords, env } = await startProxy(target)
  const url = 'https://mcp.example.com/mcp'
  const trusting = await open(openStreamable({ url, limit: 1000, env, resolve, certificates: pair.cert }))
  for (const id of [1, 2]) {
    trusting.transport.send(message(id, 'initialize'))
    // The proxy's password is for the proxy alone.
    expect((await trusting.told.reply(id)).result).toBe('none')
  }
  expect(asked).toEqual(['CONNECT mcp.example.com:443'])
  expect(passwords).toEqual([BASIC])
  const wary = await open(openStreamable({ url, limit: 1000, env, resolve }))
  wary.transport.send(message(1, 'initialize'))
  expect((await wary.told.failure(1)).message).toContain(
    'the certificate of mcp.example.com:443 is not valid',
  )
})

test('a proxy that refuses is named', async () => {
  const target = await serve((_hit, response) => response.end())
  const { env, proxy } = await startProxy(target, 407)
  const { transport, told } = await open(
    openStreamable({ url: 'https://mcp.example.com/', limit: 1000, env, resolve }),
  )
  transport.send(message(1, 'initialize'))
  const fault = await told.failure(1)
  expect(fault.code).toBe('SERVER_UNREACHABLE')
  expect(fault.message).toBe(
    `the proxy 127.0.0.1:${proxy.port} answered 407 when asked for mcp.example.com:443`,
  )
  await transport.close()
  await proxy.until(() => proxy.sockets.size === 0)
})

test('a proxy that refuses or is not there is named, also where it is asked for whole addresses', async () => {
  const target = await serve((_hit, response) => response.end())
  const { env, proxy } = await startProxy(target, 407)
  const ask = async (ways: Record<string, string>) => {
    const url = 'http://mcp.example.com/mcp'
    const { transport, told } = await open(openStreamable({ url, limit: 1000, env: ways, resolve }))
    transport.send(message(1, 'initialize'))
    const { code, message: said, hint, details } = await told.failure(1)
    await transport.close()
    return { code, said, hint, proxy: details?.['proxy'] }
  }
  const hint = 'see HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY'
  const host = `127.0.0.1:${proxy.port}`
  const refused = `the proxy ${host} answered 407 when asked for mcp.example.com:80`
  expect(await ask(env)).toEqual({ code: 'SERVER_UNREACHABLE', said: refused, hint, proxy: host })
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const gone = `127.0.0.1:${(other.address() as AddressInfo).port}`
  await new Promise((done) => other.close(done))
  const absent = `the proxy ${gone} cannot be reached (ECONNREFUSED)`
  expect(await ask({ HTTP_PROXY: `http://${gone}` })).toEqual({
    code: 'SERVER_UNREACHABLE',
    said: absent,
    hint,
    proxy: gone,
  })
})

test('a password with a percent sign that encodes nothing is sent as it is, and nothing is thrown', async () => {
  const target = await serve((_hit, response) => response.end())
  const { passwords, proxy } = await startProxy(target, 407)
  const env = { ALL_PROXY: `http://user:100%@127.0.0.1:${proxy.port}` }
  const { transport, told } = await open(
    openStreamable({ url: 'https://mcp.example.com/', limit: 1000, env, resolve }),
  )
  transport.send(message(1, 'initialize'))
  expect((await told.failure(1)).code).toBe('SERVER_UNREACHABLE')
  expect(passwords).toEqual([`Basic ${Buffer.from('user:100%').toString('base64')}`])
})

test('a proxy is no way around the guard', async () => {
  const target = await serve((_hit, response) => response.end())
  const { asked, env } = await startProxy(target)
  expect(() =>
    openStreamable({ url: 'http://169.254.169.254/', limit: 1000, env })(undefined as never),
  ).toThrow(/169\.254/)
  expect(asked).toEqual([])
})
