// `/api/*` asked in a wrong way: each mistake is named, and none is taken for something that was left out.

import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, place, up } from './hub.ts'
import { owner, ownerToken } from './owner.ts'

const config = {
  servers: { plain: serverCommand('plain') },
  agents: { ...AGENTS, tired: { servers: ['*'], energy: { capacity: 100, recovery: '10/min' } } },
}

const QUERIES: [what: string, message: RegExp][] = [
  ['GET /api/access?agent=ada&address=', /^address is empty$/],
  ['GET /api/access?agent=', /^agent is empty$/],
  ['GET /api/access?agent=ada&agent=tired', /^agent is given more than once$/],
  ['GET /api/access?agnet=ada', /^there is no parameter "agnet"$/],
  ['GET /api/access', /^agent is missing$/],
  ['GET /api/tools?agent=', /^agent is empty$/],
  ['GET /api/tools?server=', /^server is empty$/],
  ['GET /api/tools?search=', /^search is empty$/],
  ['GET /api/tools?wait=yes', /^wait is "yes"/],
  ['GET /api/resources?server=', /^server is empty$/],
  ['GET /api/servers?name=plain', /^there is no parameter "name"$/],
  ['GET /api/servers/check?server=plain&server=', /^server is empty$/],
  ['GET /api/calls?limit=', /^limit is empty$/],
  ['GET /api/calls?limit=1e400', /^limit is "1e400"; expected a number$/],
  ['GET /api/calls?limit=1&limit=2', /^limit is given more than once$/],
  ['GET /api/calls?outcome=', /^outcome is empty$/],
  ['GET /api/usage?by=', /^by is empty$/],
  ['GET /api/approvals?status=', /^status is empty$/],
  ['GET /api/approvals/statistics?since=', /^since is empty$/],
  ['GET /api/pins?server=', /^server is empty$/],
  ['GET /api/pins/diff?server=plain', /server or tool is missing/],
  ['POST /api/agents/ada/token?life=', /^life is empty$/],
  ['POST /api/agents/ada/token?life=1e300', /^the life of a token is a whole number of milliseconds$/],
  ['POST /api/agents/ada/token?life=1000.5&replace=true', /^the life of a token is a whole number/],
  ['POST /api/agents/ada/token?life=0x3e8', /^the life of a token is a whole number/],
  ['GET /api/events?agent=ada', /^there is no parameter "agent"$/],
  ['POST /api/agents/ada/token?replace=yes', /^replace is "yes"/],
  ['DELETE /api/agents/ada/token?id=', /^id is empty$/],
  ['GET /api/conversations?limit=0', /^limit is "0"/],
  ['DELETE /api/conversations/none?forget=yes', /^forget is "yes"/],
]

test('[E6][B13] parameters that are empty, given twice, misspelt or out of bounds are refused by name', async () => {
  const { sandbox } = place()
  const ask = owner(sandbox, await up(sandbox, config))
  for (const [what, message] of QUERIES) {
    const { status, answer } = await ask(what)
    expect([what, status, answer.code]).toEqual([what, 400, 'USAGE'])
    expect(answer.message).toMatch(message)
  }
  expect((await ask('GET /api/servers/check?server=plain&server=plain')).status).toBe(200)
  // Numbers beyond every time there is find nothing, or everything.
  for (const path of ['calls?since=1e300', 'calls?before=-1e300&limit=1e300', 'usage?since=1e300'])
    expect([path, (await ask(`GET /api/${path}`)).status]).toEqual([path, 200])
  expect((await ask('GET /api/approvals/statistics?since=-1e300')).status).toBe(200)
})

/** Each route with what is sent to it when all is well. */
const ROUTES: [what: string, body: Record<string, unknown>][] = [
  ['/api/servers/plain/restart', {}],
  ['/api/servers/plain/toggle', { visible: true }],
  ['/api/servers/plain/login', { account: 'work' }],
  ['/api/servers/plain/logout', { account: 'work' }],
  ['/api/tools/call', { server: 'plain', tool: 'echo', arguments: { text: 'x' } }],
  ['/api/read', { server: 'plain', uri: 'test://text' }],
  ['/api/prompts/get', { server: 'plain', name: 'greet' }],
  ['/api/energy/tired/refill', { amount: 10 }],
  ['/api/approvals/0123456789', { decision: 'allow' }],
  ['/api/pins/accept', { server: 'plain', tool: 'echo', fingerprint: 'x' }],
  ['/api/agents/ada/token', {}],
  ['/api/conversations', { agent: 'ada' }],
  ['/api/conversations/none/messages', { text: 'x' }],
  ['/api/conversations/none/stop', {}],
]

test('[E6][B13] bodies that are no object, have other members or one of them twice are refused by every route', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, config)
  const post = async (path: string, body: string) => {
    const headers = { authorization: `Bearer ${ownerToken(sandbox)}` }
    const response = await fetch(gateway.url + path, { method: 'POST', headers, body })
    const { code, message } = (await response.json()) as Record<string, unknown>
    return [path, response.status, code, message]
  }
  for (const [path, body] of ROUTES) {
    for (const text of ['[]', '"x"', '1', 'null', '{', `[${JSON.stringify(body)}]`])
      expect(await post(path, text)).toEqual([path, 400, 'USAGE', 'the body is no JSON object'])
    const more = JSON.stringify({ ...body, other: 1 })
    expect(await post(path, more)).toEqual([path, 400, 'USAGE', 'there is no member "other"'])
    const [first = 'x', value = 1] = Object.entries(body)[0] ?? []
    const twice = `{"${first}":${JSON.stringify(value)},"${first}":${JSON.stringify(value)}}`
    expect(await post(path, twice)).toEqual([path, 400, 'USAGE', 'the body has a key twice'])
  }
})

const VALUES: [path: string, body: unknown][] = [
  ['/api/servers/plain/toggle', { visible: 'yes' }],
  ['/api/servers/plain/login', { scopes: 'read' }],
  ['/api/servers/plain/login', { scopes: [1] }],
  ['/api/servers/plain/logout', { account: 1 }],
  ['/api/tools/call', undefined],
  ['/api/tools/call', { server: 'plain' }],
  ['/api/tools/call', { tool: ['echo'] }],
  ['/api/tools/call', { server: 1, tool: 'echo' }],
  // Whoever has chosen no agent yet must not be taken for the owner.
  ['/api/tools/call', { agent: null, server: 'plain', tool: 'echo' }],
  ['/api/tools/call', { agent: '', server: 'plain', tool: 'echo' }],
  ['/api/read', { agent: null, server: 'plain', uri: 'test://text' }],
  ['/api/tools/call', { server: 'plain', tool: 'echo', timeout: 0 }],
  ['/api/tools/call', { server: 'plain', tool: 'echo', timeout: '1s' }],
  ['/api/tools/call', { server: 'plain', tool: 'echo', approvalWait: -1 }],
  ['/api/read', undefined],
  ['/api/read', { server: 'plain', uri: '' }],
  ['/api/prompts/get', { server: 'plain', name: 'greet', arguments: [] }],
  ['/api/energy/tired/refill', { amount: '10' }],
  ['/api/energy/tired/refill', { amount: 0 }],
  ['/api/energy/tired/refill', { amount: -5 }],
  ['/api/energy/tired/refill', { amount: [10] }],
  ['/api/approvals/0123456789', undefined],
  ['/api/approvals/0123456789', { decision: true }],
  ['/api/approvals/0123456789', { decision: 'allow', remember: 'all' }],
  ['/api/approvals/0123456789', { decision: 'allow', by: 7 }],
  ['/api/pins/accept', undefined],
  ['/api/pins/accept', { server: 'plain', tool: 'echo', fingerprint: 1 }],
  ['/api/conversations', { agent: 1 }],
  ['/api/conversations/none/messages', undefined],
  ['/api/conversations/none/messages', { text: 1 }],
]

test('[E6][B13] values of another kind, and bodies that are missing, are refused', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, config)
  const ask = owner(sandbox, gateway)
  for (const [path, body] of VALUES) {
    const { status, answer } = await ask(`POST ${path}`, body)
    expect([path, body, status, answer.code]).toEqual([path, body, 400, 'USAGE'])
  }
  // However much is given, it is no more than the agent can hold.
  const filled = await ask('POST /api/energy/tired/refill', { amount: 1e308 })
  expect(filled).toMatchObject({ status: 200, answer: { agents: [{ agent: 'tired', level: 100 }] } })
  const headers = { authorization: `Bearer ${ownerToken(sandbox)}`, 'content-encoding': 'gzip' }
  const body = gzipSync('{}')
  const packed = await fetch(`${gateway.url}/api/read`, { method: 'POST', headers, body })
  expect([packed.status, await packed.json()]).toEqual([415, expect.objectContaining({ code: 'USAGE' })])
})
