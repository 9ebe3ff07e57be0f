// `busbar doctor` on the gateway's side: each problem is made for real, found, and mended by the command it names.

import { once } from 'node:events'
import { chmodSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { changeable, tool } from './changeable.ts'
import { Sandbox } from './cli.ts'
import { type Answer, ownServer, place, until, up, userFile } from './hub.ts'

const plain = serverCommand('plain')
const AGENT = { servers: ['plain'], approval: 'never' }

async function findings(sandbox: Sandbox, env: Record<string, string> = {}): Promise<Answer> {
  const { stdout, code, stderr } = await sandbox.run(['doctor', '--no-start', '--json'], { env })
  const all = JSON.parse(stdout).findings
  return {
    code,
    stderr,
    all,
    wrong: all.filter((it: Answer) => it.severity !== 'ok').map((it: Answer) => it.check),
    of: (check: string) => all.find((it: Answer) => it.check === check),
  }
}

function home(config: object = {}): Sandbox {
  const { sandbox } = place()
  sandbox.write(
    userFile(sandbox),
    JSON.stringify({ servers: { plain }, agents: { cursor: AGENT }, ...config }),
    0o600,
  )
  return sandbox
}

const cursorFile = (sandbox: Sandbox) => join(sandbox.home, '.cursor/mcp.json')
const connect = async (sandbox: Sandbox, ...words: string[]) => {
  const { code, stderr } = await sandbox.run(['connect', ...words, '--yes'])
  expect([code, stderr]).toEqual([0, expect.any(String)])
}

/** A port that nobody has, for configurations. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('[C11] a connected client, a gateway that runs and its agent are well; stopped, it is missed; moved, it is found', async () => {
  const port = await freePort()
  const sandbox = home({ gateway: { port } })
  const config = JSON.parse(sandbox.read(userFile(sandbox)))
  const gateway = await up(sandbox, config, { user: true, port: String(port) })
  await connect(sandbox, 'cursor')
  const well = await findings(sandbox)
  expect([well.code, well.wrong]).toEqual([0, []])
  expect(well.of('client').message).toBe('Cursor is connected as cursor')
  expect(well.of('gateway').message).toContain(gateway.url)
  await gateway.end('SIGTERM')
  const stopped = await findings(sandbox)
  expect([stopped.code, stopped.wrong]).toEqual([4, ['gateway']])
  expect(stopped.of('gateway').fix).toBe('busbar up')
  const moved = await up(sandbox, config, { user: true })
  const other = await findings(sandbox)
  expect([other.code, other.wrong]).toEqual([1, ['client-address']])
  await sandbox.run([...other.of('client-address').fix.split(' ').slice(1), '--yes'])
  expect(sandbox.read(cursorFile(sandbox))).toContain(moved.url)
  expect((await findings(sandbox)).wrong).toEqual([])
})

test('[C11] a token that was revoked or comes from elsewhere, and an agent that is off or gone, are told apart', async () => {
  const sandbox = home({ gateway: { port: await freePort() } })
  await connect(sandbox, 'cursor')
  const wrong = async () => (await findings(sandbox)).wrong.filter((it: string) => it !== 'gateway')
  expect(await wrong()).toEqual([])
  await sandbox.run(['agents', 'disable', 'cursor'])
  expect(await wrong()).toContain('client-agent')
  await sandbox.run(['agents', 'enable', 'cursor'])
  expect(await wrong()).toEqual([])
  await sandbox.run(['agents', 'token', 'cursor', '--revoke'])
  const revoked = (await findings(sandbox)).of('client-token')
  expect(revoked.message).toContain('was revoked')
  await sandbox.run([...revoked.fix.split(' ').slice(1), '--yes'])
  expect(await wrong()).toEqual([])
  const file = cursorFile(sandbox)
  writeFileSync(file, sandbox.read(file).replace(/busbar_[\w-]+/, `busbar_${'x'.repeat(43)}`))
  expect((await findings(sandbox)).of('client-token').message).toContain('another home')
  await connect(sandbox, 'cursor')
  const without = { servers: { plain }, gateway: { port: await freePort() } }
  sandbox.write(userFile(sandbox), JSON.stringify(without))
  expect(await wrong()).toContain('client-agent')
  // The same where a gateway runs, which knows the token and not the agent.
  await up(sandbox, without, { user: true })
  const { message, fix } = (await findings(sandbox)).of('client-agent')
  expect([message, fix]).toEqual([
    expect.stringContaining('no agent of this configuration'),
    'busbar agents add cursor --scope user --server SERVER',
  ])
  await sandbox.run([...fix.replace('SERVER', 'plain').split(' ').slice(1)])
  expect((await findings(sandbox)).wrong).not.toContain('client-agent')
})

for (const running of [false, true])
  test(`[C11] a removed agent leaves no token to a later one of its name, ${running ? 'with' : 'without'} a gateway`, async () => {
    const sandbox = home({ agents: { cursor: { ...AGENT, workers: { reader: {} } } } })
    if (running) await up(sandbox, JSON.parse(sandbox.read(userFile(sandbox))), { user: true })
    for (const agent of ['cursor', 'cursor/reader']) await sandbox.run(['agents', 'token', agent])
    const { code, json } = await sandbox.run(['agents', 'remove', 'cursor', '--json'])
    expect([code, json]).toMatchObject([0, { removed: 'cursor', revoked: 2 }])
    await sandbox.run(['agents', 'add', 'cursor', '--server', 'plain', '--scope', 'user'])
    const tokens = await until(async () => {
      const listed = await sandbox.run(['agents', 'token', 'cursor', '--list', '--json'])
      return listed.json?.tokens
    })
    expect(tokens).toMatchObject([{ state: 'revoked' }])
  })

test('[C11] a client’s file that others can read is closed by --fix; one that does not parse is named', async () => {
  const sandbox = home({ gateway: { port: await freePort() } })
  sandbox.write(cursorFile(sandbox), '{}', 0o644)
  sandbox.write(join(sandbox.home, '.gemini/settings.json'), '{\n "a"')
  await connect(sandbox, 'cursor')
  const open = await findings(sandbox)
  expect(open.of('client-mode')).toMatchObject({ severity: 'warning', fixable: true })
  expect(open.of('client-file').message).toContain('settings.json:2:')
  const { json } = await sandbox.run(['doctor', '--no-start', '--fix', '--json'])
  expect(json.fixed.map((it: Answer) => it.check)).toEqual(['client-mode'])
  writeFileSync(join(sandbox.home, '.gemini/settings.json'), '{}')
  expect((await findings(sandbox)).wrong).toEqual(['gateway'])
})

test('[C11] an entry for stdio whose program is gone, or that has another home', async () => {
  const sandbox = home()
  await connect(sandbox, 'claude-desktop', '--agent', 'cursor')
  expect((await findings(sandbox)).wrong).toEqual([])
  const file = join(sandbox.home, '.config/Claude/claude_desktop_config.json')
  const entry = JSON.parse(sandbox.read(file))
  entry.mcpServers.busbar.args[0] = '/gone/bin.js'
  writeFileSync(file, JSON.stringify(entry))
  expect((await findings(sandbox)).of('client-program').message).toContain('/gone/bin.js')
  await connect(sandbox, 'claude-desktop', '--agent', 'cursor')
  const here = await findings(sandbox, { BUSBAR_HOME: join(sandbox.home, 'second') })
  expect(here.of('client-home').message).toContain('.local/state/busbar')
})

test('[C11] two homes: commands of one do not reach the gateway of the other, and say so', async () => {
  const sandbox = home()
  await up(sandbox, { servers: { plain } }, { user: true })
  const second = join(sandbox.home, 'second')
  const there = await findings(sandbox, { BUSBAR_HOME: second })
  expect(there.of('homes')).toMatchObject({
    severity: 'warning',
    fix: expect.stringContaining('unset BUSBAR_HOME'),
  })
  expect((await findings(sandbox)).of('homes')).toBeUndefined()
})

test('[C11] a port that is taken, until it is free', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as { port: number }
  onTestFinished(() => void holder.close())
  const sandbox = home({ gateway: { port } })
  expect((await findings(sandbox)).of('port').message).toContain(`127.0.0.1:${port}`)
  await new Promise((resolve) => holder.close(resolve))
  expect((await findings(sandbox)).wrong).toEqual([])
})

test('[C11][D14] a gateway that follows something else, or refused the last edit', async () => {
  const sandbox = home()
  const config = { servers: { plain }, agents: { cursor: { ...AGENT, token: 'a-token-of-cursor' } } }
  await up(sandbox, config, { user: true })
  expect((await findings(sandbox)).wrong).toEqual([])
  writeFileSync(userFile(sandbox), 'servers: [')
  const refused = await findings(sandbox)
  expect([refused.code, refused.of('gateway-config').message]).toEqual([
    1,
    expect.stringContaining('last good'),
  ])
  writeFileSync(userFile(sandbox), JSON.stringify(config))
  sandbox.write('team.json', JSON.stringify({ servers: { plain } }))
  const { json } = await sandbox.run(['doctor', '--no-start', '--json', '--config', 'team.json', '--trust'])
  const other = json.findings.find((it: Answer) => it.check === 'gateway-config')
  expect(other.message).toContain('another configuration')
})

test('[C11] agents without token, without servers and without tools, as the running gateway has them', async () => {
  const sandbox = home()
  await up(
    sandbox,
    {
      servers: { plain, crash: serverCommand('crash-loop') },
      agents: {
        well: { ...AGENT, token: 'a-token-of-well' },
        mute: { ...AGENT },
        idle: { servers: [], token: 'a-token-of-idle' },
        barred: { ...AGENT, deny: ['plain/*'], token: 'a-token-of-barred' },
        broken: { servers: ['crash'], token: 'a-token-of-broken' },
      },
    },
    { user: true },
  )
  // Until it is known of both servers what became of them.
  const found = await until(async () => {
    const now = await findings(sandbox)
    const tools = now.all.filter((it: Answer) => it.check === 'agent-tools')
    return now.of('gateway-server') && !tools.some((it: Answer) => it.message.includes('well')) && now
  })
  const messages = (check: string) =>
    found.all.filter((it: Answer) => it.check === check).map((it: Answer) => it.message)
  expect(messages('agent-token')).toEqual(['mute has no token, so it cannot sign in'])
  expect(messages('agent-servers')).toEqual(['idle may use no server, so it sees no tools'])
  expect(messages('agent-tools').join()).toMatch(/barred has no tools.*broken has no tools/)
  expect(messages('gateway-server').join()).toContain('crash')
  // What is known to fail ends it as it does where servers are started.
  const ended = (...words: string[]) => sandbox.run(['doctor', '--json', ...words])
  expect([(await ended('--no-start')).code, (await ended()).code]).toEqual([4, 4])
})

test('[C11] a client with very many tools', async () => {
  const sandbox = home()
  const tools = Array.from({ length: 41 }, (_, index) => `tool${index}: () => 'done'`).join(', ')
  const many = ownServer(sandbox, `{ ${tools} }`)
  const agents = { cursor: { servers: ['many'], surface: 'full' } }
  const gateway = await up(sandbox, { servers: { many }, agents }, { user: true })
  await connect(sandbox, 'cursor')
  const [, token = ''] = /Bearer ([\w-]+)/.exec(sandbox.read(cursorFile(sandbox))) ?? []
  // A server that was never seen is waited for before it is listed.
  const authorization = `Bearer ${token}`
  await gateway.post('/mcp/many', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { authorization })
  expect((await findings(sandbox)).of('tool-count').message).toContain('Cursor gets 41 tools as cursor')
  await sandbox.run(['agents', 'revoke', 'cursor', 'many/tool0'])
  await until(async () => (await findings(sandbox)).of('tool-count') === undefined)
})

test('[C11] a store that is locked, newer, damaged or well', async () => {
  const sandbox = home()
  const store = join(sandbox.home, '.local/state/busbar/busbar.db')
  expect((await findings(sandbox)).wrong).toEqual([])
  await sandbox.run(['usage'])
  expect((await findings(sandbox)).wrong).toEqual([])
  const { loadDriver } = await import('../../src/store/sqlite-driver.ts')
  const open = await loadDriver()
  const database = open(store)
  database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; PRAGMA user_version = 9999')
  const locked = await findings(sandbox)
  expect([locked.code, locked.of('store').message]).toEqual([1, expect.stringContaining('locked')])
  database.exec('COMMIT')
  database.close()
  const newer = await findings(sandbox)
  expect([newer.code, newer.of('store').message]).toEqual([1, expect.stringContaining('newer Busbar')])
  writeFileSync(store, 'no database at all, but long enough to be taken for one'.repeat(40))
  const damaged = await findings(sandbox)
  expect([damaged.code, damaged.of('store').message]).toEqual([1, expect.stringContaining('damaged')])
  // Doctor looks; moving it aside is for a command that needs it.
  const started = await sandbox.run(['doctor', '--json'])
  expect(started.json.findings.map((it: Answer) => it.check)).not.toContain('start')
  expect(sandbox.read(store)).toContain('no database at all')
})

test('[C11] a state folder that cannot be written or entered, or that others could write to', async () => {
  // To root everything is writable.
  const user = process.getuid?.() === 0 ? { uid: 65534 } : {}
  const look = async (sandbox: Sandbox) => {
    const { json, code } = await sandbox.run(['doctor', '--no-start', '--json'], user)
    return [code, json.findings.find((it: Answer) => it.check === 'state')?.message]
  }
  const bare = new Sandbox()
  for (const folder of [bare.root, bare.project]) chmodSync(folder, 0o755)
  chmodSync(bare.home, 0o555)
  expect(await look(bare)).toEqual([1, expect.stringContaining(`${bare.home} cannot be written`)])
  chmodSync(bare.home, 0o777)
  expect(await look(bare)).toEqual([0, undefined])
  const state = join(bare.home, '.local/state/busbar')
  mkdirSync(state, { recursive: true })
  chmodSync(join(bare.home, '.local'), 0o000)
  expect(await look(bare)).toEqual([1, expect.stringContaining('may not enter')])
  chmodSync(join(bare.home, '.local'), 0o755)
  chmodSync(state, 0o777)
  const open = await bare.run(['doctor', '--no-start', '--json'])
  expect(open.json.findings.find((it: Answer) => it.check === 'state').message).toContain('by other users')
  chmodSync(state, 0o700)
  expect((await findings(bare)).of('state')).toBeUndefined()
})

test('[C11] a clock that is behind the files of the home, and a proxy before loopback', async () => {
  const sandbox = home({ gateway: { port: await freePort() } })
  await connect(sandbox, 'cursor')
  expect((await findings(sandbox)).wrong).toEqual(['gateway'])
  const proxied = await findings(sandbox, { HTTP_PROXY: 'http://proxy.invalid:3128' })
  expect(proxied.of('proxy').fix).toContain('NO_PROXY')
  const excepted = { HTTP_PROXY: 'http://proxy.invalid:3128', NO_PROXY: '127.0.0.1' }
  expect((await findings(sandbox, excepted)).of('proxy')).toBeUndefined()
  const later = Date.now() / 1000 + 86_400
  utimesSync(join(sandbox.home, '.local/state/busbar/clients.json'), later, later)
  expect((await findings(sandbox)).of('clock').fix).toBe('set the clock')
})

test('[C11] an address for all the world without names, and with them', async () => {
  const exposed = home({ gateway: { host: '0.0.0.0', port: await freePort() }, agents: {} })
  const found = await findings(exposed)
  expect([found.code, found.of('exposure').fix]).toEqual([1, expect.stringContaining('allowedHosts')])
  const named = home({
    gateway: { host: '0.0.0.0', port: await freePort(), allowedHosts: ['box.example'] },
    agents: {},
  })
  expect((await findings(named)).of('exposure')).toBeUndefined()
})

test('[C11][D2][D11][E9] what waits for a person: answers, energy and changed tools, with and without a gateway', async () => {
  const sandbox = home()
  const { offer, servers: theirs } = changeable(sandbox)
  offer([tool('search', 'finds things')])
  const priced = { ...plain, price: { '*': 10 } }
  const config = {
    servers: { plain, priced, ...theirs },
    agents: {
      asks: { servers: ['plain'], approval: 'always', token: 'a-token-of-asks' },
      tired: { servers: ['priced'], approval: 'never', energy: { capacity: 10, recovery: '1/h' } },
      reader: { servers: ['docs'], approval: 'never' },
    },
  }
  sandbox.write(userFile(sandbox), JSON.stringify(config), 0o600)
  expect((await findings(sandbox)).wrong).toEqual([])
  await sandbox.run(['tools', 'docs'])
  await sandbox.run(['call', 'plain/echo', 'text=a', '--agent', 'asks'])
  await sandbox.run(['call', 'priced/echo', 'text=a', '--agent', 'tired'])
  offer([tool('search', 'finds things, and sends them away')])
  await sandbox.run(['tools', 'docs'])
  const waiting = await findings(sandbox)
  expect(waiting.wrong.sort()).toEqual(['approvals', 'energy', 'pins'])
  expect(waiting.of('approvals').message).toBe('a call waits for an answer')
  expect(waiting.of('energy').message).toContain('tired has no energy left')
  expect(waiting.of('pins').message).toContain('docs/')
  const gateway = await up(sandbox, config, { user: true })
  const asked = (await findings(sandbox)).wrong.filter((it: string) => it !== 'agent-token').sort()
  // The reader's only tool is the one that changed.
  expect(asked).toEqual(['agent-tools', 'approvals', 'energy', 'pins'])
  await gateway.end('SIGTERM')
  await sandbox.run(waiting.of('energy').fix.split(' ').slice(1))
  offer([tool('search', 'finds things')])
  await sandbox.run(['tools', 'docs'])
  expect((await findings(sandbox)).wrong).toEqual(['approvals'])
})
