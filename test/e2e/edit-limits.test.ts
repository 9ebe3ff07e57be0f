// What an edit must not do: change more than was meant, write what is broken, or lose what stands elsewhere.

import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Answer, Sandbox } from './cli.ts'

test('[A12] a list shared by an alias loses the name once, and nothing else', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'busbar.yaml',
    'servers:\n  a: { command: x }\n  b: { command: y }\n  c: { command: z }\nagents:\n  one: { servers: &s [a, b, c] }\n  two: { servers: *s }\n',
  )
  expect((await sandbox.run(['remove', 'a'])).code).toBe(0)
  expect(sandbox.read('busbar.yaml')).toContain('one: { servers: &s [b, c] }')
})

test('[A12] an edit that would change another server or agent through an anchor is refused', async () => {
  const sandbox = new Sandbox()
  const text =
    'servers:\n  a: &c\n    command: z\n  d: *c\n  e:\n    <<: *c\nagents:\n  one: { servers: &s [a] }\n  two: { servers: *s }\n'
  sandbox.write('busbar.yaml', text)
  for (const args of [
    ['disable', 'd'],
    ['disable', 'a'],
    ['add', 'n', '--agent', 'two', '--', 'x'],
  ]) {
    const result = await sandbox.run([...args.slice(0, 1), '--json', ...args.slice(1)])
    expect([args, result.code]).toEqual([args, 1])
    expect(result.error.message).toContain('too, which shares the lines')
  }
  expect((await sandbox.run(['disable', 'e'])).code).toBe(0)
  const rows = (await sandbox.run(['list', '--json'])).json.servers
  expect(rows.map((row: Answer) => [row.name, row.enabled])).toEqual(
    expect.arrayContaining([
      ['a', true],
      ['d', true],
      ['e', false],
    ]),
  )
})

test('[A12] an agent gets a server where its list stands', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    join(sandbox.home, '.config/busbar/config.yaml'),
    'servers: { a: { command: x } }\nagents: { cto: { servers: [a] } }\n',
  )
  await sandbox.run(['add', 'docs', '--agent', 'cto', '--', 'y'])
  const [agent] = (await sandbox.run(['agents', 'list', '--json'])).json.agents
  expect(agent.servers).toEqual(['a', 'docs'])
})

test('a file that is something else altogether is not written to', async () => {
  const sandbox = new Sandbox()
  const text = '{"name": "app", "dependencies": {}}\n'
  sandbox.write('package.json', text)
  const result = await sandbox.run(['add', 'foo', '--json', '--config', 'package.json', '--', 'x'])
  expect(result.code).toBe(1)
  expect(sandbox.read('package.json')).toBe(text)
})

test('what would be broken at once is not added', async () => {
  const sandbox = new Sandbox()
  for (const url of ['http://', 'foo://h', 'https://h:99999/', 'localhost:3000'])
    expect([url, (await sandbox.run(['add', 'x', url])).code]).toEqual([url, 1])
  expect((await sandbox.run(['add-json', 'x', '{"url":"htps://x"}'])).code).toBe(1)
  expect(sandbox.exists('busbar.yaml')).toBe(false)
})

test('[A14] Composio is switched in its own section', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', 'composio: { enabled: true, apiKey: "${CK}" } # ours\n')
  expect((await sandbox.run(['disable', 'composio'])).code).toBe(0)
  expect(sandbox.read('busbar.yaml')).toBe('composio: { enabled: false, apiKey: "${CK}" } # ours\n')
})

test('[A12] agents can stand in every format of ours', async () => {
  const sandbox = new Sandbox()
  sandbox.write('mcp-servers.json', '{"servers": [{"id": "a", "name": "a", "command": "x", "args": []}]}')
  await sandbox.run(['agents', 'add', 'z', '--server', 'a'])
  expect((await sandbox.run(['agents', 'list', '--json'])).json.agents).toMatchObject([
    { name: 'z', servers: ['a'] },
  ])
})

test('[A12] an agent that falls back to the default servers is named', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'busbar.yaml',
    'servers: { a: { command: x }, b: { command: y } }\nagents: { c: { servers: [a] } }\ndefaults: { servers: [b] }\n',
  )
  expect((await sandbox.run(['remove', 'a'])).stderr).toContain('c has no servers of its own any more')
})

test('a folder that cannot be written to is said, not a crash', async () => {
  const sandbox = new Sandbox()
  chmodSync(sandbox.root, 0o755)
  chmodSync(sandbox.project, 0o555)
  const user = process.getuid?.() === 0 ? { uid: 65534 } : {}
  const result = await sandbox.run(['add', 'x', '--json', '--', 'y'], {
    ...user,
    env: { BUSBAR_HOME: '/tmp/busbar-nobody-home' },
  })
  expect(result.error).toMatchObject({ code: 'CONFIG_EDIT', message: expect.stringContaining('EACCES') })
})

test('[A12] an agent and its server are written together or not at all', async () => {
  const sandbox = new Sandbox()
  const text = 'servers: { g: { command: git } }\nagents:\n  a: { servers: &l [g] }\n  b: { servers: *l }\n'
  sandbox.write('busbar.yaml', text)
  expect((await sandbox.run(['add', 'n', '--agent', 'a', '--', 'node'])).code).toBe(1)
  expect(sandbox.read('busbar.yaml')).toBe(text)
})

test('[C3] a server of another tool with an odd name can be switched', async () => {
  const sandbox = new Sandbox()
  sandbox.write('.mcp.json', '{"mcpServers": {"my server": {"command": "x"}}}')
  for (const [word, enabled] of [
    ['disable', false],
    ['enable', true],
  ] as const) {
    expect((await sandbox.run([word, 'my server'])).code).toBe(0)
    expect((await sandbox.run(['list', '--json'])).json.servers).toMatchObject([
      { name: 'my server', enabled },
    ])
  }
})

test('[C3] adding an agent does not make another format of a file', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'mcp-servers.json',
    '{"servers": {"e": {"transport": "stdio", "command": "node"}}, "logLevel": "debug"}',
  )
  await sandbox.run(['agents', 'add', 'd', '--server', 'e'])
  await sandbox.run(['add', 'f', '--', 'x'])
  expect((await sandbox.run(['config', 'check'])).code).toBe(0)
  expect(JSON.parse(sandbox.read('mcp-servers.json')).servers.f).toEqual({ transport: 'stdio', command: 'x' })
})

test('[C11] what is typed is trusted also where another file only switches or describes it', async () => {
  const sandbox = new Sandbox()
  await sandbox.run(['add', 'e', '--', 'node', 'a'])
  sandbox.write('.busbar/local.yaml', 'servers: { e: { description: hi, enabled: false } }\n')
  const result = await sandbox.run(['add', 'e', '--force', '--', 'node', 'b'])
  expect(result.stdout).toContain('It is switched off')
  expect((await sandbox.run(['list', '--json'])).json.servers).toMatchObject([
    { name: 'e', trusted: true, enabled: false },
  ])
})

test('[A8] names of variables and headers, and header values, are checked', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'busbar.yaml',
    'servers:\n  a: { command: x, env: { "B=C": d } }\n  b: { url: "https://x", headers: { "X Y": z } }\n  c: { url: "https://x", headers: { X: "a\\nb" } }\n',
  )
  const { json } = await sandbox.run(['config', 'check', '--json'])
  expect(json.errors.map((it: Answer) => it.line)).toEqual([2, 3, 4])
})

test('[A12] remove takes along what only adjusts the server', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', 'servers: { p: { command: x }, q: { command: y } }\n')
  sandbox.write('.busbar/local.yaml', 'servers: { p: { enabled: false } }\n')
  expect((await sandbox.run(['remove', 'p'])).code).toBe(0)
  const after = await sandbox.run(['list', '--json'])
  expect([after.code, after.json.servers.map((row: Answer) => row.name)]).toEqual([0, ['q']])
})
