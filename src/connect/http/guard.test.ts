import { expect, test } from 'vitest'
import { Fault } from '../../base/fault.ts'
import type { Resolve } from './guard.ts'
import { requestGuarded } from './request.ts'
import { openStreamable } from './streamable.ts'
import { json, message, open, result, serve } from './test-rig.ts'

const asked = (url: string, more: object = {}) =>
  requestGuarded({ url, ...more }).then(
    ({ status }) => status,
    (error: unknown) => (error instanceof Fault ? error.code : Promise.reject(error)),
  )
const to =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

// Each is what a server might name as the place of its metadata while it is itself public.
const SPELLINGS = (port: number) => [
  `http://127.0.0.1:${port}/`,
  `http://127.1:${port}/`,
  `http://0x7f.1:${port}/`,
  `http://2130706433:${port}/`,
  `http://0177.0.0.1:${port}/`,
  `http://0:${port}/`,
  `http://[::1]:${port}/`,
  `http://[::ffff:127.0.0.1]:${port}/`,
  `http://[::ffff:7f00:1]:${port}/`,
  `http://[64:ff9b::7f00:1]:${port}/`,
  `http://[2002:7f00:1::]:${port}/`,
  `http://[::]:${port}/`,
  `http://localhost:${port}/`,
  `http://127.0.0.1.:${port}/`,
  `http://１２７.0.0.1:${port}/`,
  'http://100.64.0.1/',
  'http://[fd00::1]/',
  'http://169.254.169.254/latest/meta-data/',
  'http://10.0.0.1/',
]

test('no spelling of a private address is reached on behalf of a public server', async () => {
  const rig = await serve((_hit, response) => json(response, {}))
  for (const url of SPELLINGS(rig.port))
    expect([url, await asked(url, { configured: 'https://mcp.example.com/mcp' })]).toEqual([
      url,
      'ADDRESS_REFUSED',
    ])
  expect(rig.hits).toEqual([])
})

test('a public name that leads to this machine is refused, and the fault names both', async () => {
  const rig = await serve((_hit, response) => json(response, {}))
  const { transport, told } = await open(
    openStreamable({
      url: `http://mcp.example.com:${rig.port}/`,
      limit: 1000,
      resolve: to('93.184.215.14', '127.0.0.1'),
    }),
  )
  transport.send(message(1, 'initialize'))
  const fault = await told.failure(1)
  expect(fault.code).toBe('ADDRESS_REFUSED')
  expect(fault.message).toContain('mcp.example.com leads to 127.0.0.1')
  expect(rig.hits).toEqual([])
})

test('what is checked is what is dialled: a name that changes gains nothing', async () => {
  const rig = await serve((_hit, response) => json(response, {}))
  let looked = 0
  const resolve: Resolve = async () => {
    looked += 1
    return looked === 1 ? [] : [{ address: '127.0.0.1', family: 4 }]
  }
  const url = `http://mcp.example.com:${rig.port}/`
  expect(await asked(url, { resolve })).toBe('SERVER_UNREACHABLE')
  expect(await asked(url, { resolve })).toBe('ADDRESS_REFUSED')
  expect(rig.hits).toEqual([])
})

test('an address somebody wrote is what they mean, and so are names of the own network', async () => {
  const rig = await serve((_hit, response) => json(response, {}))
  const port = rig.port
  expect(await asked(`http://127.0.0.1:${port}/`)).toBe(200)
  expect(await asked(`http://localhost:${port}/`, { resolve: to('127.0.0.1') })).toBe(200)
  expect(await asked(`http://mcp-server:${port}/`, { resolve: to('127.0.0.1') })).toBe(200)
  expect(await asked(`http://box.local:${port}/`, { resolve: to('127.0.0.1') })).toBe(200)
  expect(await asked(`http://0.0.0.0:${port}/`)).toBe(200)
})

test('metadata of clouds is refused even when somebody wrote it', async () => {
  expect(await asked('http://169.254.169.254/')).toBe('ADDRESS_REFUSED')
  expect(await asked('http://metadata.google.internal/', { resolve: to('169.254.169.254') })).toBe(
    'ADDRESS_REFUSED',
  )
})

test('a server on this machine may refer to another port of it, a private one only to itself', async () => {
  const rig = await serve((_hit, response) => json(response, {}))
  const url = `http://127.0.0.1:${rig.port}/`
  expect(await asked(url, { configured: 'http://localhost:1/mcp' })).toBe(200)
  expect(await asked(url, { configured: 'http://10.0.0.1/mcp' })).toBe('ADDRESS_REFUSED')
  expect(await asked('http://10.0.0.2/', { configured: 'http://10.0.0.1/mcp' })).toBe('ADDRESS_REFUSED')
})

for (const url of ['ftp://example.com/', 'file:///etc/passwd', 'javascript:1', 'nonsense'])
  test(`${url} is no address of a server`, async () => {
    expect(await asked(url)).toBe('ADDRESS_REFUSED')
  })

test('a name nobody knows is said to be one', async () => {
  const resolve: Resolve = async () => {
    throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
  }
  const { transport, told } = await open(
    openStreamable({ url: 'http://mcp.example.com/', limit: 1000, resolve }),
  )
  transport.send(message(1, 'initialize'))
  expect((await told.failure(1)).message).toBe('nobody knows the name in mcp.example.com:80')
})

test('nobody listening is said plainly', async () => {
  const rig = await serve((hit, response) => json(response, result(hit.message.id)))
  await new Promise((resolve) => rig.server.close(resolve))
  const { transport, told } = await open(openStreamable({ url: rig.url, limit: 1000 }))
  transport.send(message(1, 'initialize'))
  const fault = await told.failure(1)
  expect(fault.code).toBe('SERVER_UNREACHABLE')
  expect(fault.message).toBe(`nothing listens at 127.0.0.1:${rig.port}`)
})
