// What a server says to everybody, and the gateway to one agent: nobody may keep that for others.

import {
  Client,
  InMemoryResponseCacheStore,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { AGENTS, type Answer, ownServer, place, up } from './hub.ts'
import { modern } from './wire-client.ts'

/** A modern server that calls everything public, in more than one way to write it. */
const PUBLIC = String.raw`
const kept = { ttlMs: 60000, cacheScope: 'public' }
const one = (name) => ({ name, inputSchema: { type: 'object', properties: { cacheScope: { const: 'public' } } } })
globalThis.methods = {
  'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: { tools: {}, prompts: {}, resources: {} },
    resultType: 'complete', ...kept, _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'own', version: '1' } } }),
  'tools/list': () => ({ resultType: 'complete', tools: [one('read'), one('write')], ...kept }),
  'prompts/list': () => ({ resultType: 'complete', ...kept, prompts: [{ name: 'ask' }] }),
  'resources/list': () => ({ resultType: 'complete', ...kept, resources: [{ uri: 'own:large', name: 'large' }] }),
  'resources/templates/list': () => ({ resultType: 'complete', ...kept, resourceTemplates: [] }),
  'resources/read': () => new Promise(() => {}),
}
const LARGE = JSON.stringify('"cacheScope":"public" '.repeat(20000))
globalThis.seen = (method, params, line) => {
  if (method !== 'resources/read') return
  const result = '{"resultType":"complete","ttlMs":60000,"contents":[{"uri":"own:large","text":' + LARGE + '}],"cache\\u0053cope" : "p\\u0075blic"}'
  process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.parse(line).id + ',"result":' + result + '}\n')
}`

const BOB = { servers: ['*'], token: 'bobs-token', approval: 'never', allow: ['own/read'] }

async function started() {
  const { sandbox } = place()
  const own = ownServer(sandbox, '{}', PUBLIC)
  return await up(sandbox, { servers: { own }, agents: { ...AGENTS, bob: BOB } })
}

test('[D11][C1] whatever a server calls public is one agent’s alone where that agent was given it', async () => {
  const gateway = await started()
  const uri = 'own:large'
  const ask = async (path: string, method: string, token?: string): Promise<Answer> => {
    const named = method === 'resources/read' ? { name: uri } : {}
    const params = method === 'resources/read' ? { uri } : {}
    const answered = await modern(gateway, path, method, params, { ...named, ...(token ? { token } : {}) })
    return (await answered.answer()).result
  }
  for (const method of [
    'server/discover',
    'tools/list',
    'prompts/list',
    'resources/list',
    'resources/templates/list',
    'resources/read',
  ])
    expect([method, await ask('/mcp/own', method)]).toMatchObject([
      method,
      { resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' },
    ])
  const read = await ask('/mcp', 'resources/read')
  expect([read.cacheScope, read.ttlMs, read.contents[0].text.length]).toEqual(['private', 60_000, 440_000])
  const shown = await ask('/mcp/own', 'tools/list', 'bobs-token')
  expect([shown.cacheScope, shown.tools.length]).toEqual(['private', 1])
  // What only looks like it is not touched.
  expect(shown.tools[0].inputSchema.properties.cacheScope).toEqual({ const: 'public' })
})

test('[D11][C1] clients of two agents that keep answers in one place are each given their own', async () => {
  const gateway = await started()
  const responseCacheStore = new InMemoryResponseCacheStore()
  const namesFor = async (agent: string, token: string) => {
    const options = {
      responseCacheStore,
      cachePartition: agent,
      versionNegotiation: { mode: 'auto' },
    } as const
    const client = new Client({ name: 'host', version: '1' }, options)
    onTestFinished(() => client.close())
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp/own`), { requestInit }),
    )
    return (await client.listTools()).tools.map(({ name }) => name)
  }
  expect(await namesFor('bob', 'bobs-token')).toEqual(['read'])
  expect(await namesFor('ada', AGENTS.ada.token)).toEqual(['read', 'write'])
})
