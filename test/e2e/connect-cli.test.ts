// The commands that connect: list --check, tools, resources, read, prompts, restart, doctor. Real servers, real processes.

import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { serverCommand, spawnCount, startServer } from '../servers/start.ts'
import { served } from '../services/served.ts'
import { type Answer, Sandbox } from './cli.ts'

const plain = serverCommand('plain')
const byName = (servers: Answer[]) => Object.fromEntries(servers.map((it) => [it.name, it]))

test('[B2][C2] list --check tells of every server what became of it, over every transport', async () => {
  const [http, sse, websocket, auth] = await Promise.all([
    startServer('plain'),
    startServer('plain', { transport: 'sse', era: 'legacy' }),
    startServer('plain', { transport: 'websocket' }),
    startServer('unauthorized'),
  ])
  const sandbox = await served({
    modern: serverCommand('plain', { era: 'modern' }),
    legacy: serverCommand('plain', { era: 'legacy' }),
    http: { url: http.url },
    sse: { url: sse.url, type: 'sse' },
    websocket: { url: websocket.url, type: 'websocket' },
    auth: { url: auth.url },
    crash: serverCommand('crash-loop'),
    gone: { command: 'no-such-program' },
    hanging: { ...serverCommand('hanging'), timeouts: { connect: '2s' } },
    off: { ...plain, enabled: false },
  })
  sandbox.write('.busbar/local.yaml', JSON.stringify({ servers: { untrusted: plain } }))
  const { code, json, error } = await sandbox.run(['list', '--check', '--json'])
  expect([code, error.code]).toEqual([4, 'SERVER_UNREACHABLE'])
  const rows = byName(json.servers)
  for (const name of ['modern', 'legacy', 'http', 'sse', 'websocket'])
    expect(rows[name]).toMatchObject({
      status: 'connected',
      serverInfo: { name: 'plain', version: expect.any(String) },
      protocolVersion: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      ms: expect.any(Number),
    })
  expect([rows.modern.era, rows.legacy.era]).toEqual(['modern', 'legacy'])
  expect(rows.http.tools.find((tool: Answer) => tool.name === 'echo')).toMatchObject({
    name: 'echo',
    description: 'Gives back the text',
    annotations: { readOnly: true },
  })
  expect(rows.auth).toMatchObject({ status: 'needs-auth', tools: null })
  expect(rows.crash).toMatchObject({ status: 'failed', error: expect.stringContaining('code 3') })
  expect(rows.gone).toMatchObject({ status: 'failed', hint: expect.stringContaining('install') })
  expect(rows.hanging).toMatchObject({ status: 'failed', tools: null })
  expect(rows.off).toMatchObject({ status: 'disabled' })
  expect(rows.untrusted).toMatchObject({ status: 'pending', trusted: false, tools: null })
})

test('[A12] what is remembered of a server between runs goes with it, and nothing else', async () => {
  const sandbox = await served({ kept: plain, gone: plain })
  const remembered = (kind: string) =>
    readdirSync(join(sandbox.home, '.local/state/busbar', kind)).map((name) =>
      name.replace(/-\w+\.json$/, ''),
    )
  for (const server of ['kept', 'gone']) await sandbox.run(['tools', server])
  expect(remembered('servers').toSorted()).toEqual(['gone', 'kept'])
  // As `serve` and `up` keep it of servers that are started by calls.
  const lists = join(sandbox.home, '.local/state/busbar/lists')
  mkdirSync(lists)
  for (const name of readdirSync(join(lists, '../servers'))) writeFileSync(join(lists, name), '{}')
  const { code } = await sandbox.run(['remove', 'gone'])
  expect(code).toBe(0)
  expect(remembered('servers')).toEqual(['kept'])
  expect(remembered('lists')).toEqual(['kept'])
})

test('list --check is a table with reasons below it; only what is named is started', async () => {
  const log = { env: { SPAWN_LOG: '${HOME}/starts' } }
  const sandbox = await served({
    one: { ...plain, ...log },
    two: { ...plain, ...log },
    crash: { ...serverCommand('crash-loop') },
  })
  const one = await sandbox.run(['list', '--check', 'one'])
  expect(one.code).toBe(0)
  expect(one.stdout).toMatch(/^one +stdio +connected +plain 1\.0\.0 +\d{4}-\d\d-\d\d +\d+ +\d+ ms$/m)
  expect(one.stdout).not.toContain('two')
  expect(spawnCount(join(sandbox.home, 'starts'))).toBe(1)
  const crash = await sandbox.run(['list', '--check', 'crash', 'one'])
  expect(crash.code).toBe(4)
  expect(crash.stdout).toMatch(/\n\ncrash ended with code 3; it said: fatal: cannot start/)
  expect(crash.stderr).toContain('1 of 2 failed: crash')
  expect((await sandbox.run(['list', '--check', 'oen'])).stderr).toContain('did you mean "one"')
})

test('many servers at once are nothing to complain about', async () => {
  const many = Array.from({ length: 15 }, (_, index) => [`s${index}`, { url: 'http://127.0.0.1:9/mcp' }])
  const sandbox = await served(Object.fromEntries(many))
  const { code, stderr } = await sandbox.run(['list', '--check'])
  expect([code, stderr.split('\n')[0]]).toEqual([4, expect.stringMatching(/^error: 15 of 15 failed/)])
})

test('list --check exits 3 when a sign-in is all that is missing, and 6 for what nobody trusted', async () => {
  const { url } = await startServer('unauthorized')
  const sandbox = await served({ plain, auth: { url } })
  const auth = await sandbox.run(['list', '--check', '--json'])
  expect([auth.code, auth.error.code]).toEqual([3, 'AUTH_REQUIRED'])
  const fresh = new Sandbox()
  fresh.write('busbar.yaml', JSON.stringify({ servers: { plain } }))
  const all = await fresh.run(['list', '--check'])
  expect([all.code, all.stdout]).toEqual([0, expect.stringContaining('busbar trust plain')])
  expect((await fresh.run(['list', '--check', 'plain'])).code).toBe(6)
})

test('list without --check starts nothing, and takes no name', async () => {
  const sandbox = await served({ plain: { ...plain, env: { SPAWN_LOG: '${HOME}/starts' } } })
  const { code, json } = await sandbox.run(['list', '--json'])
  expect([code, json.servers[0].status, json.servers[0].tools]).toEqual([0, 'pending', null])
  expect(spawnCount(join(sandbox.home, 'starts'))).toBe(0)
  const named = await sandbox.run(['list', 'plain'])
  expect([named.code, named.stderr]).toEqual([1, expect.stringContaining('busbar list --check plain')])
})

test('[B10] Ctrl-C while servers start ends the command and the servers, without an answer', async () => {
  const hanging = { ...serverCommand('hanging'), env: { SPAWN_LOG: '${HOME}/starts' } }
  const sandbox = await served({ hanging, plain })
  const child = sandbox.start(['list', '--check'])
  let stdout = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  const ended = once(child, 'close')
  await vi.waitFor(() => expect(spawnCount(join(sandbox.home, 'starts'))).toBe(1), { timeout: 20_000 })
  child.kill('SIGINT')
  expect(await ended).toEqual([130, null])
  expect(stdout).toBe('')
})

test('[C4] tools lists what servers have, with addresses, schemas and annotations', async () => {
  const { url } = await startServer('pages')
  const sandbox = await served({ plain, many: { url } })
  const { code, json } = await sandbox.run(['tools', '--json'])
  expect(code).toBe(0)
  expect(json.tools.filter((tool: Answer) => tool.server === 'many')).toHaveLength(250)
  expect(json.tools.find((tool: Answer) => tool.address === 'plain/add')).toEqual({
    name: 'add',
    address: 'plain/add',
    server: 'plain',
    description: 'Adds two numbers',
    inputSchema: expect.objectContaining({ required: ['a', 'b'] }),
    outputSchema: expect.objectContaining({ type: 'object' }),
    annotations: { idempotentHint: true, readOnlyHint: true, openWorldHint: false },
    fingerprint: expect.stringMatching(/^[0-9a-f]{32,64}$/),
    estimate: expect.any(Number),
  })
  const { stdout } = await sandbox.run(['tools', 'plain'])
  expect(stdout).toMatch(/^plain\/echo +read-only +Gives back the text$/m)
  expect(stdout).toMatch(/^plain\/fail +destructive /m)
})

test('[C10] a dead server is said and the others are shown; named alone, or all of them, it is exit 4', async () => {
  const hanging = { ...serverCommand('hanging'), timeouts: { connect: '1s' } }
  const sandbox = await served({ plain, hanging, crash: serverCommand('crash-loop') })
  const all = await sandbox.run(['tools'])
  expect(all.code).toBe(0)
  expect(all.stdout).toContain('plain/echo')
  expect(all.stderr).toMatch(/^warning: crash ended with code 3/m)
  expect(all.stderr).toMatch(/^warning: hanging /m)
  for (const name of ['hanging', 'crash']) {
    const { code, stdout, error } = await sandbox.run(['tools', name, '--json'])
    expect([code, stdout, error.server]).toEqual([4, '', name])
  }
  const dead = await served({ crash: serverCommand('crash-loop') })
  expect((await dead.run(['tools'])).code).toBe(4)
})

test('no tools are never an empty answer', async () => {
  const sandbox = await served(
    { plain: { ...plain, tools: { exclude: ['*'] } }, lazy: { ...plain, start: 'lazy' } },
    { agents: { idle: { servers: [] }, reader: { servers: ['plain'] } } },
  )
  const said = async (...words: string[]) => (await sandbox.run(['tools', ...words])).stdout
  expect(await said('plain')).toBe('plain has no tools that tools.include and tools.exclude leave.\n')
  expect(await said('--agent', 'idle')).toContain('idle may use no server')
  const owner = await sandbox.run(['tools', '--json'])
  expect(owner.json).toMatchObject({
    tools: [],
    warnings: expect.arrayContaining([expect.stringContaining('lazy')]),
  })
  expect(await said('lazy')).toContain('lazy/echo')
  // Known from now on, without being started.
  expect(await said()).toContain('lazy/echo')
  const denied = await sandbox.run(['tools', 'lazy', '--agent', 'reader', '--json'])
  expect([denied.code, denied.error.code]).toEqual([6, 'NO_ACCESS'])
  expect((await new Sandbox().run(['tools'])).stdout).toContain('No servers yet')
})

test('what a server calls its tools and itself does not act on a terminal', async () => {
  const sandbox = await served({ hostile: serverCommand('hostile-text') })
  for (const args of [['tools'], ['tools', '--json'], ['list', '--check'], ['doctor'], ['resources']]) {
    const { stdout, stderr } = await sandbox.run(args)
    expect((stdout + stderr).replace(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  }
})

test('[B7] resources, templates and prompts are listed, and a resource is read', async () => {
  const { url } = await startServer('plain', { era: 'legacy' })
  const sandbox = await served({ local: plain, remote: { url }, without: serverCommand('content') })
  const { json } = await sandbox.run(['resources', '--json'])
  expect(json.resources).toContainEqual(
    expect.objectContaining({ server: 'remote', uri: 'test://text', mimeType: 'text/plain' }),
  )
  const templates = await sandbox.run(['resources', 'local', '--templates', '--json'])
  expect(templates.json.resourceTemplates[0]).toMatchObject({ uriTemplate: 'test://city/{name}' })
  const prompts = await sandbox.run(['prompts', 'remote'])
  expect(prompts.stdout).toMatch(/^remote +greet +name /m)
  for (const server of ['local', 'remote'])
    expect((await sandbox.run(['read', server, 'test://text'])).stdout).toBe('Grüße – “quoted” text')
  const template = await sandbox.run(['read', 'local', 'test://city/Bern', '--json'])
  expect(template.json.contents[0].uri).toBe('test://city/Bern')
  const kept = await sandbox.run(['read', 'local', 'test://pixel', '--output', 'pixel.png'])
  expect([kept.code, kept.stdout]).toEqual([0, ''])
  expect(sandbox.read('pixel.png').slice(1, 4)).toBe('PNG')
  expect((await sandbox.run(['read', 'local', 'test://pixel', '--output', 'pixel.png'])).code).toBe(1)
  const absent = await sandbox.run(['read', 'local', 'test://nowhere', '--json'])
  expect([absent.code, absent.error.code]).toEqual([5, 'SERVER_ERROR'])
})

/** Something that listens where a gateway would. */
async function gateway(sandbox: Sandbox, answer: RequestListener): Promise<void> {
  const folder = join(sandbox.home, '.local/state/busbar')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const server = createServer(answer).listen(join(folder, 'gateway.sock'))
  onTestFinished(() => void server.close())
  await once(server, 'listening')
}

test('restart asks the running gateway, and says when there is none', async () => {
  const sandbox = await served({ plain })
  const absent = await sandbox.run(['restart', 'plain', '--json'])
  expect([absent.code, absent.error]).toMatchObject([
    4,
    { code: 'GATEWAY_ABSENT', hint: expect.stringContaining('busbar list --check plain') },
  ])
  const asked: string[] = []
  await gateway(sandbox, (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const [, name] = /^\/api\/servers\/(.+)\/restart$/.exec(request.url ?? '') ?? []
    const refusal = { code: 'SERVER_UNKNOWN', message: 'no server is called "x"', hint: 'run: busbar list' }
    const status =
      name === 'bad' ? { status: 'failed', error: 'bad ended' } : { status: 'connected', tools: [{}] }
    response.writeHead(name === 'x' ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(name === 'x' ? refusal : { server: { name, ...status } }))
  })
  const done = await sandbox.run(['restart', 'plain'])
  expect([done.code, done.stdout]).toEqual([0, 'Restarted plain: connected, 1 tools.\n'])
  const failed = await sandbox.run(['restart', 'bad', '--json'])
  expect([failed.code, failed.error.message]).toEqual([4, 'bad ended'])
  const unknown = await sandbox.run(['restart', 'x', '--json'])
  expect([unknown.code, unknown.error]).toMatchObject([
    1,
    { code: 'SERVER_UNKNOWN', hint: 'run: busbar list' },
  ])
  expect(asked[0]).toBe('POST /api/servers/plain/restart')
})

test('doctor starts servers and says how far each came', async () => {
  const [html, auth] = await Promise.all([startServer('html-error'), startServer('unauthorized')])
  const sandbox = await served({
    plain,
    crash: serverCommand('crash-loop'),
    html: { url: html.url },
    auth: { url: auth.url },
    // Nothing listens on the port for discarding.
    closed: { url: 'http://127.0.0.1:9/mcp' },
    nowhere: { url: 'http://name.invalid/mcp' },
    tls: { url: html.url.replace('http:', 'https:') },
  })
  const { code, json, error } = await sandbox.run(['doctor', '--json'])
  expect([code, error.code]).toEqual([4, expect.any(String)])
  const found = byName(
    json.findings
      .filter((it: Answer) => it.check === 'start')
      .map((it: Answer) => ({ ...it, name: it.server })),
  )
  expect(found.plain).toMatchObject({ severity: 'ok', program: process.execPath })
  expect(found.crash).toMatchObject({
    severity: 'error',
    exitCode: 3,
    program: process.execPath,
    path: sandbox.env()['PATH'],
    stderr: ['fatal: cannot start'],
    fix: expect.any(String),
  })
  expect(found.html).toMatchObject({ stage: 'http', message: expect.stringContaining('502 (Bad Gateway)') })
  expect(found.auth).toMatchObject({ severity: 'warning' })
  expect(found.closed).toMatchObject({
    stage: 'connection',
    message: expect.stringContaining('nothing listens'),
  })
  expect(found.nowhere).toMatchObject({ stage: 'name' })
  expect(found.tls).toMatchObject({ stage: 'security' })
  const people = await sandbox.run(['doctor'])
  expect(people.stdout).toMatch(
    /error +crash ended with code 3.*\n +program: \/.*node\n +PATH: \/.*\n +\| fatal: cannot start\n +fix: /,
  )
})

test('doctor says why nothing runs behind a command', async () => {
  const sandbox = await served({
    text: { command: '/etc/passwd' },
    folder: { command: '/tmp' },
    gone: { command: './gone' },
    absent: { command: 'no-such-program' },
    nowhere: { command: 'node', cwd: '/etc/passwd' },
  })
  const { code, json } = await sandbox.run(['doctor', '--no-start', '--json'])
  expect(code).toBe(1)
  const errors = json.findings.filter((it: Answer) => it.severity === 'error')
  expect(errors.map(({ message, fix }: Answer) => [message, fix])).toEqual([
    ['text: /etc/passwd is not executable', 'chmod +x /etc/passwd'],
    ['folder: /tmp is not a file', 'correct `command`'],
    [`gone: ${sandbox.path('gone')} does not exist`, 'correct `command`, or install the program'],
    [
      'absent: command "no-such-program" was not found in PATH',
      'install no-such-program, or give its full path as the command',
    ],
    ['nowhere: its folder /etc/passwd is not a folder', 'correct `cwd`, or create the folder'],
  ])
  expect(errors.map(({ path }: Answer) => path)).toEqual([
    undefined,
    undefined,
    undefined,
    sandbox.env()['PATH'],
    undefined,
  ])
})

test('doctor --no-start, and doctor where nothing is trusted, start nothing', async () => {
  const log = { ...plain, env: { SPAWN_LOG: '${HOME}/starts' } }
  const sandbox = await served({ plain: log })
  expect((await sandbox.run(['doctor', '--no-start'])).code).toBe(0)
  expect(spawnCount(join(sandbox.home, 'starts'))).toBe(0)
  const fresh = new Sandbox()
  fresh.write('busbar.yaml', JSON.stringify({ servers: { plain: log } }))
  expect((await fresh.run(['doctor'])).stdout).toContain('not trusted yet')
  expect(spawnCount(join(fresh.home, 'starts'))).toBe(0)
})

test('completion knows servers, and the tools of those that were up before', async () => {
  const sandbox = await served({ plain, fresh: plain })
  await sandbox.run(['tools', 'plain'])
  const words = async (...typed: string[]) =>
    (await sandbox.run(['completion', 'words', '--', ...typed])).stdout.split('\n')
  for (const command of ['tools', 'resources', 'read', 'prompts', 'restart'])
    expect(await words(command)).toContain('plain')
  expect(await words('call')).toEqual(expect.arrayContaining(['plain/echo', 'fresh/', '--timeout']))
  expect(await words('call', 'plain/echo', '--agent')).toEqual([''])
})

test('help of every command that connects has examples', async () => {
  for (const name of ['tools', 'call', 'resources', 'read', 'prompts', 'restart']) {
    const { code, stdout } = await new Sandbox().run([name, '--help'])
    expect([name, code, stdout]).toEqual([name, 0, expect.stringMatching(/Examples?:\n {2}busbar/)])
  }
})
