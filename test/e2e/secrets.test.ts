// Secrets as people meet them: kept, used by real servers, moved, damaged, and nowhere to be seen.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverCommand, startServer } from '../servers/start.ts'
import { BINARY, type Sandbox } from './cli.ts'
import { AGENTS, type Answer, askTool, place, until, up, userFile } from './hub.ts'

const CANARY = 'canary/7f3a+"quoted" value=='
const plain = serverCommand('plain')

function home(config: object = {}): Sandbox {
  const { sandbox } = place()
  sandbox.write(userFile(sandbox), JSON.stringify(config))
  return sandbox
}

function secretsFile(sandbox: Sandbox): string {
  return join(sandbox.home, '.local/state/busbar/secrets.json')
}

function keyFiles(sandbox: Sandbox): string[] {
  return readdirSync(join(sandbox.home, '.config/busbar')).filter((name) => /^secrets-.*\.key$/.test(name))
}

async function set(sandbox: Sandbox, name: string, input: string, env = {}): Promise<Answer> {
  const { code, stderr, json } = await sandbox.run(['secrets', 'set', name, '--json'], { input, env })
  expect([code, stderr]).toEqual([0, ''])
  return json
}

/** Every way in which a value could lie around. */
function forms(value: string): string[] {
  const bytes = Buffer.from(value)
  return [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ]
}

function everything(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

/** What anybody on this machine could read of processes. */
function commandLines(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return ''
      }
    })
    .join('\n')
}

function expectNone(text: string, value = CANARY): void {
  for (const form of forms(value)) expect(text.includes(form) ? form : 'none').toBe('none')
}

test('[C11] without a keyring a secret is kept in a file, and that is said; list and remove never show it', async () => {
  const sandbox = home({ servers: { plain: { ...plain, env: { TOKEN: '${secret:TOKEN}' } } } })
  const made = await sandbox.run(['secrets', 'set', 'TOKEN'], { input: `${CANARY}\n` })
  expect(made.code).toBe(0)
  expect(made.stdout).toMatch(
    /The key is in .*\.key \(the keyring of this system cannot be used: there is no session bus\)/,
  )
  expect(made.stdout).toContain('Used by plain.')
  expect(statSync(secretsFile(sandbox)).mode & 0o777).toBe(0o600)
  expect(keyFiles(sandbox)).toHaveLength(1)
  const listed = await sandbox.run(['secrets', 'list', '--json'])
  expect(listed.json).toMatchObject({
    protection: 'key-file',
    secrets: [{ name: 'TOKEN', damaged: false, users: ['plain'] }],
    missing: [],
  })
  const text = await sandbox.run(['secrets'])
  expect(text.stdout).toMatch(/TOKEN +kept +\d{4}-\d\d-\d\d \d\d:\d\d +plain/)
  const gone = await sandbox.run(['secrets', 'remove', 'TOKEN'])
  expect(gone.stdout).toContain('It is used by plain.')
  const again = await sandbox.run(['secrets', 'remove', 'TOKEN', '--json'])
  expect([again.code, again.error.code]).toEqual([1, 'SECRET_UNKNOWN'])
  expectNone([made, listed, text, gone, again].map((it) => it.stdout + it.stderr).join('\n'))
  expectNone(everything(sandbox.root))
})

test('[C11] a value on the command line is refused, and not repeated', async () => {
  const sandbox = home()
  for (const words of [
    ['TOKEN', 'hunter2hunter2'],
    ['TOKEN=hunter2hunter2'],
    ['TOKEN', '--value=hunter2hunter2'],
    ['TOKEN', '--', 'hunter2hunter2'],
  ]) {
    const { code, stdout, stderr } = await sandbox.run(['secrets', 'set', ...words], { input: 'x' })
    expect([words, code, stdout]).toEqual([words, 1, ''])
    expect(stderr).not.toContain('hunter2')
    expect(stderr).toMatch(/next: /)
  }
  const { code, stderr } = await sandbox.run(['secrets', 'set', 'TOKEN'], { input: '\n' })
  expect([code, stderr]).toEqual([1, expect.stringContaining('no value of TOKEN was given')])
  expect(sandbox.exists(secretsFile(sandbox))).toBe(false)
})

/** A command on a terminal of its own. */
function terminal(sandbox: Sandbox, words: string): { child: ChildProcess; shown(): string } {
  const child = spawn('script', ['-qec', `'${process.execPath}' '${BINARY}' ${words}`, '/dev/null'], {
    cwd: sandbox.project,
    env: sandbox.env({ TERM: 'xterm', SHELL: '/bin/sh' }),
  })
  let shown = ''
  child.stdout.on('data', (data) => (shown += data))
  return { child, shown: () => shown }
}

test('[C11] at a terminal the value is asked for and not shown, corrected with keys, and given up with Ctrl-C', async () => {
  const sandbox = home()
  const asking = terminal(sandbox, 'secrets set TOKEN')
  const ended = once(asking.child, 'close')
  await until(() => asking.shown().includes('value of TOKEN (not shown): '))
  asking.child.stdin?.write('hunter22-hunter3\u007f2\r')
  await ended
  expect(asking.shown()).toContain('Kept TOKEN.')
  expect(asking.shown()).not.toContain('hunter')
  expect(asking.shown()).not.toContain('*')
  const out = await sandbox.run(['call', 'plain/env', '--mcp-server', serverFlag('TOKEN'), '--json'])
  expect(out.stdout).toContain('hunter22-hunter2')

  const stopped = terminal(sandbox, 'secrets set OTHER')
  const end = once(stopped.child, 'close')
  await until(() => stopped.shown().includes('not shown'))
  stopped.child.stdin?.write('half\u0003')
  expect((await end)[0]).toBe(130)

  const pasted = terminal(sandbox, 'secrets set OTHER')
  const over = once(pasted.child, 'close')
  await until(() => pasted.shown().includes('not shown'))
  pasted.child.stdin?.write('-----BEGIN\rline\r')
  expect((await over)[0]).toBe(1)
  expect(pasted.shown()).toContain('more than one line')
  expect((await sandbox.run(['secrets', '--json'])).json.secrets).toHaveLength(1)
})

/** A server for one command that is given a secret. */
function serverFlag(name: string): string {
  return JSON.stringify({ name: 'plain', ...plain, env: { GIVEN: `\${secret:${name}}` } })
}

test('[C11] real servers get it, by environment and by header; it is in no file, no record, no status and no argument', async () => {
  const { url } = await startServer('unauthorized')
  const sandbox = home()
  const quick = await set(sandbox, 'CANARY', CANARY)
  expect(quick).toMatchObject({ set: 'CANARY', protection: 'key-file', gateway: false })
  await set(sandbox, 'BEARER', 'good')
  const gateway = await up(
    sandbox,
    {
      servers: {
        plain: { ...plain, env: { GIVEN: '${secret:CANARY}' } },
        remote: { url, headers: { Authorization: 'Bearer ${secret:BEARER}' } },
        crash: { ...serverCommand('crash-loop'), env: { GIVEN: '${secret:CANARY}' } },
      },
      agents: AGENTS,
      record: 'full',
    },
    { user: true },
  )
  const given = await askTool(gateway, 'plain', 'env')
  expect(JSON.stringify(given)).toContain(JSON.stringify(CANARY).slice(1, -1))
  const remote = await gateway.ask('remote', 'tools/call', { name: 'echo', arguments: { text: 'hello' } })
  expect(JSON.stringify(remote)).toContain('hello')
  // An agent that sends it along, and a server that gives it back.
  await gateway.ask('plain', 'tools/call', { name: 'echo', arguments: { text: `it is ${CANARY}` } })
  await gateway.ask('plain', 'tools/call', { name: 'echo', arguments: { text: forms(CANARY).join(' ') } })
  const lines = commandLines()
  const said = await Promise.all(
    [['list'], ['get', 'plain'], ['config', 'show'], ['usage'], ['doctor', '--no-start']].map((words) =>
      sandbox.run([...words, '--json']),
    ),
  )
  await gateway.end('SIGTERM')
  expectNone(lines)
  expectNone(said.map((it) => it.stdout + it.stderr).join('\n'))
  expectNone(gateway.stderr())
  // The hexadecimal form in what an agent itself sent is nobody's writing; the other forms are taken out.
  const kept = everything(sandbox.root)
  expect(kept).toContain(Buffer.from('it is ••••••').toString('latin1'))
  for (const form of forms(CANARY).slice(0, 5)) expect(kept.includes(form) ? form : 'none').toBe('none')
})

test('[C11] a running gateway starts anew what uses a secret that changed, and nothing else', async () => {
  const sandbox = home()
  const config = {
    servers: { user: { ...plain, env: { GIVEN: '${secret:NAME}' } }, other: plain },
    agents: { ada: { ...AGENTS.ada, token: '${secret:AGENT:-agent-token-7f3a}' } },
  }
  const gateway = await up(sandbox, config, { user: true })
  const other = await askTool(gateway, 'other', 'pid')
  const refused = await gateway.ask('user', 'tools/list')
  expect(JSON.stringify(refused)).toContain('busbar secrets set NAME')
  expect(await set(sandbox, 'NAME', 'first value')).toMatchObject({ users: ['user'], gateway: true })
  const value = async () => {
    const { result } = await gateway.ask('user', 'tools/call', { name: 'env', arguments: {} })
    return result?.content?.[0]?.text ?? ''
  }
  await until(async () => (await value()).includes('first value'))
  await set(sandbox, 'NAME', 'second value')
  await until(async () => (await value()).includes('second value'))
  await sandbox.run(['secrets', 'remove', 'NAME'])
  await until(async () => (await value()).includes('needs the secret NAME'))
  expect(await askTool(gateway, 'other', 'pid')).toEqual(other)
  // An agent's token, too.
  await set(sandbox, 'AGENT', 'another-token')
  await until(async () => (await gateway.post('/mcp/other', {})).status === 401)
})

test('[C11] a damaged secret, or a lost key, stops the servers that need it and nothing else', async () => {
  const sandbox = home({
    servers: {
      good: { ...plain, env: { GIVEN: '${secret:GOOD}' } },
      bad: { ...plain, env: { GIVEN: '${secret:BAD:-never this}' } },
      none: plain,
    },
  })
  await set(sandbox, 'GOOD', 'good value')
  await set(sandbox, 'BAD', 'bad value')
  const file = secretsFile(sandbox)
  const content = JSON.parse(readFileSync(file, 'utf8'))
  const [good, bad] = content.entries
  // Swapped between two names, as somebody might who cannot open them.
  writeFileSync(
    file,
    JSON.stringify({ ...content, entries: [good, { ...bad, data: good.data, nonce: good.nonce }] }),
  )
  const first = await sandbox.run(['call', 'good/env', '--json'])
  expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('good value')])
  const damaged = await sandbox.run(['call', 'bad/env', '--json'])
  expect([damaged.code, damaged.error]).toMatchObject([
    1,
    { code: 'SECRET_DAMAGED', hint: 'give it again: busbar secrets set BAD' },
  ])
  expect((await sandbox.run(['secrets'])).stdout).toContain('damaged: busbar secrets set BAD')
  const doctor = await sandbox.run(['doctor', '--no-start', '--json'])
  expect(doctor.code).toBe(1)
  expect(doctor.json.findings).toContainEqual(
    expect.objectContaining({ severity: 'error', check: 'secrets', fix: 'busbar secrets set BAD' }),
  )
  await set(sandbox, 'BAD', 'bad value')
  expect((await sandbox.run(['call', 'bad/env'])).stdout).toContain('bad value')

  const [key = ''] = keyFiles(sandbox)
  rmSync(join(sandbox.home, '.config/busbar', key))
  const locked = await sandbox.run(['call', 'good/env', '--json'])
  expect([locked.code, locked.error.code]).toEqual([1, 'SECRETS_LOCKED'])
  expect((await sandbox.run(['call', 'none/pid'])).code).toBe(0)
  const before = readFileSync(file)
  const refused = await sandbox.run(['secrets', 'set', 'GOOD', '--json'], { input: 'x' })
  expect([refused.code, refused.error.code]).toEqual([1, 'SECRETS_LOCKED'])
  expect(readFileSync(file).equals(before)).toBe(true)
  expect((await sandbox.run(['doctor', '--no-start', '--json'])).error.code).toBe('SECRETS_LOCKED')
})

test('[C11] a passphrase protects from the first one on, from a variable or a file, and can be changed', async () => {
  const sandbox = home({ servers: { plain: { ...plain, env: { GIVEN: '${secret:NAME}' } } } })
  const env = { BUSBAR_PASSPHRASE: 'correct horse battery' }
  expect(await set(sandbox, 'NAME', 'the value', env)).toMatchObject({ protection: 'passphrase' })
  expect(keyFiles(sandbox)).toEqual([])
  const without = await sandbox.run(['call', 'plain/env', '--json'])
  expect(without.error).toMatchObject({
    code: 'SECRETS_LOCKED',
    hint: expect.stringContaining('BUSBAR_PASSPHRASE'),
  })
  const used = await sandbox.run(['call', 'plain/env'], { env })
  expect(used.stdout).toContain('the value')
  // A server is not given the passphrase.
  expect(used.stdout).not.toContain('correct horse')
  const changed = await sandbox.run(['secrets', 'protect', 'passphrase'], {
    env,
    input: 'another five good words\n',
  })
  expect(changed.code).toBe(0)
  expect((await sandbox.run(['secrets', '--json'], { env })).error.code).toBe('SECRETS_LOCKED')
  const file = sandbox.write('passphrase', 'another five good words\n', 0o600)
  const now = { BUSBAR_PASSPHRASE_FILE: file }
  expect((await sandbox.run(['call', 'plain/env'], { env: now })).stdout).toContain('the value')
  expect((await sandbox.run(['secrets', 'protect', 'file'], { env: now })).code).toBe(0)
  expect((await sandbox.run(['call', 'plain/env'])).stdout).toContain('the value')
})

test('[C11] what a project would read is shown before it is trusted, and not read until then', async () => {
  const sandbox = home()
  await set(sandbox, 'MINE', CANARY)
  sandbox.write(
    'busbar.yaml',
    JSON.stringify({ servers: { theirs: { ...plain, env: { GIVEN: '${secret:MINE}' } } } }),
  )
  const shown = await sandbox.run(['trust', '--json'])
  expect(JSON.stringify(shown.json)).toContain('secret:MINE')
  expect((await sandbox.run(['trust'])).stderr).toMatch(/reads +secret:MINE/)
  expect((await sandbox.run(['call', 'theirs/env', '--json'])).error.code).toBe('NOT_TRUSTED')
  await sandbox.run(['trust', '--yes'])
  expect((await sandbox.run(['call', 'theirs/env', '--json'])).stdout).toContain('canary/7f3a')
})
