// The ways in which a server is signed in to without a person, or with a client that somebody registered; and over every
// transport.

import { generateKeyPairSync } from 'node:crypto'
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { browse } from '../servers/oauth/browse.ts'
import { change } from '../servers/oauth/hostile.ts'
import { type Answer, between, entry, faultOf, type Hub, hubWith, place, until } from './hub.ts'
import { authorization, configured, hostile, signedIn } from './sign-in.ts'

/** Where a client that was registered by hand comes back to; the port is whichever is free. */
const REDIRECT = 'http://127.0.0.1/callback'
const NATIVE = {
  redirect_uris: [REDIRECT],
  application_type: 'native',
  grant_types: ['authorization_code', 'refresh_token'],
}
const PROGRAM = { redirect_uris: [], response_types: [], grant_types: ['client_credentials'] }

async function whoami(hub: Hub): Promise<Answer> {
  return JSON.parse((await hub.as().call('vault/whoami')).text)
}

test('[C6] a token in a file is read when it changes, alone or in JSON; what is wrong with it is said', async () => {
  const real = await authorization()
  const { sandbox, open } = place()
  configured(sandbox, { url: real.mcpUrl })
  const tokens: string[] = []
  for (const user of ['ada', 'grace']) {
    await signedIn(sandbox, [], { user })
    await sandbox.run(['call', 'vault/whoami'])
    tokens.push(real.mcpRequests.at(-1)?.token ?? '')
  }
  const [ada = '', grace = ''] = tokens
  const file = sandbox.path('token')
  const auth = { type: 'token_file', tokenPath: 'token' } as const
  const hub = await open({ servers: { vault: { url: real.mcpUrl, auth, timeouts: { health: 0 } } } })
  await hub.as().ready()
  expect(hub.servers.get('vault')).toMatchObject({
    status: 'needs-auth',
    error: expect.stringContaining(file),
  })
  sandbox.write('token', `${ada}\n`)
  expect(await whoami(hub)).toMatchObject({ subject: 'ada' })
  sandbox.write('token', JSON.stringify({ access_token: grace, expires_in: 5 }))
  expect(await whoami(hub)).toMatchObject({ subject: 'grace' })
  sandbox.write('token', JSON.stringify({ token: ada }))
  expect(await whoami(hub)).toMatchObject({ subject: 'ada' })

  for (const [text, message] of [
    ['{"access_token": 7}', 'holds no token'],
    ['two words', 'holds no token'],
    ['', 'holds no token'],
    ['not-a-token-that-it-takes', 'does not take the token in'],
  ] as const) {
    sandbox.write('token', text)
    const fault = await faultOf(whoami(hub))
    expect([fault.code, fault.message]).toEqual(['AUTH_REQUIRED', expect.stringContaining(message)])
    if (text !== '') expect(JSON.stringify(fault) + fault.message).not.toContain(text)
  }
  rmSync(file)
  expect((await faultOf(whoami(hub))).message).toContain('cannot be read')
  sandbox.write('token', grace)
  expect(await whoami(hub)).toMatchObject({ subject: 'grace' })
})

test('[C6] a key goes as it is in its header, and nothing says what it is', async () => {
  const { url, requests } = await between((await entry('http', 'plain')).url)
  const auth = { type: 'api_key', headerName: 'X-Api-Key', apiKey: '${VAULT_KEY}' } as const
  const { sandbox, open } = place()
  const env = sandbox.env({ VAULT_KEY: 'correct-horse-battery' })
  const hub = await open({ servers: { vault: { url, auth } } }, { env })
  expect((await hub.as().call('vault/echo', { text: 'hi' })).text).toContain('hi')
  expect(new Set(requests.map(({ headers }) => headers['x-api-key']))).toEqual(
    new Set(['correct-horse-battery']),
  )
  expect(JSON.stringify(hub.servers.status())).not.toContain('correct-horse')
  const fault = await faultOf(hub.servers.login('vault', { onSignIn: () => undefined }))
  expect(fault).toMatchObject({ code: 'USAGE', hint: 'set auth.apiKey' })
})

test('[C6] a program is known by its secret, gets its token by itself and the next one when that is refused', async () => {
  const clients = [{ ...PROGRAM, client_id: 'robot', client_secret: 'a secret: with + and %41' }]
  const real = await authorization({ clients })
  const auth = {
    type: 'oauth',
    grant: 'client_credentials',
    clientId: 'robot',
    clientSecret: 'a secret: with + and %41',
  } as const
  const hub = await hubWith({ vault: { url: real.mcpUrl, auth } })
  expect(await whoami(hub)).toMatchObject({ client: 'robot', scopes: ['mcp:use', 'mcp:admin'] })
  expect(real.tokenRequests).toMatchObject([
    { grant: 'client_credentials', authentication: 'basic', status: 200, form: { resource: real.mcpUrl } },
  ])
  real.expireAll()
  expect(await whoami(hub)).toMatchObject({ client: 'robot' })
  expect(real.tokenRequests).toHaveLength(2)
})

test('[C6] a program that is not taken is told to check its client, not to sign in', async () => {
  const real = await authorization({ clients: [{ ...PROGRAM, client_id: 'robot', client_secret: 'right' }] })
  const auth = {
    type: 'oauth',
    grant: 'client_credentials',
    clientId: 'robot',
    clientSecret: 'wrong',
  } as const
  const hub = await hubWith({ vault: { url: real.mcpUrl, auth } })
  const fault = await faultOf(whoami(hub))
  expect(fault).toMatchObject({
    message: expect.stringContaining('invalid_client'),
    hint: expect.stringContaining('check auth.clientId'),
  })
  expect(`${fault.message} ${fault.hint}`).not.toMatch(/busbar login|a person/)
})

for (const kind of ['a text', 'a file'])
  test(`[C6] a program is known by its private key, given as ${kind}`, async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'ES256' }
    const client = {
      ...PROGRAM,
      client_id: 'robot',
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [jwk] },
    }
    const real = await authorization({ clients: [client] })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const { sandbox, open } = place()
    sandbox.write('robot.pem', pem, 0o600)
    const key = kind === 'a text' ? { privateKey: '${ROBOT_KEY}' } : { privateKeyPath: 'robot.pem' }
    const auth = { type: 'oauth', grant: 'client_credentials', clientId: 'robot', ...key } as const
    const env = sandbox.env({ ROBOT_KEY: pem.replaceAll('\n', '\\n') })
    const hub = await open({ servers: { vault: { url: real.mcpUrl, auth } } }, { env })
    expect(await whoami(hub)).toMatchObject({ client: 'robot' })
    expect(real.tokenRequests).toMatchObject([{ authentication: 'assertion', status: 200 }])
    expect(JSON.stringify(hub.servers.status())).not.toContain('PRIVATE KEY')
  })

test('[C6] a token that is bound to a key is used with a proof of it, also after a restart and a renewal', async () => {
  const real = await authorization({ dpop: 'required' })
  const { open } = place()
  // The server of the fixture does not say that it wants it; a proxy before it does.
  const told = await hostile({ resourceMetadata: { json: {} } })
  told.overrides.resourceMetadata = {
    json: {
      resource: real.mcpUrl,
      authorization_servers: [real.issuer],
      scopes_supported: ['mcp:use'],
      dpop_bound_access_tokens_required: true,
    },
  }
  const metadata = `${new URL(told.mcpUrl).origin}/.well-known/oauth-protected-resource/mcp`
  const challenge = { 'www-authenticate': `DPoP algs="ES256", resource_metadata="${metadata}"` }
  real.fail('mcp', { status: 401, headers: challenge })
  const config = { servers: { vault: { url: real.mcpUrl, timeouts: { health: 0 } } } }
  const hub = await open(config, { start: false })
  await hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) })
  expect(await whoami(hub)).toMatchObject({ subject: 'ada' })
  await hub.close()
  const again = await open(config)
  expect(await whoami(again)).toMatchObject({ subject: 'ada' })
  real.expireAll()
  expect(await whoami(again)).toMatchObject({ subject: 'ada' })
  expect(real.tokenRequests.map(({ grant, status }) => [grant, status])).toEqual([
    ['authorization_code', 200],
    ['refresh_token', 200],
  ])
})

test('[C6] endpoints and client that a person wrote are used as they are, without asking for metadata', async () => {
  const real = await authorization({
    clients: [{ ...NATIVE, client_id: 'by-hand', token_endpoint_auth_method: 'none' }],
    metadata: () => ({}),
  })
  const auth = {
    type: 'oauth' as const,
    authUrl: `${real.issuer}/authorize`,
    tokenUrl: `${real.issuer}/token`,
    clientId: 'by-hand',
    scopes: ['mcp:use', 'mcp:admin'],
  }
  const { open } = place()
  const hub = await open({ servers: { vault: { url: real.mcpUrl, auth } } }, { start: false })
  await hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) })
  expect(await whoami(hub)).toMatchObject({
    subject: 'ada',
    client: 'by-hand',
    scopes: ['mcp:use', 'mcp:admin'],
  })
  expect(real.registrations).toEqual([])
  expect(real.authorizations).toMatchObject([{ client_id: 'by-hand', code_challenge_method: 'S256' }])
  real.expireAll()
  expect(await whoami(hub)).toMatchObject({ subject: 'ada' })
})

test('[C6] a client that was registered beforehand goes before a document, that before registering, and else a person is told', async () => {
  const document = 'https://busbar.example/client.json'
  const described = {
    ...NATIVE,
    client_id: document,
    client_name: 'Busbar',
    token_endpoint_auth_method: 'none',
  }
  const signIn = async (options: Parameters<typeof authorization>[0], auth: object) => {
    const real = await authorization(options)
    const { open } = place()
    const hub = await open(
      { servers: { vault: { url: real.mcpUrl, auth: { type: 'oauth', ...auth } } } },
      { start: false },
    )
    await hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) })
    return { client: real.authorizations[0]?.['client_id'], registered: real.registrations.length }
  }
  const clients = [{ ...NATIVE, client_id: 'by-hand', client_secret: 'secret' }]
  const both = { clients, clientDocuments: { [document]: described } }
  const auth = { clientMetadataUrl: document }
  expect(await signIn(both, { ...auth, clientId: 'by-hand', clientSecret: 'secret' })).toEqual({
    client: 'by-hand',
    registered: 0,
  })
  expect(await signIn(both, auth)).toEqual({ client: document, registered: 0 })
  expect(await signIn({}, auth)).toMatchObject({ registered: 1 })
  const fault = await faultOf(signIn({ registration: false }, {}))
  expect(fault).toMatchObject({ code: 'SIGN_IN_FAILED', hint: expect.stringContaining('set auth.clientId') })
})

for (const wire of ['sse', 'websocket'] as const)
  test(`[C6] a server over ${wire} is signed in to, and its token renewed, like any other`, async () => {
    const plain = await entry(wire, 'plain')
    const authority = await hostile()
    const metadata = `${new URL(authority.mcpUrl).origin}/.well-known/oauth-protected-resource/mcp`
    const challenge = { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }
    const { url, requests } = await between(plain.url, ({ headers }) =>
      authority.tokens.has(headers.authorization?.replace('Bearer ', '') ?? '')
        ? undefined
        : { status: 401, headers: challenge },
    )
    authority.overrides.resourceMetadata = change({ resource: url.replace(/^ws/, 'http') })
    const { open } = place()
    const config = { servers: { vault: { url, type: wire, timeouts: { health: 0 } } } }
    const hub = await open(config, { start: false })
    await hub.servers.connect('vault')
    expect(hub.servers.get('vault')).toMatchObject({ status: 'needs-auth', hint: 'run: busbar login vault' })
    await hub.servers.login('vault', { onSignIn: async ({ url: to }) => void (await browse(to)) })
    expect((await hub.as().call('vault/echo', { text: 'hi' })).text).toContain('hi')
    await hub.close()
    const [token = ''] = authority.tokens
    authority.tokens.delete(token)
    const again = await open(config)
    expect((await again.as().call('vault/echo', { text: 'hi' })).text).toContain('hi')
    expect(authority.at('token').map(({ body }) => new URLSearchParams(body).get('grant_type'))).toEqual([
      'authorization_code',
      'refresh_token',
    ])
    // A token never stands in an address.
    expect(requests.filter(({ path }) => path.includes('access-'))).toEqual([])
  })

test('[C6] a program that shows people where to sign in is asked in the middle of a call, and for more when more is needed', async () => {
  const real = await authorization()
  const asked: string[] = []
  const { open } = place()
  const hub = await open(
    { servers: { vault: { url: real.mcpUrl } } },
    {
      onSignIn: async ({ url }) => {
        asked.push(new URL(url).searchParams.get('scope') ?? '')
        await browse(url)
      },
    },
  )
  expect(await whoami(hub)).toMatchObject({ subject: 'ada', scopes: ['mcp:use'] })
  expect((await hub.as().call('vault/admin')).text).toBe('done')
  expect(asked).toEqual([
    expect.stringContaining('mcp:use'),
    expect.stringMatching(/mcp:use.*mcp:admin|mcp:admin.*mcp:use/),
  ])
})

test('[C6] a server that always wants more is given up after a few times', async () => {
  let wanted = 0
  const authority = await hostile({
    mcp: (_, { body }) =>
      body.includes('tools/call')
        ? {
            status: 403,
            headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="right-${++wanted}"` },
            text: '',
          }
        : undefined,
  })
  const { open } = place()
  let asked = 0
  const hub = await open(
    { servers: { vault: { url: authority.mcpUrl } } },
    {
      onSignIn: async ({ url }) => {
        asked += 1
        await browse(url)
      },
    },
  )
  await hub.as().ready()
  const before = asked
  const fault = await faultOf(hub.as().call('vault/echo', { text: 'hi' }))
  expect(fault.code).toBe('AUTH_REQUIRED')
  expect(asked - before).toBeLessThanOrEqual(3)
  await until(() => authority.at('mcp').length > 0)
})
