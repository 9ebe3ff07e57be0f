// Signing in around a running gateway: by command, by API, as several accounts; and what a token's end means to calls.

import { expect, test } from 'vitest'
import { browse } from '../servers/oauth/browse.ts'
import type { Sandbox } from './cli.ts'
import { AGENTS, type Answer, askTool, type Gateway, place, until, up } from './hub.ts'
import { owner } from './owner.ts'
import { authorization, configured, hubProcess, isListening, signedIn } from './sign-in.ts'

const HOUR = 3_600

async function statusOf(sandbox: Sandbox, gateway: Gateway): Promise<Answer> {
  const { answer } = await owner(sandbox, gateway)('GET /api/servers')
  return answer.servers.find(({ name }: Answer) => name === 'vault')
}

test('[C6] a running gateway waits with the command, uses what the command got at once, and loses it at once', async () => {
  const { sandbox } = place()
  const real = await authorization()
  const config = configured(sandbox, { url: real.mcpUrl })
  const gateway = await up(sandbox, config, { user: true })
  await until(async () => (await statusOf(sandbox, gateway)).status === 'needs-auth')
  expect(await statusOf(sandbox, gateway)).toMatchObject({ hint: 'run: busbar login vault', tools: [] })
  const refused = await gateway.ask('vault', 'tools/call', { name: 'whoami', arguments: {} })
  expect(JSON.stringify(refused)).toContain('run: busbar login vault')

  expect((await signedIn(sandbox)).gateway).toBe('connected')
  expect(await statusOf(sandbox, gateway)).toMatchObject({ status: 'connected' })
  expect(await askTool(gateway, 'vault', 'whoami')).toMatchObject({ subject: 'ada' })

  expect((await sandbox.run(['logout', 'vault'])).code).toBe(0)
  expect(await statusOf(sandbox, gateway)).toMatchObject({ status: 'needs-auth' })
})

test('[C6] a gateway that restarts goes on with the token, also when it has ended meanwhile', async () => {
  const { sandbox } = place()
  const real = await authorization()
  const config = configured(sandbox, { url: real.mcpUrl })
  await signedIn(sandbox)
  for (const renewals of [0, 1, 2]) {
    const gateway = await up(sandbox, config, { user: true })
    expect(await askTool(gateway, 'vault', 'whoami')).toMatchObject({ subject: 'ada' })
    expect(real.tokenRequests.filter(({ grant }) => grant === 'refresh_token')).toHaveLength(renewals)
    expect(await gateway.end('SIGTERM')).toBe(143)
    real.expireAll()
  }
})

test('[C6] a call that is refused for its token is made again with the next one, once', async () => {
  const { sandbox } = place()
  const real = await authorization()
  const config = configured(sandbox, { url: real.mcpUrl, timeouts: { health: 0 } })
  await signedIn(sandbox)
  const gateway = await up(sandbox, config, { user: true })
  expect(await askTool(gateway, 'vault', 'whoami')).toMatchObject({ subject: 'ada' })
  real.expireAll()
  const from = real.mcpRequests.length
  expect(await askTool(gateway, 'vault', 'whoami')).toMatchObject({ subject: 'ada' })
  const calls = real.mcpRequests.slice(from).filter(({ tool }) => tool === 'whoami')
  expect(calls.map(({ status }) => status)).toEqual([401, 200])
  // A server that takes no token at all is not asked for ever.
  real.fail('mcp', { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }, 1_000)
  const asked = real.tokenRequests.length
  const { error, result } = await gateway.ask('vault', 'tools/call', { name: 'whoami', arguments: {} })
  expect(JSON.stringify(error ?? result)).toContain('busbar login vault')
  expect(real.tokenRequests.length - asked).toBeLessThan(4)
})

test('[C6] a token is renewed before its end, in the background, while calls go on with the one there is', async () => {
  const { sandbox, open } = place()
  const real = await authorization({ lifetime: HOUR })
  const config = { servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } } } }
  const hub = await open(config, { start: false })
  await hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) })
  const one = await hubProcess(sandbox, config)
  const held = real.hold('token')
  await one.later(HOUR - 30)
  const tokens = () =>
    new Set(real.mcpRequests.filter(({ tool }) => tool === 'echo').map(({ token }) => token))
  expect(await one.call(5)).toHaveLength(5)
  await held.arrived
  expect(await one.call(5)).toHaveLength(5)
  expect([tokens().size, real.tokenRequests.length]).toEqual([1, 2])
  held.release()
  await until(async () => (await one.call()) && tokens().size === 2)
  expect(real.mcpRequests.filter(({ token, status }) => token !== undefined && status === 401)).toEqual([])
})

test('[C6] the API says where to go, and what came of it is the status', async () => {
  const { sandbox } = place()
  const real = await authorization()
  const config = configured(sandbox, { url: real.mcpUrl })
  const gateway = await up(sandbox, config, { user: true })
  const ask = owner(sandbox, gateway)
  const first = (await ask('POST /api/servers/vault/login')).answer
  expect(first).toEqual({
    server: 'vault',
    url: expect.stringContaining(real.issuer),
    expires: expect.any(Number),
  })
  // Whoever asks again starts anew.
  const second = (await ask('POST /api/servers/vault/login', {})).answer
  const redirect = (url: string) => new URL(url).searchParams.get('redirect_uri') ?? ''
  expect(second.url).not.toBe(first.url)
  await until(
    async () => redirect(first.url) === redirect(second.url) || !(await isListening(redirect(first.url))),
  )
  expect((await browse(second.url)).text).toContain('Signed in.')
  await until(async () => (await statusOf(sandbox, gateway)).status === 'connected')
  expect(await askTool(gateway, 'vault', 'whoami')).toMatchObject({ subject: 'ada' })
  expect(await isListening(redirect(second.url))).toBe(false)

  const device = (await ask('POST /api/servers/vault/login', { device: true })).answer
  expect(device).toMatchObject({ userCode: expect.any(String), url: expect.stringContaining('/device') })
  const more = (await ask('POST /api/servers/vault/login', { scopes: ['mcp:admin'] })).answer
  expect(new URL(more.url).searchParams.get('scope')).toContain('mcp:admin')
  await browse(more.url, { user: 'grace' })
  await until(async () => (await askTool(gateway, 'vault', 'whoami')).subject === 'grace')

  const out = await ask('POST /api/servers/vault/logout')
  expect(out.answer).toEqual({ server: 'vault', wasSignedIn: true, isRevoked: true })
  expect((await ask('POST /api/servers/vault/logout')).answer).toMatchObject({ wasSignedIn: false })
  expect(await statusOf(sandbox, gateway)).toMatchObject({ status: 'needs-auth' })
  for (const [path, body, status, code] of [
    ['vault', { account: 7 }, 400, 'USAGE'],
    ['vault', { account: 'nobody' }, 409, 'CONFIG_INVALID'],
    ['nothing', {}, 404, 'SERVER_UNKNOWN'],
  ] as const) {
    const refused = await ask(`POST /api/servers/${path}/login`, body)
    expect([refused.status, refused.answer.code]).toEqual([status, code])
  }
  real.fail('metadata', 500, 10)
  expect((await ask('POST /api/servers/vault/login')).status).toBeGreaterThanOrEqual(400)
})

test('[C6] an agent cannot sign in or out for its owner', async () => {
  const { sandbox } = place()
  const real = await authorization()
  const config = configured(sandbox, { url: real.mcpUrl })
  const gateway = await up(sandbox, config, { user: true })
  for (const action of ['login', 'logout']) {
    const { status } = await gateway.post(`/api/servers/vault/${action}`, {})
    expect([401, 403]).toContain(status)
  }
  expect(real.registrations).toEqual([])
})

test('[C6] two agents use two accounts of one server, each their own', async () => {
  const { sandbox } = place()
  const real = await authorization()
  const vault = { url: real.mcpUrl, accounts: { work: { type: 'oauth' }, home: { type: 'oauth' } } }
  const agents = {
    ada: { ...AGENTS.ada, accounts: { vault: 'work' } },
    bob: { servers: ['*'], approval: 'never', token: 'agent-token-of-bob', accounts: { vault: 'home' } },
  }
  const config = configured(sandbox, vault, { agents })
  const gateway = await up(sandbox, config, { user: true })
  const bob = { authorization: 'Bearer agent-token-of-bob' }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } }
  const asBob = async () => JSON.stringify(await (await gateway.post('/mcp/vault', call, bob)).json())
  await signedIn(sandbox, ['--account', 'work'], { user: 'worker' })
  expect(await askTool(gateway, 'vault', 'whoami')).toMatchObject({ subject: 'worker' })
  expect(await asBob()).toContain('busbar login vault --account home')

  await signedIn(sandbox, ['--account', 'home'], { user: 'dweller' })
  for (const _ of [1, 2]) {
    expect(await asBob()).toContain('dweller')
    expect(await askTool(gateway, 'vault', 'whoami')).toMatchObject({ subject: 'worker' })
  }
  real.expireAll()
  const both = await Promise.all([asBob(), askTool(gateway, 'vault', 'whoami')])
  expect(both).toEqual([expect.stringContaining('dweller'), expect.objectContaining({ subject: 'worker' })])

  expect((await sandbox.run(['logout', 'vault', '--account', 'home'])).code).toBe(0)
  expect(await asBob()).toContain('busbar login vault --account home')
  expect(await askTool(gateway, 'vault', 'whoami')).toMatchObject({ subject: 'worker' })
})

test('[C6] attack D18: after signing out nobody goes on with the token, though it was not taken back', async () => {
  const { sandbox, open } = place()
  const real = await authorization()
  const config = { servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } } } }
  const hub = await open(config, { start: false })
  await hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) })
  const other = await hubProcess(sandbox, config)
  expect(await other.call(2)).toEqual(['number 0', 'number 1'])
  real.fail('revocation', 503, 10)
  expect(await hub.servers.logout('vault')).toMatchObject({ wasSignedIn: true, isRevoked: false })
  await until(async () => JSON.stringify(await other.call()).includes('AUTH_REQUIRED'))
})
