import { execFileSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Fault } from '../../base/fault.ts'
import { tried } from '../../base/thorough.ts'
import type { NativeTool } from '../../registry/native.ts'
import { workspaceTools } from './tools.ts'

let base: string
let root: string
let outside: string
let tools: Map<string, NativeTool>

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'busbar-workspace-')))
  root = join(base, 'work')
  outside = join(base, 'work-outside')
  mkdirSync(join(root, 'sub', 'deep'), { recursive: true })
  mkdirSync(outside)
  writeFileSync(join(root, 'a.txt'), 'inside\n')
  writeFileSync(join(root, 'sub', 'b.txt'), 'inside too\n')
  writeFileSync(join(outside, 'secret.txt'), 'CANARY\n')
  tools = toolsIn(root)
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

function toolsIn(folder: string, closed: string[] = []): Map<string, NativeTool> {
  const found = workspaceTools({ root: folder, closed, env: {}, visible: () => true })
  return new Map(found.map((tool) => [tool.name, tool]))
}

const never = new AbortController().signal

async function call(name: string, args: Record<string, unknown>): Promise<string> {
  const tool = tools.get(name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return String(await tool.run(args, { agent: 'one', signal: never }))
}

async function refusal(name: string, args: Record<string, unknown>): Promise<string> {
  const error = await call(name, args).then(
    (text) => expect.unreachable(`it answered ${text}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(Fault)
  return (error as Fault).message
}

test('[E2] files are read, written, replaced and listed in the workspace', async () => {
  expect(await call('read_file', { path: 'a.txt' })).toBe('inside')
  expect(await call('read_file', { path: join(root, 'sub/../a.txt') })).toBe('inside')
  expect(await call('write_file', { path: 'new/er/c.txt', content: 'one\ntwo\n' })).toContain('Created')
  expect(await call('write_file', { path: 'new/er/c.txt', content: 'x' })).toContain('Replaced')
  expect(readFileSync(join(root, 'new/er/c.txt'), 'utf8')).toBe('x')
  expect(await call('read_file', { path: '.' })).toBe('a.txt\nnew/\nsub/')
  expect(readdirSync(join(root, 'new/er'))).toEqual(['c.txt'])
})

test('[E2] a link inside the workspace is followed, one that leads out is not', async () => {
  symlinkSync('sub/b.txt', join(root, 'inner'))
  symlinkSync('../work-outside/secret.txt', join(root, 'outer'))
  symlinkSync(outside, join(root, 'folder'))
  symlinkSync('folder/secret.txt', join(root, 'chain'))
  symlinkSync(join(outside, 'made.txt'), join(root, 'nowhere'))
  symlinkSync('/proc/self/root', join(root, 'proc'))
  symlinkSync('loop', join(root, 'loop'))
  expect(await call('read_file', { path: 'inner' })).toBe('inside too')
  await call('write_file', { path: 'inner', content: 'changed' })
  expect(readFileSync(join(root, 'sub/b.txt'), 'utf8')).toBe('changed')
  const ways = [
    'outer',
    'folder',
    'folder/secret.txt',
    'chain',
    'nowhere',
    'loop',
    'proc',
    `proc${outside}/secret.txt`,
  ]
  for (const path of ways) {
    expect(await refusal('read_file', { path })).toMatch(/not in the workspace|cannot be followed/)
    expect(await refusal('write_file', { path, content: 'x' })).toMatch(
      /not in the workspace|cannot be followed/,
    )
    expect(await refusal('grep', { pattern: '.', path })).toMatch(/not in the workspace|cannot be followed/)
  }
  expect(await refusal('write_file', { path: 'folder/new/x.txt', content: 'x' })).toContain('not in')
  expect(readdirSync(outside)).toEqual(['secret.txt'])
  expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('CANARY\n')
  expect(await call('grep', { pattern: 'CANARY' })).toContain('No line fits')
})

test('[E2] no path leads out, whatever it is made of', async () => {
  writeFileSync(join(outside, 'only-outside'), '')
  symlinkSync(outside, join(root, 'link'))
  const piece = fc.constantFrom(
    '..',
    '.',
    '',
    'sub',
    'deep',
    'link',
    'a.txt',
    'secret.txt',
    'work-outside',
    'work',
    '...',
    '..\\..',
    '%2e%2e',
    '~',
    '\u0000',
    'x'.repeat(300),
    'proc',
    'self',
    'root',
    'cwd',
  )
  const path = fc
    .tuple(
      fc.constantFrom('', '/', base, root, outside, '/proc/self/cwd', '//', './'),
      fc.array(piece, { maxLength: 8 }),
    )
    .map(([start, pieces]) => [start, ...pieces].join('/'))
  await fc.assert(
    fc.asyncProperty(path, async (given) => {
      for (const [name, more] of [
        ['read_file', {}],
        ['write_file', { content: 'OVERWRITTEN' }],
        ['grep', { pattern: 'CANARY' }],
      ] as const) {
        const text = await call(name, { path: given, ...more }).catch((error: unknown) => {
          expect(error).toBeInstanceOf(Fault)
          return ''
        })
        expect(text).not.toContain('CANARY')
        expect(text).not.toContain('only-outside')
      }
      expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('CANARY\n')
      expect(readdirSync(outside)).toEqual(['only-outside', 'secret.txt'])
      expect(readdirSync(base).sort()).toEqual(['work', 'work-outside'])
    }),
    { numRuns: tried(300) },
  )
})

test('[E2] a folder that turns into a link again and again never leads out', async () => {
  mkdirSync(join(root, 'turning'))
  writeFileSync(join(root, 'turning', 'secret.txt'), 'harmless\n')
  symlinkSync(outside, join(root, 'the-link'))
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(SWAPPER, { eval: true, workerData: { root, stop } })
  const done = new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject))
  try {
    let harmless = 0
    let refused = 0
    for (
      let round = 0;
      round < tried(2000) && !(round > tried(300) && harmless > 20 && refused > 20);
      round++
    ) {
      for (const [name, args] of [
        ['read_file', { path: 'turning/secret.txt' }],
        ['read_file', { path: 'turning' }],
        ['grep', { pattern: 'CANARY', path: 'turning' }],
        ['write_file', { path: 'turning/made.txt', content: 'x' }],
        ['write_file', { path: 'turning/new/made.txt', content: 'x' }],
      ] as const) {
        const text = await call(name, args).catch((error: unknown) => {
          refused += 1
          return error instanceof Fault || (error as NodeJS.ErrnoException).code === 'ENOENT'
            ? ''
            : String(error)
        })
        if (text !== '') harmless += 1
        expect(text).not.toContain('CANARY')
      }
      expect(readdirSync(outside)).toEqual(['secret.txt'])
    }
    expect(harmless).toBeGreaterThan(0)
    expect(refused).toBeGreaterThan(0)
  } finally {
    Atomics.store(stop, 0, 1)
    await done
  }
})

// A tool may make the folder anew while it is away, which is put aside again.
const SWAPPER = `
const { renameSync } = require('node:fs')
let moved = 0
const { workerData: { root, stop } } = require('node:worker_threads')
const move = (from, to) => {
  for (;;) {
    try {
      return renameSync(root + from, root + to)
    } catch (error) {
      if (error.code !== 'EISDIR' && error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
      moved += 1
      renameSync(root + to, root + '/moved-' + moved)
    }
  }
}
while (Atomics.load(stop, 0) === 0) {
  move('/turning', '/aside')
  move('/the-link', '/turning')
  move('/turning', '/the-link')
  move('/aside', '/turning')
}`

test('[E2] pipes, sockets and devices are no files, and nobody waits for them', async () => {
  execFileSync('mkfifo', [join(root, 'pipe')])
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(join(root, 'socket'), resolve))
  try {
    for (const path of ['pipe', 'socket']) {
      expect(await refusal('read_file', { path })).toContain('is no file')
      expect(await refusal('write_file', { path, content: 'x' })).toContain('no file')
    }
    expect(await call('grep', { pattern: 'inside' })).toContain('a.txt:1: inside')
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
  expect(await refusal('write_file', { path: 'sub', content: 'x' })).toContain('no file')
  expect(await refusal('write_file', { path: '.', content: 'x' })).toContain('folder')
  expect(await refusal('write_file', { path: 'a.txt/x', content: 'x' })).toContain(
    'a part of its path is a file',
  )
})

test('a hard link is a file of the workspace, as documented', async () => {
  linkSync(join(outside, 'secret.txt'), join(root, 'hard'))
  expect(await call('read_file', { path: 'hard' })).toBe('CANARY')
  // Replaced, not written through.
  await call('write_file', { path: 'hard', content: 'mine' })
  expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('CANARY\n')
})

test('nothing is written where other programs look for what to run, nor where Busbar keeps its own', async () => {
  mkdirSync(join(root, '.git', 'hooks'), { recursive: true })
  mkdirSync(join(root, 'state'))
  writeFileSync(join(root, 'state', 'x'), 'CANARY')
  tools = toolsIn(root, [join(root, 'state'), join(root, 'not-there-yet')])
  for (const path of [
    '.git/hooks/pre-commit',
    '.GIT/hooks/pre-commit',
    'sub/.Busbar/local.yaml',
    'sub/.git/config',
    '.busbar/local.yaml',
    'state/x',
    'not-there-yet/x',
  ])
    await refusal('write_file', { path, content: 'x' })
  expect(await refusal('read_file', { path: 'state/x' })).toContain('stays closed')
  expect(await call('grep', { pattern: 'CANARY' })).toContain('No line fits')
  expect(existsSync(join(root, '.busbar'))).toBe(false)
})

test('some folders cannot be a workspace', () => {
  for (const folder of ['/', '/proc/self', '/dev', join(base, 'none'), join(root, 'a.txt')])
    expect(() => toolsIn(folder)).toThrow(Fault)
})

test('the terminal is off unless it is switched on, and every tool is only for whom it is given to', () => {
  expect([...tools.keys()]).toEqual(['read_file', 'write_file', 'grep'])
  const all = workspaceTools({
    root,
    env: {},
    tools: { terminal: true, write_file: false },
    visible: (agent) => agent === 'one',
  })
  expect(all.map(({ name }) => name)).toEqual(['read_file', 'grep', 'terminal'])
  expect(all.every(({ visible }) => visible?.('one') && !visible('two') && !visible(undefined))).toBe(true)
})
