// Where configuration comes from, and which wins.

import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Answer, BINARY, Sandbox } from './cli.ts'

const server = (command: string) => `servers:\n  a: { command: ${command} }\n`

async function commandOf(
  sandbox: Sandbox,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<string> {
  const { json } = await sandbox.run(['get', 'a', '--json', ...args], { env })
  return `${json.config.command} (${json.scope})`
}

test('[C3] user < project < local < --mcp-server, and --config stands for the first three', async () => {
  const sandbox = new Sandbox()
  sandbox.write(join(sandbox.home, '.config/busbar/config.yaml'), server('from-user'))
  expect(await commandOf(sandbox)).toBe('from-user (user)')
  sandbox.write('busbar.yaml', server('from-project'))
  expect(await commandOf(sandbox)).toBe('from-project (project)')
  sandbox.write('.busbar/local.yaml', server('from-local'))
  expect(await commandOf(sandbox)).toBe('from-local (local)')
  expect(await commandOf(sandbox, ['--mcp-server', 'a=from-flag x'])).toBe('from-flag (flag)')
  sandbox.write('other.yaml', server('from-config'))
  expect(await commandOf(sandbox, ['--config', 'other.yaml'])).toBe('from-config (project)')
  const { json } = await sandbox.run(['get', 'a', '--json'])
  expect(json.hides).toEqual([`${join(sandbox.home, '.config/busbar/config.yaml')}:2`, 'busbar.yaml:2'])
})

test('[C3] each value knows its file and line', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', 'servers:\n  a:\n    command: npx\n    args: [x]\n')
  sandbox.write('.busbar/local.yaml', 'servers:\n  a:\n    enabled: false\n    env:\n      K: "${K}"\n')
  const { json } = await sandbox.run(['get', 'a', '--json'])
  expect(json.origins).toEqual({
    command: 'busbar.yaml:3',
    args: 'busbar.yaml:4',
    enabled: '.busbar/local.yaml:3',
    'env.K': '.busbar/local.yaml:5',
  })
  const shown = await sandbox.run(['config', 'show', '--json'])
  expect(shown.json.origins['servers.a.enabled']).toBe('.busbar/local.yaml:3')
})

test("[C3] without a native file the seeds' default files and .mcp.json are read, with one they are not", async () => {
  const sandbox = new Sandbox()
  sandbox.write('.mcp.json', '{"mcpServers": {"m": {"command": "x"}}}')
  sandbox.write(
    'mcp-servers.json',
    '{"servers": [{"id": "s", "name": "s", "command": "x", "args": [], "enabled": true}]}',
  )
  sandbox.write('.beans/mcp.json', '{"servers": {"b": {"transport": "stdio", "command": "x"}}}')
  sandbox.write('aicib.config.yaml', 'integrations:\n  servers:\n    i: { command: x, args: [] }\n')
  sandbox.write(
    join(sandbox.home, '.config/beans-agent/mcp.json'),
    '{"servers": {"u": {"transport": "stdio", "command": "x"}}}',
  )
  const names = async () =>
    (await sandbox.run(['list', '--json'])).json.servers.map((row: Answer) => `${row.name} ${row.scope}`)
  expect(await names()).toEqual(['u user', 'm project', 's project', 'b project', 'i project'])
  sandbox.write('busbar.yaml', 'servers: { n: { command: x } }\n')
  expect(await names()).toEqual(['u user', 'n project'])
  sandbox.write(join(sandbox.home, '.config/busbar/config.yaml'), 'servers: { o: { command: x } }\n')
  expect(await names()).toEqual(['o user', 'n project'])
})

test('[D6] MCP_CONFIG_PATH names the file, and the other variables go before it', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write(
    'elsewhere/servers.json',
    '{"servers": [{"id": "e", "name": "e", "command": "x", "args": [], "enabled": true}], "toolApprovalRequired": true, "autoDiscoveryEnabled": false}',
  )
  sandbox.write(
    'mcp-servers.json',
    '{"servers": [{"id": "d", "name": "d", "command": "x", "args": [], "enabled": true}]}',
  )
  const standard = await sandbox.run(['list', '--json'])
  expect(standard.json.servers.map((row: Answer) => row.name)).toEqual(['d'])
  const env = { MCP_CONFIG_PATH: file, MCP_TOOL_APPROVAL: 'false', MCP_AUTO_DISCOVERY: 'true' }
  const shown = await sandbox.run(['config', 'show', '--json'], { env })
  expect(Object.keys(shown.json.config.servers)).toEqual(['e'])
  expect(shown.json.config.defaults.approval).toBe('never')
  expect(shown.json.config.steward.autoDiscovery).toBe(true)
  const absent = await sandbox.run(['list', '--json'], { env: { MCP_CONFIG_PATH: 'nowhere.json' } })
  expect(absent.code).toBe(1)
  expect(absent.error.message).toContain('MCP_CONFIG_PATH')
})

test('[C3] extends reads other files first, of any format, and names what is wrong with them', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    '.vscode/mcp.json',
    '{"servers": {"v": {"type": "stdio", "command": "code", "args": ["${workspaceFolder}"]}}}',
  )
  sandbox.write('base.yaml', 'extends: base2.json\nservers: { a: { command: low }, b: { command: b } }\n')
  sandbox.write('base2.json', '{"mcpServers": {"c": {"command": "c"}}}')
  sandbox.write('busbar.yaml', 'extends: [.vscode/mcp.json, base.yaml]\nservers: { a: { command: high } }\n')
  const list = await sandbox.run(['list', '--json'])
  expect(list.json.servers.map((row: Answer) => row.name).sort()).toEqual(['a', 'b', 'c', 'v'])
  expect(await commandOf(sandbox)).toBe('high (project)')
  sandbox.write('busbar.yaml', 'extends: [nowhere.json, busbar.yaml, 5]\nservers: { a: { command: high } }\n')
  const bad = await sandbox.run(['list', '--json'])
  expect(bad.code).toBe(1)
  expect(
    bad.error.problems.map((it: Answer) => `${it.line} ${it.path} ${it.message.replace(/\/.*\//, '')}`),
  ).toEqual([
    '1 extends[0] is "nowhere.json", and nowhere.json does not exist',
    '1 extends[1] is "busbar.yaml", which extends this file again',
    '1 extends[2] is 5; expected the path of a file',
  ])
  expect(bad.json.servers.map((row: Answer) => row.name)).toEqual(['a'])
})

test('the project is the nearest folder with a file, up to the repository', async () => {
  const sandbox = new Sandbox()
  mkdirSync(sandbox.path('.git'))
  sandbox.write('busbar.yaml', server('root'))
  mkdirSync(sandbox.path('deep/er'), { recursive: true })
  const inside = await sandbox.run(['get', 'a', '--json'], { cwd: sandbox.path('deep/er') })
  expect(inside.json.config.command).toBe('root')
  const outside = new Sandbox()
  outside.write('busbar.yaml', server('root'))
  mkdirSync(outside.path('deep'))
  expect((await outside.run(['list', '--json'], { cwd: outside.path('deep') })).json.servers).toEqual([])
})

test('[B2] what the machine manages cannot be overridden', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'managed.yaml',
    'servers:\n  a: { command: from-managed }\n  b: { enabled: false }\ndefaults: { approval: always }\n',
  )
  sandbox.write(
    'busbar.yaml',
    'servers:\n  a: { command: mine }\n  b: { command: mine }\ndefaults: { approval: never }\n',
  )
  // A mount namespace of its own lets the test have an /etc without touching the machine's.
  const script = `mount -t tmpfs none /etc && mkdir /etc/busbar && cp managed.yaml /etc/busbar/ && exec "$0" "$@"`
  const run = (...args: string[]): Answer =>
    JSON.parse(
      execFileSync(
        'unshare',
        ['--map-root-user', '--mount', 'sh', '-c', script, process.execPath, BINARY, ...args, '--json'],
        {
          cwd: sandbox.project,
          env: sandbox.env(),
          encoding: 'utf8',
        },
      ),
    )
  expect(run('get', 'a')).toMatchObject({
    scope: 'managed',
    config: { command: 'from-managed' },
    trusted: true,
  })
  expect(run('list').servers.map((row: Answer) => [row.name, row.status])).toEqual([
    ['a', 'pending'],
    ['b', 'disabled'],
  ])
  expect(run('config', 'show').config.defaults.approval).toBe('always')
  expect(() => run('disable', 'a')).toThrow(/managed/)
})

test('two files by equivalent names are not passed over in silence', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', server('yaml'))
  sandbox.write('busbar.json', '{"servers": {"a": {"command": "json"}}}')
  const result = await sandbox.run(['list'])
  expect(result.stderr).toContain('busbar.json: is not read, because')
})

test('a link to a file elsewhere is read', async () => {
  const sandbox = new Sandbox()
  sandbox.write('real/team.yaml', server('linked'))
  symlinkSync(sandbox.path('real/team.yaml'), sandbox.path('busbar.yaml'))
  expect(await commandOf(sandbox)).toBe('linked (project)')
})
