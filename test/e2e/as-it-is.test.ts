// `/mcp/SERVER` shows a server as it is, and promises nothing in its name that nobody can keep.

import { expect, test } from 'vitest'
import { AGENTS, type Answer, ownServer, place, TOKEN, up } from './hub.ts'
import { ASKING, ASKING_TOOLS, modern, WireClient } from './wire-client.ts'

const SELF = {
  name: 'own',
  title: 'Own',
  version: '1',
  description: 'Knows itself',
  websiteUrl: 'https://own.example',
  icons: [{ src: 'data:image/png;base64,AAAA', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }],
}

test('[B2][C1] all that a legacy server says of itself reaches clients of both eras, and its status stays short', async () => {
  const { sandbox } = place()
  const before = `globalThis.methods = { initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} },
    serverInfo: ${JSON.stringify(SELF)} }) }`
  const own = ownServer(sandbox, '{ give: () => 1 }', before)
  const gateway = await up(sandbox, { servers: { own }, agents: AGENTS }, { user: true })
  const { welcome } = await WireClient.open(gateway, '/mcp/own')
  expect(welcome.serverInfo).toEqual(SELF)
  const { result } = await (await modern(gateway, '/mcp/own', 'server/discover')).answer()
  expect(result._meta['io.modelcontextprotocol/serverInfo']).toEqual(SELF)
  const listed = (await sandbox.run(['list', '--check', '--json'])).json
  const status = listed.servers.find(({ name }: Answer) => name === 'own')
  expect(status.serverInfo).toEqual({ name: 'own', title: 'Own', version: '1' })
})

test('[B9][C1] a legacy result that says its kind itself is of one kind for a modern client', async () => {
  const { sandbox } = place()
  const before = `globalThis.methods = { 'tools/call': () => ({ resultType: 'input_required', content: [], own: 1.5 }) }`
  const gateway = await up(sandbox, {
    servers: { own: ownServer(sandbox, '{ give: 0 }', before) },
    agents: AGENTS,
  })
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name: 'give', arguments: {}, _meta }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'give' }
  const answer = await gateway.post(
    '/mcp/own',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    { authorization: `Bearer ${TOKEN}`, ...headers },
  )
  expect(await answer.text()).toBe(
    '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"own":1.5}}',
  )
})

test('[B7][B9] nobody subscribes without a session, and the server hears nothing of it', async () => {
  const { sandbox } = place()
  const before = `${ASKING}
globalThis.capabilities = { resources: { subscribe: true } }
globalThis.methods = { 'resources/subscribe': () => ({}), 'resources/unsubscribe': () => ({}) }`
  const gateway = await up(sandbox, {
    servers: { own: ownServer(sandbox, ASKING_TOOLS, before) },
    agents: AGENTS,
  })
  for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
    const { error } = await gateway.ask('own', method, { uri: 'own:one' })
    expect([method, error]).toMatchObject([
      method,
      { code: -32600, message: expect.stringContaining('session') },
    ])
  }
  const client = await WireClient.open(gateway, '/mcp/own')
  expect((await client.ask('resources/subscribe', { uri: 'own:two' })).result).toEqual({})
  const heard = JSON.parse((await client.call('heard', { method: 'resources/subscribe' })).content[0].text)
  expect(heard.map(({ params }: Answer) => params.uri)).toEqual(['own:two'])
})
