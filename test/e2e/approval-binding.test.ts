// What an answer is bound to, what is asked about, and for how long it counts.

import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { codeOf, faultOf, type HubServer, ownServer, place, until, up, userFile } from './hub.ts'

const plain = serverCommand('plain')

test('[D11] a server that is another one because a variable changed is asked about anew; a new token is no new server', async () => {
  const home = place()
  const server = ownServer(home.sandbox, '{ go: () => process.argv.at(-1) }')
  const config = {
    servers: { s: { ...server, args: [...server.args, '${TARGET}'], env: { API_TOKEN: '${API_TOKEN}' } } },
    agents: { ada: { servers: ['*'] } },
  }
  const run = async (env: Record<string, string>) => {
    const hub = await home.open(config, { env: { ...home.sandbox.env(), ...env } })
    await hub.as('ada').ready()
    return hub
  }
  const first = await run({ TARGET: 'staging', API_TOKEN: 'one-1111' })
  const { details } = await faultOf(first.as('ada').call('s/go'))
  await first.approvals.answer(String(details?.['approval']), { decision: 'allow', remember: 'tool' }, 'test')
  await first.close()
  const same = await run({ TARGET: 'staging', API_TOKEN: 'two-2222' })
  expect((await same.as('ada').call('s/go')).text).toContain('staging')
  await same.close()
  const other = await run({ TARGET: 'production', API_TOKEN: 'two-2222' })
  expect(await codeOf(other.as('ada').call('s/go'))).toBe('APPROVAL_PENDING')
})

test('[D11] another object of this process behind the same name is another server', async () => {
  const server = (said: string): HubServer => {
    const instance = new Server({ name: 'pay', version: '1' }, { capabilities: { tools: {} } })
    instance.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'pay', inputSchema: { type: 'object' as const } }],
    }))
    instance.setRequestHandler(CallToolRequestSchema, () => ({
      content: [{ type: 'text' as const, text: said }],
    }))
    return { type: 'sdk', instance: instance as never }
  }
  const one = server('one')
  const hub = await place().open({ servers: { s: one }, agents: { ada: { servers: ['*'] } } })
  const ada = hub.as('ada')
  await ada.ready()
  const { details } = await faultOf(ada.call('s/pay'))
  await hub.approvals.answer(String(details?.['approval']), { decision: 'allow', remember: 'server' }, 'test')
  expect((await ada.call('s/pay')).text).toBe('one')
  await hub.servers.setServers({ s: server('two') })
  await ada.ready()
  expect(await codeOf(ada.call('s/pay'))).toBe('APPROVAL_PENDING')
})

test('[D11] a file of variables that is rewritten makes another server of the one that is started next', async () => {
  const home = place()
  const file = home.sandbox.write('s.env', 'TARGET=staging\nAPI_TOKEN=one-1111\n')
  const server = { ...ownServer(home.sandbox, '{ go: () => process.env.TARGET }'), envFile: file }
  const hub = await home.open({ servers: { s: server }, agents: { ada: { servers: ['*'] } } })
  const ada = hub.as('ada')
  await ada.ready()
  const { details } = await faultOf(ada.call('s/go'))
  await hub.approvals.answer(String(details?.['approval']), { decision: 'allow', remember: 'tool' }, 'test')
  expect((await ada.call('s/go')).text).toContain('staging')
  // A new token is no new server.
  home.sandbox.write('s.env', 'TARGET=staging\nAPI_TOKEN=two-2222\n')
  await hub.servers.reconnect('s')
  expect((await ada.call('s/go')).text).toContain('staging')
  home.sandbox.write('s.env', 'TARGET=production\nAPI_TOKEN=two-2222\n')
  await hub.servers.reconnect('s')
  expect(await codeOf(ada.call('s/go'))).toBe('APPROVAL_PENDING')
})

test('[D11] nobody is asked about more than they can be shown', async () => {
  const hub = await place().open({ servers: { plain }, agents: { ada: { servers: ['*'] } } })
  const ada = hub.as('ada')
  await ada.ready()
  const result = await ada.call('plain/echo', { note: 'x'.repeat(1_100_000), text: 'rm -rf /' })
  expect([result.isError, result.text]).toEqual([true, expect.stringContaining('too many for a person')])
  expect(await hub.approvals.list('pending')).toEqual([])
})

test('[D11] a name of an argument that could be taken for more than a name is quoted', async () => {
  const home = place()
  const hub = await home.open({ servers: { plain }, agents: { ada: { servers: ['*'] } } })
  await hub.as('ada').ready()
  const name = `path = "notes.txt"${' '.repeat(200)}0b`
  await codeOf(hub.as('ada').call('plain/echo', { text: 'x', [name]: 1 }))
  const env = { BUSBAR_HOME: hub.places.state.replace(/\/state$/, '') }
  const { stdout } = await home.sandbox.run(['approve', 'list'], { env })
  expect(stdout).toMatch(/^ {2}"path = \\"notes\.txt\\"/m)
  expect(stdout).toMatch(/^ {2}text = "x"$/m)
})

for (const [title, isUp] of [
  ['with a gateway', true],
  ['without one', false],
] as const)
  test(`[D11] what was allowed, or is still asked, goes with the agent or the server that is removed, ${title}`, async () => {
    const { sandbox } = place()
    const run = (...args: string[]) => sandbox.run([...args, '--json'])
    const add = () => sandbox.run(['add', 's', '-s', 'user', '--', plain.command, ...plain.args])
    const grant = () => run('agents', 'add', 'ada', '-s', 'user', '--server', 's')
    const config = { servers: { s: plain }, agents: { ada: { servers: ['s'] } } }
    if (isUp) await up(sandbox, config, { user: true })
    else sandbox.write(userFile(sandbox), JSON.stringify(config))
    const call = (text: string) => run('call', 's/echo', `text=${text}`, '--agent', 'ada')
    const asked = async () => (await run('approve', 'list')).json.approvals
    const pending = async (text: string) => {
      expect((await call(text)).code).toBe(7)
      return String((await asked()).at(-1).id)
    }
    const removals = [['agents', 'remove', 'ada'] as const, ['remove', 's', '-s', 'user'] as const]
    for (const remove of removals) {
      const text = remove.join('-')
      expect((await run('approve', 'allow', await pending(text))).code).toBe(0)
      await pending('another')
      expect((await run(...remove)).code).toBe(0)
      expect(await asked()).toEqual([])
      await add()
      await grant()
      await run('agents', 'grant', 'ada', 's')
      // A gateway takes a change over a moment later.
      await until(async () => (await call(text)).code === 7)
      expect(await asked()).toHaveLength(1)
    }
  })
