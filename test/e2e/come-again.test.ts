// Modern servers that answer "come again": with a requestState and no question, which needs nothing of the client. A client
// of the older era knows no such answer, so somebody else comes again for it.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { AGENTS, type Answer, faultOf, type Gateway, hubWith, ownServer, place, TOKEN, up } from './hub.ts'
import { modern } from './wire-client.ts'

/** Wants to be asked `times` more; what it was given meanwhile is in its answer. */
const BEFORE = `
const more = { ttlMs: 0, cacheScope: 'private' }
const result = (it) => ({ resultType: 'complete', ...more, ...it })
const again = (params, times, done) => {
  const n = Number(params.requestState ?? 0)
  if (n >= times) return result(done({ n, responses: params.inputResponses ?? null }))
  return { resultType: 'input_required', requestState: String(n + 1) }
}
const question = { method: 'elicitation/create', params: { mode: 'form', message: 'who?', requestedSchema: { type: 'object', properties: {} } } }
const text = (it) => ({ content: [{ type: 'text', text: JSON.stringify(it) }] })
const TOOLS = {
  once: (params) => again(params, 1, text),
  thrice: (params) => again(params, 3, text),
  endless: (params) => again(params, Infinity, text),
  asks: (params) => params.inputResponses
    ? again(params, 1, text)
    : { resultType: 'input_required', inputRequests: { who: question }, requestState: '0' },
}
globalThis.methods = {
  'server/discover': () => result({ supportedVersions: ['2026-07-28'], capabilities: { tools: {}, prompts: {}, resources: {} } }),
  'tools/list': () => result({ tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  'tools/call': (params) => TOOLS[params.name](params),
  'resources/list': () => result({ resources: [{ uri: 'own://one', name: 'one' }] }),
  'resources/read': (params) => again(params, 2, (it) => ({ contents: [{ uri: params.uri, text: JSON.stringify(it) }] })),
  'prompts/list': () => result({ prompts: [{ name: 'greet' }] }),
  'prompts/get': (params) =>
    again(params, 2, (it) => ({ messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(it) } }] })),
}
`

function server(sandbox: ReturnType<typeof place>['sandbox']) {
  return { own: ownServer(sandbox, '{}', BEFORE) }
}

async function client({ url }: Gateway, capabilities: object): Promise<Client> {
  const made = new Client({ name: 'v1', version: '1' }, { capabilities })
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } }
  await made.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  onTestFinished(() => made.close())
  return made
}

test('[C1][C13] a legacy client that can be asked nothing gets the results of a server that says: come again', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: server(sandbox), agents: AGENTS })
  for (const capabilities of [{}, { elicitation: {} }]) {
    const v1 = await client(gateway, capabilities)
    const call = async (name: string) => {
      const { content }: Answer = await v1.callTool({ name: `mcp__own__${name}`, arguments: {} })
      return JSON.parse(content[0].text)
    }
    expect(await call('once')).toEqual({ n: 1, responses: null })
    expect(await call('thrice')).toEqual({ n: 3, responses: null })
    const { contents }: Answer = await v1.readResource({ uri: 'own://one' })
    expect(JSON.parse(contents[0].text)).toEqual({ n: 2, responses: null })
    const { messages }: Answer = await v1.getPrompt({ name: 'mcp__own__greet' })
    expect(JSON.parse(messages[0].content.text)).toEqual({ n: 2, responses: null })
  }
  // Without a session, by the name of the server.
  const { result } = await gateway.ask('own', 'tools/call', { name: 'thrice', arguments: {} })
  expect(JSON.parse(result.content[0].text)).toEqual({ n: 3, responses: null })
})

test('[C1][D15] what a server asks of a client that cannot be asked, or again and again, ends in a fault, and is recorded', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: server(sandbox), agents: AGENTS })
  const call = async (name: string) =>
    (await gateway.ask('own', 'tools/call', { name, arguments: {} })).result
  const asks = await call('asks')
  expect(asks).toMatchObject({ isError: true, _meta: { 'busbar/fault': { code: 'NOT_SUPPORTED' } } })
  expect(asks.content[0].text).toContain('elicitation/create')
  expect(JSON.stringify(asks)).not.toContain('input_required')
  const endless = await call('endless')
  expect(endless).toMatchObject({ isError: true, _meta: { 'busbar/fault': { code: 'SERVER_ERROR' } } })
  await call('once')
  const { calls } = (await sandbox.run(['usage', '--calls', '--json'])).json
  expect(calls.map(({ tool, outcome, code }: Answer) => [tool, outcome, code ?? null])).toEqual([
    ['once', 'ok', null],
    ['endless', 'error', 'SERVER_ERROR'],
    ['asks', 'error', 'NOT_SUPPORTED'],
  ])
})

test('[C1] a modern client is told to come again itself, word for word', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: server(sandbox), agents: AGENTS })
  const params = { name: 'once', arguments: {} }
  const { result } = await (
    await modern(gateway, '/mcp/own', 'tools/call', params, { name: 'once' })
  ).answer()
  expect(result).toEqual({ resultType: 'input_required', requestState: '1' })
})

test('[C1] the library comes again, too', async () => {
  const hub = await hubWith(server(place().sandbox))
  // The second goes the short way.
  for (let time = 0; time < 2; time++)
    expect(JSON.parse((await hub.as().call('own/thrice')).text)).toEqual({ n: 3, responses: null })
  expect(await faultOf(hub.as().call('own/asks'))).toMatchObject({ code: 'NOT_SUPPORTED' })
})
