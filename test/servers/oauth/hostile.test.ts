// The hostile authorization server: it behaves when nothing is overridden, and every kind of override arrives.
import { networkInterfaces } from 'node:os'
import { auth } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { browse } from './browse.ts'
import { startCanary } from './canary.ts'
import { change, changeRedirect, type Hostile, type Overrides, startHostile } from './hostile.ts'
import { callTool, MemoryProvider, signIn } from './sdk-login.ts'

test('without overrides the official client signs in and calls, in both eras', async () => {
  const hostile = await start()
  const { provider } = await signIn(hostile.mcpUrl)
  for (const era of ['legacy', 'modern'] as const)
    expect(await callTool(hostile.mcpUrl, provider, 'echo', era)).toBe('hello')
  expect([...hostile.tokens]).toEqual([provider.stored?.access_token])
  expect(hostile.at('registration')).toMatchObject([
    { method: 'POST', headers: { accept: expect.any(String) } },
  ])
  expect(hostile.at('authorize')[0]?.path).toContain('code_challenge_method=S256')
  expect(hostile.at('token')[0]?.body).toContain('grant_type=authorization_code')
  expect(hostile.at('mcp')[0]?.headers.authorization).toBe(`Bearer ${provider.stored?.access_token}`)
})

test('documents lose, change and gain members', async () => {
  const hostile = await start({
    resourceMetadata: change({ resource: 'https://other.example/mcp' }),
    metadata: change({
      code_challenge_methods_supported: undefined,
      authorization_endpoint: 'file:///etc/passwd',
    }),
    registration: change({ client_id: '-x', client_secret: 's' }),
    token: change({ error: 'invalid_grant', access_token: undefined }, { status: 400 }),
  })
  const { origin } = new URL(hostile.mcpUrl)
  expect(await json(`${origin}/.well-known/oauth-protected-resource/mcp`)).toMatchObject({
    resource: 'https://other.example/mcp',
    authorization_servers: [hostile.issuer],
  })
  const metadata = await json(`${hostile.issuer}/.well-known/oauth-authorization-server`)
  expect(metadata).toMatchObject({ issuer: hostile.issuer, authorization_endpoint: 'file:///etc/passwd' })
  expect(metadata).not.toHaveProperty('code_challenge_methods_supported')
  const registered = await fetch(`${hostile.issuer}/register`, {
    method: 'POST',
    body: '{"client_name":"a"}',
  })
  expect(registered.status).toBe(201)
  expect(await registered.json()).toEqual({ client_name: 'a', client_id: '-x', client_secret: 's' })
  const token = await fetch(`${hostile.issuer}/token`, { method: 'POST' })
  expect(token.status).toBe(400)
  expect(await token.json()).not.toHaveProperty('access_token')
})

test('metadata answers at any well-known place, or only where an override lets it', async () => {
  const hostile = await start({
    metadata: (usual, { path }) =>
      path === '/tenant/.well-known/openid-configuration' ? usual : { status: 404, text: '' },
  })
  const statuses = await Promise.all(
    ['/.well-known/oauth-authorization-server/tenant', '/tenant/.well-known/openid-configuration'].map(
      async (path) => (await fetch(`${hostile.issuer}${path}`)).status,
    ),
  )
  expect(statuses).toEqual([404, 200])
  expect(hostile.at('metadata')).toHaveLength(2)
})

test('the redirect back loses, changes and gains parameters', async () => {
  const hostile = await start()
  const asked = `${hostile.issuer}/authorize?state=mine&redirect_uri=${encodeURIComponent('http://127.0.0.1:1/x')}`
  const back = async (): Promise<Record<string, string>> => {
    const answer = await fetch(asked, { redirect: 'manual' })
    return Object.fromEntries(new URL(answer.headers.get('location') ?? '').searchParams)
  }
  expect(await back()).toEqual({ code: expect.any(String), state: 'mine', iss: hostile.issuer })
  hostile.overrides.authorize = changeRedirect({ iss: undefined, state: 'other', extra: 'more' })
  expect(await back()).toEqual({ code: expect.any(String), state: 'other', extra: 'more' })
  hostile.overrides.authorize = changeRedirect({
    code: undefined,
    error: 'access_denied',
    error_description: '<b>',
  })
  expect(await back()).toMatchObject({ error: 'access_denied', error_description: '<b>', state: 'mine' })
})

test('two at once: the code of one arrives with the issuer of the other, and the SDK refuses it', async () => {
  const [honest, attacker] = [await start(), await start()]
  honest.overrides.authorize = changeRedirect({ iss: attacker.issuer })
  await expect(signIn(honest.mcpUrl)).rejects.toThrow(/iss/i)
  expect(honest.at('token')).toEqual([])
  expect(attacker.requests).toEqual([])
})

test('malformed, cut, huge and redirected token answers', async () => {
  const canary = await startCanary()
  onTestFinished(canary.close)
  const hostile = await start()
  const ask = (redirect: 'follow' | 'manual' = 'follow'): Promise<Response> =>
    fetch(`${hostile.issuer}/token`, { method: 'POST', body: 'code=secret', redirect })
  hostile.overrides.token = { text: '{"access_token":', headers: { 'content-type': 'text/html' } }
  const malformed = await ask()
  expect(malformed.headers.get('content-type')).toBe('text/html')
  await expect(malformed.json()).rejects.toThrow('JSON')
  hostile.overrides.token = { cut: '{"access' }
  await expect(ask().then((answer) => answer.text())).rejects.toThrow('terminated')
  hostile.overrides.token = { huge: 2_000_000 }
  expect((await (await ask()).text()).length).toBeGreaterThan(2_000_000)
  hostile.overrides.token = { redirect: `${canary.origin}/steal`, status: 307 }
  expect((await ask('manual')).headers.get('location')).toBe(`${canary.origin}/steal`)
  expect(canary.hits).toEqual([])
  await ask()
  expect(canary.hits).toMatchObject([{ method: 'POST', path: '/steal', body: 'code=secret' }])
})

test('endless, dripping and hanging answers last until the reader goes', { timeout: 20_000 }, async () => {
  const hostile = await start()
  const url = `${hostile.issuer}/.well-known/oauth-authorization-server`
  const abort = new AbortController()

  hostile.overrides.metadata = { endless: true }
  let read = 0
  const reading = (async () => {
    for await (const chunk of (await fetch(url, { signal: abort.signal })).body ?? []) {
      read += chunk.length
      if (read > 5_000_000) abort.abort()
    }
  })()
  await expect(reading).rejects.toThrow('abort')

  hostile.overrides.metadata = { drip: '{"a":1}', everyMs: 1 }
  expect(await json(url)).toEqual({ a: 1 })

  hostile.overrides.metadata = { hang: 'body' }
  const half = await fetch(url)
  expect(half.status).toBe(200)
  await half.body?.cancel()

  hostile.overrides.metadata = { hang: 'request' }
  const silence = new AbortController()
  const waiting = fetch(url, { signal: silence.signal })
  await expect.poll(() => hostile.at('metadata').length).toBe(4)
  silence.abort()
  await expect(waiting).rejects.toThrow('abort')
})

test('a reply in progress does not keep it from closing', async () => {
  const hostile = await startHostile({
    metadata: { endless: true },
    token: { drip: 'never', everyMs: 600_000 },
  })
  const dripping = await fetch(`${hostile.issuer}/token`, { method: 'POST' })
  const endless = await fetch(`${hostile.issuer}/.well-known/oauth-authorization-server`)
  await hostile.close()
  await expect(dripping.text()).rejects.toThrow('terminated')
  await expect(endless.text()).rejects.toThrow('terminated')
})

test('the challenge and the MCP server itself can be replaced', async () => {
  const canary = await startCanary()
  onTestFinished(canary.close)
  const hostile = await start({
    challenge: (usual) => ({
      ...usual,
      headers: { 'www-authenticate': `Bearer resource_metadata="${canary.origin}/admin"` },
    }),
  })
  // What our own client must not do: the SDK goes wherever the challenge sends it.
  const provider = new MemoryProvider('http://127.0.0.1:1/callback')
  await expect(callTool(hostile.mcpUrl, provider, 'echo')).rejects.toThrow()
  expect(canary.hits).toMatchObject([{ method: 'GET', path: '/admin' }])

  hostile.tokens.add('known')
  hostile.overrides.mcp = (_, { body }) =>
    body.includes('tools/call') ? { redirect: `${canary.origin}/mcp`, status: 307 } : undefined
  const answer = await fetch(hostile.mcpUrl, {
    method: 'POST',
    headers: { authorization: 'Bearer known' },
    body: '{"method":"tools/call"}',
    redirect: 'manual',
  })
  expect([answer.status, answer.headers.get('location')]).toEqual([307, `${canary.origin}/mcp`])
})

test('the canary is reached by each of its spellings', async () => {
  const canary = await startCanary()
  onTestFinished(canary.close)
  const ipv6 = Object.values(networkInterfaces())
    .flat()
    .some((one) => one?.family === 'IPv6')
  const reachable = canary.spellings.filter((url) => ipv6 || !url.includes('['))
  for (const [index, url] of reachable.entries()) {
    // Fetch refuses addresses with a password in them, so a client that goes there must have taken it off.
    const target = new URL(url)
    target.username = ''
    target.password = ''
    await fetch(target)
    expect([url, canary.hits.length]).toEqual([url, index + 1])
  }
})

test('a browser without a redirect URI ends where it is', async () => {
  const hostile = await start()
  const page = await browse(`${hostile.issuer}/authorize`)
  expect([page.status, page.text]).toEqual([400, 'no redirect_uri'])
})

test('the SDK refuses metadata of another issuer', async () => {
  const hostile = await start({ metadata: change({ issuer: 'https://attacker.example' }) })
  const provider = new MemoryProvider('http://127.0.0.1:1/callback')
  await expect(auth(provider, { serverUrl: hostile.mcpUrl })).rejects.toThrow(/issuer/i)
  expect(hostile.at('registration')).toEqual([])
})

// --- internal ---

async function start(overrides: Overrides = {}): Promise<Hostile> {
  const hostile = await startHostile(overrides)
  onTestFinished(hostile.close)
  return hostile
}

async function json(url: string): Promise<unknown> {
  return (await fetch(url)).json()
}
