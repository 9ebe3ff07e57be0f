// No process of a server outlives its hub, however either of them ends; what a process may see and do; and that an edit
// disturbs none that it does not concern.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { processesOf } from '../services/processes.ts'
import { BINARY, type Sandbox } from './cli.ts'
import {
  AGENTS,
  type Answer,
  asked,
  askTool,
  codeOf,
  type Gateway,
  gatewayOf,
  type Hub,
  hubWith,
  isAlive,
  kill,
  ownServer,
  pidOf,
  place,
  until,
  up,
  userFile,
} from './hub.ts'

/** Servers that do not want to end, or leave something behind. */
const STUBBORN = {
  wrapper: serverCommand('wrapper'),
  shell: serverCommand('wrapper', { case: 'sh' }),
  fork: serverCommand('double-fork'),
  deaf: serverCommand('ignore-sigterm'),
}
const NAMES = Object.keys(STUBBORN)

async function pidsOf(hub: Hub): Promise<number[]> {
  const pids = await Promise.all(NAMES.map((name) => pidOf(hub, name)))
  const started = NAMES.map((name) => hub.servers.get(name).pid ?? 0)
  return [...new Set([...pids, ...started, (await asked(hub, 'fork/daemon')).pid])]
}

async function pidsBehind(gateway: Gateway): Promise<number[]> {
  const pids = await Promise.all(NAMES.map(async (name) => (await askTool(gateway, name, 'pid')).pid))
  return [...pids, (await askTool(gateway, 'fork', 'daemon')).pid]
}

const alive = (pids: readonly number[]) => pids.filter(isAlive)

test('[B10][D12] close: nothing of a wrapped, forked or stubborn server is alive afterwards', async () => {
  const hub = await hubWith(STUBBORN)
  const pids = await pidsOf(hub)
  expect(pids.length).toBeGreaterThanOrEqual(6)
  expect(alive(pids)).toEqual(pids)
  await hub.close()
  expect(alive(pids)).toEqual([])
})

test('[B10][D12] disconnect, disable and setServers leave nothing either', async () => {
  const hub = await hubWith(STUBBORN)
  const pids = await pidsOf(hub)
  const { wrapper, shell, deaf } = STUBBORN
  await Promise.all([
    hub.servers.disconnect('wrapper'),
    hub.servers.disable('shell'),
    hub.servers.setServers({ wrapper, shell, deaf }),
  ])
  const left = await pidOf(hub, 'deaf')
  expect(alive(pids)).toEqual([left])
})

test('[B10][D13] what a server that died had started is ended, too', async () => {
  const hub = await hubWith({ fork: serverCommand('double-fork') })
  const { pid: daemon } = await asked(hub, 'fork/daemon')
  kill(await pidOf(hub, 'fork'), 'SIGKILL')
  await until(() => !isAlive(daemon), 5_000)
  await until(() => hub.servers.get('fork').status === 'connected')
  expect((await asked(hub, 'fork/daemon')).pid).not.toBe(daemon)
})

test('[B10] each server runs in a process and a group of its own', async () => {
  const hub = await hubWith({ one: serverCommand('plain'), two: serverCommand('plain') })
  const [one, two] = await Promise.all([asked(hub, 'one/pid'), asked(hub, 'two/pid')])
  expect(one.pid).not.toBe(two.pid)
  for (const { pid, pgid } of [one, two]) expect(pgid).toBe(pid)
  expect(hub.servers.get('one').pid).toBe(one.pid)
})

test('[B10] SIGINT, SIGTERM and SIGHUP of busbar up: nothing is alive afterwards', async () => {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  await Promise.all(
    signals.map(async (signal) => {
      const { sandbox } = place()
      const gateway = await up(sandbox, { servers: STUBBORN, agents: AGENTS })
      const pids = await pidsBehind(gateway)
      expect(alive(pids)).toEqual(pids)
      await gateway.end(signal)
      expect([signal, ...alive(pids)]).toEqual([signal])
      expect(processesOf(sandbox.root)).toEqual([])
    }),
  )
})

test('[B10] Ctrl-C lets a call finish; a second one does not wait for it, and leaves nothing either', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { plain: serverCommand('plain') }, agents: AGENTS })
  await gateway.ask('plain', 'tools/list')
  const finishing = gateway.ask('plain', 'tools/call', {
    name: 'progress',
    arguments: { steps: 1, delay: 800 },
  })
  await until(async () => (await status(gateway, sandbox)).inFlight > 0)
  await gateway.end('SIGINT')
  expect((await finishing).result.content[0].text).toBe('1 steps')
  const second = await up(sandbox, { servers: { plain: serverCommand('plain') }, agents: AGENTS })
  const pid = (await askTool(second, 'plain', 'pid')).pid
  const hanging = second
    .ask('plain', 'tools/call', { name: 'sleep', arguments: { ms: 600_000 } })
    .catch(() => 'lost')
  await until(async () => (await status(second, sandbox)).inFlight > 0)
  second.child.kill('SIGINT')
  await until(async () => (await second.post('/mcp/plain', {}).catch(() => ({ status: 503 }))).status === 503)
  await second.end('SIGINT')
  await hanging
  expect(isAlive(pid)).toBe(false)
})

/** A server's status, as the owner's commands see it. */
async function status(gateway: Gateway, sandbox: Sandbox): Promise<Answer> {
  const token = sandbox.read(`${sandbox.home}/.local/state/busbar/admin-token`).trim()
  const answer = await fetch(`${gateway.url}/api/servers`, { headers: { authorization: `Bearer ${token}` } })
  return ((await answer.json()) as Answer).servers[0]
}

for (const next of ['up', 'list --check'])
  test(`[B10] kill -9 of busbar up, then ${next}: what was left is ended`, async () => {
    const { sandbox } = place()
    const config = { servers: STUBBORN, agents: AGENTS }
    const gateway = await up(sandbox, config)
    const pids = await pidsBehind(gateway)
    await gateway.end('SIGKILL')
    expect(alive(pids).length).toBeGreaterThan(0)
    if (next === 'up') {
      const again = await up(sandbox, config)
      expect(alive(pids)).toEqual([])
      expect(await pidsBehind(again)).toHaveLength(5)
      await again.end('SIGTERM')
    } else {
      await sandbox.run(['list', '--check', '--json', '--config', sandbox.path('team.json')])
      expect(alive(pids)).toEqual([])
    }
    expect(processesOf(sandbox.root)).toEqual([])
  })

test('[B10] the next start ends nothing that belongs to a hub that lives', async () => {
  const home = place()
  const first = await home.open({ servers: { plain: serverCommand('plain') } })
  const pid = await pidOf(first, 'plain')
  const second = await home.open({ servers: { plain: serverCommand('plain') } })
  expect(await pidOf(second, 'plain')).not.toBe(pid)
  await second.close()
  expect(await pidOf(first, 'plain')).toBe(pid)
})

const CONFINED = { read: [new URL('../../', import.meta.url).pathname], write: [], network: false }
const confined = (mode: string) => ({ ...serverCommand(mode), sandbox: CONFINED })

test('[B10][D12] with the sandbox, kill -9 of busbar up leaves nothing, without a next start', async () => {
  const { sandbox } = place()
  const servers = Object.fromEntries(
    NAMES.map((name) => [name, { ...STUBBORN[name as keyof typeof STUBBORN], sandbox: CONFINED }]),
  )
  const gateway = await up(sandbox, { servers, agents: AGENTS })
  await pidsBehind(gateway)
  expect(processesOf(sandbox.root).length).toBeGreaterThan(8)
  await gateway.end('SIGKILL')
  await until(() => processesOf(sandbox.root).length === 0, 5_000)
})

test('[B10][D12] with the sandbox, close leaves nothing either', async () => {
  const home = place()
  const hub = await home.open({
    servers: { fork: confined('double-fork'), deaf: confined('ignore-sigterm') },
  })
  await asked(hub, 'fork/daemon')
  await asked(hub, 'deaf/pid')
  expect(processesOf(home.sandbox.root).length).toBeGreaterThan(3)
  await hub.close()
  expect(processesOf(home.sandbox.root)).toEqual([])
})

const TRIES = `{
  read: ({ path }) => readFileSync(path, 'utf8'),
  write: ({ path }) => writeFileSync(path, 'x'),
  dial: ({ port }) => new Promise((resolve, reject) => {
    connect(port, '127.0.0.1').on('connect', () => resolve('reached')).on('error', reject)
  }),
  processes: () => readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length,
  parent: () => readFileSync('/proc/' + process.ppid + '/environ', 'utf8'),
}`
const TRIES_IMPORTS = `import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'`

test('[D12] a confined server reads, writes and reaches only what its entry lists', async () => {
  const home = place()
  const { sandbox } = home
  const secret = sandbox.write(`${sandbox.home}/.ssh/id`, 'private key')
  const given = sandbox.path('given')
  const data = sandbox.path('data')
  for (const folder of [given, data]) mkdirSync(folder)
  sandbox.write('given/note', 'a note')
  const listener = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
  onTestFinished(() => void listener.close())
  await once(listener, 'listening')
  const { port } = listener.address() as { port: number }
  const own = ownServer(sandbox, TRIES, TRIES_IMPORTS)
  const program = own.args[0] ?? ''
  const hub = await home.open({
    servers: {
      shut: { ...own, sandbox: { read: [program, 'given'], write: [], network: false } },
      open: { ...own, sandbox: { read: [program], write: ['data'], network: true } },
      free: own,
    },
  })
  await hub.as().ready()
  const go = async (address: string, args: object) => {
    const { isError, text } = await hub.as().call(address, args)
    return isError ? text : JSON.parse(text)
  }
  expect(await go('shut/read', { path: `${given}/note` })).toBe('a note')
  expect(await go('shut/read', { path: secret })).toBe('ENOENT')
  expect(await go('free/read', { path: secret })).toBe('private key')
  expect(await go('shut/write', { path: `${given}/note` })).toBe('EROFS')
  expect(await go('shut/write', { path: `${data}/new` })).toBe('ENOENT')
  expect(await go('shut/write', { path: '/usr/busbar-test' })).toBe('EROFS')
  expect(await go('open/write', { path: `${data}/new` })).toBeNull()
  expect(sandbox.read('data/new')).toBe('x')
  expect(await go('shut/dial', { port })).toMatch(/^E(?:CONNREFUSED|NETUNREACH)$/)
  expect(await go('open/dial', { port })).toBe('reached')
  expect(await go('shut/processes', {})).toBeLessThan(4)
  expect(await go('shut/parent', {})).not.toContain(`HOME=${process.env['HOME']}\0`)
})

test('[D12] a sandbox that lists what is not there is a clear fault, and nothing runs without it', async () => {
  const home = place()
  const hub = await home.open({
    servers: { bad: { ...serverCommand('plain'), sandbox: { read: ['no-such-folder'], network: true } } },
  })
  expect((await hub.as().ready()).failed).toMatchObject([
    { error: expect.stringContaining('no-such-folder') },
  ])
  expect(await codeOf(hub.as().call('bad/echo', { text: 'x' }))).toBe('SPAWN_FAILED')
  expect(processesOf(home.sandbox.root)).toEqual([])
})

test('[D12] without bubblewrap a server that asks for the sandbox is refused, others run', async () => {
  const { sandbox } = place()
  const config = { servers: { shut: confined('plain'), free: serverCommand('plain') }, agents: AGENTS }
  const gateway = await up(sandbox, config, { env: { PATH: sandbox.root } })
  const { result } = await gateway.ask('shut', 'tools/call', { name: 'echo', arguments: { text: 'x' } })
  expect(result).toMatchObject({ isError: true, _meta: { 'busbar/fault': { code: 'SANDBOX_ABSENT' } } })
  expect(result.content[0].text).toContain('bwrap')
  expect((await askTool(gateway, 'free', 'pid')).pid).toBeGreaterThan(1)
})

test('[C11] a server’s environment holds little of ours and what its entry says', async () => {
  const home = place()
  const own = {
    OPENAI_API_KEY: 'sk-ours',
    BUSBAR_ADMIN_TOKEN: 'ours',
    NODE_OPTIONS: '',
    SSH_AUTH_SOCK: '/s',
    LANG: 'C',
  }
  const hub = await home.open(
    { servers: { plain: { ...serverCommand('plain'), env: { DECLARED: '${WANTED}' } } } },
    { env: home.sandbox.env({ ...own, WANTED: 'yes' }) },
  )
  const env = await asked(hub, 'plain/env')
  expect(Object.keys(env).sort()).toEqual(['BUSBAR_MARK', 'DECLARED', 'HOME', 'LANG', 'PATH'])
  expect(env.DECLARED).toBe('yes')
})

test('[C11] a server gets the descriptors 0, 1 and 2, whatever Busbar was started with', async () => {
  const { sandbox } = place()
  const fds = sandbox.path('fds')
  const { command, args } = serverCommand('plain')
  const script = `ls -l /proc/self/fd > ${fds}; exec "$@"`
  const config = {
    servers: { shell: { command: 'sh', args: ['-c', script, 'sh', command, ...args] } },
    agents: AGENTS,
  }
  const file = sandbox.write('team.json', JSON.stringify(config))
  const leaky = 'exec 8</etc/passwd; exec 9>/dev/null; exec "$@"'
  const words = [process.execPath, BINARY, 'up', '--port', '0', '--config', file, '--trust', '--json']
  const given = openSync('/etc/passwd', 'r')
  const child = spawn('sh', ['-c', leaky, 'sh', ...words], {
    cwd: sandbox.project,
    env: sandbox.env(),
    // Behind a gap, where node does not look.
    stdio: ['pipe', 'pipe', 'pipe', ...Array.from({ length: 37 }, () => 'ignore' as const), given],
  })
  closeSync(given)
  const ended = once(child, 'close')
  onTestFinished(async () => {
    kill(child.pid ?? 0, 'SIGTERM')
    await ended
  })
  const gateway = await gatewayOf(child, ended)
  await askTool(gateway, 'shell', 'pid')
  const open = [...sandbox.read(fds).matchAll(/ (\d+) -> (\S+)/g)].map(([, fd, path]) => [fd, path])
  // The last one is the folder that `ls` itself reads.
  const kept = open.filter(([, path]) => !/^\/proc\/\d+\/fd$/.test(path ?? '')).map(([fd]) => fd)
  expect(kept).toEqual(['0', '1', '2'])
  // Whoever had it open in this process may still write there: no file of ours gets its number.
  expect(readlinkSync(`/proc/${child.pid}/fd/40`)).toBe('/dev/null')
})

const plain = serverCommand('plain')

test('[D14][B4] an edit of the configuration is followed, and what did not change keeps its process', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { same: plain, gone: plain }, agents: AGENTS }, { user: true })
  const pid = async (server: string): Promise<number> => (await askTool(gateway, server, 'pid')).pid
  const [same, gone] = [await pid('same'), await pid('gone')]
  const edit = (config: object) => sandbox.write(userFile(sandbox), JSON.stringify(config))
  edit({ servers: { same: plain, more: plain }, agents: AGENTS })
  await until(async () => (await gateway.ask('more', 'tools/list')).result)
  await until(() => !isAlive(gone))
  expect((await gateway.ask('gone', 'tools/list')).error).toBeDefined()
  expect(await pid('same')).toBe(same)
  edit({ servers: { same: plain }, agents: { ada: { ...AGENTS.ada, token: 'another' } } })
  await until(async () => (await gateway.post('/mcp/same', {})).status === 401)
  expect(isAlive(same)).toBe(true)
})

test('[D14][C11] a server that an edit of a shared file adds starts when it is trusted, and not before', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { same: plain }, agents: AGENTS })
  const { pid } = await askTool(gateway, 'same', 'pid')
  const config = { servers: { same: plain, more: plain }, agents: AGENTS }
  const file = sandbox.write('team.json', JSON.stringify(config))
  const more = () => gateway.ask('more', 'tools/call', { name: 'echo', arguments: { text: 'x' } })
  await until(async () => (await more()).result?._meta?.['busbar/fault'].code === 'NOT_TRUSTED')
  expect((await askTool(gateway, 'same', 'pid')).pid).toBe(pid)
  expect((await sandbox.run(['trust', '--yes', '--config', file])).code).toBe(0)
  await until(async () => (await more()).result?.content[0].text === 'x', 5_000)
})

test('[D14] a broken edit is told and keeps the servers as they are', async () => {
  const { sandbox } = place()
  const file = sandbox.write('team.json', JSON.stringify({ servers: { same: plain }, agents: AGENTS }))
  const child = sandbox.start(['up', '--port', '0', '--config', file, '--trust'])
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data) => {
      said += data
    })
  await until(() => /same: connected/.test(said) && /listens on/.test(said))
  const before = processesOf(sandbox.root)
  for (const text of ['{ "servers": { "same": ', '{"servers":{"same":{"comand":"x"}}}', '']) {
    said = ''
    sandbox.write('team.json', text)
    await until(() => said.includes('the last good configuration stays'))
    expect(processesOf(sandbox.root)).toEqual(before)
  }
})
