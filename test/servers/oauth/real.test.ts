// The real authorization server, proved with the official client and plain requests.
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { auth } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { browse, Jar } from './browse.ts'
import { type RealAuthorization, type RealOptions, startRealAuthorization } from './real.ts'
import { callTool, MemoryProvider, signIn } from './sdk-login.ts'

const REDIRECT = 'http://127.0.0.1:1/callback'

test('signs in with registration and PKCE, and the token works in both eras', async () => {
  const real = await start()
  const { provider, callback, page } = await signIn(real.mcpUrl, { user: 'grace' })
  expect(page.text).toBe('You may close this page.')
  expect(callback?.get('iss')).toBe(real.issuer)
  expect(callback?.get('state')).toBe('a-state')
  for (const era of ['legacy', 'modern'] as const) {
    const who: unknown = JSON.parse(await callTool(real.mcpUrl, provider, 'whoami', era))
    expect(who).toEqual({
      subject: 'grace',
      client: provider.information?.client_id,
      scopes: ['mcp:use', 'mcp:admin'],
    })
  }
  expect(real.registrations).toMatchObject([{ status: 201, metadata: { application_type: 'native' } }])
  expect(real.authorizations).toMatchObject([{ code_challenge_method: 'S256', resource: real.mcpUrl }])
  expect(real.tokenRequests).toMatchObject([
    { grant: 'authorization_code', client: provider.information?.client_id, status: 200 },
  ])
  const { access_token } = provider.stored ?? {}
  expect(real.requestsByToken().get(access_token ?? '')).toBe(real.mcpRequests.length)
  expect(real.mcpRequests.at(-1)).toMatchObject({ method: 'tools/call', tool: 'whoami', subject: 'grace' })
})

test('refreshing rotates, and a token that comes back ends the whole family', async () => {
  const real = await start()
  const { provider } = await signIn(real.mcpUrl)
  const first = provider.stored
  await auth(provider, { serverUrl: real.mcpUrl })
  const second = provider.stored
  expect(second?.refresh_token).not.toBe(first?.refresh_token)
  expect(await callTool(real.mcpUrl, provider, 'echo')).toBe('hello')

  expect(await refresh(real, provider, first?.refresh_token)).toMatchObject({ error: 'invalid_grant' })
  expect(await refresh(real, provider, second?.refresh_token)).toMatchObject({ error: 'invalid_grant' })
  expect(await status(real, second?.access_token)).toBe(401)
  expect(real.tokenRequests.map(({ grant, status, error }) => [grant, status, error])).toEqual([
    ['authorization_code', 200, undefined],
    ['refresh_token', 200, undefined],
    ['refresh_token', 400, 'invalid_grant'],
    ['refresh_token', 400, 'invalid_grant'],
  ])
})

test('access tokens can be ended alone, families altogether, and lifetimes change while it runs', async () => {
  const real = await start({ lifetime: 1000 })
  const { provider } = await signIn(real.mcpUrl)
  expect(provider.stored?.expires_in).toBe(1000)
  real.expireAll()
  expect(await status(real, provider.stored?.access_token)).toBe(401)
  real.setLifetime(7)
  await auth(provider, { serverUrl: real.mcpUrl })
  expect(provider.stored?.expires_in).toBe(7)
  expect(await callTool(real.mcpUrl, provider, 'echo')).toBe('hello')
  real.revokeFamily()
  expect(await status(real, provider.stored?.access_token)).toBe(401)
  expect(await refresh(real, provider, provider.stored?.refresh_token)).toMatchObject({
    error: 'invalid_grant',
  })
})

test('a token is good only for its audience, its server and its time', async () => {
  const [one, other] = [await start({ lifetime: 1 }), await start()]
  const { provider } = await signIn(other.mcpUrl)
  expect(await status(one, provider.stored?.access_token)).toBe(401)
  expect(await status(one, 'made-up')).toBe(401)
  const short = (await signIn(one.mcpUrl)).provider.stored?.access_token
  await expect.poll(() => status(one, short), { timeout: 10_000 }).toBe(401)
})

test('challenges as the RFCs say, with metadata at both places', async () => {
  const real = await start()
  const { origin } = new URL(real.mcpUrl)
  const named = `${origin}/.well-known/oauth-protected-resource/mcp`
  const bare = await fetch(real.mcpUrl, { method: 'POST' })
  expect(bare.status).toBe(401)
  expect(bare.headers.get('www-authenticate')).toBe(`Bearer scope="mcp:use", resource_metadata="${named}"`)
  for (const url of [named, `${origin}/.well-known/oauth-protected-resource`])
    expect(await (await fetch(url)).json()).toMatchObject({
      resource: real.mcpUrl,
      authorization_servers: [real.issuer],
    })
  for (const name of ['oauth-authorization-server', 'openid-configuration'])
    expect(await (await fetch(`${real.issuer}/.well-known/${name}`)).json()).toMatchObject({
      issuer: real.issuer,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      scopes_supported: ['openid', 'offline_access', 'mcp:use', 'mcp:admin'],
    })
})

test('a tool that needs more answers 403, and a wider token may call it', async () => {
  const real = await start()
  const jar = new Jar()
  const { provider } = await signIn(real.mcpUrl, { scope: 'mcp:use', jar })
  const token = provider.stored?.access_token
  const refused = await post(real, token, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'admin' },
  })
  expect(refused.status).toBe(403)
  expect(refused.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
  expect(refused.headers.get('www-authenticate')).toContain('scope="mcp:admin"')
  const wider = await signIn(real.mcpUrl, { scope: 'mcp:use mcp:admin', jar })
  expect(await callTool(real.mcpUrl, wider.provider, 'admin')).toBe('done')
})

test('a declined consent comes back as an error, with state and issuer', async () => {
  const real = await start()
  const { provider, callback } = await signIn(real.mcpUrl, { deny: true })
  expect(Object.fromEntries(callback ?? [])).toMatchObject({
    error: 'access_denied',
    state: 'a-state',
    iss: real.issuer,
  })
  expect(provider.stored).toBeUndefined()
})

test('revocation ends the family of a refresh token and is on the list', async () => {
  const real = await start()
  const { provider } = await signIn(real.mcpUrl)
  const form = { token: provider.stored?.refresh_token ?? '', token_type_hint: 'refresh_token' }
  const answer = await send(real, '/revoke', { ...form, client_id: provider.information?.client_id ?? '' })
  expect(answer.status).toBe(200)
  expect(real.revocations).toEqual([{ token: form.token, hint: 'refresh_token', status: 200 }])
  expect(await refresh(real, provider, form.token)).toMatchObject({ error: 'invalid_grant' })
  expect(await status(real, provider.stored?.access_token)).toBe(401)
})

test('endpoints fail, hang or wait when told to, and only as often', { timeout: 20_000 }, async () => {
  const real = await start()
  const { provider } = await signIn(real.mcpUrl)
  const again = () => refresh(real, provider, provider.stored?.refresh_token)
  real.fail('token', 500)
  real.fail('token', { status: 429, headers: { 'retry-after': '1' }, body: '{"error":"slow_down"}' })
  expect(await again()).toEqual({ status: 500 })
  expect(await again()).toMatchObject({ status: 429, error: 'slow_down' })
  real.fail('token', 'hang')
  const abort = new AbortController()
  const hanging = refresh(real, provider, provider.stored?.refresh_token, abort.signal)
  await expect.poll(() => real.tokenRequests.at(-1)?.status).toBe('hang')
  abort.abort()
  await expect(hanging).rejects.toThrow('abort')

  const held = real.hold('token')
  const waiting = again()
  await held.arrived
  expect(real.tokenRequests.at(-1)?.status).toBeUndefined()
  held.release()
  expect(await waiting).toMatchObject({ status: 200 })
  expect(real.tokenRequests.slice(1).map(({ grant, status }) => [grant, status])).toEqual([
    ['refresh_token', 500],
    ['refresh_token', 429],
    ['refresh_token', 'hang'],
    ['refresh_token', 200],
  ])
})

test('of many refreshes at once with one token the first succeeds, and the family is over', async () => {
  const real = await start()
  const { provider } = await signIn(real.mcpUrl)
  const token = provider.stored?.refresh_token
  const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(real, provider, token)))
  const won = answers.filter((answer) => answer['status'] === 200)
  expect(won).toHaveLength(1)
  expect(answers.filter((answer) => answer['error'] === 'invalid_grant')).toHaveLength(4)
  const next = String(won[0]?.['refresh_token'])
  expect(await refresh(real, provider, next)).toMatchObject({ error: 'invalid_grant' })
})

test('an answer that got lost has had its effect', async () => {
  const real = await start()
  const { provider } = await signIn(real.mcpUrl)
  const token = provider.stored?.refresh_token
  real.lose('token')
  await expect(refresh(real, provider, token)).rejects.toThrow('fetch failed')
  expect(real.tokenRequests.at(-1)).toMatchObject({ grant: 'refresh_token', status: 200 })
  expect(await refresh(real, provider, token)).toMatchObject({ error: 'invalid_grant' })
})

test('the device flow ends with a token once a browser has allowed it', async () => {
  const real = await start({ clients: [deviceClient()] })
  const scope = { scope: 'mcp:use', resource: real.mcpUrl }
  const started = await send(real, '/device/authorize', { client_id: 'device', ...scope })
  const { device_code, verification_uri_complete } = (await started.json()) as Record<string, string>
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id: 'device',
    device_code: device_code ?? '',
    resource: real.mcpUrl,
  }
  expect(await (await send(real, '/token', form)).json()).toMatchObject({ error: 'authorization_pending' })
  const page = await browse(verification_uri_complete ?? '', { user: 'ada' })
  expect(page.text).toContain('You are signed in')
  const { access_token } = (await (await send(real, '/token', form)).json()) as Record<string, string>
  expect(await status(real, access_token)).toBe(200)
})

test('client credentials with a secret and with a signed assertion', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const machine = {
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  }
  const real = await start({
    clients: [
      {
        ...machine,
        client_id: 'secret',
        client_secret: 'a-secret',
        token_endpoint_auth_method: 'client_secret_basic',
      },
      {
        ...machine,
        client_id: 'key',
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'ES256',
        jwks: { keys: [publicKey.export({ format: 'jwk' })] },
      },
    ],
  })
  const wanted = { grant_type: 'client_credentials', scope: 'mcp:use', resource: real.mcpUrl }
  const basic = { authorization: `Basic ${Buffer.from('secret:a-secret').toString('base64')}` }
  const claims = { iss: 'key', sub: 'key', aud: real.issuer, jti: randomUUID(), exp: Date.now() / 1000 + 60 }
  const unsigned = [{ alg: 'ES256' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign('sha256', Buffer.from(unsigned), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  const assertion = {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: `${unsigned}.${signature.toString('base64url')}`,
  }
  for (const answer of [
    await send(real, '/token', wanted, basic),
    await send(real, '/token', { ...wanted, ...assertion }),
  ]) {
    const { access_token } = (await answer.json()) as Record<string, string>
    expect(await status(real, access_token)).toBe(200)
  }
  expect(real.tokenRequests.map(({ client, authentication }) => [client, authentication])).toEqual([
    ['secret', 'basic'],
    ['key', 'assertion'],
  ])
})

test('a client-id metadata document stands in for registration', async () => {
  const url = 'https://client.example/metadata.json'
  const real = await start({
    registration: false,
    clientDocuments: {
      [url]: {
        client_id: url,
        client_name: 'by document',
        redirect_uris: [REDIRECT],
        application_type: 'native',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    },
  })
  const provider = Object.assign(new MemoryProvider(REDIRECT), { clientMetadataUrl: url })
  await auth(provider, { serverUrl: real.mcpUrl })
  expect(provider.authorizationUrl?.searchParams.get('client_id')).toBe(url)
  // Nobody listens at the redirect URI, so the browser ends with a refused connection there.
  await expect(browse(provider.authorizationUrl ?? '')).rejects.toThrow('fetch failed')
  expect(real.registrations).toEqual([])
})

test('DPoP binds the token to the key of the client', async () => {
  const real = await start({ dpop: 'required' })
  const { provider } = await signIn(real.mcpUrl, { dpop: true })
  expect(provider.stored?.token_type).toBe('DPoP')
  expect(await callTool(real.mcpUrl, provider, 'echo')).toBe('hello')
  expect(await status(real, provider.stored?.access_token)).toBe(401)
})

test('metadata can be spoilt, and S256 refused', async () => {
  const real = await start({
    refuseS256: true,
    registration: false,
    metadata: ({ revocation_endpoint: _, ...rest }) => rest,
  })
  const document = await (await fetch(`${real.issuer}/.well-known/oauth-authorization-server`)).json()
  expect(document).toMatchObject({ code_challenge_methods_supported: ['plain'] })
  expect(document).not.toHaveProperty('revocation_endpoint')
  expect(document).not.toHaveProperty('registration_endpoint')
  const asked = `redirect_uri=${encodeURIComponent(REDIRECT)}&code_challenge_method=S256&state=a`
  const answer = await fetch(`${real.issuer}/authorize?${asked}`, { redirect: 'manual' })
  expect(answer.headers.get('location')).toContain('error=invalid_request')
})

// --- internal ---

async function start(options: RealOptions = {}): Promise<RealAuthorization> {
  const real = await startRealAuthorization(options)
  onTestFinished(real.close)
  return real
}

function deviceClient(): Record<string, unknown> {
  return {
    client_id: 'device',
    application_type: 'native',
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
    redirect_uris: [],
    response_types: [],
    token_endpoint_auth_method: 'none',
  }
}

function send(
  real: RealAuthorization,
  path: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
  signal: AbortSignal | null = null,
): Promise<Response> {
  return fetch(`${real.issuer}${path}`, { method: 'POST', body: new URLSearchParams(form), headers, signal })
}

async function refresh(
  real: RealAuthorization,
  provider: MemoryProvider,
  token = '',
  signal: AbortSignal | null = null,
): Promise<Record<string, unknown>> {
  const client = provider.information?.client_id ?? ''
  const form = { grant_type: 'refresh_token', refresh_token: token, client_id: client }
  const answer = await send(real, '/token', form, {}, signal)
  const text = await answer.text()
  return { status: answer.status, ...(text !== '' && JSON.parse(text)) }
}

function post(real: RealAuthorization, token: string | undefined, message: unknown): Promise<Response> {
  return fetch(real.mcpUrl, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify(message),
  })
}

/** What the MCP server answers to an `initialize` with this token. */
async function status(real: RealAuthorization, token: string | undefined): Promise<number> {
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const answer = await post(real, token, { jsonrpc: '2.0', id: 1, method: 'initialize', params })
  await answer.body?.cancel()
  return answer.status
}
