import { expect, test } from 'vitest'
import type { OAuth } from '../../config/schema-server.ts'
import { type Authority, discover, refuseWithoutPkce } from './discovery.ts'

const SERVER = 'https://mcp.example.com/team/mcp'
const ISSUER = 'https://login.example.com'
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
}
const BROWSER: OAuth = { type: 'oauth', grant: 'authorization_code' }

/** The web, as a map of documents; numbers are statuses. Notes what was asked for. */
function web(documents: Readonly<Record<string, object | number>>) {
  const asked: string[] = []
  const fetch = async (url: string | URL): Promise<Response> => {
    asked.push(String(url))
    const found = documents[String(url)] ?? 404
    return typeof found === 'number' ? new Response('', { status: found }) : Response.json(found)
  }
  return { asked, fetch }
}

const described = (resource: unknown, more: object = {}) => ({
  [`https://mcp.example.com/.well-known/oauth-protected-resource/team/mcp`]: {
    resource,
    authorization_servers: [ISSUER],
    ...more,
  },
  [`${ISSUER}/.well-known/oauth-authorization-server`]: METADATA,
})

const COVERS = [
  SERVER,
  'https://mcp.example.com',
  'https://mcp.example.com/',
  'https://mcp.example.com/team',
  'https://mcp.example.com/team/',
  'https://MCP.example.com:443/team/mcp',
]
for (const resource of COVERS)
  test(`a token for ${resource} is one for the server, and asked for in these words [C6]`, async () => {
    const authority = await discover(SERVER, BROWSER, undefined, web(described(resource)).fetch)
    expect(authority).toMatchObject({ resource, issuer: ISSUER, isDiscovered: true, bindsTokens: false })
  })

const ELSEWHERE: unknown[] = [
  'https://mcp.example.com/team/mcp/deeper',
  'https://mcp.example.com/tea',
  'https://mcp.example.com/other',
  'https://mcp.example.com:8443/team/mcp',
  'http://mcp.example.com/team/mcp',
  'https://mcp.example.com.evil.example/team/mcp',
  'https://example.com/',
  'https://mcp.example.com/team/mcp#x',
  'https://evil.example/',
  'mcp.example.com',
  '',
  undefined,
  null,
  [SERVER],
]
for (const resource of ELSEWHERE)
  test(`a server that describes itself as ${JSON.stringify(resource)} is refused [C6] (attack D05)`, async () => {
    const { fetch, asked } = web(described(resource))
    await expect(discover(SERVER, BROWSER, undefined, fetch)).rejects.toMatchObject({
      code: 'SIGN_IN_FAILED',
    })
    expect(asked.filter((url) => url.startsWith(ISSUER))).toEqual([])
  })

test('it is looked for where the refusal says, and nowhere else [C6]', async () => {
  const named = 'https://mcp.example.com/elsewhere'
  const { fetch, asked } = web({ ...described(SERVER), [named]: 404 })
  const challenge = { scheme: 'bearer' as const, resourceMetadata: named }
  await discover(SERVER, BROWSER, challenge, fetch).catch(() => undefined)
  expect(asked.filter((url) => url.includes('protected-resource'))).toEqual([])
  expect(asked[0]).toBe(named)
})

test('without a word it is looked for at the path of the server, then at the root, then as of old [C6]', async () => {
  const { fetch, asked } = web({})
  const authority = await discover(SERVER, BROWSER, undefined, fetch)
  expect(asked.slice(0, 2)).toEqual([
    'https://mcp.example.com/.well-known/oauth-protected-resource/team/mcp',
    'https://mcp.example.com/.well-known/oauth-protected-resource',
  ])
  expect(authority).toMatchObject({
    isDiscovered: false,
    resource: SERVER,
    metadata: {
      authorization_endpoint: 'https://mcp.example.com/authorize',
      token_endpoint: 'https://mcp.example.com/token',
      registration_endpoint: 'https://mcp.example.com/register',
    },
  })
  expect(() => refuseWithoutPkce(authority)).not.toThrow()
})

test('a server that is unwell is not taken for one that says nothing [C6]', async () => {
  const path = 'https://mcp.example.com/.well-known/oauth-protected-resource/team/mcp'
  await expect(discover(SERVER, BROWSER, undefined, web({ [path]: 503 }).fetch)).rejects.toThrow(
    'answered 503',
  )
})

for (const issuer of [
  `${ISSUER}/`,
  'https://LOGIN.example.com',
  `${ISSUER}/tenant`,
  'https://other.example.com',
])
  test(`an authority that calls itself ${issuer} is not the one that was named [C6] (attack D03)`, async () => {
    const documents = described(SERVER)
    const at = `${ISSUER}/.well-known/oauth-authorization-server`
    const { fetch } = web({ ...documents, [at]: { ...METADATA, issuer } })
    await expect(discover(SERVER, BROWSER, undefined, fetch)).rejects.toMatchObject({
      code: 'SIGN_IN_FAILED',
    })
  })

test('what a person wrote is used without asking anybody, without metadata and with PKCE [C6]', async () => {
  const { fetch, asked } = web({})
  const settings = { ...BROWSER, authUrl: `${ISSUER}/a`, tokenUrl: `${ISSUER}/t`, clientId: 'us' }
  const authority = await discover(SERVER, settings, undefined, fetch)
  expect(asked).toEqual([])
  expect(authority).toMatchObject({
    isDiscovered: false,
    metadata: { authorization_endpoint: `${ISSUER}/a`, token_endpoint: `${ISSUER}/t` },
  })
  expect(() => refuseWithoutPkce(authority)).not.toThrow()
  const bad = discover(SERVER, { ...settings, authUrl: 'javascript:alert' }, undefined, fetch)
  await expect(bad).rejects.toThrow('the authUrl is refused')
})

test('PKCE has to be offered, by S256, in so many words [C6] (attack D02)', () => {
  const authority = (methods: string[] | undefined): Authority => {
    const { code_challenge_methods_supported: _, ...metadata } = METADATA
    return {
      issuer: ISSUER,
      metadata: { ...metadata, ...(methods && { code_challenge_methods_supported: methods }) },
      isDiscovered: true,
      resource: SERVER,
      scopes: [],
      bindsTokens: false,
    }
  }
  for (const methods of [undefined, [], ['plain'], ['s256']])
    expect(() => refuseWithoutPkce(authority(methods))).toThrow('PKCE with S256')
  expect(() => refuseWithoutPkce(authority(['plain', 'S256']))).not.toThrow()
})

test('a person says what the token is for, or that it is not said [C6]', async () => {
  const resourceFor = async (resource: string) =>
    (await discover(SERVER, { ...BROWSER, resource }, undefined, web(described(SERVER)).fetch)).resource
  expect(await resourceFor('https://mcp.example.com/api')).toBe('https://mcp.example.com/api')
  expect(await resourceFor('none')).toBeUndefined()
})

test('tokens are bound where the server wants it [C6]', async () => {
  const { fetch } = web(
    described(SERVER, { dpop_bound_access_tokens_required: true, scopes_supported: ['a', 7] }),
  )
  expect(await discover(SERVER, BROWSER, undefined, fetch)).toMatchObject({
    bindsTokens: true,
    scopes: ['a'],
  })
  const plain = web(described(SERVER)).fetch
  expect(await discover(SERVER, BROWSER, { scheme: 'dpop' }, plain)).toMatchObject({ bindsTokens: true })
})
