// `/mcp`: all servers that an agent may use, as one.

import { createRequire } from 'node:module'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand, startServer } from '../servers/start.ts'
import { AGENTS, type Answer, type Gateway, ownServer, place, TOKEN, up } from './hub.ts'
import { modern, WireClient } from './wire-client.ts'

const require = createRequire(import.meta.url)
const official = (name: string) => ({
  command: process.execPath,
  args: [require.resolve(`@modelcontextprotocol/${name}/dist/index.js`)],
})

const one = serverCommand('plain', { era: 'legacy', name: 'one' })
const two = serverCommand('plain', { era: 'modern', name: 'two' })
const BOB = { servers: ['one'], token: 'bobs-token', approval: 'never', deny: ['one/pid'] }

const started = (servers: object, agents: object = AGENTS): Promise<Gateway> =>
  up(place().sandbox, { servers, agents })

const names = ({ result }: Answer, key: string, of = 'name'): string[] =>
  result[key].map((item: Answer) => item[of])

test('[B7][C8][E4] tools of several servers stand in one list, by names that lead back to them', async () => {
  const gateway = await started({ two, one })
  const client = await WireClient.open(gateway)
  const listed = await client.ask('tools/list')
  const tools = names(listed, 'tools')
  expect(tools).toEqual([...tools].sort())
  expect(tools).toEqual(expect.arrayContaining(['mcp__one__pid', 'mcp__two__pid']))
  expect(tools).toHaveLength(22)
  expect(names(await client.ask('tools/list'), 'tools')).toEqual(tools)
  const pids = await Promise.all(
    ['mcp__one__pid', 'mcp__two__pid'].map(
      async (name) => JSON.parse((await client.call(name)).content[0].text).pid,
    ),
  )
  expect(new Set(pids).size).toBe(2)
  expect((await client.call('mcp__two__add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 })
  const { _meta } = listed.result.tools[0]
  expect(_meta).toMatchObject({ 'busbar/server': 'one', 'busbar/tool': expect.any(String) })
  // Both say something of themselves.
  expect(client.welcome.serverInfo.name).toBe('busbar')
  expect(client.welcome.instructions.match(/A plain test server/g)).toHaveLength(2)
  expect(client.welcome.capabilities).toMatchObject({
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    completions: {},
  })
})

test('[C11] what an agent may not use is neither listed nor called, and a refusal is written down', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { one, two }, agents: { ...AGENTS, bob: BOB } })
  const bob = await WireClient.open(gateway, '/mcp', { token: 'bobs-token' })
  const tools = names(await bob.ask('tools/list'), 'tools')
  expect([tools.length, tools.every((name) => name.startsWith('mcp__one__'))]).toEqual([10, true])
  for (const name of ['mcp__one__pid', 'mcp__two__echo', 'mcp__one__nothing', 'nonsense'])
    expect([name, (await bob.ask('tools/call', { name, arguments: {} })).error]).toMatchObject([
      name,
      { code: -32602, message: expect.stringContaining(name.split('__').at(-1) ?? '') },
    ])
  const uris = names(await bob.ask('resources/list'), 'resources', 'uri')
  expect(uris).toEqual(['test://text', 'test://pixel'])
  expect(names(await bob.ask('prompts/list'), 'prompts')).toEqual(['mcp__one__greet'])
  expect((await bob.ask('prompts/get', { name: 'mcp__two__greet', arguments: {} })).error.code).toBe(-32602)
  expect((await bob.ask('tools/call', { arguments: {} })).error.code).toBe(-32602)
  const { calls } = (await sandbox.run(['usage', '--calls', '--json'])).json
  const rows = calls.map(({ server, tool, outcome }: Answer) => [server, tool, outcome])
  expect(rows).toEqual([
    ['', 'nonsense', 'error'],
    ['one', 'nothing', 'error'],
    ['', 'mcp__two__echo', 'error'],
    ['one', 'pid', 'denied'],
  ])
})

test('[B15] prompts are listed, got and completed by their names', async () => {
  const gateway = await started({ one, two })
  const client = await WireClient.open(gateway)
  expect(names(await client.ask('prompts/list'), 'prompts')).toEqual(['mcp__one__greet', 'mcp__two__greet'])
  for (const name of ['mcp__one__greet', 'mcp__two__greet']) {
    const { result } = await client.ask('prompts/get', { name, arguments: { name: 'Ada' } })
    expect(result.messages[0].content.text).toBe('Say hello to Ada')
    const ref = { type: 'ref/prompt', name }
    const argument = { name: 'name', value: 'be' }
    expect((await client.ask('completion/complete', { ref, argument })).result.completion.values).toEqual([
      'Berlin',
      'Bern',
    ])
  }
  for (const ref of [
    { type: 'ref/prompt', name: 'nobodys' },
    { type: 'ref/resource', uri: 'x:y' },
    undefined,
  ])
    expect((await client.ask('completion/complete', { ref, argument: {} })).error.code).toBe(-32602)
})

test('[B7] resources of several servers are listed and read, those of the same address, too', async () => {
  const gateway = await started({ one, two })
  const client = await WireClient.open(gateway)
  const uris = names(await client.ask('resources/list'), 'resources', 'uri')
  expect(uris.slice(0, 2)).toEqual(['test://text', 'test://pixel'])
  expect(new Set(uris).size).toBe(4)
  for (const uri of uris)
    expect((await client.ask('resources/read', { uri })).result.contents).toHaveLength(1)
  const templates = names(await client.ask('resources/templates/list'), 'resourceTemplates', 'uriTemplate')
  expect(new Set(templates).size).toBe(2)
  for (const template of templates) {
    const { result } = await client.ask('resources/read', { uri: template.replace('{name}', 'Bern') })
    expect(result.contents[0].text).toBe('City: Bern')
    const ref = { type: 'ref/resource', uri: template }
    const argument = { name: 'name', value: 'z' }
    expect((await client.ask('completion/complete', { ref, argument })).result.completion.values).toEqual([
      'Zürich',
    ])
  }
  expect((await client.ask('resources/read', { uri: 'test://nobodys' })).error).toBeDefined()
})

test('[B7] an address in an answer leads back to the server that gave it, also where two have the same', async () => {
  const { sandbox } = place()
  const linking = (name: string) => ({
    ...ownServer(
      sandbox,
      '{ link: () => 0 }',
      `
globalThis.capabilities = { resources: { subscribe: true }, prompts: {} }
const link = { type: 'resource_link', uri: 'file:///shared', name: 'shared', size: 1 }
const resource = { uri: 'file:///shared', text: '${name}' }
globalThis.methods = {
  'resources/list': () => ({ resources: [{ uri: 'file:///shared', name: 'shared' }, { uri: 'file:///${name}', name: '${name}' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: '${name}' }] }),
  'prompts/list': () => ({ prompts: [{ name: 'show' }] }),
  'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'resource', resource } }] }),
  'tools/call': () => ({ content: [link, { type: 'resource', resource }, { ...link, uri: 'file:///${name}' }, { ...link, uri: 'https://example.com/' }] }),
}`,
    ),
  })
  const gateway = await up(sandbox, { servers: { ann: linking('ann'), ben: linking('ben') }, agents: AGENTS })
  const client = await WireClient.open(gateway)
  const read = async (uri: string) => (await client.ask('resources/read', { uri })).result.contents[0]
  for (const [name, shared] of [
    ['ann', 'file:///shared'],
    ['ben', 'busbar:ben:file:///shared'],
  ] as const) {
    // Nobody has listed anything yet.
    const { content } = await client.call(`mcp__${name}__link`)
    expect(content.map((one: Answer) => one.uri ?? one.resource.uri)).toEqual([
      shared,
      shared,
      `file:///${name}`,
      'https://example.com/',
    ])
    expect(await read(shared)).toEqual({ uri: shared, text: name })
    const { messages } = (await client.ask('prompts/get', { name: `mcp__${name}__show` })).result
    expect(messages[0].content.resource.uri).toBe(shared)
    const alone = await WireClient.open(gateway, `/mcp/${name}`)
    expect((await alone.call('link')).content[0].uri).toBe('file:///shared')
  }
})

test('[C10] a server that hangs holds up nobody’s introduction, and nobody else’s tools', async () => {
  const gateway = await started({ one, stuck: serverCommand('hanging') })
  const client = await WireClient.open(gateway)
  expect(client.welcome.instructions).toContain('plain test server')
  expect(JSON.stringify(client.welcome)).not.toContain('stuck')
  expect(names(await client.ask('tools/list'), 'tools')).toHaveLength(11)
  expect((await client.call('mcp__one__echo', { text: 'x' })).content[0].text).toBe('x')
})

for (const kind of ['v1', 'v2 legacy', 'v2 modern'] as const)
  test(`[C1][C12] a client on the official SDK, ${kind}, uses real servers as one`, async () => {
    const { sandbox } = place()
    const env = { MEMORY_FILE_PATH: sandbox.path('memory.json') }
    const servers = {
      everything: official('server-everything'),
      memory: { ...official('server-memory'), env },
      sdk2: serverCommand('sdk2'),
    }
    const gateway = await up(sandbox, { servers, agents: AGENTS })
    const client = await clientOf(kind, gateway)
    const { tools } = await client.listTools()
    for (const server of Object.keys(servers))
      expect(tools.some(({ name }: Answer) => name.startsWith(`mcp__${server}__`))).toBe(true)
    const text = async (name: string, given: object) =>
      ((await client.callTool({ name, arguments: { ...given } })) as Answer).content[0].text
    expect(await text('mcp__everything__echo', { message: 'hi' })).toContain('hi')
    expect(await text('mcp__sdk2__echo', { text: 'there' })).toBe('there')
    const entity = { name: 'Ada', entityType: 'person', observations: ['counts'] }
    await text('mcp__memory__create_entities', { entities: [entity] })
    expect(await text('mcp__memory__read_graph', {})).toContain('Ada')
    const { resources } = await client.listResources()
    const first = await client.readResource({ uri: resources[0]?.uri ?? '' })
    expect(first.contents).toHaveLength(1)
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(1)
  })

async function clientOf(kind: 'v1' | 'v2 legacy' | 'v2 modern', gateway: Gateway): Promise<Answer> {
  const url = new URL(`${gateway.url}/mcp`)
  const options = { requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } } }
  const info = { name: 'test-client', version: '1.0.0' }
  const mode = kind === 'v2 modern' ? { pin: '2026-07-28' } : 'legacy'
  const client: Answer =
    kind === 'v1' ? new ClientV1(info) : new ClientV2(info, { versionNegotiation: { mode: mode as never } })
  await client.connect(kind === 'v1' ? new HttpV1(url, options) : new HttpV2(url, options))
  onTestFinished(() => client.close())
  return client
}

test('[C1] a modern client finds all servers as one', async () => {
  const { url } = await startServer('plain', { era: 'modern', name: 'far' })
  const gateway = await started({ one, far: { url } })
  const ask = async (method: string, params: object = {}, name?: string) =>
    await (await modern(gateway, '/mcp', method, params, name === undefined ? {} : { name })).answer()
  const { result: discovered } = await ask('server/discover')
  expect(discovered).toMatchObject({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: true } },
    ttlMs: 0,
    cacheScope: 'private',
  })
  const { result } = await ask('tools/list')
  expect(result).toMatchObject({ resultType: 'complete', ttlMs: expect.any(Number), cacheScope: 'private' })
  expect(result.tools).toHaveLength(22)
  for (const server of ['one', 'far']) {
    const name = `mcp__${server}__echo`
    const called = await ask('tools/call', { name, arguments: { text: server } }, name)
    expect([called.result.resultType, called.result.content[0].text]).toEqual(['complete', server])
    const prompt = `mcp__${server}__greet`
    const got = await ask('prompts/get', { name: prompt, arguments: { name: 'Ada' } }, prompt)
    expect(got.result.messages[0].content.text).toBe('Say hello to Ada')
  }
  const listed = (await ask('resources/list')).result
  expect(listed).toMatchObject({ resultType: 'complete', cacheScope: 'private' })
  for (const { uri } of listed.resources)
    expect((await ask('resources/read', { uri }, uri)).result.contents).toHaveLength(1)
  for (const method of ['ping', 'logging/setLevel', 'resources/subscribe', 'initialize'])
    expect((await modern(gateway, '/mcp', method)).status).toBe(404)
  const mismatch = await modern(gateway, '/mcp', 'tools/call', { name: 'mcp__one__echo' }, { name: 'other' })
  expect([mismatch.status, (await mismatch.answer()).error.code]).toEqual([400, -32020])
})
