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

test('[B9][D14] what a client tells in its own words reaches the one server that it may tell, to the letter', async () => {
  const { sandbox } = place()
  const own = ownServer(sandbox, ASKING_TOOLS, ASKING)
  const agents = {
    ...AGENTS,
    bob: { servers: ['*'], token: 'bobs-token', approval: 'always' },
    eve: { servers: ['*'], token: 'eves-token', approval: 'never', deny: ['own/#notifications/acme/*'] },
    zoe: { servers: [], token: 'zoes-token', approval: 'never' },
  }
  const servers = { own: { ...own, approval: { '#notifications/acme/open': 'allow', heard: 'allow' } } }
  const gateway = await up(sandbox, { servers, agents })
  const thing = 'notifications/acme/thing'
  const ada = await WireClient.open(gateway, '/mcp/own')
  const bob = await WireClient.open(gateway, '/mcp/own', { token: 'bobs-token' })
  const eve = await WireClient.open(gateway, '/mcp/own', { token: 'eves-token' })
  const whole = await WireClient.open(gateway)
  const zoe = { authorization: 'Bearer zoes-token' }
  const post = (path: string, text: string, headers: Record<string, string> = {}) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
      body: text,
    })
  const exact = `{"jsonrpc":"2.0","method":"${thing}","params":{"n":1.50,"_meta":{"a":1}}}`
  expect((await post('/mcp/own', exact, { 'mcp-session-id': ada.id })).status).toBe(202)
  // Without a session as well, as requests are.
  expect((await post('/mcp/own', `{"jsonrpc":"2.0","method":"${thing}"}`)).status).toBe(202)
  expect((await post('/mcp/own', exact, zoe)).status).toBe(202)
  for (const client of [bob, eve, whole]) expect(await client.tell(thing, { from: 'others' })).toBe(202)
  expect(await bob.tell('notifications/acme/open', { from: 'bob' })).toBe(202)
  // What means something to the gateway stays with it, and what should have been a request is none.
  for (const method of [
    'notifications/roots/list_changed',
    'notifications/tasks/status',
    'tools/call',
    'acme/do',
  ])
    expect(await ada.tell(method, { name: 'pid', arguments: {} })).toBe(202)
  const heard = async (method: string) => JSON.parse((await ada.call('heard', { method })).content[0].text)
  expect(await heard(thing)).toEqual([
    { jsonrpc: '2.0', method: thing, params: { n: 1.5, _meta: { a: 1 } } },
    { jsonrpc: '2.0', method: thing },
  ])
  expect(await heard('notifications/acme/open')).toMatchObject([{ params: { from: 'bob' } }])
  for (const method of ['notifications/roots/list_changed', 'notifications/tasks/status', 'acme/do'])
    expect([method, await heard(method)]).toEqual([method, []])
  const { calls } = (await sandbox.run(['usage', '--calls', '--json'])).json
  const rows = calls
    .filter(({ tool }: Answer) => tool.startsWith('#notifications/'))
    .map(({ agent, tool, outcome, code }: Answer) => [agent, tool.split('/').at(-1), outcome, code ?? null])
  expect(rows.reverse()).toEqual([
    ['ada', 'thing', 'ok', null],
    ['ada', 'thing', 'ok', null],
    ['zoe', 'thing', 'denied', 'NO_ACCESS'],
    ['bob', 'thing', 'denied', 'APPROVAL_DENIED'],
    ['eve', 'thing', 'denied', 'NO_ACCESS'],
    ['bob', 'open', 'ok', null],
  ])
})

test('[B9][C1] what a legacy server says in its own words in the middle of a call reaches the modern client that makes it', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, {
    servers: { own: ownServer(sandbox, ASKING_TOOLS, ASKING) },
    agents: { ...AGENTS, bob: { servers: ['*'], token: 'bobs-token', approval: 'never' } },
  })
  const bystander = await (await WireClient.open(gateway, '/mcp/own', { token: 'bobs-token' })).listen()
  const message = { method: 'notifications/acme/thing', params: { n: 1 } }
  const log = { method: 'notifications/message', params: { level: 'emergency', data: 'for nobody' } }
  for (const path of ['/mcp/own', '/mcp'])
    for (const capabilities of [{}, { elicitation: { form: {} } }]) {
      const name = path === '/mcp' ? 'mcp__own__say' : 'say'
      const say = (what: object) =>
        modern(gateway, path, 'tools/call', { name, arguments: { message: what } }, { name, capabilities })
      const events = await say(message)
      expect((await events.answer()).result.resultType).toBe('complete')
      await events.end()
      expect([path, events.of(message.method)]).toEqual([path, [message.params]])
      const logged = await say(log)
      expect((await logged.answer()).result.resultType).toBe('complete')
      expect(logged.of(log.method)).toEqual([])
    }
  for (const { method } of [message, log]) expect(bystander.of(method)).toEqual([])
})
