// Changing files: what a person wrote stays, nothing is lost, nothing is written where it does not belong.

import { lstatSync, readdirSync, statSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Answer, Sandbox } from './cli.ts'

const SEED = `# Our company. Hands off the first line!
company: { name: "Shop", template: saas }   # not yours

integrations:
  enabled: true        # master switch
  servers:
    # the code host
    github:
      command: "npx"
      args: ["-y", "@modelcontextprotocol/server-github"]
      env:
        GITHUB_TOKEN: "\${GITHUB_TOKEN}"

    linear:   # tickets
      command: npx
      args:
        - -y
        - linear-mcp      # pinned later
  per_agent:
    cto: ["github", "linear"]  # both
    ceo:
      - notion   # docs
      - github
  default_servers: [github]

agents:
  cto:
    enabled: true
    model: opus
    mcp_servers: ["github"]
    workers:
      - backend:
          model: sonnet
          mcp_servers: [github, linear]   # backend
      - frontend: { mcp_servers: [github] }
# the end
`

/** Lines of `before` that are not in `after`, by their longest common sequence: what an edit took away. */
function lost(before: string, after: string): string[] {
  const old = before.split('\n')
  const now = after.split('\n')
  const common = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0))
  const at = (row: number, column: number) => common[row]?.[column] ?? 0
  for (let row = old.length - 1; row >= 0; row--)
    for (let column = now.length - 1; column >= 0; column--) {
      const same = old[row] === now[column]
      const best = same ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
      common[row]?.splice(column, 1, best)
    }
  const gone: string[] = []
  for (let row = 0, column = 0; row < old.length; ) {
    if (old[row] === now[column]) {
      row++
      column++
    } else if (column < now.length && at(row, column + 1) >= at(row + 1, column)) column++
    else gone.push(old[row++] ?? '')
  }
  return gone
}

test('[A12] integrations add and remove keep every other byte of a commented YAML', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write('aicib.config.yaml', SEED)
  const added = await sandbox.run(['integrations', 'add', 'stripe', '--json'])
  expect(added.code).toBe(0)
  const withStripe = sandbox.read(file)
  expect(lost(SEED, withStripe)).toEqual([])
  const listed = (await sandbox.run(['list', '--json'])).json.servers.find(
    (row: Answer) => row.name === 'stripe',
  )
  expect(listed).toMatchObject({
    transport: 'stdio',
    category: 'finance',
    trusted: true,
    missing: ['STRIPE_SECRET_KEY'],
  })
  const entry = (await sandbox.run(['get', 'stripe', '--json'])).json.config
  expect(entry.args.at(-1)).toMatch(/@stripe\/mcp@\d+\.\d+\.\d+/)
  const removed = await sandbox.run(['integrations', 'remove', 'github', '--json'])
  expect(removed.json).toEqual({ removed: 'github', files: [file] })
  const text = sandbox.read(file)
  expect(text).not.toMatch(/github(?!["']?\])/i)
  expect(lost(withStripe, text)).toEqual([
    '    github:',
    '      command: "npx"',
    '      args: ["-y", "@modelcontextprotocol/server-github"]',
    '      env:',
    '        GITHUB_TOKEN: "${GITHUB_TOKEN}"',
    '    cto: ["github", "linear"]  # both',
    '      - github',
    '  default_servers: [github]',
    '    mcp_servers: ["github"]',
    '          mcp_servers: [github, linear]   # backend',
    '      - frontend: { mcp_servers: [github] }',
  ])
  for (const comment of [
    '# the code host',
    '# both',
    '# docs',
    '# backend',
    '# tickets',
    '# pinned later',
    '# the end',
  ])
    expect(text).toContain(comment)
  const agents = (await sandbox.run(['agents', 'list', '--json'])).json.agents
  expect(Object.fromEntries(agents.map((it: Answer) => [it.name, it.servers]))).toEqual({
    cto: ['linear'],
    ceo: ['notion'],
    'cto/backend': ['linear'],
    'cto/frontend': [],
  })
})

test('[A9] add pins the version the catalog fixes', async () => {
  const sandbox = new Sandbox()
  await sandbox.run(['integrations', 'add', 'playwright'])
  expect((await sandbox.run(['get', 'playwright', '--json'])).json.config.args.at(-1)).toBe(
    '@playwright/mcp@0.0.68',
  )
})

test('[A9] without a registry the newest known version is pinned, and that is said', async () => {
  const sandbox = new Sandbox()
  const result = await sandbox.run(['integrations', 'add', 'github'], { env: { PATH: '/nonexistent' } })
  expect(result.code).toBe(0)
  expect(result.stderr).toContain('the npm registry did not answer')
  expect(sandbox.read('busbar.yaml')).toMatch(/server-github@\d{4}\.\d+\.\d+/)
})

test('[A12] add, get, remove in a new project', async () => {
  const sandbox = new Sandbox()
  const added = await sandbox.run([
    'add',
    'files',
    '-e',
    'A=1',
    '-e',
    'TOKEN',
    '--description',
    'My files',
    '--',
    'npx',
    '-y',
    'pkg',
    '--flag',
  ])
  expect(added.code).toBe(0)
  expect(added.stdout).toContain('Added files.')
  expect(sandbox.read('busbar.yaml')).toBe(`servers:
  files:
    command: npx
    args:
      - -y
      - pkg
      - --flag
    env:
      A: "1"
      TOKEN: \${TOKEN}
    description: My files
`)
  const again = await sandbox.run(['add', 'files', '--json', '--', 'npx'])
  expect(again.code).toBe(1)
  expect(again.error).toMatchObject({ code: 'SERVER_EXISTS', server: 'files' })
  expect(again.error.hint).toContain('--force')
  expect((await sandbox.run(['add', 'files', '--force', '--', 'node', 'x.js'])).code).toBe(0)
  expect((await sandbox.run(['get', 'files', '--json'])).json.config).toEqual({
    command: 'node',
    args: ['x.js'],
  })
  expect((await sandbox.run(['remove', 'files'])).code).toBe(0)
  expect(sandbox.read('busbar.yaml')).toBe('servers: {}\n')
  const gone = await sandbox.run(['remove', 'files', '--json'])
  expect(gone.code).toBe(1)
  expect(gone.error.code).toBe('SERVER_UNKNOWN')
})

test('[A12] add understands URLs, headers, transports and agents', async () => {
  const sandbox = new Sandbox()
  await sandbox.run(['agents', 'add', 'cto', '--model', 'opus'])
  await sandbox.run(['add', 'docs', 'https://example.com/mcp', '-H', 'X-Key: ${KEY}', '--agent', 'cto'])
  await sandbox.run(['add', 'old', '-t', 'sse', 'https://example.com/sse'])
  await sandbox.run(['add', 'live', 'wss://example.com/mcp'])
  const { json } = await sandbox.run(['list', '--json'])
  expect(json.servers.map((row: Answer) => [row.name, row.transport, row.agents])).toEqual([
    ['docs', 'http', ['cto']],
    ['old', 'sse', []],
    ['live', 'websocket', []],
  ])
  for (const args of [
    ['add', 'x', '--agent', 'nobody', '--', 'npx'],
    ['add', 'x', '-t', 'pigeon', 'https://example.com'],
    ['add', 'x', '-t', 'stdio', 'https://example.com'],
    ['add', 'x', 'https://example.com', 'more'],
    ['add', 'x', '-H', 'broken', 'https://example.com'],
    ['add', 'x', '-e', '1=2', '--', 'npx'],
    ['add', 'x', 'npx -y pkg'],
    ['add', 'x'],
    ['add', 'x', '-y', 'npx'],
    ['add', 'x', '-s', 'everywhere', '--', 'npx'],
  ]) {
    const before = sandbox.read('busbar.yaml')
    const result = await sandbox.run([...args.slice(0, 2), '--json', ...args.slice(2)])
    expect(result.code, args.join(' ')).toBe(1)
    expect(result.error.message.length, args.join(' ')).toBeGreaterThan(10)
    expect(sandbox.read('busbar.yaml')).toBe(before)
  }
})

test('[C11] a value that looks like a secret is warned about, with the better way', async () => {
  const sandbox = new Sandbox()
  const result = await sandbox.run(['add', 'x', '-e', 'API_TOKEN=ghp_abcdefghijklmnopqrstuv', '--', 'npx'])
  expect(result.code).toBe(0)
  expect(result.stderr).toContain('looks like a secret')
  expect(result.stderr).toContain('-e API_TOKEN')
  expect(result.stderr).toContain("busbar secrets set API_TOKEN and write -e 'API_TOKEN=${secret:API_TOKEN}'")
  expect(result.stderr + result.stdout).not.toContain('ghp_abcdefghij')
  expect((await sandbox.run(['get', 'x'])).stdout).not.toContain('ghp_abcdefghij')
})

test('[C3] add-json takes what other tools print', async () => {
  const sandbox = new Sandbox()
  await sandbox.run(['add-json', 'a', '{"type":"streamable-http","url":"https://example.com/mcp"}'])
  await sandbox.run([
    'add-json',
    'b',
    '{"mcpServers":{"b":{"command":["npx","-y","b"],"environment":{"K":"v"}}}}',
  ])
  await sandbox.run(['add-json', 'c', '-'], { input: '{"serverUrl": "https://example.com/c"}' })
  const shown = (await sandbox.run(['config', 'show', '--json'])).json.config.servers
  expect(shown.a).toMatchObject({ url: 'https://example.com/mcp', type: 'http' })
  expect(shown.b).toMatchObject({ command: 'npx', args: ['-y', 'b'] })
  expect(shown.c).toMatchObject({ url: 'https://example.com/c' })
  for (const text of ['{', '[]', '{"comand":"x"}', '{"command":5}', '5'])
    expect((await sandbox.run(['add-json', 'd', text, '--json'])).error.code, text).toBe('USAGE')
})

test('[C3] a new native file goes on reading .mcp.json, which is never rewritten', async () => {
  const sandbox = new Sandbox()
  const theirs = '{"mcpServers": {"m": {"command": "x"}}}'
  sandbox.write('.mcp.json', theirs)
  await sandbox.run(['add', 'n', '--', 'npx'])
  expect(sandbox.read('busbar.yaml')).toContain('extends: [".mcp.json"]')
  const names = (await sandbox.run(['list', '--json'])).json.servers.map((row: Answer) => row.name)
  expect(names.sort()).toEqual(['m', 'n'])
  const removed = await sandbox.run(['remove', 'm', '--json'])
  expect(removed.code).toBe(1)
  expect(removed.error.hint).toContain('busbar disable m')
  expect((await sandbox.run(['disable', 'm'])).code).toBe(0)
  const row = (await sandbox.run(['list', '--json'])).json.servers.find((it: Answer) => it.name === 'm')
  expect(row.status).toBe('disabled')
  expect(sandbox.read('.mcp.json')).toBe(theirs)
  const direct = await sandbox.run(['add', 'x', '--json', '--config', '.mcp.json', '--', 'npx'])
  expect(direct.code).toBe(1)
  expect(direct.error.message).toContain('belongs to another tool')
  expect(sandbox.read('.mcp.json')).toBe(theirs)
})

test('[D6] the seed formats are edited in place, each in its own words', async () => {
  const sandbox = new Sandbox()
  const list = sandbox.write(
    'mcp-servers.json',
    '{\n  "servers": [\n    {"id": "a", "name": "a", "command": "x", "args": [], "enabled": true} // first\n  ],\n  "subAgentEnabled": true\n}\n',
  )
  expect((await sandbox.run(['add', 'b', '--', 'npx', 'pkg'])).code).toBe(0)
  expect((await sandbox.run(['disable', 'a'])).code).toBe(0)
  const text = sandbox.read(list)
  expect(text).toContain('// first')
  expect(sandbox.exists('busbar.yaml')).toBe(false)
  const rows = (await sandbox.run(['list', '--json'])).json.servers
  expect(rows.map((row: Answer) => [row.name, row.status])).toEqual([
    ['a', 'disabled'],
    ['b', 'pending'],
  ])
  unlinkSync(list)
  sandbox.write('.beans/mcp.json', '{"servers": {}}')
  await sandbox.run(['add', 'c', 'https://example.com/mcp'])
  expect(JSON.parse(sandbox.read('.beans/mcp.json'))).toEqual({
    servers: { c: { transport: 'http', url: 'https://example.com/mcp' } },
  })
})

test('TOML is read, and asked to change it answers with the lines', async () => {
  const sandbox = new Sandbox()
  const text = '[mcp_servers.a]\ncommand = "x"\n'
  sandbox.write('config.toml', text)
  const result = await sandbox.run([
    'add',
    'b',
    '--json',
    '--config',
    'config.toml',
    '--',
    'npx',
    '-y',
    'pkg',
  ])
  expect(result.code).toBe(1)
  expect(result.error.lines).toEqual(['[mcp_servers.b]', 'command = "npx"', 'args = ["-y", "pkg"]'])
  expect(sandbox.read('config.toml')).toBe(text)
})

test('[A12] remove in several files asks which, and keeps what a deny list says', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'busbar.yaml',
    'servers:\n  a: { command: p }\nagents:\n  x: { servers: [a], allow: ["a/*"], deny: ["a/delete_*"] }\n',
  )
  sandbox.write(join(sandbox.home, '.config/busbar/config.yaml'), 'servers:\n  a: { command: u }\n')
  const unclear = await sandbox.run(['remove', 'a', '--json'])
  expect(unclear.code).toBe(1)
  expect(unclear.error.hint).toContain('-s project')
  expect((await sandbox.run(['remove', 'a', '-s', 'user'])).code).toBe(0)
  expect(sandbox.read('busbar.yaml')).toContain('servers: [a]')
  expect((await sandbox.run(['remove', 'a'])).code).toBe(0)
  expect(sandbox.read('busbar.yaml')).toBe(
    'servers: {}\nagents:\n  x: { servers: [], allow: [], deny: ["a/delete_*"] }\n',
  )
})

test('[C11] an edit never follows a link out of the project', async () => {
  const sandbox = new Sandbox()
  const outside = sandbox.write(join(sandbox.root, 'profile.yaml'), 'export: 1\n')
  symlinkSync(outside, sandbox.path('busbar.yaml'))
  const result = await sandbox.run(['add', 'x', '--json', '--', 'npx'])
  expect(result.code).toBe(1)
  expect(result.error.code).toBe('CONFIG_EDIT')
  expect(sandbox.read(outside)).toBe('export: 1\n')
  unlinkSync(sandbox.path('busbar.yaml'))
  symlinkSync(join(sandbox.root), sandbox.path('.busbar'))
  expect((await sandbox.run(['add', 'x', '-s', 'local', '--', 'npx'])).code).toBe(1)
  expect(readdirSync(sandbox.root).sort()).toEqual(['home', 'profile.yaml', 'project'])
  unlinkSync(sandbox.path('.busbar'))
  sandbox.write('team/real.yaml', 'servers: {}\n')
  symlinkSync(sandbox.path('team/real.yaml'), sandbox.path('busbar.yaml'))
  expect((await sandbox.run(['add', 'x', '--', 'npx'])).code).toBe(0)
  expect(lstatSync(sandbox.path('busbar.yaml')).isSymbolicLink()).toBe(true)
  expect(sandbox.read('team/real.yaml')).toContain('npx')
})

test('files keep their permissions; a new user file is private', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write('busbar.yaml', 'servers: {}\n', 0o640)
  await sandbox.run(['add', 'a', '--', 'npx'])
  expect(statSync(file).mode & 0o777).toBe(0o640)
  await sandbox.run(['add', 'b', '-s', 'user', '--', 'npx'])
  const own = join(sandbox.home, '.config/busbar/config.yaml')
  expect(statSync(own).mode & 0o777).toBe(0o600)
  await sandbox.run(['add', 'c', '-s', 'local', '--', 'npx'])
  expect(sandbox.read('.busbar/.gitignore')).toBe('*\n')
})

test('50 parallel adds lose nothing', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', '# ours\nservers:\n  first: { command: x } # one\n')
  const names = Array.from({ length: 50 }, (_, index) => `s${index}`)
  const results = await Promise.all(
    names.map((name) => sandbox.run(['add', name, '--json', '--', 'npx', name])),
  )
  expect(results.filter((it) => it.code !== 0).map((it) => it.stderr)).toEqual([])
  const listed = (await sandbox.run(['list', '--json'])).json.servers
  expect(listed.map((row: Answer) => row.name).sort()).toEqual(['first', ...names].sort())
  expect(listed.every((row: Answer) => row.trusted || row.name === 'first')).toBe(true)
  expect(sandbox.read('busbar.yaml')).toContain('first: { command: x } # one')
  expect(readdirSync(sandbox.project)).toEqual(['busbar.yaml'])
})
