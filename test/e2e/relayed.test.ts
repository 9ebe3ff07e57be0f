// A modern client that listens to one modern server: it hears what that says, once, and what changes at the gateway.

import { expect, test } from 'vitest'
import { AGENTS, type Answer, entry, type Gateway, ownServer, place, until, up, userFile } from './hub.ts'
import { type Events, modern, WireClient } from './wire-client.ts'

const TAG = 'io.modelcontextprotocol/subscriptionId'
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
const TOOLS = 'notifications/tools/list_changed'
const PROMPTS = 'notifications/prompts/list_changed'
const UPDATED = 'notifications/resources/updated'
const ADA = AGENTS.ada

const listen = (gateway: Gateway, notifications: object) =>
  modern(gateway, '/mcp/own', 'subscriptions/listen', { notifications })

const count = (stream: Events, method: string) => stream.of(method).length

const toolsOf = async (gateway: Gateway): Promise<string[]> =>
  (await (await modern(gateway, '/mcp/own', 'tools/list')).answer()).result.tools.map(
    ({ name }: Answer) => name,
  )

for (const wire of ['stdio', 'http'] as const)
  test(`[B8][D14][C1] over ${wire}: what a server tells comes once, and what changes here comes by the same stream`, async () => {
    const { sandbox } = place()
    const config = { servers: { own: await entry(wire, 'changing', { era: 'modern' }) }, agents: AGENTS }
    const gateway = await up(sandbox, config, { user: true })
    const client = await WireClient.open(gateway, '/mcp/own')
    await until(async () => (await toolsOf(gateway)).includes('echo'))
    const notifications = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['test://text'],
    }
    const stream = await listen(gateway, notifications)
    expect((await stream.find(ACKNOWLEDGED)).params.notifications).toEqual(notifications)
    await client.call('touch', { uri: 'test://text' })
    await stream.find(UPDATED)
    const before = count(stream, TOOLS)
    // The server’s own.
    await client.call('change', { kind: 'add' })
    await until(() => count(stream, TOOLS) > before)
    await client.call('change', { kind: 'prompt' })
    await stream.find(PROMPTS)
    // What the agent may use.
    const write = (agents: object) => sandbox.write(userFile(sandbox), JSON.stringify({ ...config, agents }))
    write({ ada: { ...ADA, deny: ['own/echo'] } })
    await until(() => count(stream, TOOLS) > before + 1)
    expect(await toolsOf(gateway)).not.toContain('echo')
    write(AGENTS)
    await until(() => count(stream, TOOLS) > before + 2)
    expect(await toolsOf(gateway)).toContain('echo')
    // What a person accepts.
    await client.call('change', { kind: 'description' })
    await until(() => count(stream, TOOLS) > before + 3)
    const quarantined = (await sandbox.run(['pins', 'list', 'own', '--json'])).json
    const changed = quarantined.pins.find(({ state }: Answer) => state === 'changed')
    expect((await sandbox.run(['pins', 'accept', `own/${changed.tool}`, '--yes'])).code).toBe(0)
    await until(() => count(stream, TOOLS) > before + 4)
    // And nothing of all that twice.
    await client.call('touch', { uri: 'test://text' })
    await until(() => count(stream, UPDATED) === 2)
    expect([count(stream, TOOLS), count(stream, PROMPTS)]).toEqual([before + 5, 1])
    expect(stream.messages.every(({ params }) => params._meta[TAG] === 'm1')).toBe(true)
    expect(stream.messages[0].method).toBe(ACKNOWLEDGED)
    expect(stream.ended).toBe(false)
  })

/** A modern server that says only what a test wants. */
const SAYING = `
let id
globalThis.methods = {
  'server/discover': () => ({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} },
    ttlMs: 0, cacheScope: 'private' }),
  'tools/list': () => ({ resultType: 'complete', tools: ['say', 'end'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    ttlMs: 0, cacheScope: 'private' }),
  'subscriptions/listen': () => new Promise(() => {}),
  'tools/call': ({ name, arguments: given }) => {
    const { method, params } = given
    if (name === 'end') say({ id, result: { resultType: 'complete', over: true } })
    else say({ method, params: { ...params, _meta: { own: 1, '${TAG}': id } } })
    return { resultType: 'complete', content: [] }
  },
}
globalThis.seen = (method, params, line) => {
  if (method === 'subscriptions/listen') id = JSON.parse(line).id
}`

test('[B9][C1] what a server acknowledges and says stays its word, and lists that change here are acknowledged, too', async () => {
  const { sandbox } = place()
  const config = { servers: { own: ownServer(sandbox, '{}', SAYING) }, agents: AGENTS }
  const gateway = await up(sandbox, config, { user: true })
  const call = async (name: string, given: object = {}) => {
    const called = await modern(gateway, '/mcp/own', 'tools/call', { name, arguments: given }, { name })
    return (await called.answer()).result
  }
  await until(async () => (await toolsOf(gateway)).length === 2)
  const listening = listen(gateway, {
    toolsListChanged: true,
    'acme/things': true,
    resourceSubscriptions: ['x:y'],
  })
  const stream = await listening
  const notifications = { toolsListChanged: false, 'acme/things': 'some' }
  await until(async () => {
    await call('say', { method: ACKNOWLEDGED, params: { notifications, more: 1 } })
    return stream.messages.length > 0
  })
  const _meta = { own: 1, [TAG]: 'm1' }
  expect(stream.messages[0]).toEqual({
    jsonrpc: '2.0',
    method: ACKNOWLEDGED,
    params: { notifications: { ...notifications, toolsListChanged: true }, more: 1, _meta },
  })
  await call('say', { method: 'notifications/acme/thing', params: { n: 1 } })
  expect((await stream.find('notifications/acme/thing')).params).toEqual({ n: 1, _meta })
  // It never said that it would tell, so nobody but its own stream brings it.
  const before = count(stream, TOOLS)
  await call('say', { method: TOOLS })
  await until(() => count(stream, TOOLS) > before)
  await call('end')
  await stream.end()
  expect(count(stream, TOOLS)).toBe(before + 1)
  expect(stream.messages.at(-1)).toEqual({
    jsonrpc: '2.0',
    id: 'm1',
    result: { resultType: 'complete', over: true },
  })
})

test('[D14][C1] of a server that nobody can listen to, a client hears what changes here', async () => {
  const { sandbox } = place()
  const before = SAYING.replace(/ *'subscriptions\/listen': .*\n/, '')
  const config = { servers: { own: ownServer(sandbox, '{}', before) }, agents: AGENTS }
  const gateway = await up(sandbox, config, { user: true })
  await until(async () => (await toolsOf(gateway)).length === 2)
  const stream = await listen(gateway, { toolsListChanged: true, resourceSubscriptions: ['x:y'] })
  expect((await stream.find(ACKNOWLEDGED)).params.notifications).toEqual({ toolsListChanged: true })
  const told = count(stream, TOOLS)
  sandbox.write(
    userFile(sandbox),
    JSON.stringify({ ...config, agents: { ada: { ...ADA, deny: ['own/say'] } } }),
  )
  await until(() => count(stream, TOOLS) > told)
  expect(await toolsOf(gateway)).toEqual(['end'])
  expect(stream.ended).toBe(false)
})
