// Renewal when everybody needs it at once, when somebody dies in the middle of it, and when nobody answers.

import { once } from 'node:events'
import { expect, test } from 'vitest'
import { browse } from '../servers/oauth/browse.ts'
import type { RealAuthorization } from '../servers/oauth/real.ts'
import { serverCommand } from '../servers/start.ts'
import { type Hub, type Place, place, until } from './hub.ts'
import { authorization, hubProcess } from './sign-in.ts'

const PROCESSES = 5
const CALLS = 20
const HOUR = 3_600

const refreshes = ({ tokenRequests }: RealAuthorization) =>
  tokenRequests.filter(({ grant }) => grant === 'refresh_token')

/** A hub that signs in and starts nothing. */
async function signIn(
  { open }: Pick<Place, 'open'>,
  config: Parameters<Place['open']>[0],
  user = 'ada',
): Promise<Hub> {
  const hub = await open(config, { start: false })
  await hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url, { user })) })
  return hub
}

const inOrder = Array.from({ length: CALLS }, (_, index) => `number ${index}`)

test(`[C6] ${PROCESSES} processes with ${CALLS} calls each find the token over: one renewal, and all calls succeed`, async () => {
  const at = place()
  const real = await authorization({ lifetime: HOUR })
  const config = { servers: { vault: { url: real.mcpUrl } } }
  const hub = await signIn(at, config)
  // Or it would find that out, too.
  await hub.close()
  const processes = await Promise.all(
    Array.from({ length: PROCESSES }, () => hubProcess(at.sandbox, config, { isUp: false })),
  )
  await Promise.all(processes.map((one) => one.later(HOUR)))
  real.expireAll()
  expect(refreshes(real)).toEqual([])
  const results = await Promise.all(processes.map((one) => one.call(CALLS)))
  expect(results).toEqual(Array(PROCESSES).fill(inOrder))
  expect(refreshes(real)).toMatchObject([{ status: 200 }])
  // The token that was over was sent to nobody.
  expect(real.mcpRequests.filter(({ token, status }) => token !== undefined && status === 401)).toEqual([])
})

test(`[C6] ${PROCESSES} connected processes with ${CALLS} calls each at the end of the token's time: one renewal, and all calls succeed`, async () => {
  const at = place()
  const real = await authorization({ lifetime: HOUR })
  const config = { servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } } } }
  await signIn(at, config)
  const processes = await Promise.all(Array.from({ length: PROCESSES }, () => hubProcess(at.sandbox, config)))
  await Promise.all(processes.map((one) => one.later(HOUR)))
  const before = new Set(real.mcpRequests.flatMap(({ token = [] }) => token))
  expect([before.size, refreshes(real)]).toEqual([1, []])
  const results = await Promise.all(processes.map((one) => one.call(CALLS)))
  expect(results).toEqual(Array(PROCESSES).fill(inOrder))
  expect(refreshes(real)).toMatchObject([{ status: 200 }])
  const calls = real.mcpRequests.filter(({ tool }) => tool === 'echo')
  const tokens = new Set(calls.map(({ token }) => token))
  expect([calls.length, tokens.size]).toEqual([PROCESSES * CALLS, 1])
  // None went out with the token that was over.
  for (const token of tokens) expect(before.has(token ?? '')).toBe(false)
})

test(`[C6] ${PROCESSES} connected processes with ${CALLS} calls each are refused: one renewal, and each call is made once`, async () => {
  const at = place()
  const real = await authorization()
  const config = { servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } } } }
  await signIn(at, config)
  const processes = await Promise.all(Array.from({ length: PROCESSES }, () => hubProcess(at.sandbox, config)))
  for (const round of [1, 2, 3]) {
    real.expireAll()
    const from = real.mcpRequests.length
    const results = await Promise.all(processes.map((one) => one.call(CALLS)))
    expect(results).toEqual(Array(PROCESSES).fill(inOrder))
    expect(refreshes(real).map(({ status }) => status)).toEqual(Array(round).fill(200))
    const taken = real.mcpRequests.slice(from).filter(({ tool, status }) => tool === 'echo' && status === 200)
    expect(taken).toHaveLength(PROCESSES * CALLS)
  }
})

test('[C6] attack D10: whoever renews is killed before anything came of it: another one takes over', async () => {
  const at = place()
  const real = await authorization()
  const config = { servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } } } }
  await signIn(at, config)
  const one = await hubProcess(at.sandbox, config)
  const other = await hubProcess(at.sandbox, config, { isUp: false })
  real.expireAll()
  const held = real.hold('token')
  const lost = one.call().catch(() => 'lost')
  await held.arrived
  const waiting = other.call(CALLS)
  await one.kill()
  expect([await waiting, await lost]).toEqual([inOrder, 'lost'])
  expect(refreshes(real).filter(({ status }) => status === 200)).toHaveLength(1)
})

test('[C6] attack D10: whoever renews is killed before it could keep the new token: one sign-in is needed, and nobody asks in vain again', async () => {
  const at = place()
  const real = await authorization()
  const config = {
    servers: {
      vault: { url: real.mcpUrl, timeouts: { health: 0 } },
      plain: serverCommand('plain'),
    },
  }
  const hub = await signIn(at, config)
  const one = await hubProcess(at.sandbox, config)
  const other = await hubProcess(at.sandbox, config, { isUp: false })
  real.expireAll()
  const held = real.holdAnswer('token')
  const lost = one.call().catch(() => 'lost')
  await held.arrived
  expect(refreshes(real)).toMatchObject([{ status: 200 }])
  await one.kill()
  expect(await lost).toBe('lost')
  held.release()
  const refused = { code: 'AUTH_REQUIRED', hint: 'run: busbar login vault' }
  expect(await other.call()).toMatchObject([refused])
  expect(refreshes(real).at(-1)).toMatchObject({ error: 'invalid_grant' })
  const asked = real.tokenRequests.length
  expect(await other.call(CALLS)).toMatchObject(Array(CALLS).fill(refused))
  expect(real.tokenRequests).toHaveLength(asked)
  expect(await other.status('plain')).not.toMatchObject({ status: 'failed' })

  await hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) })
  expect(await other.call(CALLS)).toEqual(inOrder)
})

test('[C6] attack D10: whoever closes waits for a token that is on its way, so that it is not lost', async () => {
  const at = place()
  const real = await authorization({ lifetime: HOUR })
  const config = { servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } } } }
  await signIn(at, config)
  const one = await hubProcess(at.sandbox, config)
  const held = real.holdAnswer('token')
  await one.later(HOUR - 30)
  expect(await one.call()).toEqual(['number 0'])
  await held.arrived
  const gone = once(one.child, 'exit')
  await one.leave()
  // As long as it answers it is there.
  for (let round = 0; round < 50; round++) await one.later(HOUR - 30)
  held.release()
  await gone
  real.expireAll()
  const other = await hubProcess(at.sandbox, config)
  expect(await other.call(CALLS)).toEqual(inOrder)
})

test('[C6] the answer to a renewal is lost on the way: the command is named, and other servers go on', async () => {
  const at = place()
  const real = await authorization()
  const config = {
    servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } }, plain: serverCommand('plain') },
  }
  await signIn(at, config)
  const one = await hubProcess(at.sandbox, config)
  real.expireAll()
  real.lose('token')
  // Nobody said no yet, so it is tried again, later.
  expect(await one.call()).toMatchObject([{ code: expect.not.stringMatching('AUTH_REQUIRED') }])
  const [fault] = await until(async () => {
    const found = await one.call()
    return JSON.stringify(found).includes('AUTH_REQUIRED') ? found : undefined
  })
  expect(fault).toMatchObject({ code: 'AUTH_REQUIRED', hint: 'run: busbar login vault' })
  expect(await one.status('plain')).toMatchObject({ status: 'connected' })
  const restarted = await hubProcess(at.sandbox, config)
  expect(await restarted.status()).toMatchObject({ status: 'needs-auth', hint: 'run: busbar login vault' })
  expect(await restarted.status('plain')).toMatchObject({ status: 'connected' })
})

test('[C6] attack D11: a no to an old token takes nothing from a newer one', async () => {
  const at = place()
  const real = await authorization()
  const config = { servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } } } }
  const hub = await signIn(at, config)
  const one = await hubProcess(at.sandbox, config)
  real.expireAll()
  const held = real.hold('token')
  const call = one.call(CALLS)
  await held.arrived
  // Meanwhile a person signs in anew.
  await hub.servers.login('vault', {
    onSignIn: async ({ url }) => void (await browse(url, { user: 'grace' })),
  })
  real.fail('token', {
    status: 400,
    body: '{"error":"invalid_grant"}',
    headers: { 'content-type': 'application/json' },
  })
  held.release()
  expect(await call).toEqual(inOrder)
  const [who] = await one.call(1, 'whoami')
  expect(who).toContain('"subject":"grace"')
  const other = await hubProcess(at.sandbox, config)
  expect(await other.call(1, 'whoami')).toEqual([who])
  // The newer one has kept its means of renewal.
  real.expireAll()
  expect(await other.call(1, 'whoami')).toEqual([who])
})

for (const failure of [500, 503, { status: 429, headers: { 'retry-after': '0' } }, 'hang'] as const)
  test(`[C6] attack D12: the authorization server answers ${JSON.stringify(failure)} while the token is good: calls go on`, async () => {
    const at = place()
    const real = await authorization({ lifetime: HOUR })
    const config = { servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } } } }
    await signIn(at, config)
    const one = await hubProcess(at.sandbox, config)
    real.fail('token', failure, 1_000)
    await one.later(HOUR - 30)
    expect(await one.call(CALLS)).toEqual(inOrder)
    await until(() => refreshes(real).length > 0)
    expect(await one.call(CALLS)).toEqual(inOrder)
    // Not by every call anew.
    expect(refreshes(real).length).toBeLessThan(3)
    expect(await one.status()).toMatchObject({ status: 'connected' })
  })

for (const failure of [500, { status: 429, body: '{"error":"invalid_grant"}' }] as const)
  test(`[C6] attack D12: the authorization server answers ${JSON.stringify(failure)} when the token is over: that is said, and passes by itself`, async () => {
    const at = place()
    const real = await authorization({ lifetime: HOUR })
    const config = { servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } } } }
    await signIn(at, config)
    const one = await hubProcess(at.sandbox, config)
    real.fail('token', failure)
    await one.later(HOUR)
    const { host } = new URL(real.issuer)
    const [fault] = await one.call()
    expect(fault).toMatchObject({ code: 'SERVER_UNREACHABLE', message: expect.stringContaining(host) })
    expect(JSON.stringify(fault)).not.toContain('login')
    await until(async () => (await one.call())[0] === 'number 0')
    expect(await one.call(CALLS)).toEqual(inOrder)
    expect(refreshes(real).map(({ status }) => status)).toEqual([
      typeof failure === 'number' ? 500 : 429,
      200,
    ])
  })

test('[C6] attack D12: nobody listens where tokens are given: that is said, and passes by itself', async () => {
  const at = place()
  const real = await authorization()
  const config = { servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } } } }
  await signIn(at, config)
  const one = await hubProcess(at.sandbox, config)
  real.expireAll()
  real.fail('token', 502, 2)
  expect(await one.call()).toMatchObject([
    { code: 'SERVER_UNREACHABLE', message: expect.not.stringContaining('sign in') },
  ])
  await until(async () => (await one.call())[0] === 'number 0')
  expect(await one.status()).toMatchObject({ status: 'connected' })
})
