// Watching: good edits are taken over, bad ones refused, and nothing vanishes with a file.

import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { type Answer, Sandbox } from './cli.ts'

/** `config check --watch --json` with its events in order. */
async function watching(sandbox: Sandbox): Promise<{ next: () => Promise<Answer> }> {
  const child = sandbox.start(['config', 'check', '--watch', '--json'])
  const ended = new Promise((resolve) => child.on('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGINT')
    await ended
  })
  if (!child.stdout) throw new Error('no output')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value)
  expect(await next()).toMatchObject({ kind: 'watching' })
  return { next }
}

test('[D14] a hand edit is taken over, and unchanged servers stay untouched', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write('busbar.yaml', 'servers:\n  a: { command: x }\n  b: { command: y }\n')
  const { next } = await watching(sandbox)
  writeFileSync(file, '# moved\nservers:\n  b: { command: z }\n  c: { command: new }\n  a: { command: x }\n')
  expect(await next()).toEqual({
    kind: 'applied',
    added: ['c'],
    changed: ['b'],
    removed: [],
    unchanged: ['a'],
  })
  writeFileSync(file, 'servers:\n  a: { command: x }\n')
  expect(await next()).toEqual({
    kind: 'applied',
    added: [],
    changed: [],
    removed: ['b', 'c'],
    unchanged: ['a'],
  })
})

test('[D14] a bad edit is refused with the reason, and the next good one is compared with the last good one', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write('busbar.yaml', 'servers:\n  a: { command: x }\n')
  const { next } = await watching(sandbox)
  writeFileSync(file, 'servers:\n  a: { comand: x }\n')
  const refused = await next()
  expect(refused.kind).toBe('refused')
  expect(refused.problems[0]).toMatchObject({ file, line: 2, hint: 'did you mean "command"?' })
  writeFileSync(file, 'servers:\n  a: { command')
  expect((await next()).kind).toBe('refused')
  writeFileSync(file, 'servers:\n  a: { command: x }\n  b: { command: y }\n')
  expect(await next()).toEqual({ kind: 'applied', added: ['b'], changed: [], removed: [], unchanged: ['a'] })
})

test('[D14] editors that swap files are followed, again and again', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write('busbar.yaml', 'servers:\n  s0: { command: x }\n')
  const { next } = await watching(sandbox)
  for (let index = 1; index <= 5; index++) {
    renameSync(file, `${file}~`)
    writeFileSync(`${file}.new`, `servers:\n  s${index}: { command: x }\n`)
    renameSync(`${file}.new`, file)
    expect(await next()).toMatchObject({ kind: 'applied', added: [`s${index}`], removed: [`s${index - 1}`] })
  }
})

test('[D14] a deleted file is not "remove everything"', async () => {
  const sandbox = new Sandbox()
  const text = 'servers:\n  a: { command: x }\n'
  const file = sandbox.write('busbar.yaml', text)
  const { next } = await watching(sandbox)
  rmSync(file)
  const refused = await next()
  expect(refused).toMatchObject({
    kind: 'refused',
    problems: [{ file, message: expect.stringContaining('last good') }],
  })
  writeFileSync(file, `${text}  b: { command: y }\n`)
  expect(await next()).toEqual({ kind: 'applied', added: ['b'], changed: [], removed: [], unchanged: ['a'] })
})

test('[D14] a file that appears is read', async () => {
  const sandbox = new Sandbox()
  const { next } = await watching(sandbox)
  sandbox.write('busbar.yaml', 'servers:\n  a: { command: x }\n')
  expect(await next()).toMatchObject({ kind: 'applied', added: ['a'] })
  sandbox.write('.busbar/local.yaml', 'servers:\n  b: { command: y }\n')
  expect(await next()).toMatchObject({ kind: 'applied', added: ['b'], unchanged: ['a'] })
})

test('[D14] a hundred quick edits end in the last one', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write('busbar.yaml', 'servers: {}\n')
  const { next } = await watching(sandbox)
  for (let index = 0; index < 100; index++) writeFileSync(file, `servers:\n  s${index}: { command: x }\n`)
  // Read in the middle of a write, a file is empty, and refused: that is no edit of anybody's.
  let last: Answer
  do last = await next()
  while (!last.added?.includes('s99'))
  expect(last.kind).toBe('applied')
})

test('[D14] an edit by the command line is seen by the watcher', async () => {
  const sandbox = new Sandbox()
  sandbox.write('busbar.yaml', 'servers:\n  a: { command: x }\n')
  const { next } = await watching(sandbox)
  await sandbox.run(['add', 'b', '--', 'y'])
  expect(await next()).toEqual({ kind: 'applied', added: ['b'], changed: [], removed: [], unchanged: ['a'] })
})

test('[D14] an emptied file, and a native file gone beside another tool’s, take nothing away', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write('busbar.yaml', 'servers:\n  a: { command: x }\n')
  sandbox.write('.mcp.json', '{"mcpServers": {"m": {"command": "y"}}}')
  const { next } = await watching(sandbox)
  writeFileSync(file, '')
  expect(await next()).toMatchObject({
    kind: 'refused',
    problems: [{ message: expect.stringContaining('is empty') }],
  })
  rmSync(file)
  expect(await next()).toMatchObject({
    kind: 'refused',
    problems: [{ message: expect.stringContaining('is gone') }],
  })
})

test('[D14] somebody who writes beside it all the time does not hide an edit', async () => {
  const sandbox = new Sandbox()
  const file = sandbox.write('busbar.yaml', 'servers:\n  a: { command: x }\n')
  const { next } = await watching(sandbox)
  const noise = setInterval(() => {
    sandbox.write('noise.txt', String(Math.random()))
    sandbox.write('busbar.yaml.tmp', String(Math.random()))
  }, 20)
  onTestFinished(() => clearInterval(noise))
  writeFileSync(file, 'servers:\n  b: { command: x }\n')
  expect(await next()).toMatchObject({ kind: 'applied', added: ['b'] })
})
