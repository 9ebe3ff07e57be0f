// Bad input: named with file, line, value and remedy; nothing else stops.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testMessages } from './check-messages.ts'
import { type Answer, Sandbox } from './cli.ts'

test('[A8] a mistyped server name exits 1 and names file, line and what was meant', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write(
    'aicib.config.yaml',
    `integrations:
  enabled: true
  servers:
    github:
      command: npx
      args: [-y, server]
  per_agent:
    cto: [githb]
`,
  )
  const people = await sandbox.run(['list', '--config', file])
  expect(people.code).toBe(1)
  expect(people.stderr).toBe(
    `error: ${file}:8: integrations.per_agent.cto[0] is "githb", which is no known server; did you mean "github"?\n`,
  )
  expect(people.stdout).toContain('github')
  const programs = await sandbox.run(['list', '--json', '--config', file])
  expect(programs.code).toBe(1)
  expect(programs.error).toMatchObject({ code: 'CONFIG_INVALID', hint: 'did you mean "github"?' })
  expect(programs.error.message).toContain(`${file}:8`)
  expect(programs.json.servers.map((row: Answer) => row.name)).toEqual(['github'])
})

test('[A8] every problem is reported at once, each at its line, and the sound servers stay', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write(
    'busbar.yaml',
    `version: 1
servers:
  good: { command: npx }
  typo: { comand: npx, url: "https://example.com/mcp" }
  args: { command: npx, args: 5 }
  type: { url: "https://example.com", type: htpp }
  nothing: { description: neither }
  both: { command: npx, url: "https://example.com" }
  address: { url: "not an address" }
  env: { command: npx, env: { TOKEN: [secret-value] } }
agents:
  cto: { servers: [good, god], approval: sometimes }
  ceo: { servers: [good], energy: { capcity: 5 } }
gatway: { port: 1 }
gateway: { port: 99999 }
lead: cfo
`,
  )
  const result = await sandbox.run(['config', 'check', '--json'])
  expect(result.code).toBe(1)
  const lines = result.json.errors.map((it: Answer) =>
    [it.line, it.path, it.message, it.hint].filter(Boolean).join(' | '),
  )
  expect(lines).toEqual([
    '4 | servers.typo.comand | is not a known key | did you mean "command"?',
    '5 | servers.args.args | is 5; expected a list',
    '6 | servers.type.type | is "htpp"; expected one of stdio, http, sse, websocket, sdk, claudeai-proxy | did you mean "http"?',
    '7 | servers.nothing | needs a command (to start it) or a url (to reach it)',
    '8 | servers.both | has both command and url; a server is one or the other',
    '9 | servers.address.url | is "not an address"; expected an http(s) or ws(s) address',
    '10 | servers.env.env.TOKEN | is a list; expected text',
    '12 | agents.cto.approval | is "sometimes"; expected one of always, writes, destructive, never',
    '12 | agents.cto.servers[1] | is "god", which is no known server | did you mean "good"?',
    '13 | agents.ceo.energy.capcity | is not a known key | did you mean "capacity"?',
    '14 | gatway | is not a known key | did you mean "gateway"?',
    '15 | gateway.port | is 99999; expected at most 65535',
  ])
  expect(result.json.problems.at(-1)).toMatchObject({
    severity: 'warning',
    line: 16,
    path: 'lead',
    hint: 'did you mean "cto"?',
  })
  expect(result.json.errors.every((it: Answer) => it.file === file)).toBe(true)
  expect(result.stdout + result.stderr).not.toContain('secret-value')
  const list = await sandbox.run(['list', '--json'])
  const status = Object.fromEntries(list.json.servers.map((row: Answer) => [row.name, row.status]))
  expect(status).toMatchObject({
    good: 'pending',
    typo: 'failed',
    args: 'failed',
    nothing: 'failed',
    both: 'failed',
  })
})

test('[A8] the integrations format wants command and args', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write(
    'aicib.config.yaml',
    'integrations:\n  servers:\n    a: { command: x }\n    b: { args: [] }\n',
  )
  const result = await sandbox.run(['config', 'check', '--json', '--config', file])
  expect(result.json.errors.map((it: Answer) => [it.line, it.message])).toEqual([
    [3, 'needs args next to its command (an empty list will do)'],
    [4, 'needs a command (to start it) or a url (to reach it)'],
  ])
})

const broken: [string, string, string, RegExp][] = [
  ['half-written YAML', 'busbar.yaml', 'servers:\n  a: {command: npx\n', /busbar\.yaml:\d+: /],
  ['a tab as indentation', 'busbar.yaml', 'servers:\n\ta: 1\n', /busbar\.yaml:2: .*tab/],
  [
    'a key twice',
    'busbar.yaml',
    'servers:\n  a: {command: x}\n  a: {command: y}\n',
    /busbar\.yaml:3: .*twice/,
  ],
  ['half-written JSON', '.mcp.json', '{"mcpServers": {"a": {"command": "x"', /\.mcp\.json:1: .*not closed/],
  [
    'a JSON key twice',
    '.mcp.json',
    '{"mcpServers": {\n"a": {"command": "x"},\n"a": {"command": "y"}}}',
    /\.mcp\.json:3: .*twice/,
  ],
  ['a list instead of a map', 'busbar.yaml', 'servers: 5\n', /busbar\.yaml:1: servers is 5; expected a map/],
  ['text that is no configuration', 'busbar.yaml', 'hello\n', /busbar\.yaml/],
]
for (const [title, name, text, expected] of broken)
  test(`[C3] ${title} is reported and takes no other file down`, async () => {
    const sandbox = new Sandbox()
    sandbox.write(join(sandbox.home, '.config/busbar/config.yaml'), 'servers:\n  mine: { command: npx }\n')
    sandbox.write(name, text)
    const result = await sandbox.run(['list'])
    expect(result.code).toBe(1)
    expect(result.stderr).toMatch(expected)
    expect(result.stdout).toContain('mine')
    expect(sandbox.read(name)).toBe(text)
  })

test('[C3] bytes that are not text, a folder, an absurd depth and an absurd size are reported', async () => {
  const sandbox = new Sandbox()
  writeFileSync(sandbox.path('a.yaml'), Buffer.from([0xff, 0xfe, 0x00]))
  mkdirSync(sandbox.path('b.yaml'))
  sandbox.write('c.json', `{"mcpServers": ${'['.repeat(200_000)}`)
  sandbox.write('d.yaml', `# ${'x'.repeat(5 * 1024 * 1024)}\n`)
  for (const name of ['a.yaml', 'b.yaml', 'c.json', 'd.yaml']) {
    const result = await sandbox.run(['list', '--json', '--config', name])
    expect(result.code, name).toBe(1)
    expect(result.error.message, name).toContain(name)
    expect(result.stderr, name).not.toContain('.js:')
  }
})

test('[C3] a file that may not be read is reported', {
  skip: process.getuid?.() === 0 && false,
}, async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write('busbar.yaml', 'servers: {}\n')
  chmodSync(file, 0)
  chmodSync(sandbox.root, 0o755)
  // Root may read anything, so it asks as somebody else.
  const user = process.getuid?.() === 0 ? { uid: 65534 } : {}
  const result = await sandbox.run(['list', '--json'], user)
  expect(result.code).toBe(1)
  expect(result.error.message).toBe(`${file}: cannot be read (EACCES); check its permissions`)
})

test('[C3] --config of a file that does not exist says so', async () => {
  const result = await new Sandbox().run(['list', '--json', '--config', 'nowhere.yaml'])
  expect(result.code).toBe(1)
  expect(result.error.message).toMatch(/nowhere\.yaml: does not exist \(asked for by --config\)/)
})

test('[C11] names that would be paths or prototypes are refused', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'busbar.json',
    '{"servers": {"../x": {"command":"a"}, "a/b": {"command":"a"}, "__proto__": {"command":"a"}}}',
  )
  const result = await sandbox.run(['list', '--json'])
  expect(result.error.problems).toHaveLength(3)
  for (const problem of result.error.problems)
    expect(problem.message).toMatch(/not a usable name|reserved word/)
  for (const name of ['../x', 'a/b', '__proto__', '', 'x'.repeat(65), 'a b'])
    expect((await sandbox.run(['add', name, '--', 'npx'])).code, name).toBe(1)
})

test('[A3] a missing variable skips that server alone, with exactly one warning that names variable, file and line', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write(
    'busbar.yaml',
    `servers:
  github:
    command: npx
    env:
      GITHUB_TOKEN: "\${GITHUB_TOKEN}"
      AGAIN: "\${GITHUB_TOKEN}"
  files: { command: npx }
agents:
  cto: { servers: [github, files] }
  ceo: { servers: [github] }
`,
  )
  const result = await sandbox.run(['list'])
  expect(result.code).toBe(0)
  expect(result.stderr.match(/GITHUB_TOKEN is not set/g)).toHaveLength(1)
  expect(result.stderr).toContain(`${file}:5: github is skipped`)
  const json = (await sandbox.run(['list', '--json'])).json.servers
  expect(json.map((row: Answer) => [row.name, row.status, row.missing])).toEqual([
    ['github', 'failed', ['GITHUB_TOKEN']],
    ['files', 'pending', undefined],
  ])
  const set = await sandbox.run(['list', '--json'], { env: { GITHUB_TOKEN: 'x' } })
  expect(set.json.servers[0].status).toBe('pending')
  const empty = await sandbox.run(['list', '--json'], { env: { GITHUB_TOKEN: '' } })
  expect(empty.json.servers[0].status).toBe('failed')
})

test('[A3][A14] variables count in sign-in, in Composio and in agents', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'busbar.yaml',
    `servers:
  api: { url: "https://example.com/mcp", auth: { type: api_key, headerName: X-Key, apiKey: "\${API_KEY}" } }
composio: { enabled: true, apiKey: "\${COMPOSIO_KEY}" }
agents:
  cto: { servers: [api], token: "\${CTO_TOKEN}" }
`,
  )
  const { json } = await sandbox.run(['list', '--json'])
  expect(json.servers.map((row: Answer) => [row.name, row.missing])).toEqual([
    ['api', ['API_KEY']],
    ['composio', ['COMPOSIO_KEY']],
  ])
  expect(json.warnings.join('\n')).toMatch(/agents\.cto\.token is left out: CTO_TOKEN is not set/)
})

test('[A0] with the master switch off every command says so and nothing starts', async () => {
  for (const text of [
    'integrations:\n  enabled: false\n  servers:\n    a: { command: npx, args: [] }\n',
    'enabled: false\nservers:\n  a: { command: npx }\n',
  ]) {
    const sandbox = new Sandbox()
    const file = sandbox.write('team.yaml', text)
    for (const args of [
      ['list'],
      ['get', 'a'],
      ['agents', 'list'],
      ['integrations', 'list'],
      ['config', 'check'],
      ['config', 'show'],
    ]) {
      const result = await sandbox.run([...args, '--config', file])
      expect(result.stderr, args.join(' ')).toContain('integrations are off')
    }
    const { json } = await sandbox.run(['list', '--json', '--config', file])
    expect(json.enabled).toBe(false)
    expect(json.servers).toMatchObject([{ name: 'a', status: 'disabled', starts: false }])
  }
})

testMessages([
  ['a mistyped section', 'severs: {}\n', /severs is not a known key; did you mean "servers"/],
  ['a mistyped agents section', 'agnets: {}\n', /agnets is not a known key; did you mean "agents?"/],
  [
    'a mistyped key of integrations',
    'integrations: { servrs: {} }\n',
    /integrations\.servrs is not a known key; did you mean "servers"/,
  ],
  ['integrations as a list', 'integrations: []\n', /integrations is \[\]; expected a map/],
  [
    'a duration',
    'servers: { a: { command: x, timeouts: { connect: 10x } } }\n',
    /timeouts\.connect is "10x"; expected a duration such as/,
  ],
  [
    'a rate',
    'agents: { a: { energy: { recovery: 10/mn } } }\n',
    /recovery is "10\/mn"; expected a rate such as/,
  ],
  [
    'a verdict',
    'servers: { a: { command: x, approval: { "get_*": alow } } }\n',
    /approval\["get_\*"\] is "alow"; expected one of allow, ask, deny; did you mean "allow"/,
  ],
  [
    'a way to sign in',
    'servers: { a: { url: "https://x", auth: { type: apikey } } }\n',
    /auth\.type is "apikey"; expected one of none, api_key, oauth, token_file; did you mean "api_key"/,
  ],
  ['a store', 'store: mysql://x\n', /store is "mysql:\/\/x"; expected sqlite or a postgres:\/\/ address/],
  [
    'names beside another mistake',
    'servers: { linear2: { command: x } }\ndefaults: { servers: [linaer2], approval: z }\n',
    /defaults\.servers\[0\] is "linaer2", which is no known server; did you mean "linear2"/,
  ],
  ['an alias without anchor', 'servers:\n  a: { command: x }\n  b: *missing\n', /busbar\.yaml:3: .*missing/],
])

test('[A8] a pattern that names no server is warned about', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'busbar.yaml',
    'servers: { github: { command: x } }\nagents: { a: { servers: [github], allow: ["githb/x", "git*/y"], deny: ["github/z"] } }\n',
  )
  const result = await sandbox.run(['config', 'check'])
  expect(result.code).toBe(0)
  expect(result.stderr).toMatch(
    /busbar\.yaml:2: agents\.a\.allow\[0\] names "githb", which is no known server; did you mean "github"/,
  )
})

test("[A8] an entry of another tool's file that cannot work is not passed over in silence", async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    '.mcp.json',
    '{"mcpServers": {\n"typo": {"comand": "x"},\n"empty": {},\n"a/b": {"command": "q"}, "a-b": {"command": "q2"}}}',
  )
  const result = await sandbox.run(['list', '--json'])
  expect(result.code).toBe(1)
  expect(result.json.servers.map((row: Answer) => [row.name, row.status, row.line])).toEqual(
    expect.arrayContaining([
      ['typo', 'failed', 2],
      ['empty', 'failed', 3],
      ['a-b-2', 'pending', 4],
      ['a-b', 'pending', 4],
    ]),
  )
  expect(result.error.message).toContain('did you mean "command"')
})

test('[A0] off in one place is off, and a file nobody trusts cannot switch on', async () => {
  const sandbox = new Sandbox()
  sandbox.write(
    'both.yaml',
    'enabled: true\nintegrations:\n  enabled: false\n  servers: { a: { command: x, args: [] } }\n',
  )
  expect((await sandbox.run(['list', '--json', '--config', 'both.yaml'])).json.enabled).toBe(false)
  sandbox.write(
    `${sandbox.home}/.config/busbar/config.yaml`,
    'enabled: false\nservers: { mine: { command: node } }\n',
  )
  sandbox.write('busbar.yaml', 'enabled: true\n')
  expect((await sandbox.run(['list', '--json'])).json.enabled).toBe(false)
  expect((await sandbox.run(['add', 'x', '--', 'y'])).stderr).not.toContain('error')
})

test('what a hostile file costs is bounded', { timeout: 60_000 }, async () => {
  const sandbox = new Sandbox()
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`s${index}`, { command: 5 }]))
  sandbox.write('many.json', JSON.stringify({ mcpServers: many }, null, 1))
  sandbox.write('deep.yaml', `servers: ${'{a: '.repeat(500)}1${'}'.repeat(500)}\n`)
  sandbox.write(
    'letters.json',
    JSON.stringify({ servers: { a: { command: 'x', description: 'a'.repeat(300_000) } } }),
  )
  sandbox.write(
    'open.json',
    JSON.stringify({ servers: { a: { command: 'x', args: ['${A:-'.repeat(40_000)] } } }),
  )
  // Each of these took minutes before it was bounded; what is checked is that they end, and how.
  const listed = await sandbox.run(['list', '--json', '--config', 'many.json'])
  expect(listed.error.problems).toHaveLength(5_000)
  expect((await sandbox.run(['list', '--json', '--config', 'deep.yaml'])).error.message).toContain(
    'nested too deeply',
  )
  expect((await sandbox.run(['list', '--json', '--config', 'open.json'])).code).toBe(0)
  expect((await sandbox.run(['get', 'a', '--json', '--config', 'letters.json'])).json.config.command).toBe(
    'x',
  )
})
