import https from 'node:https'
import { expect, onTestFinished, test } from 'vitest'
import { testCertificate } from '../http/test-certificate.ts'
import { json, serve } from '../http/test-rig.ts'
import { guardedFetch } from './guarded-fetch.ts'

const toThisMachine = async () => [{ address: '127.0.0.1', family: 4 }]

const BAD: [string, ReturnType<typeof testCertificate>, boolean][] = [
  ['that signed itself', testCertificate(['localhost']), false],
  ['that is out of date', testCertificate(['localhost'], '200101000000Z', '210101000000Z'), true],
  ['of another host', testCertificate(['example.com']), true],
]
for (const [what, pair, isTrusted] of BAD)
  test(`no secret goes to an authorization server with a certificate ${what}, whatever the environment says [C6] (attack D15)`, async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    onTestFinished(() => {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    })
    const rig = await serve((_hit, response) => json(response, {}), https.createServer(pair))
    const server = `https://localhost:${rig.port}/mcp`
    const certificates = isTrusted ? pair.cert : undefined
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    const fetch = guardedFetch({ server, env, resolve: toThisMachine, certificates })
    const body = new URLSearchParams({ refresh_token: 'secret' })
    await expect(
      fetch(`https://localhost:${rig.port}/token`, { method: 'POST', body }),
    ).rejects.toMatchObject({
      code: 'SERVER_UNREACHABLE',
      message: expect.stringMatching(/^the certificate of localhost:\d+ is not valid: /),
    })
    expect(rig.hits).toEqual([])
  })

test('a certificate that is trusted is, and a form is sent as one [C6]', async () => {
  const pair = testCertificate(['localhost'])
  const rig = await serve((_hit, response) => json(response, { ok: true }), https.createServer(pair))
  const server = `https://localhost:${rig.port}/mcp`
  const fetch = guardedFetch({ server, env: {}, resolve: toThisMachine, certificates: pair.cert })
  const body = new URLSearchParams({ a: 'b c&d' })
  const response = await fetch(`https://localhost:${rig.port}/token`, { method: 'POST', body })
  expect([response.status, await response.json()]).toEqual([200, { ok: true }])
  expect(rig.hits).toMatchObject([{ headers: { 'content-type': 'application/x-www-form-urlencoded' } }])
})

test('whoever is down has refused nothing, whatever stands in the body [C6] (attack D12)', async () => {
  for (const status of [500, 502, 503, 429]) {
    const rig = await serve((_hit, response) =>
      response.writeHead(status, { 'retry-after': '7' }).end('{"error":"invalid_grant"}'),
    )
    const server = `http://127.0.0.1:${rig.port}/mcp`
    const asked = guardedFetch({ server, env: {} })(server, { method: 'POST', body: 'x' })
    await expect(asked).rejects.toMatchObject({
      code: 'SERVER_UNREACHABLE',
      details: { status, retryAfter: 7_000 },
    })
  }
})
