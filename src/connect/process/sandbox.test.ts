import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { findBubblewrap } from './bubblewrap.ts'
import { childEnvironment } from './environment.ts'
import { newMarker } from './marker.ts'
import { type Sandbox, sandboxArguments } from './sandbox.ts'
import { startProcess } from './spawn.ts'
import { allOf, marked, stage, temporaryFolder, until } from './staging.ts'
import { type BuiltOwner, buildOwner } from './staging-build.ts'

let owner: BuiltOwner
beforeAll(async () => {
  owner = await buildOwner()
})
afterAll(() => owner.remove())

const NOTHING: Sandbox = { read: [], write: [], network: true }

/** What a shell command says and gives inside a sandbox, with a project and a home of its own. */
async function confined(
  scope: TestContext,
  script: string,
  limits: Partial<Sandbox> = {},
  more: { env?: Record<string, string> } = {},
) {
  const home = temporaryFolder(scope)
  const project = join(home, 'project')
  mkdirSync(join(project, 'data'), { recursive: true })
  writeFileSync(join(home, 'key'), 'secret')
  writeFileSync(join(project, 'readme'), 'hello')
  const sandbox = { ...NOTHING, root: project, ...limits }
  const env = { HOME: home, ...more.env }
  const staged = await stage(scope, 'sh', ['-c', script], { cwd: project, sandbox, env })
  return { said: (await allOf(staged)).trim(), project }
}

function failure(sandbox: Sandbox, cwd: string): Promise<unknown> {
  const env = childEnvironment(process.env, {}, newMarker())
  return startProcess({ server: 'files', command: 'true', args: [], cwd, env, sandbox }).catch(
    (error) => error,
  )
}

test('a home and a project that are not listed are empty', async (scope) => {
  const { said } = await confined(scope, 'cat ~/key readme 2>/dev/null; ls -A; ls -A ~')
  expect(said).toBe('project')
})

test('listed paths can be read, and written only where that is listed', async (scope) => {
  const { said, project } = await confined(
    scope,
    'cat readme; (echo x > readme) || echo refused; echo new > data/file; cat ~/key || echo hidden',
    { read: ['.'], write: ['data'] },
  )
  expect(said).toBe('hellorefused\nhidden')
  expect(readFileSync(join(project, 'readme'), 'utf8')).toBe('hello')
  expect(readFileSync(join(project, 'data', 'file'), 'utf8')).toBe('new\n')
})

test('the system can be read and not changed; the home can be listed by its short name', async (scope) => {
  const { said } = await confined(scope, '(touch /usr/x /etc/x) 2>/dev/null || echo refused; cat ~/key', {
    read: ['~'],
  })
  expect(said).toBe('refused\nsecret')
})

test('sees no process but its own, and has no rights left', async (scope) => {
  const { said } = await confined(scope, 'ls /proc | grep -c "^[0-9]"; grep CapEff /proc/self/status')
  const [count, rights] = said.split('\n')
  expect(Number(count)).toBeLessThan(8)
  expect(rights).toBe('CapEff:\t0000000000000000')
})

test('reaches the network only when it may', async (scope) => {
  const listening = createServer((socket) => socket.end('reached'))
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  scope.onTestFinished(() => void listening.close())
  const address = listening.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const connecting = `require('net').connect(${port}, '127.0.0.1')`
  const telling = `.on('data', (data) => console.log('' + data)).on('error', ({ code }) => console.log(code))`
  const script = `node -e "${connecting}${telling}"`
  expect((await confined(scope, script, { network: true })).said).toBe('reached')
  expect((await confined(scope, script, { network: false })).said).toBe('ECONNREFUSED')
})

test('gets its environment without a value on any command line', async (scope) => {
  const { said } = await confined(scope, 'echo $TOKEN', {}, { env: { TOKEN: 'hush-hush' } })
  expect(said).toBe('hush-hush')
  const env = childEnvironment(process.env, { TOKEN: 'hush-hush' }, newMarker())
  const words = sandboxArguments(NOTHING, { command: 'true', args: [], cwd: '/usr', env })
  expect(words.join(' ')).not.toContain('hush-hush')
})

test('a program in a home that is hidden is shown with its library, and nothing beside it', async (scope) => {
  const home = temporaryFolder(scope)
  for (const folder of ['.local/bin', '.local/lib', '.local/share'])
    mkdirSync(join(home, folder), { recursive: true })
  writeFileSync(join(home, '.local/lib/words'), 'from the library')
  writeFileSync(join(home, '.local/share/keyring'), 'secret')
  const script = '#!/usr/bin/env sh\ncat "$HOME/.local/lib/words"; ls "$HOME/.local/share" || echo " alone"\n'
  writeFileSync(join(home, '.local/bin/tool'), script, { mode: 0o755 })
  const env = { HOME: home, PATH: `${join(home, '.local/bin')}:/usr/bin:/bin` }
  const staged = await stage(scope, 'tool', [], { cwd: home, sandbox: NOTHING, env })
  expect(await allOf(staged)).toBe('from the library alone\n')
})

test('close ends it, and so does the death of its owner, at once and without the ledger', async (scope) => {
  const script = 'trap "" TERM HUP; (setsid sleep 60 &); echo ready; while :; do sleep 1; done'
  const staged = await stage(scope, 'sh', ['-c', script], { sandbox: NOTHING })
  await staged.line()
  await staged.server.close()
  expect(marked(staged.marker)).toEqual([])

  const left = await owner.run(temporaryFolder(scope), {
    ending: 'wait',
    command: 'sh',
    args: ['-c', script],
    sandboxed: true,
  })
  expect(marked(left.marker).length).toBeGreaterThanOrEqual(3)
  await left.kill()
  await until(() => marked(left.marker).length === 0, 1000)
})

test('works for a user without rights of its own', () => {
  const able = process.getuid?.() !== 0 || spawnSync('setpriv', ['--version']).status === 0
  if (!able) return
  const args = sandboxArguments(NOTHING, {
    command: 'id',
    args: ['-u'],
    cwd: '/usr',
    env: { PATH: '/usr/bin:/bin' },
  })
  const user = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : ['env']
  const { stdout } = spawnSync(user[0] ?? '', [...user.slice(1), 'bwrap', ...args], { encoding: 'utf8' })
  expect(stdout.trim()).toMatch(/^\d+$/)
})

test('a listed path that does not exist is named', async () => {
  expect(await failure({ ...NOTHING, read: ['./nowhere'] }, '/usr')).toMatchObject({
    code: 'SPAWN_FAILED',
    server: 'files',
    message: 'the sandbox lists ./nowhere, but /usr/nowhere does not exist',
  })
  expect(await failure({ ...NOTHING, write: ['/nowhere'] }, '/usr')).toMatchObject({ code: 'SPAWN_FAILED' })
})

test('without bubblewrap, or with one that may not work, the server is refused', async (scope) => {
  await expect(findBubblewrap(true, '/nowhere')).rejects.toMatchObject({
    code: 'SANDBOX_ABSENT',
    hint: expect.stringContaining('apt install bubblewrap'),
  })
  const folder = temporaryFolder(scope)
  const forbidden = '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2; exit 1\n'
  writeFileSync(join(folder, 'bwrap'), forbidden, { mode: 0o755 })
  await expect(findBubblewrap(true, folder)).rejects.toMatchObject({
    code: 'SANDBOX_ABSENT',
    message: expect.stringContaining('No permissions to create new namespace'),
  })
})
