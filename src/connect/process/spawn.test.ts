import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { childEnvironment } from './environment.ts'
import { explainSpawnError } from './launch-fault.ts'
import { newMarker } from './marker.ts'
import { startProcess } from './spawn.ts'
import { allOf, stage, stageNode, temporaryFolder } from './staging.ts'

function failing(
  command: string,
  more: { args?: string[]; cwd?: string; PATH?: string } = {},
): Promise<unknown> {
  const env = childEnvironment(process.env, more.PATH === undefined ? {} : { PATH: more.PATH }, newMarker())
  const options = { server: 'files', command, args: more.args ?? [], cwd: more.cwd ?? tmpdir(), env }
  return startProcess(options).then(
    () => 'started',
    (error) => error,
  )
}

function script(scope: TestContext, text: string | Buffer, mode = 0o755): string {
  const file = join(temporaryFolder(scope), 'server')
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

test('carries bytes both ways and tells how the process ended', async (scope) => {
  const { server, line } = await stageNode(
    scope,
    `
    process.stdin.once('data', (data) => {
      console.log('got ' + data)
      process.exitCode = 3
      process.stdin.destroy()
    })
  `,
  )
  expect(server.exit).toBeUndefined()
  server.stdin.write('hello')
  expect(await line()).toBe('got hello')
  expect(await server.exited).toEqual({ code: 3, signal: null })
  expect(server.exit).toEqual({ code: 3, signal: null })
})

test('arguments reach the program as they are: there is no shell', async (scope) => {
  const staged = await stage(scope, 'printf', ['%s\\n', '$HOME', '`id`', '; exit', 'a b', ''])
  expect(await allOf(staged)).toBe('$HOME\n`id`\n; exit\na b\n\n')
})

test('a command is found by PATH or from its folder, and told its name', async (scope) => {
  const folder = temporaryFolder(scope)
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'greet'), '#!/bin/sh\necho "$0"\n', { mode: 0o755 })
  const byPath = await stage(scope, 'greet', [], { env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` } })
  expect(await byPath.line()).toBe(join(folder, 'bin', 'greet'))
  const byFolder = await stage(scope, './bin/greet', [], { cwd: folder })
  expect(await byFolder.line()).toBe(join(folder, 'bin', 'greet'))
  const named = await stage(scope, 'sh', ['-c', 'tr "\\0" "\\n" </proc/$$/cmdline | head -1'])
  expect(await named.line()).toBe('sh')
})

test('leads a session of its own', async (scope) => {
  const { server, line } = await stageNode(
    scope,
    `process.stdin.resume(); console.log('' + require('fs').readFileSync('/proc/self/stat'))`,
  )
  const [, , group, session] = (await line()).replace(/.*\) /, '').split(' ').map(Number)
  expect([group, session]).toEqual([server.pid, server.pid])
})

test('a command that is not there is named, with where it was looked for and what to install', async () => {
  expect(await failing('npx', { PATH: '/nowhere' })).toMatchObject({
    code: 'SPAWN_FAILED',
    server: 'files',
    message: 'command "npx" was not found in PATH',
    hint: expect.stringContaining('https://nodejs.org'),
  })
  expect(await failing('uvx', { PATH: '/nowhere' })).toMatchObject({
    hint: expect.stringContaining('astral.sh/uv'),
  })
  expect(await failing('docker', { PATH: '' })).toMatchObject({
    message: 'command "docker" was not found in PATH, which is empty',
    hint: expect.stringContaining('docs.docker.com'),
  })
  expect(await failing('./server.js')).toMatchObject({
    message: `${join(tmpdir(), 'server.js')} does not exist`,
  })
  for (const line of ['node server.js --port 1', './server.js --port 1'])
    expect(await failing(line, { PATH: '/nowhere' })).toMatchObject({
      hint: expect.stringContaining('`args`'),
    })
})

test('a missing folder is told apart from a missing command', async () => {
  expect(await failing('node', { cwd: '/nowhere' })).toMatchObject({
    code: 'SPAWN_FAILED',
    message: 'its folder /nowhere does not exist',
  })
  expect(await failing('node', { cwd: '/etc/passwd' })).toMatchObject({
    message: 'its folder /etc/passwd is not a folder',
  })
})

test('a file that cannot be run is not run, by no shell either', async (scope) => {
  const plain = script(scope, '#!/bin/sh\n', 0o644)
  expect(await failing(plain)).toMatchObject({
    code: 'SPAWN_FAILED',
    message: `${plain} is not executable`,
    hint: `run: chmod +x ${plain}`,
  })
  expect(await failing('/tmp')).toMatchObject({ message: '/tmp is not a file' })
  const words = script(scope, 'echo a shell ran this\n')
  expect(await failing(words)).toMatchObject({
    message: expect.stringMatching(/neither a program .* nor starts with #!/),
  })
  const foreign = readFileSync('/bin/true')
  foreign.writeUInt16LE(243, 18)
  expect(await failing(script(scope, foreign))).toMatchObject({
    message: expect.stringContaining('neither a program'),
  })
  expect(await failing(script(scope, '#!/nowhere/python\n'))).toMatchObject({
    message: expect.stringContaining('the interpreter it names does not exist'),
  })
})

test('words that are too long or hold a zero byte are refused like everything else', async () => {
  expect(await failing('true', { args: ['x'.repeat(3_000_000)] })).toMatchObject({
    code: 'SPAWN_FAILED',
    message: expect.stringContaining('too long'),
  })
  expect(await failing('true', { args: ['a\0b'] })).toMatchObject({
    message: expect.stringContaining('zero byte'),
  })
})

test('a file that is being written right now is refused with that reason', async (scope) => {
  const file = join(temporaryFolder(scope), 'busy')
  cpSync('/bin/sleep', file)
  const writer = await stage(scope, 'sh', ['-c', 'exec 3>>"$0"; echo open; read line', file])
  await writer.line()
  expect(await failing(file)).toMatchObject({ message: expect.stringContaining('being written right now') })
})

test('writing to a server that has ended does no harm', async (scope) => {
  const { server } = await stage(scope, 'true', [])
  await server.exited
  for (let time = 0; time < 3; time++) server.stdin.write('x'.repeat(100_000))
  const failed = await new Promise((resolve) => server.stdin.write('x', resolve))
  expect(failed).toBeInstanceOf(Error)
})

test('what the machine lacks is said with what to do about it', () => {
  const explain = (code: string) =>
    explainSpawnError(Object.assign(new Error(code), { code }), '/bin/x', 'files')
  expect(explain('EMFILE')).toMatchObject({
    code: 'SPAWN_FAILED',
    server: 'files',
    message: '/bin/x could not be started: too many open files',
    hint: expect.stringContaining('ulimit -n'),
  })
  for (const code of ['ENFILE', 'EAGAIN', 'ENOMEM', 'EACCES']) expect(explain(code).hint).toBeDefined()
  expect(explain('EODD').message).toBe('/bin/x could not be started: EODD')
})
