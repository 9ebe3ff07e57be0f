import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { clientAuthentication } from './client.ts'
import type { Client } from './grant.ts'

const ISSUER = 'https://login.example.com'

function proof(client: Client, methods?: string[], privateKey?: string) {
  const headers = new Headers()
  const params = new URLSearchParams()
  const metadata = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    response_types_supported: ['code'],
    ...(methods && { token_endpoint_auth_methods_supported: methods }),
  }
  clientAuthentication(client, { privateKey }, ISSUER)(headers, params, `${ISSUER}/token`, metadata)
  return { basic: headers.get('authorization'), form: Object.fromEntries(params) }
}

test('a client without a secret only says who it is [C6]', () => {
  expect(proof({ client_id: 'us' })).toEqual({ basic: null, form: { client_id: 'us' } })
})

test('a secret goes as the server offers it, and by the header where it says nothing [C6]', () => {
  const client = { client_id: 'us', client_secret: 'secret' }
  const basic = `Basic ${Buffer.from('us:secret').toString('base64')}`
  for (const methods of [
    undefined,
    [],
    ['client_secret_basic'],
    ['client_secret_post', 'client_secret_basic'],
  ])
    expect(proof(client, methods)).toEqual({ basic, form: {} })
  const form = { client_id: 'us', client_secret: 'secret' }
  expect(proof(client, ['client_secret_post'])).toEqual({ basic: null, form })
  const registered = { ...client, token_endpoint_auth_method: 'client_secret_post' }
  expect(proof(registered, ['client_secret_basic', 'client_secret_post'])).toEqual({ basic: null, form })
  expect(proof({ ...registered, token_endpoint_auth_method: 'none' }, ['client_secret_basic'])).toEqual({
    basic,
    form: {},
  })
})

for (const secret of ['with:colon', 'ümläut', 'per%cent', 'pl+us', 'sp ace', '~tilde*', '\u{1f511}'])
  test(`the secret ${secret} is taken apart again as it was (RFC 6749 §2.3.1) [C6]`, () => {
    const { basic } = proof({ client_id: 'us:and them', client_secret: secret })
    const text = Buffer.from(basic?.replace('Basic ', '') ?? '', 'base64').toString()
    expect(text).toMatch(/^[\x21-\x7e]+$/)
    const [id = '', rest = '', ...more] = text.split(':')
    const decoded = (part: string) => new URLSearchParams(`x=${part}`).get('x')
    expect([decoded(id), decoded(rest), more]).toEqual(['us:and them', secret, []])
  })

const KEYS = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: generateKeyPairSync('ed25519'),
}

for (const [algorithm, { privateKey }] of Object.entries(KEYS))
  test(`a key signs a note for one use, by ${algorithm} [C6]`, () => {
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    // As it stands in a variable that can have no lines.
    const { form, basic } = proof(
      { client_id: 'us', client_secret: 'unused' },
      [],
      pem.replaceAll('\n', '\\n'),
    )
    expect([basic, form['client_id'], form['client_secret']]).toEqual([null, 'us', undefined])
    expect(form['client_assertion_type']).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    const [head = '', claims = '', signature = ''] = (form['client_assertion'] ?? '').split('.')
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
    expect(read(head)).toEqual({ alg: algorithm, typ: 'JWT' })
    const { iss, sub, aud, jti, iat, exp } = read(claims)
    expect([iss, sub, aud, exp - iat]).toEqual(['us', 'us', ISSUER, 60])
    const other = proof({ client_id: 'us' }, [], pem).form['client_assertion']?.split('.')[1] ?? ''
    expect(read(other).jti).not.toBe(jti)
    const hash = { RS256: 'sha256', ES256: 'sha256', ES384: 'sha384', ES512: 'sha512' }[algorithm]
    const key = createPublicKey(pem)
    const given = algorithm.startsWith('ES') ? { key, dsaEncoding: 'ieee-p1363' as const } : key
    const bytes = Buffer.from(`${head}.${claims}`)
    expect(verify(hash, bytes, given, Buffer.from(signature, 'base64url'))).toBe(true)
  })

test('what is no key is said to be none, and not shown [C6]', () => {
  const { privateKey } = generateKeyPairSync('x25519')
  const other = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  expect(() => proof({ client_id: 'us' }, [], 'correct-horse')).toThrow('auth.privateKey is no private key')
  expect(() => proof({ client_id: 'us' }, [], other)).toThrow('keys of the kind x25519 cannot be used')
})
