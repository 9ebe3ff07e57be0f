// The command line itself: help, exit codes, pipes, completion, doctor.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { type Answer, BINARY, Sandbox } from './cli.ts'

const COMMANDS = [
  'up',
  'tools',
  'call',
  'resources',
  'read',
  'prompts',
  'restart',
  'add',
  'add-json',
  'import',
  'connect',
  'list',
  'get',
  'remove',
  'enable',
  'disable',
  'trust',
  'agents',
  'integrations',
  'config',
  'doctor',
  'completion',
]
const BELOW = {
  agents: ['list', 'add', 'remove'],
  integrations: ['list', 'add', 'remove'],
  config: ['path', 'show', 'check', 'schema'],
}

test('help names every command, and every command has help with an example', async () => {
  const sandbox = new Sandbox()
  for (const args of [[], ['--help'], ['help'], ['-h']]) {
    const { code, stdout } = await sandbox.run(args)
    expect(code).toBe(0)
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'))
  }
  const leaves = COMMANDS.flatMap((name) =>
    name in BELOW ? BELOW[name as keyof typeof BELOW].map((sub) => [name, sub]) : [[name]],
  )
  await Promise.all(
    leaves.map(async (words) => {
      const { code, stdout } = await sandbox.run([...words, '--help'])
      expect([words, code]).toEqual([words, 0])
      expect(stdout).toContain(`Usage: busbar ${words.join(' ')}`)
      expect(stdout).toMatch(/Examples?:\n {2}(?:busbar|pbpaste)/)
      expect(stdout).toContain('--json')
    }),
  )
})

test('the version is the package’s', async () => {
  const { version } = JSON.parse(
    execFileSync('cat', [new URL('../../package.json', import.meta.url).pathname], { encoding: 'utf8' }),
  )
  for (const flag of ['--version', '-V'])
    expect((await new Sandbox().run([flag])).stdout).toBe(`${version}\n`)
})

const wrong: [string[], RegExp][] = [
  [['lst'], /unknown command "lst".*\n.*did you mean: busbar list/],
  [['nonsense'], /run: busbar --help/],
  [['list', '--jsn'], /has no option --jsn.*\n.*did you mean --json/],
  [['list', 'extra'], /takes no "extra"/],
  [['get'], /needs <name>/],
  [['agents', 'lst'], /did you mean: busbar agents list/],
  [['list', '--config'], /--config/],
  [['completion', 'tcsh'], /bash, zsh or fish/],
  [['get', 'nothing'], /no server is called "nothing"/],
  [['agents', 'remove', 'nobody'], /no agent is called "nobody"/],
  [['agents', 'add', 'x', '--server', 'githb'], /did you mean "github"/],
  [['integrations', 'add', 'strpe'], /did you mean "stripe"/],
]
for (const [args, expected] of wrong)
  test(`busbar ${args.join(' ')} exits 1 and says what to do`, async () => {
    const result = await new Sandbox().run(args)
    expect(result.code).toBe(1)
    expect(result.stdout).toBe('')
    expect(result.stderr).toMatch(expected)
    const json = await new Sandbox().run([...args.slice(0, 1), '--json', ...args.slice(1)])
    expect(json.code).toBe(1)
    expect(json.stderr.trim().split('\n')).toHaveLength(1)
    expect(json.error).toMatchObject({ code: expect.any(String), message: expect.any(String) })
  })

test('global options may stand before the command', async () => {
  const sandbox = new Sandbox()
  sandbox.write('x.yaml', 'servers: { a: { command: x } }\n')
  const result = await sandbox.run(['--json', '--config', 'x.yaml', 'list'])
  expect(result.json.servers).toHaveLength(1)
  expect((await sandbox.run(['--json', 'agents', 'list'])).json.agents).toEqual([])
})

test('stdout carries the answer alone, and colour only where asked for', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', 'servers: { a: { command: x, env: { K: "${NOPE}" } } }\n')
  const plain = await sandbox.run(['list'])
  expect(plain.stdout).not.toContain('warning')
  expect(plain.stdout + plain.stderr).not.toContain('\u001b')
  expect((await sandbox.run(['list'], { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001b[')
  expect((await sandbox.run(['list'], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout).not.toContain(
    '\u001b[',
  )
})

test('a reader that stops early is no error', async () => {
  const sandbox = new Sandbox()
  const names = Array.from({ length: 2000 }, (_, index) => `  s${index}: { command: x }`).join('\n')
  sandbox.write('busbar.yaml', `servers:\n${names}\n`)
  const child = spawn('sh', ['-c', `"${process.execPath}" "${BINARY}" list --json | head -1`], {
    cwd: sandbox.project,
    env: sandbox.env(),
  })
  let out = ''
  let errors = ''
  for await (const chunk of child.stdout) out += chunk
  for await (const chunk of child.stderr) errors += chunk
  expect(out).toMatch(/^\{\n/)
  expect(errors).toBe('')
})

test('text from a file cannot act on the terminal', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    '.mcp.json',
    JSON.stringify({
      mcpServers: {
        'a\u202eb': { command: 'x' },
        ok: { command: '\u001b]0;title\u0007', description: '\u001b[31m' },
      },
    }),
  )
  for (const args of [['list'], ['get', 'ok'], ['config', 'show'], ['trust'], ['doctor']]) {
    const { stdout, stderr } = await sandbox.run(args)
    for (const letter of ['\u001b', '\u0007', '\u202e'])
      expect((stdout + stderr).includes(letter)).toBe(false)
  }
})

test('[A7] config schema is a JSON Schema that knows the format', async () => {
  const schema = (await new Sandbox().run(['config', 'schema'])).json
  expect(schema.$schema).toContain('json-schema.org')
  expect(Object.keys(schema.properties)).toEqual(
    expect.arrayContaining([
      'version',
      'servers',
      'agents',
      'defaults',
      'gateway',
      'steward',
      'store',
      'extends',
    ]),
  )
  expect(schema.properties.servers.additionalProperties.properties.command.description).toContain(
    'without a shell',
  )
  expect(schema.additionalProperties).toBe(false)
})

test('config path says where things are looked for', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', 'servers: {}\n')
  const { json } = await sandbox.run(['config', 'path', '--json'])
  expect(json.sources.at(-1)).toMatchObject({ scope: 'managed', file: '/etc/busbar/managed.yaml' })
  expect(json.sources.find((it: Answer) => it.state === 'read').file).toBe(sandbox.path('busbar.yaml'))
  expect(json.writes.local).toBe(sandbox.path('.busbar/local.yaml'))
})

test('BUSBAR_HOME moves everything of ours', async () => {
  const sandbox = new Sandbox()
  const env = { BUSBAR_HOME: sandbox.path('own') }
  await sandbox.run(['add', 'a', '-s', 'user', '--', 'x'], { env })
  sandbox.write('busbar.yaml', 'servers: { b: { command: x } }\n')
  await sandbox.run(['trust', '--yes'], { env })
  expect(sandbox.exists('own/config.yaml')).toBe(true)
  expect(sandbox.exists('own/state/trust.json')).toBe(true)
})

for (const shell of ['bash', 'zsh', 'fish'])
  test(`completion for ${shell} is a script that asks Busbar`, async () => {
    expect((await new Sandbox().run(['completion', shell])).stdout).toContain('busbar completion words')
  })

test('completion offers commands, then names and options', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', 'servers: { files: { command: x } }\nagents: { cto: {} }\n')
  const words = async (...args: string[]) =>
    (await sandbox.run(['completion', 'words', ...args])).stdout.split('\n')
  expect(await words()).toContain('integrations')
  expect(await words('get')).toContain('files')
  expect(await words('agents', 'remove')).toContain('cto')
  expect(await words('integrations', 'add')).toContain('stripe')
  expect(await words('import')).toContain('cursor')
  expect(await words('--', 'add', 'x', '-s')).toEqual(['project', 'user', 'local', ''])
  expect(await words('--', 'add', 'x', '--agent')).toEqual(['cto', ''])
  sandbox.write('other.yaml', 'servers: { elsewhere: { command: x } }\n')
  expect(await words('--', '--config', 'other.yaml', 'get')).toContain('elsewhere')
  expect(await words('--', '--config')).toEqual([''])
  expect(await words('add')).toContain('--transport')
})

test('completion works in a real bash', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', 'servers: { filesystem: { command: x } }\n')
  sandbox.write('bin/busbar', `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`, 0o755)
  const script = `eval "$(busbar completion bash)"; COMP_WORDS=(busbar get file); COMP_CWORD=2; _busbar; echo "\${COMPREPLY[@]}"`
  const out = execFileSync('bash', ['-c', script], {
    cwd: sandbox.project,
    env: sandbox.env({ PATH: `${sandbox.path('bin')}:${process.env['PATH']}` }),
    encoding: 'utf8',
  })
  expect(out).toBe('filesystem\n')
})

test('doctor says of a file that is broken what is wrong with it, and not that there is none', async () => {
  const sandbox = new Sandbox()
  sandbox.write('team.yaml', 'servers: [')
  const { code, stdout } = await sandbox.run(['doctor', '--no-start', '--config', 'team.yaml'])
  expect([code, stdout]).toEqual([1, expect.stringContaining('team.yaml:1')])
  expect(stdout).not.toContain('no configuration file was found')
})

test('doctor names cause and remedy, and exits 1 when something is wrong', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'busbar.yaml',
    'servers:\n  gone: { command: no-such-program }\n  latest: { command: npx, args: [-y, pkg] }\n  key: { command: npx, args: [-y, pkg@1.0.0], env: { API_TOKEN: ghp_abcdefghijklmnopqrstuvwx } }\n  var: { command: npx, args: [-y, pkg@1.0.0, "${NOPE}"] }\nagents:\n  x: { servers: [gone, latest, key] }\n',
  )
  const { code, json, stdout } = await sandbox.run(['doctor', '--json'])
  expect(code).toBe(1)
  const by = (check: string) => json.findings.filter((it: Answer) => it.check === check)
  expect(by('command')).toMatchObject([{ severity: 'error', server: 'gone' }])
  expect(by('hazard')[0].message).toContain('not pinned')
  expect(by('secrets')[0].fix).toContain('chmod 600')
  expect(by('variables')[0].fix).toContain('export NOPE=')
  expect(by('use')[0].server).toBe('var')
  expect(by('trust')[0].fix).toBe('busbar trust')
  expect(stdout).not.toContain('ghp_abc')
  const fixed = await sandbox.run(['doctor', '--fix', '--json'])
  expect(fixed.json.fixed.map((it: Answer) => it.check)).toEqual(['secrets'])
  expect((await sandbox.run(['doctor'])).stdout).toMatch(/1 error, \d warnings\./)
})

test('doctor --trust starts what it trusts, and what it trusted stays so', async () => {
  const sandbox = new Sandbox()
  const servers = { hangs: { ...serverCommand('hanging'), timeouts: { connect: '300ms' } } }
  sandbox.write('other.yaml', JSON.stringify({ servers, agents: { x: { servers: ['hangs'] } } }))
  const { code, json } = await sandbox.run(['doctor', '--config', 'other.yaml', '--trust', '--json'])
  const wrong = json.findings.filter((it: Answer) => it.severity === 'error' && it.server === 'hangs')
  expect([code, json.ok, wrong.length]).toEqual([4, false, 1])
  const checks = json.findings.map((it: Answer) => it.check)
  expect(checks).not.toContain('trust')
  const { json: listed } = await sandbox.run(['list', '--config', 'other.yaml', '--json'])
  expect(listed.servers.map((it: Answer) => it.trusted)).toEqual([true])
})

test('Ctrl-C while waiting for a lock ends at once and leaves nothing behind', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', 'servers: {}\n')
  // This very process owns the lock, so it is not stale.
  sandbox.write('.busbar.yaml.lock', `${process.pid} `)
  const child = sandbox.start(['add', 'a', '--', 'x'])
  const [said] = await once(child.stderr ?? child, 'data')
  expect(String(said)).toContain(`waiting for process ${process.pid}`)
  child.kill('SIGINT')
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect(code).toBe(130)
  expect(sandbox.read('.busbar.yaml.lock')).toBe(`${process.pid} `)
  expect(sandbox.read('busbar.yaml')).toBe('servers: {}\n')
})

test('a lock whose owner is gone does not stop anybody', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', 'servers: {}\n')
  sandbox.write('.busbar.yaml.lock', '999999999 1')
  expect((await sandbox.run(['add', 'a', '--', 'x'])).code).toBe(0)
  expect(sandbox.exists('.busbar.yaml.lock')).toBe(false)
})

test('[C11] completion runs nothing that stands in a file', () => {
  const sandbox = new Sandbox()
  sandbox.write(
    '.mcp.json',
    JSON.stringify({
      mcpServers: {
        '$(touch canary)': { command: 'q' },
        '`touch canary`': { command: 'q' },
        fine: { command: 'q' },
      },
    }),
  )
  sandbox.write('bin/busbar', `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`, 0o755)
  const script = `eval "$(busbar completion bash)"; COMP_WORDS=(busbar get ''); COMP_CWORD=2; _busbar; printf '%s\\n' "\${COMPREPLY[@]}"`
  const out = execFileSync('bash', ['-c', script], {
    cwd: sandbox.project,
    env: sandbox.env({ PATH: `${sandbox.path('bin')}:${process.env['PATH']}` }),
    encoding: 'utf8',
  })
  expect(out).toContain('fine')
  expect(out).not.toContain('touch')
  expect(sandbox.exists('canary')).toBe(false)
})

test('global options may stand anywhere', async () => {
  const sandbox = new Sandbox()
  sandbox.write('f.yaml', 'servers: { a: { command: x } }\nagents: { c: {} }\n')
  expect((await sandbox.run(['agents', '--json', '--config', 'f.yaml', 'list'])).json.agents).toHaveLength(1)
  expect((await sandbox.run(['config', '--config', 'f.yaml', 'check'])).stdout).toContain('no errors')
  expect((await sandbox.run(['config', '--json'])).code).toBe(1)
})

test('an answer that cannot be written is said', async () => {
  const sandbox = new Sandbox()
  const child = spawn('sh', ['-c', `"${process.execPath}" "${BINARY}" list > /dev/full`], {
    cwd: sandbox.project,
    env: sandbox.env(),
  })
  let errors = ''
  for await (const chunk of child.stderr) errors += chunk
  expect(errors).toBe('error: the answer could not be written (ENOSPC)\n')
})
