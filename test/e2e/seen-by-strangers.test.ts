// What people who had never seen it ran into: servers that come later, tools that are new, messages that tell nothing,
// and ways around a question.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import {
  codeOf,
  faultOf,
  type HubEvent,
  hubWith,
  ownServer,
  place,
  TOKEN,
  until,
  up,
  userFile,
} from './hub.ts'
import { WireClient } from './wire-client.ts'

const plain = serverCommand('plain')

test('[B8][C7] a server that is added and waits for its first call offers at once what it had the last time', async () => {
  const home = place()
  const lazy = { ...plain, start: 'lazy' } as const
  const before = await home.open({ servers: { s: lazy } })
  await before.as().call('s/echo', { text: 'x' })
  await before.close()
  const events: HubEvent[] = []
  const hub = await home.open({ servers: {} }, { onEvent: (event) => events.push(event) })
  expect(hub.as().tools()).toEqual([])
  await hub.servers.apply({ servers: { s: lazy } })
  expect(hub.as().tools('s')).toHaveLength(11)
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['server-status', 'tools-change']))
  expect(hub.servers.get('s')?.pid).toBeUndefined()
})

test('[B4] what becomes of a server that was replaced is not told of the one in its place', async () => {
  const events: HubEvent[] = []
  const home = place()
  const hub = await home.open({ servers: { s: plain } }, { onEvent: (event) => events.push(event) })
  await hub.as().ready()
  await hub.servers.apply({ servers: { s: { ...plain, env: { NEW: '1' }, start: 'lazy' } } })
  const told = events.flatMap((event) => (event.type === 'server-status' ? [event.status.status] : []))
  expect([told.at(-1), hub.servers.get('s')?.status]).toEqual(['pending', 'pending'])
})

for (const era of ['legacy', 'modern'] as const)
  test(`[B7][C5] ${era}: a tool that its server told of a moment ago can be called at once`, async () => {
    const hub = await hubWith({ s: serverCommand('changing', { era }) })
    for (let count = 1; count <= 3; count++) {
      await hub.as().call('s/change', { kind: 'add' })
      expect((await hub.as().call(`s/added-${count}`)).isError).toBe(false)
    }
  })

test('[B4] an address that is none costs its own server only', async () => {
  const hub = await place().open({ servers: {} })
  for (const url of ['notaurl', 'ftp://x/'])
    expect(await hub.servers.setServers({ good: plain, bad: { url } })).toMatchObject({
      errors: { bad: expect.stringContaining('expected an http(s) or ws(s) address') },
    })
  expect((await hub.as().call('good/echo', { text: 'x' })).text).toBe('x')
})

test('[B13] a program that dies of an error is told by that error', async () => {
  const { sandbox } = place()
  const command = { command: process.execPath, args: ['-e', "throw new Error('API_KEY is not set')"] }
  sandbox.write('busbar.yaml', JSON.stringify({ servers: { s: command } }))
  const { code, stderr } = await sandbox.run(['call', 's/x', '--trust', '--config', 'busbar.yaml'])
  expect(code).toBe(4)
  expect(stderr).toContain('it said: Error: API_KEY is not set')
})

test('[C11][B13] a secret in what a program says last is masked before anything is cut', async () => {
  const { sandbox } = place()
  const script = "process.stderr.write('x'.repeat(480) + process.env.KEY + ' end\\n'); process.exitCode = 1"
  const server = { command: process.execPath, args: ['-e', script], env: { KEY: '${KEY}' } }
  sandbox.write('busbar.yaml', JSON.stringify({ servers: { s: server } }))
  const env = { KEY: 'S3cretValueAbcdefghijklmnop' }
  const { stderr } = await sandbox.run(['call', 's/x', '--trust', '--config', 'busbar.yaml'], { env })
  expect(stderr).toContain('it said: xxx')
  expect(stderr).not.toContain('S3cret')
})

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

test('[B1][D14] to a client with a session, a tool that it may not use is an error of its call, and no end of its session', async () => {
  const { sandbox } = place()
  const agents = { ada: { servers: ['plain'], token: TOKEN, approval: 'never', deny: ['plain/add'] } }
  const gateway = await up(sandbox, { servers: { plain }, agents })
  for (const path of ['/mcp', '/mcp/', '/mcp/plain', '/mcp/plain/']) {
    const client = await WireClient.open(gateway, path)
    const name = path.startsWith('/mcp/p') ? 'add' : 'mcp__plain__add'
    const params = { name, arguments: { a: 1, b: 2 } }
    const asked = await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    expect([path, asked.status]).toEqual([path, 200])
  }
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
