// Commands while a gateway runs: they ask it, and start nothing of their own. What they answer is the same either way.

import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverCommand, spawnCount } from '../servers/start.ts'
import { processesOf } from '../services/processes.ts'
import type { Result, Sandbox } from './cli.ts'
import { AGENTS, type Answer, place, until, up } from './hub.ts'
import { owner } from './owner.ts'

const logged = (mode: string, log: string) => ({
  ...serverCommand(mode),
  env: { SPAWN_LOG: `\${HOME}/${log}` },
})
const starts = (sandbox: Sandbox, log: string) => spawnCount(join(sandbox.home, log))

/** What a command told, without what differs from run to run. */
function told({ code, stdout, stderr }: Result): object {
  const plain = (text: string) =>
    text
      .replace(/,\n *"ms": \d+/g, '')
      .replace(/"pid":\d+/g, '')
      .replace(/ +(\d+ ms|-)$/gm, '')
  return { code, stdout: plain(stdout), stderr: plain(stderr) }
}

const COMMANDS: readonly (readonly string[])[] = [
  ['tools'],
  ['tools', '--json'],
  ['tools', 'plain'],
  ['tools', 'crash', '--json'],
  ['tools', 'pla'],
  ['tools', '--agent', 'ada', '--search', 'add two numbers'],
  ['tools', '--search', 'zebra'],
  ['tools', '--agent', 'idle'],
  ['tools', '--agent', 'picky', '--json'],
  ['tools', 'plain', '--agent', 'picky', '--json'],
  ['tools', 'bare'],
  ['tools', '--agent', 'ada', '--format', 'openai', '--naming', 's__t'],
  ['tools', '--agent', 'nobody'],
  ['resources'],
  ['resources', '--json'],
  ['resources', 'plain', '--templates'],
  ['resources', 'bare', '--json'],
  ['prompts', 'plain'],
  ['prompts', '--json'],
  ['read', 'plain', 'test://text'],
  ['read', 'plain', 'test://pixel', '--json'],
  ['read', 'plain', 'test://nowhere', '--json'],
  ['read', 'nope', 'test://text'],
  ['read', 'plain', 'test://text', '--agent', 'picky'],
  ['list', '--check', '--json', 'plain', 'bare'],
  ['list', '--check', 'off'],
  ['explain', 'picky', 'plain/echo', '--json'],
  ['explain', 'ada', 'plain'],
]

test('[B7][C4][D12] every command answers the same through the gateway, which alone has the servers', async () => {
  const { sandbox } = place()
  const servers = {
    plain: logged('plain', 'starts'),
    bare: { ...logged('content', 'starts'), tools: { exclude: ['*'] } },
    crash: { ...serverCommand('crash-loop'), timeouts: { connect: '2s' } },
    lazy: { ...logged('plain', 'lazy-starts'), start: 'lazy' },
    off: { ...logged('plain', 'off-starts'), enabled: false },
  }
  const agents = {
    ...AGENTS,
    ada: { ...AGENTS.ada, servers: ['plain', 'bare'] },
    idle: { servers: [], token: 'token-of-idle' },
    picky: { servers: ['bare', 'crash'], token: 'token-of-picky' },
  }
  const gateway = await up(sandbox, { servers, agents }, { user: true })
  const ask = owner(sandbox, gateway)
  await until(async () => {
    const { answer } = await ask('GET /api/servers')
    const state = (name: string) => answer.servers.find((it: Answer) => it.name === name).status
    return state('plain') === 'connected' && state('bare') === 'connected' && state('crash') === 'failed'
  })
  const through: object[] = []
  const begun = () => ['starts', 'lazy-starts', 'off-starts'].map((log) => starts(sandbox, log))
  const before = begun()
  for (const command of COMMANDS) {
    through.push({ command, ...told(await sandbox.run(command)) })
    expect([command, begun()]).toEqual([command, before])
  }
  expect(before.slice(1)).toEqual([0, 0])
  await gateway.end('SIGTERM')
  const alone: object[] = []
  for (const command of COMMANDS) alone.push({ command, ...told(await sandbox.run(command)) })
  expect(starts(sandbox, 'starts')).toBeGreaterThan(before[0] ?? 0)
  expect(through).toEqual(alone)
  // Nearly sixty processes, one after the other.
}, 180_000)

test('[D12] a named server that nobody needed yet is started by the gateway, once, and stays up', async () => {
  const { sandbox } = place()
  const servers = { lazy: { ...logged('plain', 'starts'), start: 'lazy' } }
  const gateway = await up(sandbox, { servers, agents: AGENTS }, { user: true })
  const before = await sandbox.run(['tools'])
  expect([before.stderr, before.stdout]).toEqual([
    expect.stringContaining('not started, because nothing needs it yet: lazy'),
    expect.any(String),
  ])
  const idle = await sandbox.run(['list', '--check'])
  expect([idle.code, idle.stdout]).toEqual([0, expect.stringContaining('busbar list --check lazy')])
  expect(starts(sandbox, 'starts')).toBe(0)
  // The schema is known only once it is up: a number, not a text, is what it must get.
  expect((await sandbox.run(['call', 'lazy/add', 'a=1', 'b=2'])).stdout).toContain('3')
  // On a busy machine it may take more than one process to find out which era a server is of.
  const begun = starts(sandbox, 'starts')
  expect((await sandbox.run(['tools', 'lazy'])).stdout).toContain('lazy/echo')
  expect((await sandbox.run(['resources', 'lazy', '--json'])).json.resources).toHaveLength(2)
  expect((await sandbox.run(['prompts', 'lazy'])).stdout).toContain('greet')
  expect((await sandbox.run(['read', 'lazy', 'test://text'])).stdout).toContain('Grüße')
  const checked = await sandbox.run(['list', '--check', '--json'])
  expect(checked.json.servers).toMatchObject([{ name: 'lazy', status: 'connected' }])
  expect(starts(sandbox, 'starts')).toBe(begun)
  expect(processesOf(sandbox.root).filter((line) => line.includes('--mode'))).toHaveLength(1)
  const { answer } = await owner(sandbox, gateway)('GET /api/calls?tool=%23resources/read')
  expect(answer.calls).toMatchObject([{ server: 'lazy', surface: 'api', outcome: 'ok' }])
})

test('[D12] list shows how servers are in the gateway that runs, and why not', async () => {
  const { sandbox } = place()
  const servers = {
    plain: serverCommand('plain'),
    crash: serverCommand('crash-loop'),
    lazy: { ...serverCommand('plain'), start: 'lazy' },
    off: { ...serverCommand('plain'), enabled: false },
  }
  await up(sandbox, { servers, agents: AGENTS }, { user: true })
  const listed = async () => {
    const { json } = await sandbox.run(['list', '--json'])
    return Object.fromEntries(json.servers.map((it: Answer) => [it.name, it])) as Answer
  }
  const rows = await until(async () => {
    const now = await listed()
    return now.plain.status === 'connected' && now.crash.status === 'failed' ? now : undefined
  })
  expect([rows.lazy.status, rows.off.status, rows.plain.tools.length > 0]).toEqual([
    'pending',
    'disabled',
    true,
  ])
  expect(rows.crash.reason).toContain('crash')
  // It is tried again and again.
  await until(async () => (await sandbox.run(['list'])).stdout.includes(rows.crash.reason.slice(0, 20)))
})

test('[D12] a gateway that follows another configuration is not asked', async () => {
  const { sandbox } = place()
  const servers = { theirs: logged('plain', 'theirs') }
  const gateway = await up(sandbox, { servers, agents: AGENTS })
  await owner(sandbox, gateway)('GET /api/servers/check?server=theirs')
  const begun = starts(sandbox, 'theirs')
  sandbox.write('busbar.yaml', JSON.stringify({ servers: { ours: logged('plain', 'ours') } }))
  expect((await sandbox.run(['trust', '--yes'])).code).toBe(0)
  const commands = [
    ['tools'],
    ['resources'],
    ['prompts'],
    ['read', 'ours', 'test://text'],
    ['list', '--check'],
  ]
  for (const command of commands) {
    const before = starts(sandbox, 'ours')
    const { code, stdout } = await sandbox.run(command)
    expect([command, code, stdout]).toEqual([command, 0, expect.not.stringContaining('theirs')])
    expect([command, starts(sandbox, 'ours') > before]).toEqual([command, true])
  }
  expect(starts(sandbox, 'theirs')).toBe(begun)
  const same = await sandbox.run(['tools', '--config', sandbox.path('team.json'), '--trust'])
  expect([same.code, same.stdout]).toEqual([0, expect.stringContaining('theirs/echo')])
  expect(starts(sandbox, 'theirs')).toBe(begun)
})

test('[B10] Ctrl-C ends what the gateway does for a command', async () => {
  const { sandbox } = place()
  const log = sandbox.path('seen')
  const hangs = sandbox.write('hangs.mjs', HANGS)
  const servers = {
    hangs: { command: process.execPath, args: [hangs, log] },
    hanging: { ...logged('hanging', 'starts'), start: 'lazy' },
  }
  await up(sandbox, { servers, agents: AGENTS }, { user: true })
  for (const command of [
    ['read', 'hangs', 'test://x'],
    ['resources', 'hangs'],
    ['prompts', 'hangs'],
  ]) {
    const child = sandbox.start(command)
    const ended = once(child, 'close')
    await until(() => sandbox.exists(log) && sandbox.read(log).includes('asked'))
    child.kill('SIGINT')
    expect([command, await ended]).toEqual([command, [130, null]])
    await until(() => sandbox.read(log).includes('notifications/cancelled'))
    sandbox.write(log, '')
  }
  const child = sandbox.start(['tools', 'hanging'])
  const ended = once(child, 'close')
  await until(() => starts(sandbox, 'starts') > 0)
  child.kill('SIGINT')
  expect(await ended).toEqual([130, null])
  expect((await sandbox.run(['tools', 'hangs'])).code).toBe(0)
})

/** Answers nothing that is asked for, and notes what it is told. */
const HANGS = `
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const capabilities = { tools: {}, resources: {}, prompts: {} }
const answers = {
  initialize: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'hangs', version: '1' } },
  'tools/list': { tools: [] },
  ping: {},
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  const result = answers[method]
  if (result) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
  else if (/^(resources|prompts)\\//.test(method)) appendFileSync(process.argv[2], 'asked ' + method + '\\n')
  else if (id === undefined) appendFileSync(process.argv[2], method + '\\n')
  else process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n')
}).on('close', () => process.exit(0))
`
