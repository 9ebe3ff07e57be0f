import https from 'node:https'
import { expect, onTestFinished, test } from 'vitest'
import { openStreamable } from './streamable.ts'
import { testCertificate } from './test-certificate.ts'
import { json, message, open, result, serve } from './test-rig.ts'

async function start(pair: { key: string; cert: string }, trusted?: string) {
  const rig = await serve((hit, response) => json(response, result(hit.message.id)), https.createServer(pair))
  const url = `https://localhost:${rig.port}/mcp`
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const opened = await open(openStreamable({ url, limit: 1000, certificates: trusted, resolve }))
  opened.transport.send(message(1, 'initialize'))
  return { rig, ...opened }
}

test('a server with a certificate that is trusted is asked', async () => {
  const pair = testCertificate(['localhost'])
  const { told } = await start(pair, pair.cert)
  await told.reply(1)
})

const bad: [string, ReturnType<typeof testCertificate>, boolean][] = [
  ['that signed itself', testCertificate(['localhost']), false],
  ['that is out of date', testCertificate(['localhost'], '200101000000Z', '210101000000Z'), true],
  ['of another host', testCertificate(['example.com']), true],
]
for (const [what, pair, trusted] of bad)
  test(`[C6] a certificate ${what} is refused, whatever the environment says`, async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    onTestFinished(() => {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    })
    const { rig, told } = await start(pair, trusted ? pair.cert : undefined)
    const fault = await told.failure(1)
    expect(fault.code).toBe('SERVER_UNREACHABLE')
    expect(fault.message).toMatch(/^the certificate of localhost:\d+ is not valid: /)
    expect(rig.hits).toEqual([])
  })

test('a server that does not speak TLS is said to be one', async () => {
  const rig = await serve((_hit, response) => response.end())
  const { transport, told } = await open(
    openStreamable({ url: rig.url.replace('http', 'https'), limit: 1000 }),
  )
  transport.send(message(1, 'initialize'))
  const { code, message: said, hint } = await told.failure(1)
  expect([code, said]).toEqual(['SERVER_UNREACHABLE', `127.0.0.1:${rig.port} does not speak TLS`])
  expect(hint).toContain('http://')
})
