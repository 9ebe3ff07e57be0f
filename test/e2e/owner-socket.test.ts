// The owner's socket: without a token it is the owner's, with one it is its agent's, and never more.

import { request } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import type { Sandbox } from './cli.ts'
import { type Answer, place, TOKEN, up } from './hub.ts'

/** One request through the socket. */
async function over(
  sandbox: Sandbox,
  method: string,
  path: string,
  { token, body, headers = {} }: { token?: string; body?: object; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: Answer }> {
  const socketPath = join(sandbox.home, '.local/state/busbar/gateway.sock')
  const given = {
    host: 'localhost',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
  }
  return await new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path, headers: given }, (response) => {
      let text = ''
      response.on('data', (data) => (text += data))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text && JSON.parse(text) }))
    })
    asked.on('error', reject).end(body && JSON.stringify(body))
  })
}

test('[D11][A5] an agent that shows its token on the socket is that agent, and answers nothing', async () => {
  const { sandbox } = place()
  const plain = serverCommand('plain')
  const gateway = await up(sandbox, {
    servers: { plain, other: plain },
    agents: { ada: { servers: ['plain'], token: TOKEN } },
    approvals: { wait: 0 },
  })
  const params = { name: 'echo', arguments: { text: 'hi' } }
  const { result } = await gateway.ask('plain', 'tools/call', params)
  const { approval } = result._meta['busbar/fault']
  const path = `/api/approvals/${approval}`
  const allow = { decision: 'allow' }
  expect((await over(sandbox, 'POST', path, { token: TOKEN, body: allow })).status).toBe(403)
  expect((await over(sandbox, 'GET', '/api/approvals', { token: TOKEN })).status).toBe(403)
  expect((await over(sandbox, 'POST', path, { token: 'nobodys', body: allow })).status).toBe(401)
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  // Neither more nor less than over the network.
  expect((await over(sandbox, 'POST', '/mcp/other', { token: TOKEN, body: message })).status).toBe(404)
  expect((await over(sandbox, 'POST', '/mcp/plain', { token: TOKEN, body: message })).status).toBe(200)
  expect((await over(sandbox, 'GET', path)).body.approval.status).toBe('pending')
  expect((await over(sandbox, 'POST', path, { body: allow })).body.approval.status).toBe('allowed')
})

test('[D11] an approval that is not there is not found, and one that was answered is told so', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, {
    servers: { plain: serverCommand('plain') },
    agents: { ada: { servers: ['*'], token: TOKEN } },
    approvals: { wait: 0 },
  })
  const deny = { decision: 'deny' }
  expect((await over(sandbox, 'POST', '/api/approvals/0123456789', { body: deny })).status).toBe(404)
  expect((await over(sandbox, 'GET', '/api/approvals/0123456789')).status).toBe(404)
  expect((await over(sandbox, 'DELETE', '/api/approvals/rules/0123456789')).status).toBe(404)
  const { result } = await gateway.ask('plain', 'tools/call', { name: 'echo', arguments: { text: 'hi' } })
  const path = `/api/approvals/${result._meta['busbar/fault'].approval}`
  expect((await over(sandbox, 'POST', path, { body: deny })).status).toBe(200)
  const again = await over(sandbox, 'POST', path, { body: deny })
  expect([again.status, again.body.code]).toEqual([409, 'APPROVAL_UNKNOWN'])
})
