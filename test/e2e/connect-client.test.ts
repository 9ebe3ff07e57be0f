// `busbar connect`: our entry in a client's own file, what it opens, and the way back.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { BINARY, Sandbox } from './cli.ts'
import { type Answer, place, until, up, userFile } from './hub.ts'

const plain = serverCommand('plain')
const CLIENTS: readonly (readonly [string, string])[] = [
  ['claude-code', '.claude.json'],
  ['claude-desktop', '.config/Claude/claude_desktop_config.json'],
  ['cursor', '.cursor/mcp.json'],
  ['vscode', '.config/Code/User/mcp.json'],
  ['windsurf', '.codeium/windsurf/mcp_config.json'],
  ['zed', '.config/zed/settings.json'],
  ['codex', '.codex/config.toml'],
  ['gemini', '.gemini/settings.json'],
  ['opencode', '.config/opencode/opencode.json'],
  ['goose', '.config/goose/config.yaml'],
]

/** A home with one server and one agent, in the person's own configuration. */
function home(more: object = {}): Sandbox {
  const sandbox = new Sandbox()
  const agents = { ada: { servers: ['plain'], approval: 'never' } }
  sandbox.write(userFile(sandbox), JSON.stringify({ servers: { plain }, agents, ...more }))
  return sandbox
}

const at = (sandbox: Sandbox, path: string) => join(sandbox.home, path)
const tokenIn = (text: string) => /busbar_[\w-]{43}/.exec(text)?.[0] ?? ''

/** Everything below a folder, as text. */
function everything(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => `${it.name}\n${readFileSync(join(it.parentPath, it.name), 'latin1')}`)
    .join('\n')
}

function initialize(): object {
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
}

/** Runs a command on a terminal and answers its questions as they come; all that was shown. */
async function atTerminal(
  sandbox: Sandbox,
  words: readonly string[],
  answers: readonly (readonly [question: string, answer: string])[],
): Promise<string> {
  const line = `'${process.execPath}' '${BINARY}' ${words.join(' ')}`
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: sandbox.project,
    env: sandbox.env({ TERM: 'dumb' }),
  })
  const ended = once(child, 'close')
  let shown = ''
  child.stdout.on('data', (data) => (shown += data))
  for (const [question, answer] of answers) {
    await until(() => shown.includes(question) || child.exitCode !== null)
    child.stdin.write(`${answer}\n`)
  }
  await ended
  return shown
}

for (const [client, path] of CLIENTS)
  test(`[C11] ${client}: connected, listed, and back byte for byte; the token is in its file alone`, async () => {
    const sandbox = home()
    const file = at(sandbox, path)
    const text = {
      json: '\uFEFF// mine\r\n{\r\n\t"a": [1,], /* two */\r\n}',
      toml: '# mine\r\n[tui]\r\na = 1',
      yaml: '# mine\r\na: [1, 2]   # two\r\n',
    }[path.endsWith('.toml') ? 'toml' : path.endsWith('.yaml') ? 'yaml' : 'json']
    sandbox.write(file, text, 0o640)
    const made = await sandbox.run(['connect', client, '--agent', 'ada', '--yes'])
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('@@')])
    const token = tokenIn(sandbox.read(file))
    expect(token).not.toBe('')
    expect(made.stdout + made.stderr).not.toContain(token.slice(7))
    expect(made.stderr).toContain('••••••')
    expect(everything(at(sandbox, '.local/state'))).not.toContain(token)
    expect(everything(at(sandbox, '.config/busbar'))).not.toContain(token)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    const { json } = await sandbox.run(['connect', '--json'])
    expect(json.clients.find((it: Answer) => it.client === client)).toMatchObject({
      found: true,
      connected: true,
      agent: 'ada',
    })
    expect(json.clients.filter((it: Answer) => it.connected)).toHaveLength(1)
    const undone = await sandbox.run(['connect', client, '--undo', '--yes', '--json'])
    expect(undone.json).toMatchObject({ exact: true, revoked: 1, agent: 'ada' })
    expect(undone.stdout).not.toContain(token)
    expect(sandbox.read(file)).toBe(text)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(readdirSync(at(sandbox, '.local/state/busbar/client-backups'))).toEqual([])
    const { json: left } = await sandbox.run(['agents', 'token', 'ada', '--list', '--json'])
    expect(left.tokens.map((it: Answer) => it.state)).toEqual(['revoked'])
  })

test('[C11] a client that was never here gets its file, for nobody else to read, and loses it again', async () => {
  const sandbox = home()
  const refused = await sandbox.run(['connect', 'codex', '--agent', 'ada'])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--yes')])
  expect(refused.stderr).toContain('was not found here')
  expect(existsSync(at(sandbox, '.codex'))).toBe(false)
  await sandbox.run(['connect', 'codex', '--agent', 'ada', '--yes'])
  const file = at(sandbox, '.codex/config.toml')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect((await sandbox.run(['connect', 'codex', '--undo', '--yes'])).code).toBe(0)
  expect(existsSync(at(sandbox, '.codex'))).toBe(false)
  const again = await sandbox.run(['connect', 'codex', '--undo', '--yes'])
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('not connected')])
})

test('[C11] --dry-run and a missing yes write nothing at all', async () => {
  const sandbox = home()
  const file = sandbox.write(at(sandbox, '.cursor/mcp.json'), '{}')
  for (const words of [['--dry-run'], ['--dry-run', '--yes'], [], ['--json']]) {
    const { code } = await sandbox.run(['connect', 'cursor', '--servers', 'plain', ...words])
    expect(code).toBe(words.includes('--dry-run') ? 0 : 1)
  }
  expect(sandbox.read(file)).toBe('{}')
  expect(sandbox.read(userFile(sandbox))).not.toContain('cursor')
  expect(existsSync(at(sandbox, '.local/state/busbar/client-backups'))).toBe(false)
  const { json } = await sandbox.run(['connect', 'cursor', '--servers', 'plain', '--dry-run', '--json'])
  expect(json).toMatchObject({ client: 'cursor', file, agent: 'cursor', transport: 'http', written: false })
  expect(json.diff.join('\n')).toContain('+      "url": "http://127.0.0.1:4747/mcp"')
})

test('[C11] what was changed since stays: only our entry is taken out, with the place that was made for it', async () => {
  const sandbox = home()
  const cursor = sandbox.write(at(sandbox, '.cursor/mcp.json'), '{\n  "mcpServers": {}\n}\n')
  const zed = sandbox.write(at(sandbox, '.config/zed/settings.json'), '{\n  // mine\n  "a": 1\n}\n')
  const codex = sandbox.write(at(sandbox, '.codex/config.toml'), 'a = 1\n')
  for (const client of ['cursor', 'zed', 'codex'])
    await sandbox.run(['connect', client, '--agent', 'ada', '--yes'])
  const added = (file: string, from: string, to: string) =>
    writeFileSync(file, sandbox.read(file).replace(from, to))
  added(cursor, '"mcpServers": {', '"mcpServers": {\n    "new": {"command": "x"},')
  added(zed, '// mine', '// changed')
  added(codex, 'a = 1', 'a = 2 # changed')
  for (const client of ['cursor', 'zed', 'codex']) {
    const { json } = await sandbox.run(['connect', client, '--undo', '--yes', '--json'])
    expect(json).toMatchObject({ exact: false, revoked: 1 })
  }
  expect(JSON.parse(sandbox.read(cursor))).toEqual({ mcpServers: { new: { command: 'x' } } })
  expect(sandbox.read(zed)).toBe('{\n  // changed\n  "a": 1\n}\n')
  expect(sandbox.read(codex)).toBe('a = 2 # changed\n')
})

test('[C11] connecting again replaces entry and token; the way back leads to the file before the first time', async () => {
  const sandbox = home()
  const before = '{"mcpServers": {"busbar": {"command": "my-own"}}}'
  const file = sandbox.write(at(sandbox, '.cursor/mcp.json'), before)
  const tokens = []
  for (let times = 0; times < 3; times++) {
    await sandbox.run(['connect', 'cursor', '--agent', 'ada', '--yes', ...(times === 1 ? ['--stdio'] : [])])
    tokens.push(tokenIn(sandbox.read(file)))
    expect(Object.keys(JSON.parse(sandbox.read(file)).mcpServers)).toEqual(['busbar'])
    // A token of an earlier time is in no backup either.
    for (const token of tokens) expect(everything(at(sandbox, '.local/state'))).not.toContain(token)
  }
  expect(new Set(tokens).size).toBe(3)
  const { json } = await sandbox.run(['agents', 'token', 'ada', '--list', '--json'])
  expect(json.tokens.map((it: Answer) => it.state)).toEqual(['revoked', 'revoked', 'active'])
  // After a change of somebody else's, connecting again begins from there.
  writeFileSync(file, sandbox.read(file).replace('{"mcpServers"', '{"new": 1, "mcpServers"'))
  await sandbox.run(['connect', 'cursor', '--agent', 'ada', '--yes'])
  await sandbox.run(['connect', 'cursor', '--undo', '--yes'])
  expect(JSON.parse(sandbox.read(file))).toEqual({ new: 1, mcpServers: { busbar: { command: 'my-own' } } })
})

test('[C11] a link stays a link, and the file it leads to is changed', async () => {
  const sandbox = home()
  const real = sandbox.write(at(sandbox, 'dotfiles/mcp.json'), '{}', 0o600)
  mkdirSync(at(sandbox, '.cursor'))
  symlinkSync(real, at(sandbox, '.cursor/mcp.json'))
  await sandbox.run(['connect', 'cursor', '--agent', 'ada', '--yes'])
  expect(lstatSync(at(sandbox, '.cursor/mcp.json')).isSymbolicLink()).toBe(true)
  expect(tokenIn(sandbox.read(real))).not.toBe('')
  expect((await sandbox.run(['connect', '--json'])).json.clients[2]).toMatchObject({ agent: 'ada' })
  await sandbox.run(['connect', 'cursor', '--undo', '--yes'])
  expect(sandbox.read(real)).toBe('{}')
  symlinkSync(at(sandbox, 'nowhere'), at(sandbox, '.claude.json'))
  const lost = await sandbox.run(['connect', 'claude-code', '--agent', 'ada', '--yes'])
  expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining('does not exist')])
})

test('[C11] a file that cannot be read or written is left alone, and no token stays behind', async () => {
  const sandbox = home()
  const broken = sandbox.write(at(sandbox, '.gemini/settings.json'), '{\n  "a": oops\n}')
  const refused = await sandbox.run(['connect', 'gemini', '--agent', 'ada', '--yes'])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`${broken}:2:8: `)])
  expect(sandbox.read(broken)).toBe('{\n  "a": oops\n}')
  for (const [text, said] of [
    ['[]', 'what it holds is a list'],
    ['{"mcpServers": []}', 'mcpServers is a list'],
    ['{"mcpServers": "x"}', 'mcpServers is a string'],
  ] as const) {
    const odd = sandbox.write(at(sandbox, '.cursor/mcp.json'), text)
    const { code, stderr } = await sandbox.run(['connect', 'cursor', '--agent', 'ada', '--yes'])
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${odd}: ${said}`)])
    expect(sandbox.read(odd)).toBe(text)
  }
  mkdirSync(at(sandbox, '.codex/config.toml'), { recursive: true })
  const folder = await sandbox.run(['connect', 'codex', '--agent', 'ada', '--yes'])
  expect([folder.code, folder.stderr]).toEqual([1, expect.stringContaining('is not a file')])
  const { json } = await sandbox.run(['agents', 'token', 'ada', '--list', '--json'])
  expect(json.tokens).toEqual([])
})

test('[C11] a folder in which nothing can be written is said, and the token is revoked', async () => {
  const sandbox = home()
  const file = sandbox.write(at(sandbox, '.cursor/mcp.json'), '{}')
  // To root everything is writable.
  const user = process.getuid?.() === 0 ? { uid: 65534 } : {}
  if (user.uid !== undefined) spawnSync('chown', ['-R', `${user.uid}:${user.uid}`, sandbox.home])
  for (const folder of [sandbox.root, sandbox.project]) chmodSync(folder, 0o755)
  chmodSync(at(sandbox, '.cursor'), 0o555)
  const words = ['connect', 'cursor', '--agent', 'ada', '--yes']
  const { code, stderr } = await sandbox.run(words, user)
  expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be written (EACCES)')])
  expect(sandbox.read(file)).toBe('{}')
  const { json } = await sandbox.run(['agents', 'token', 'ada', '--list', '--json'], user)
  expect(json.tokens.map((it: Answer) => it.state)).toEqual(['revoked'])
  chmodSync(at(sandbox, '.cursor'), 0o755)
  expect((await sandbox.run(words, user)).code).toBe(0)
})

test('[C11] what cannot be taken back later is not written: a record that cannot be kept undoes all of it', async () => {
  const sandbox = home()
  const file = sandbox.write(at(sandbox, '.cursor/mcp.json'), '{"a": 1}')
  const made = join(sandbox.home, '.codex/config.toml')
  // Where the lock of the record should be stands a folder.
  mkdirSync(at(sandbox, '.local/state/busbar/clients.json.lock'), { recursive: true, mode: 0o700 })
  const { code } = await sandbox.run(['connect', 'cursor', '--agent', 'ada', '--yes'])
  expect(code).not.toBe(0)
  expect(sandbox.read(file)).toBe('{"a": 1}')
  expect((await sandbox.run(['connect', 'codex', '--agent', 'ada', '--yes'])).code).not.toBe(0)
  expect(existsSync(made)).toBe(false)
  const { json } = await sandbox.run(['agents', 'token', 'ada', '--list', '--json'])
  expect(json.tokens.map((it: Answer) => it.state)).toEqual(['revoked', 'revoked'])
})

test('[C11] a new client gets an agent of its own for the servers that are named', async () => {
  const sandbox = home({ gateway: { port: 4999 } })
  const unsaid = await sandbox.run(['connect', 'zed', '--yes'])
  expect([unsaid.code, unsaid.stderr]).toEqual([1, expect.stringContaining('--servers plain')])
  const wrong = await sandbox.run(['connect', 'zed', '--servers', 'plian', '--yes'])
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('did you mean "plain"?')])
  const both = await sandbox.run(['connect', 'zed', '--agent', 'ada', '--servers', 'plain', '--yes'])
  expect([both.code, both.stderr]).toEqual([1, expect.stringContaining('agents grant ada')])
  const made = await sandbox.run(['connect', 'zed', '--servers', 'plain', '--yes'])
  expect([made.code, made.stdout]).toEqual([0, expect.stringContaining('busbar up')])
  expect(made.stdout).toContain('busbar agents approval zed writes')
  expect(sandbox.read(at(sandbox, '.config/zed/settings.json'))).toContain('http://127.0.0.1:4999/mcp')
  const { json } = await sandbox.run(['agents', 'list', '--json'])
  expect(json.agents.find((it: Answer) => it.name === 'zed')).toMatchObject({
    servers: ['plain'],
    enabled: true,
  })
  const undone = await sandbox.run(['connect', 'zed', '--undo', '--yes'])
  expect(undone.stdout).toContain('The agent zed stays')
  const unknown = await sandbox.run(['connect', 'curser'])
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('busbar connect cursor')])
  const scope = await sandbox.run(['connect', 'goose', '-s', 'project', '--yes'])
  expect([scope.code, scope.stderr]).toEqual([1, expect.stringContaining('--scope user')])
})

test('[C11][D14] a running gateway is where the entry leads, and its token opens it until the way back', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { plain } }, { user: true })
  const made = await sandbox.run(['connect', 'cursor', '--servers', 'plain', '--yes'])
  expect([made.code, made.stderr]).toEqual([0, expect.any(String)])
  expect(made.stdout).not.toContain('busbar up')
  const open = () => JSON.parse(sandbox.read(at(sandbox, '.cursor/mcp.json'))).mcpServers.busbar
  const { url, headers } = open()
  expect(url).toBe(`${gateway.url}/mcp`)
  const ask = async (given: Record<string, string>) => {
    const authorization = given['Authorization'] ?? ''
    return (await gateway.post('/mcp', initialize(), { authorization })).status
  }
  expect(await ask(headers)).toBe(200)
  await sandbox.run(['connect', 'cursor', '--yes'])
  expect(await ask(headers)).toBe(401)
  const newer = open().headers
  expect(await ask(newer)).toBe(200)
  await sandbox.run(['connect', 'cursor', '--undo', '--yes'])
  expect(await ask(newer)).toBe(401)
})

test('[C11] an entry for stdio can be started as it stands, from anywhere', async () => {
  const { sandbox } = place()
  sandbox.write(
    'busbar.yaml',
    JSON.stringify({ servers: { plain }, agents: { ada: { servers: ['plain'] } } }),
  )
  await sandbox.run(['trust', '--yes'])
  await sandbox.run(['connect', 'claude-desktop', '--agent', 'ada', '--yes'])
  const file = at(sandbox, '.config/Claude/claude_desktop_config.json')
  const { command, args, env } = JSON.parse(sandbox.read(file)).mcpServers.busbar
  expect(args.join(' ')).not.toContain(env.BUSBAR_TOKEN)
  const child = spawn(command, args, { cwd: '/', env: { ...sandbox.env(), ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const answered = new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data))),
  )
  child.stdin.write(`${JSON.stringify(initialize())}\n`)
  expect(JSON.parse(await answered)).toMatchObject({ id: 1, result: { serverInfo: { name: 'busbar' } } })
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.stdin.end()
  await ended
})

test('[C3][C11] the client’s own servers are named, and our own entry is never one of ours', async () => {
  const sandbox = home()
  sandbox.write('.mcp.json', '{"mcpServers": {"theirs": {"command": "x", "env": {"KEY": "word-for-word"}}}}')
  const words = ['connect', 'claude-code', '--scope', 'project', '--agent', 'ada', '--yes']
  const made = await sandbox.run(words)
  expect(made.code).toBe(0)
  expect(made.stderr).toContain('keep it out of the repository')
  expect(made.stderr).not.toContain('word-for-word')
  const list = await sandbox.run(['list', '--json'])
  expect(list.json.servers.map((it: Answer) => it.name).sort()).toEqual(['plain', 'theirs'])
  const { json } = await sandbox.run(['import', sandbox.path('.mcp.json'), '--dry-run', '--json'])
  expect(json.found.map((it: Answer) => it.name)).toEqual(['theirs'])
  sandbox.write(at(sandbox, '.cursor/mcp.json'), '{"mcpServers": {"other": {"command": "y"}}}')
  const cursor = await sandbox.run(['connect', 'cursor', '--agent', 'ada', '--yes'])
  expect(cursor.stderr).toContain('busbar import cursor')
  expect((await sandbox.run(['list', '--json'])).json.servers).toHaveLength(2)
})

test('[C11] at a terminal it asks: what to take over, which servers, and whether to write', async () => {
  const sandbox = home()
  const file = sandbox.write(at(sandbox, '.cursor/mcp.json'), '{"mcpServers": {"other": {"command": "y"}}}')
  const no = await atTerminal(
    sandbox,
    ['connect', 'cursor'],
    [
      ['Take them over first?', 'n'],
      ['Which servers may it use?', ''],
      ['Write this?', 'n'],
    ],
  )
  expect(no).toContain('nothing was written')
  expect(sandbox.read(file)).not.toContain('busbar')
  const yes = await atTerminal(
    sandbox,
    ['connect', 'cursor'],
    [
      ['Take them over first?', 'y'],
      ['Which servers may it use?', ''],
      ['Write this?', 'y'],
    ],
  )
  expect(yes).toContain('Cursor is connected as cursor.')
  expect(tokenIn(yes)).toBe('')
  const { json } = await sandbox.run(['agents', 'list', '--json'])
  expect(json.agents.find((it: Answer) => it.name === 'cursor').servers.sort()).toEqual(['other', 'plain'])
  const back = await atTerminal(sandbox, ['connect', 'cursor', '--undo'], [['Take it back?', 'y']])
  expect(back).toContain('has its file back as it was')
  expect(sandbox.read(file)).not.toContain('busbar')
})
