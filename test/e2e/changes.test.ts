// What clients hear of what changes at servers, and of what they may see: their own share, and nobody else's.

import { expect, test } from 'vitest'
import { serverCommand, startServer } from '../servers/start.ts'
import { changeable, tool } from './changeable.ts'
import { AGENTS, type Answer, entry, kill, ownServer, place, until, up, userFile } from './hub.ts'
import { ASKING, ASKING_TOOLS, type Events, modern, WireClient } from './wire-client.ts'

const UPDATED = 'notifications/resources/updated'
const TOOLS = 'notifications/tools/list_changed'
const TAG = 'io.modelcontextprotocol/subscriptionId'
const first = serverCommand('changing', { era: 'legacy', name: 'first' })
const second = serverCommand('changing', { era: 'modern', name: 'second' })
const BOB = { servers: ['*'], token: 'bobs-token', approval: 'never' }
const asBob = { token: 'bobs-token' }
const both = { ...AGENTS, bob: BOB }

/** The address under which a server's `test://text` stands in the list of all. */
async function shownBy(client: WireClient, server: string): Promise<string> {
  const { result } = await client.ask('resources/list')
  const found = result.resources.find(
    ({ name, _meta }: Answer) => name === 'text' && _meta?.['busbar/server'] === server,
  )
  return found.uri
}

const touch = (client: WireClient, server: string) =>
  client.call(`mcp__${server}__touch`, { uri: 'test://text' })

test('[B7] updates of resources come under the address that the client knows, from both eras', async () => {
  const gateway = await up(place().sandbox, { servers: { first, second }, agents: AGENTS })
  const client = await WireClient.open(gateway)
  const stream = await client.listen()
  const uris = [await shownBy(client, 'first'), await shownBy(client, 'second')]
  expect(new Set(uris).size).toBe(2)
  for (const uri of uris) expect((await client.ask('resources/subscribe', { uri })).result).toEqual({})
  // A modern server is listened to in the background, so it may have to say it twice.
  for (const [index, server] of ['first', 'second'].entries())
    await until(async () => {
      await touch(client, server)
      return stream.of(UPDATED).some(({ uri }) => uri === uris[index])
    })
  for (const uri of uris) expect((await client.ask('resources/unsubscribe', { uri })).result).toEqual({})
  const before = stream.of(UPDATED).length
  for (const server of ['first', 'second']) await touch(client, server)
  await client.ask('resources/subscribe', { uri: uris[0] })
  await touch(client, 'first')
  await until(() => stream.of(UPDATED).length > before)
  expect(stream.of(UPDATED).slice(before)).toEqual([{ uri: uris[0] }])
  expect((await client.ask('resources/subscribe', { uri: 'test://nobodys' })).error).toBeDefined()
  expect((await client.ask('resources/subscribe', { uri: 5 })).error).toBeDefined()
})

test('[B7] one who leaves takes nobody else’s subscription along, and a server that restarts is asked again', async () => {
  const gateway = await up(place().sandbox, { servers: { first }, agents: both })
  const ada = await WireClient.open(gateway)
  const bob = await WireClient.open(gateway, '/mcp/first', asBob)
  const streams = [await ada.listen(), await bob.listen()] as const
  for (const client of [ada, bob]) await client.ask('resources/subscribe', { uri: 'test://text' })
  await touch(ada, 'first')
  for (const stream of streams) await stream.find(UPDATED)
  expect(await ada.delete()).toBe(204)
  await bob.call('touch')
  await until(() => streams[1].of(UPDATED).length === 2)
  const { pid } = JSON.parse((await bob.call('pid')).content[0].text)
  kill(pid, 'SIGKILL')
  await until(async () => {
    const { content, isError } = await bob.call('pid')
    return isError !== true && JSON.parse(content[0].text).pid !== pid
  })
  await until(async () => {
    await bob.call('touch')
    return streams[1].of(UPDATED).length > 2
  })
  expect(streams[0].of(UPDATED)).toHaveLength(1)
})

test('[B7] what a server was asked for is asked again in a new session, and each of its lists may be another', async () => {
  const { url } = await startServer('session-loss', { era: 'legacy', case: 'changing' })
  const gateway = await up(place().sandbox, { servers: { loss: { url } }, agents: AGENTS })
  const client = await WireClient.open(gateway, '/mcp/loss')
  const stream = await client.listen()
  for (const uri of ['test://text', 'test://pixel']) await client.ask('resources/subscribe', { uri })
  await client.ask('resources/unsubscribe', { uri: 'test://pixel' })
  await client.ask('logging/setLevel', { level: 'debug' })
  await client.call('forget')
  expect((await client.call('echo', { text: 'x' })).content[0].text).toBe('x')
  for (const list of ['tools', 'resources', 'prompts'])
    await stream.find(`notifications/${list}/list_changed`)
  await until(async () => {
    await client.call('touch', { uri: 'test://pixel' })
    await client.call('touch', { uri: 'test://text' })
    return stream.of(UPDATED).length > 0
  })
  expect(new Set(stream.of(UPDATED).map(({ uri }) => uri))).toEqual(new Set(['test://text']))
  const call = await client.begin('log', { level: 'debug', text: 'at length' })
  expect((await call.find('notifications/message')).params.data).toBe('at length')
})

test('[B8][C8] sessions hear that tools changed: of servers they may use, and of definitions that were accepted', async () => {
  const { sandbox } = place()
  const { offer, servers } = changeable(sandbox)
  offer([tool('search', 'Finds things')])
  const config = { servers: { ...servers, first }, agents: { ...both, bob: { ...BOB, servers: ['docs'] } } }
  const gateway = await up(sandbox, config, { user: true })
  const ada = await WireClient.open(gateway)
  const bob = await WireClient.open(gateway, '/mcp', asBob)
  await until(async () => (await ada.ask('tools/list')).result.tools.length > 10)
  await until(async () => (await bob.ask('tools/list')).result.tools.length === 1)
  const [heard, others] = [await ada.listen(), await bob.listen()]
  const count = (stream: Events) => stream.messages.filter(({ method }) => method === TOOLS).length
  // What happened before they listened is told at once, if anything did.
  await bob.ask('ping')
  const before = { ada: count(heard), bob: count(others) }
  await ada.call('mcp__first__change', { kind: 'add' })
  await until(() => count(heard) > before.ada)
  expect((await ada.call('mcp__first__added-1')).content[0].text).toBe('added')
  expect([(await bob.ask('ping')).result, count(others)]).toEqual([{}, before.bob])
  offer([tool('search', 'Finds other things')])
  expect((await sandbox.run(['restart', 'docs'])).code).toBe(0)
  await until(async () => (await bob.ask('tools/list')).result.tools.length === 0)
  await until(() => count(others) > before.bob)
  const quarantined = count(others)
  expect((await sandbox.run(['pins', 'accept', 'docs/search', '--yes'])).code).toBe(0)
  await until(() => count(others) > quarantined)
  expect((await bob.ask('tools/list')).result.tools[0].description).toBe('Finds other things')
})

test('[D14] a change of what an agent may use is told to that agent, and what it lost is not heard of any more', async () => {
  const { sandbox } = place()
  const config = { servers: { first }, agents: both }
  const gateway = await up(sandbox, config, { user: true })
  const [ada, bob, scoped] = [
    await WireClient.open(gateway),
    await WireClient.open(gateway, '/mcp', asBob),
    await WireClient.open(gateway, '/mcp/first', asBob),
  ]
  for (const client of [ada, bob, scoped])
    expect((await client.ask('resources/subscribe', { uri: 'test://text' })).result).toEqual({})
  const streams = [await ada.listen(), await bob.listen(), await scoped.listen()] as const
  await touch(ada, 'first')
  for (const stream of streams) await stream.find(UPDATED)
  const before = streams[0].messages.length
  const agents = { ...both, bob: { ...BOB, servers: [] } }
  sandbox.write(userFile(sandbox), JSON.stringify({ ...config, agents }))
  await streams[2].end()
  await until(() => streams[1].messages.some(({ method }) => method === TOOLS))
  for (const list of ['resources', 'prompts']) await streams[1].find(`notifications/${list}/list_changed`)
  expect((await scoped.get()).status).toBe(404)
  await touch(ada, 'first')
  await until(() => streams[0].of(UPDATED).length === 2)
  expect(streams[1].of(UPDATED)).toHaveLength(1)
  expect(streams[0].messages.slice(before).map(({ method }) => method)).toEqual([UPDATED])
})

test('[B9] each session hears of a server’s log what it asked for', async () => {
  const gateway = await up(place().sandbox, { servers: { first }, agents: both })
  const ada = await WireClient.open(gateway, '/mcp/first')
  const bob = await WireClient.open(gateway, '/mcp', asBob)
  expect((await ada.ask('logging/setLevel', { level: 'debug' })).result).toEqual({})
  expect((await bob.ask('logging/setLevel', { level: 'error' })).result).toEqual({})
  expect((await bob.ask('logging/setLevel', { level: 'loud' })).error.code).toBe(-32602)
  const logged = async (client: WireClient, name: string, level: string) => {
    const events = await (await client.begin(name, { level, text: level }, 3)).end()
    return events.of('notifications/message').map((params) => params.level)
  }
  await until(async () => (await logged(ada, 'log', 'debug')).length === 1)
  expect(await logged(bob, 'mcp__first__log', 'debug')).toEqual([])
  expect(await logged(bob, 'mcp__first__log', 'error')).toEqual(['error'])
  expect(await logged(ada, 'log', 'info')).toEqual(['info'])
})

for (const wire of ['stdio', 'http'] as const)
  for (const era of ['legacy', 'modern'] as const)
    test(`[B9][C1] a modern client hears what a ${era} server over ${wire} logs in its request, if it asked for that there`, async () => {
      const servers = { own: await entry(wire, 'plain', { era }) }
      const gateway = await up(place().sandbox, { servers, agents: both })
      const bystander = await (await WireClient.open(gateway, '/mcp', asBob)).listen()
      const offered = await (await modern(gateway, '/mcp', 'server/discover')).answer()
      expect(offered.result.capabilities.logging).toEqual({})
      for (const capabilities of [{}, { elicitation: { form: {} } }])
        for (const [logLevel, level, heard] of [
          [undefined, 'emergency', []],
          ['warning', 'info', []],
          ['warning', 'error', ['error']],
          ['debug', 'debug', ['debug']],
          ['loud', 'emergency', []],
        ] as const) {
          const name = 'mcp__own__log'
          const options = { name, capabilities, ...(logLevel && { logLevel }) }
          const params = { name, arguments: { level, text: level } }
          const events = await modern(gateway, '/mcp', 'tools/call', params, options)
          expect((await events.answer()).result.content).toEqual([{ type: 'text', text: 'logged' }])
          await events.end()
          const said = events.of('notifications/message').map((it) => it.level)
          expect([capabilities, logLevel, level, said]).toEqual([capabilities, logLevel, level, heard])
        }
      expect(bystander.of('notifications/message')).toEqual([])
    })

test('[B9][C5] a server that never says that it knows how much to log holds up no call', async () => {
  const { sandbox } = place()
  const before =
    'globalThis.capabilities = { logging: {} }; globalThis.methods = { "logging/setLevel": () => new Promise(() => {}) }'
  const servers = { own: ownServer(sandbox, '{ work: () => "done" }', before) }
  const gateway = await up(sandbox, { servers, agents: AGENTS })
  const options = { name: 'work', logLevel: 'debug' }
  const called = await modern(gateway, '/mcp/own', 'tools/call', { name: 'work', arguments: {} }, options)
  expect((await called.answer()).result.content[0].text).toBe('"done"')
})

test('[B7][C1] a modern client listens to several servers at once, and hears what it asked for', async () => {
  const { url } = await startServer('changing', { era: 'modern', name: 'far' })
  const gateway = await up(place().sandbox, { servers: { first, far: { url } }, agents: AGENTS })
  const client = await WireClient.open(gateway)
  const uris = [await shownBy(client, 'first'), await shownBy(client, 'far')]
  const notifications = { toolsListChanged: true, resourceSubscriptions: [...uris, 'test://nobodys'] }
  const stream = await modern(gateway, '/mcp', 'subscriptions/listen', { notifications })
  const { params } = await stream.find('notifications/subscriptions/acknowledged')
  expect(params.notifications).toEqual({ toolsListChanged: true, resourceSubscriptions: uris })
  expect(stream.messages[0].method).toBe('notifications/subscriptions/acknowledged')
  for (const [index, server] of ['first', 'far'].entries())
    await until(async () => {
      await touch(client, server)
      return stream.of(UPDATED).some(({ uri }) => uri === uris[index])
    })
  await client.call('mcp__first__change', { kind: 'prompt' })
  await client.call('mcp__first__change', { kind: 'add' })
  await stream.find(TOOLS)
  expect(stream.messages.every((one) => one.params._meta[TAG] === 'm1')).toBe(true)
  expect(stream.messages.some(({ method }) => method.includes('prompts'))).toBe(false)
})

test('[C11] a modern client’s stream ends with its access', async () => {
  const { sandbox } = place()
  const config = { servers: { first }, agents: both }
  const gateway = await up(sandbox, config, { user: true })
  const notifications = { toolsListChanged: true }
  const listen = (path: string, options: object) =>
    modern(gateway, path, 'subscriptions/listen', { notifications }, options)
  const [ada, whole, scoped] = [
    await listen('/mcp', {}),
    await listen('/mcp', asBob),
    await listen('/mcp/first', asBob),
  ]
  for (const stream of [ada, whole, scoped]) await stream.find('notifications/subscriptions/acknowledged')
  sandbox.write(
    userFile(sandbox),
    JSON.stringify({ ...config, agents: { ...both, bob: { ...BOB, servers: [] } } }),
  )
  await scoped.end()
  expect(scoped.messages.at(-1)).toMatchObject({ id: 'm1', result: { resultType: 'complete' } })
  await whole.find(TOOLS)
  sandbox.write(userFile(sandbox), JSON.stringify({ ...config, agents: AGENTS }))
  await whole.end()
  expect(whole.messages.at(-1)).toMatchObject({ id: 'm1', result: { resultType: 'complete' } })
  expect(ada.ended).toBe(false)
})

/** A server that answers the first subscription, and each further one when it is told to. */
async function holding() {
  const { sandbox } = place()
  const before = `${ASKING}
let asked = 0
globalThis.capabilities = { resources: { subscribe: true, listChanged: true } }
globalThis.methods = {
  'resources/subscribe': () => asked++ === 0 ? {} : new Promise((resolve) => waiting.set('wait held', () => resolve({}))),
  'resources/unsubscribe': () => ({}),
}`
  const own = ownServer(sandbox, ASKING_TOOLS, before)
  const gateway = await up(sandbox, { servers: { own }, agents: both })
  const client = await WireClient.open(gateway, '/mcp/own')
  const heard = async (method: string) =>
    JSON.parse((await client.call('heard', { method })).content[0].text).length
  return { gateway, client, heard }
}

test('[B7] who subscribes while the last other one leaves is heard of all the same', async () => {
  const { gateway, client, heard } = await holding()
  const bob = await WireClient.open(gateway, '/mcp/own', asBob)
  const uri = 'test://x'
  expect((await bob.ask('resources/subscribe', { uri })).result).toEqual({})
  const subscribing = client.ask('resources/subscribe', { uri })
  await until(async () => (await heard('resources/subscribe')) === 2)
  expect((await bob.ask('resources/unsubscribe', { uri })).result).toEqual({})
  await client.call('free', { key: 'held' })
  expect((await subscribing).result).toEqual({})
  expect(await heard('resources/unsubscribe')).toBe(0)
  const stream = await client.listen()
  await client.call('say', { message: { method: UPDATED, params: { uri } } })
  await stream.find(UPDATED)
  expect((await client.ask('resources/unsubscribe', { uri })).result).toEqual({})
  await until(async () => (await heard('resources/unsubscribe')) === 1)
})

test('[B9] a modern client is told what it will hear before it hears anything', async () => {
  const { gateway, client, heard } = await holding()
  await client.ask('resources/subscribe', { uri: 'test://other' })
  const notifications = { resourcesListChanged: true, resourceSubscriptions: ['test://x'] }
  const listening = modern(gateway, '/mcp/own', 'subscriptions/listen', { notifications })
  await until(async () => (await heard('resources/subscribe')) === 2)
  const changed = 'notifications/resources/list_changed'
  await client.call('say', { message: { method: changed } })
  await client.call('say', { message: { method: UPDATED, params: { uri: 'test://x' } } })
  await client.call('free', { key: 'held' })
  const stream = await listening
  await until(() => stream.messages.length === 3)
  expect(stream.messages.map(({ method }) => method).sort()).toEqual(
    ['notifications/subscriptions/acknowledged', changed, UPDATED].sort(),
  )
  expect(stream.messages[0].method).toBe('notifications/subscriptions/acknowledged')
})

test('[C11] a revoked token ends what it opened, and nothing that another token of the agent opened', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { first }, agents: AGENTS }, { user: true })
  const { token } = (await sandbox.run(['agents', 'token', 'ada', '--json'])).json
  const [made, written] = [await WireClient.open(gateway, '/mcp', { token }), await WireClient.open(gateway)]
  const streams = [await made.listen(), await written.listen()] as const
  expect((await sandbox.run(['agents', 'token', 'ada', '--revoke', '--json'])).code).toBe(0)
  await streams[0].end()
  expect((await written.ask('ping')).result).toEqual({})
  expect(streams[1].ended).toBe(false)
})
