// Servers and authorization servers that mean no good: the OAuth part of the catalogue of attacks, row by row.

import { expect, test } from 'vitest'
import type { OAuth } from '../../src/config/schema-server.ts'
import { clientFor, type Registrar } from '../../src/connect/auth/client.ts'
import { type Authority, discover } from '../../src/connect/auth/discovery.ts'
import { refreshed, requestTokens, revoke } from '../../src/connect/auth/exchange-tokens.ts'
import type { Grant } from '../../src/connect/auth/grant.ts'
import { type Fetch, guardedFetch } from '../../src/connect/auth/guarded-fetch.ts'
import type { Resolve } from '../../src/connect/http/guard.ts'
import { browse } from '../servers/oauth/browse.ts'
import { change, changeRedirect, type Hostile, type Overrides } from '../servers/oauth/hostile.ts'
import { type Fault, faultOf, type Hub, place } from './hub.ts'
import { authorization, browser, canary, configured, hostile, waiting } from './sign-in.ts'

interface Tried {
  readonly server: Hostile
  readonly hub: Hub
  readonly fault: Fault
  /** Where a person was sent. */
  readonly shown: string[]
}

/** Signs in, which is to fail. */
async function tried(overrides: Overrides, options: { device?: boolean } = {}): Promise<Tried> {
  const server = await hostile(overrides)
  const { open } = place()
  const hub = await open({ servers: { vault: { url: server.mcpUrl } } }, { start: false })
  const shown: string[] = []
  const onSignIn = async ({ url }: { url: string }) => {
    shown.push(url)
    await browse(url)
  }
  const fault = await faultOf(hub.servers.login('vault', { ...options, onSignIn }))
  return { server, hub, fault, shown }
}

const WICKED = [
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'file:///etc/passwd',
  'vbscript:msgbox(1)',
  'smb://evil.example/share',
  'ms-calculator:',
  'ms-msdt:/id PCWDiagnostic',
  '-oProxyCommand=calc',
  '--help',
  'https://-oProxyCommand=calc/',
  'https://login.example.com/$(id)',
  'https://login.example.com/`id`',
  'https://login.example.com/"x"',
  "https://login.example.com/'x'",
  'https://login.example.com/ & calc',
  'https://login.example.com@evil.example/',
  `https://login.example.com/${'a'.repeat(100_000)}`,
  'http://login.example.com/',
  7,
]

for (const address of WICKED)
  test(`[C6] attack D01: ${JSON.stringify(address).slice(0, 50)} is not where a person is sent`, async () => {
    const { server, fault, shown } = await tried({ metadata: change({ authorization_endpoint: address }) })
    expect(fault.code).toBe('SIGN_IN_FAILED')
    expect(fault.message.length).toBeLessThan(400)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
    expect(fault.message).not.toMatch(/[\x00-\x1f]/)
    expect([shown, server.at('registration'), server.at('token')]).toEqual([[], [], []])
  })

test('[C6] attack D01: lines in an address are gone before anybody is sent there', async () => {
  const server = await hostile({
    metadata: change({ authorization_endpoint: 'https://login.example.com/\n--help' }),
  })
  const { open } = place()
  const hub = await open({ servers: { vault: { url: server.mcpUrl } } }, { start: false })
  const stop = new AbortController()
  let shown = ''
  const onSignIn = ({ url }: { url: string }) => {
    shown = url
    stop.abort()
  }
  await expect(hub.servers.login('vault', { onSignIn, signal: stop.signal })).rejects.toThrow()
  expect(shown).toMatch(/^https:\/\/login\.example\.com\/--help\?[\x21-\x7e]+$/)
})

test('[C6] attack D01: nothing is started for a wicked address; a harmless one is one argument of one program', async () => {
  const server = await hostile({ metadata: change({ authorization_endpoint: 'file:///etc/passwd' }) })
  const { sandbox } = place()
  configured(sandbox, { url: server.mcpUrl })
  const opener = await browser()
  const refused = await sandbox.run(['login', 'vault'], { env: opener.env })
  expect([refused.code, await opener.opened()]).toEqual([1, []])
  server.overrides.metadata = change({
    authorization_endpoint: `${server.issuer}/authorize?a=b&calc&c=%24%28id%29`,
  })
  const { code } = await sandbox.run(['login', 'vault'], { env: opener.env })
  const [call] = await opener.opened()
  expect([code, call?.args.length]).toEqual([0, 1])
  expect(call?.args[0]).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/authorize\?a=b&calc=?&c=%24%28id%29&response_type=code&/,
  )
})

test('[C6] attack D01: what another device is to show is no address of a wicked kind, nor a code with escapes', async () => {
  const code = { device_code: 'd', user_code: '\u001b[2J\u202eEVIL', expires_in: 60, interval: 60 }
  const withDevice: Overrides = {
    metadata: (usual, asked) => {
      const issuer = `http://${asked.headers.host}`
      return 'json' in usual
        ? { json: { ...Object(usual.json), device_authorization_endpoint: `${issuer}/device` } }
        : undefined
    },
    elsewhere: { json: { ...code, verification_uri: 'file:///etc/passwd' } },
  }
  const { fault, shown } = await tried(withDevice, { device: true })
  expect([fault.code, shown]).toEqual(['SIGN_IN_FAILED', []])
  const server = await hostile({
    ...withDevice,
    elsewhere: { json: { ...code, verification_uri: 'https://ok.example/' } },
  })
  const { sandbox } = place()
  configured(sandbox, { url: server.mcpUrl })
  const { stderr, child } = await waiting(sandbox, ['--device'])
  child.kill('SIGINT')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  expect(stderr()).not.toMatch(/\u001b|\u202e/)
})

for (const methods of [undefined, [], ['plain'], ['s256'], 'S256'])
  test(`[C6] attack D02: without S256 nobody is asked for anything: ${JSON.stringify(methods)}`, async () => {
    const { server, fault, shown } = await tried({
      metadata: change({ code_challenge_methods_supported: methods }),
    })
    expect(fault.code).toBe('SIGN_IN_FAILED')
    expect([shown, server.at('registration'), server.at('authorize'), server.at('token')]).toEqual([
      [],
      [],
      [],
      [],
    ])
  })

test('[C6] attack D02: a real authorization server that offers plain only is refused', async () => {
  const real = await authorization({ refuseS256: true })
  const { open } = place()
  const hub = await open({ servers: { vault: { url: real.mcpUrl } } }, { start: false })
  const fault = await faultOf(
    hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) }),
  )
  expect([fault.message, real.authorizations]).toEqual([expect.stringContaining('PKCE with S256'), []])
})

test('[C6] attack D03: an authorization server that calls itself by another name is refused, and so is a slash too many', async () => {
  for (const issuer of ['https://login.example.com', undefined, 7]) {
    const { server, fault, shown } = await tried({ metadata: change({ issuer }) })
    expect([fault.code, shown, server.at('token')]).toEqual(['SIGN_IN_FAILED', [], []])
  }
  const slash = await tried({
    metadata: (usual, { headers }) =>
      'json' in usual ? { json: { ...Object(usual.json), issuer: `http://${headers.host}/` } } : undefined,
  })
  expect([slash.fault.code, slash.shown]).toEqual(['SIGN_IN_FAILED', []])
})

for (const grant of ['authorization_code', 'client_credentials'] as const)
  test(`[C6] attack D03: a client registered by hand is shown to nobody but whom it was registered with, by ${grant}`, async () => {
    const [server, other] = [await hostile(), await hostile()]
    const { open } = place()
    const client = { grant, clientId: 'by-hand', clientSecret: 'secret-of-the-client' }
    const auth = { type: 'oauth' as const, ...client }
    const sign = async (vault: object) => {
      const hub = await open({ servers: { vault: { url: server.mcpUrl, ...vault } } }, { start: false })
      if (grant === 'client_credentials') return await hub.as().call('vault/whoami', {})
      return await hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) })
    }
    await sign({ auth })
    expect(server.at('token')).toHaveLength(1)
    server.overrides.resourceMetadata = change({ authorization_servers: [other.issuer] })
    server.tokens.clear()
    const fault = await faultOf(sign({ auth }))
    expect(fault).toMatchObject({
      code: 'SIGN_IN_FAILED',
      message: expect.stringContaining(other.issuer),
      hint: expect.stringContaining('auth.issuer'),
    })
    // What is written down decides from the first time on, and may be changed by whoever wrote it.
    expect((await faultOf(sign({ auth: { ...auth, issuer: 'https://login.example.com' } }))).code).toBe(
      'SIGN_IN_FAILED',
    )
    expect([other.at('token'), other.at('authorize')]).toEqual([[], []])
    if (grant === 'authorization_code') await sign({ auth: { ...auth, issuer: other.issuer } })
  })

const ANSWERS: [string, Record<string, string | undefined>][] = [
  ['another authorization server', { iss: 'https://honest.example' }],
  ['nobody, though it promised to say', { iss: undefined }],
  ['somebody with a slash too many', { iss: 'SLASH' }],
  ['another one that says no', { code: undefined, error: 'access_denied', iss: 'https://honest.example' }],
]
for (const [who, parameters] of ANSWERS)
  test(`[C6] attack D03: an answer from ${who} is none, and its code is shown to nobody`, async () => {
    const { server, fault } = await tried({
      authorize: (usual, asked) => {
        const iss = parameters['iss'] === 'SLASH' ? `http://${asked.headers.host}/` : parameters['iss']
        const made = changeRedirect({ ...parameters, iss })
        return typeof made === 'function' ? made(usual, asked) : made
      },
    })
    expect([fault.code, fault.message]).toEqual([
      'SIGN_IN_FAILED',
      expect.stringContaining('the answer came from'),
    ])
    expect(server.at('token')).toEqual([])
  })

for (const resource of ['https://mail.example.com/', 'http://127.0.0.1/', 'https://127.0.0.1/mcp', undefined])
  test(`[C6] attack D05: a server that has tokens made for ${resource} is refused`, async () => {
    const { server, fault, shown } = await tried({ resourceMetadata: change({ resource }) })
    expect(fault.code).toBe('SIGN_IN_FAILED')
    expect([shown, server.at('metadata'), server.at('token')]).toEqual([[], [], []])
  })

test('[C6] attack D05: a token is sent to the address it was given for, and to no other of the same name', async () => {
  const honest = await authorization()
  const thief = await hostile()
  const { open } = place()
  const hub = await open({ servers: { vault: { url: honest.mcpUrl } } }, { start: false })
  await hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) })
  expect((await hub.as().call('vault/echo', { text: 'hi' })).text).toBe('hi')
  await hub.close()
  const token = honest.mcpRequests.at(-1)?.token ?? 'none'
  const changed = await open({ servers: { vault: { url: thief.mcpUrl } } })
  await changed.as().ready()
  expect(changed.servers.get('vault')).toMatchObject({ status: 'needs-auth' })
  expect(JSON.stringify(thief.requests)).not.toContain(token)
})

// A server on the public network, which cannot be had on a test machine: what it says is given, what is dialled is real.
const PUBLIC = 'https://mcp.example.com/mcp'
const ISSUER = 'https://login.example.com'
const SETTINGS: OAuth = { type: 'oauth', grant: 'authorization_code' }

function guarded(documents: Record<string, object> = {}, resolve?: Resolve): Fetch {
  const dial = guardedFetch({ server: PUBLIC, env: {}, resolve })
  return async (url, init) => {
    const document = documents[String(url)]
    return document === undefined ? await dial(url, init) : Response.json(document)
  }
}

function authorityAt(address: string): Authority {
  const metadata = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: address,
    registration_endpoint: address,
    revocation_endpoint: address,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  }
  return { issuer: ISSUER, metadata, isDiscovered: true, resource: PUBLIC, scopes: [], bindsTokens: false }
}

function grantAt(address: string): Grant {
  const { metadata } = authorityAt(address)
  const client = { client_id: 'us' }
  return {
    server: PUBLIC,
    issuer: ISSUER,
    metadata,
    client,
    access: 'a',
    refresh: 'r',
    isBound: false,
    obtained: 0,
  }
}

const NOTHING_KEPT = { get: () => undefined } as unknown as Registrar['secrets']
const METADATA = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp'

/** Everything that is dialled because a server, or its authorization server, named it. */
const DIALLED: Record<string, (address: string, resolve?: Resolve) => Promise<unknown>> = {
  'resource metadata': (address, resolve) =>
    discover(PUBLIC, SETTINGS, { scheme: 'bearer', resourceMetadata: address }, guarded({}, resolve)),
  'authorization server': (address, resolve) => {
    const described = { resource: PUBLIC, authorization_servers: [address] }
    return discover(PUBLIC, SETTINGS, undefined, guarded({ [METADATA]: described }, resolve))
  },
  'registration endpoint': (address, resolve) => {
    const registrar = { secrets: NOTHING_KEPT, owner: 'x', settings: SETTINGS, fetch: guarded({}, resolve) }
    return clientFor(registrar, authorityAt(address), 'http://127.0.0.1/callback', undefined)
  },
  'token endpoint': (address, resolve) => {
    const exchanging = { server: PUBLIC, settings: SETTINGS, fetch: guarded({}, resolve) }
    const asked = { grant_type: 'client_credentials' }
    return requestTokens(exchanging, authorityAt(address), { client_id: 'us' }, asked, undefined)
  },
  'token endpoint at a renewal': (address, resolve) =>
    refreshed(
      { server: PUBLIC, settings: SETTINGS, fetch: guarded({}, resolve) },
      grantAt(address),
      undefined,
    ),
  'revocation endpoint': async (address, resolve) => {
    if (await revoke({ fetch: guarded({}, resolve) }, grantAt(address))) return
    throw new Error('not revoked')
  },
}

for (const [what, dial] of Object.entries(DIALLED)) {
  test(`[C6] attack D06: no spelling of this machine, or of another inside, is reached as a ${what}`, async () => {
    const { spellings, hits } = await canary()
    const inside = [
      'http://169.254.169.254',
      'https://100.64.0.1',
      'https://[fd00::1]',
      'https://10.0.0.1',
      'https://[64:ff9b::7f00:1]',
    ]
    const secure = spellings.map((address) => address.replace('http:', 'https:'))
    for (const address of [...spellings, ...secure, ...inside])
      await expect(dial(`${address}/x`), address).rejects.toThrow()
    expect(hits).toEqual([])
  })

  test(`[C6] attack D07: a name that changes its meaning after it was checked leads nowhere, as a ${what}`, async () => {
    const { origin, hits } = await canary()
    const { port } = new URL(origin)
    let asked = 0
    const resolve: Resolve = async () => {
      asked += 1
      return [{ address: asked === 1 ? '203.0.113.7' : '127.0.0.1', family: 4 }]
    }
    // The first look is somebody else's; what is dialled is what this one found.
    await resolve('rebound.example')
    await expect(dial(`https://rebound.example:${port}/x`, resolve)).rejects.toThrow()
    expect([hits, asked > 1]).toEqual([[], true])
  })
}

for (const place_ of ['resourceMetadata', 'metadata', 'registration', 'token'] as const)
  for (const status of [302, 307, 308])
    test(`[C6] attack D08: ${place_} that sends on to another origin (${status}) is not followed`, async () => {
      const { origin, hits } = await canary()
      const { fault } = await tried({ [place_]: { redirect: `${origin}/x`, status } })
      expect(['SIGN_IN_FAILED', 'ADDRESS_REFUSED', 'SERVER_UNREACHABLE']).toContain(fault.code)
      expect(hits).toEqual([])
    })

test('[C6] attack D08: a server that sends on to another origin does not get the token there', async () => {
  const { origin, hits } = await canary()
  const server = await hostile()
  const { open } = place()
  const hub = await open({ servers: { vault: { url: server.mcpUrl } } }, { start: false })
  await hub.servers.login('vault', { onSignIn: async ({ url }) => void (await browse(url)) })
  for (const status of [301, 302, 303, 307, 308]) {
    server.overrides.mcp = { redirect: `${origin}/mcp`, status }
    await faultOf(hub.as().call('vault/echo', { text: 'hi' }))
  }
  server.overrides.revocation = { redirect: `${origin}/revoke`, status: 307 }
  expect(await hub.servers.logout('vault')).toMatchObject({ isRevoked: false })
  expect(hits).toEqual([])
})

const BROKEN: [string, Overrides][] = (
  ['resourceMetadata', 'metadata', 'registration', 'token'] as const
).flatMap((where): [string, Overrides][] => [
  [`${where} without end`, { [where]: { endless: true } }],
  [`${where} of 20 MB`, { [where]: { huge: 20_000_000 } }],
  [`${where} that breaks off`, { [where]: { cut: '{"issuer":' } }],
  [`${where} that is a page`, { [where]: { text: '<html>\u001b[2J' } }],
  [`${where} that is a list`, { [where]: { json: [] } }],
  [`${where} that is null`, { [where]: { json: null } }],
])
for (const [what, overrides] of BROKEN)
  test(`[C6] ${what} ends in a fault that can be read`, async () => {
    const { fault } = await tried(overrides)
    expect(fault.message.length).toBeLessThan(500)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
    expect(`${fault.message} ${fault.hint}`).not.toMatch(/[\x00-\x1f]/)
  })
