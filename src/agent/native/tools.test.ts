import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Fault } from '../../base/fault.ts'
import { learnSecret } from '../../base/redact.ts'
import { Clipped } from './clipped.ts'
import { grepTool } from './grep.ts'
import { workspaceTools } from './tools.ts'
import { Workspace } from './workspace.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'busbar-tools-')))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

interface Answer {
  readonly text: string
  readonly isError: boolean
}

async function call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<Answer> {
  const env = { PATH: process.env['PATH'], HOME: root, OPENAI_API_KEY: 'sk-hidden', LANG: 'C' }
  const tools = workspaceTools({ root, env, tools: { terminal: true }, visible: () => true })
  const tool = tools.find((candidate) => candidate.name === name)
  const result = await tool?.run(args, { agent: 'one', signal: signal ?? new AbortController().signal })
  if (typeof result === 'string') return { text: result, isError: false }
  const { content, isError } = result as { content: { text: string }[]; isError: boolean }
  return { text: content[0]?.text ?? '', isError }
}

test('[E2] a long file comes in parts that say how to go on', async () => {
  writeFileSync(
    join(root, 'long'),
    Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`).join('\n'),
  )
  const first = await call('read_file', { path: 'long' })
  expect(first.text).toMatch(/line 2000\n\n\[lines 1 to 2000 of 5000; go on with from: 2001\]$/)
  const last = await call('read_file', { path: 'long', from: 4999, lines: 10 })
  expect(last.text).toBe('line 4999\nline 5000')
  await expect(call('read_file', { path: 'long', from: 5001 })).rejects.toThrow('has 5000 lines')
})

test('[E2] huge and binary files are told, not shown', async () => {
  writeFileSync(join(root, 'huge'), 'x'.repeat(20 * 1024 * 1024))
  const huge = await call('read_file', { path: 'huge' })
  expect(huge.text.length).toBeLessThan(201_000)
  expect(huge.text).toContain('more than 1')
  writeFileSync(join(root, 'binary'), Buffer.from([0x89, 0x50, 0, 1, 2]))
  writeFileSync(join(root, 'latin'), Buffer.from([0x67, 0x72, 0xfc, 0xdf]))
  expect((await call('read_file', { path: 'binary' })).text).toContain('binary file of 5 bytes')
  expect((await call('read_file', { path: 'latin' })).text).toContain('binary')
  writeFileSync(join(root, 'empty'), '')
  expect((await call('read_file', { path: 'empty' })).text).toContain('is empty')
  const large = 'x'.repeat(5 * 1024 * 1024)
  await expect(call('write_file', { path: 'w', content: large })).rejects.toThrow('at most')
})

test('[E2] grep finds lines by pattern, name and folder, within its bounds', async () => {
  mkdirSync(join(root, 'src'))
  mkdirSync(join(root, 'node_modules'))
  writeFileSync(join(root, 'src', 'a.ts'), 'const one = 1\nCONST TWO = 2\n')
  writeFileSync(join(root, 'src', 'b.md'), 'const three\n')
  writeFileSync(join(root, 'node_modules', 'c.ts'), 'const four\n')
  writeFileSync(join(root, 'bin'), Buffer.from('const\0five'))
  expect((await call('grep', { pattern: '^const \\w+' })).text).toBe(
    'src/a.ts:1: const one = 1\nsrc/b.md:1: const three',
  )
  expect((await call('grep', { pattern: 'const', files: '*.ts', ignore_case: true })).text).toBe(
    'src/a.ts:1: const one = 1\nsrc/a.ts:2: CONST TWO = 2',
  )
  expect((await call('grep', { pattern: 'const', path: 'src/b.md' })).text).toBe('src/b.md:1: const three')
  expect((await call('grep', { pattern: 'const', limit: 1 })).text).toContain('more than 1 lines')
  await expect(call('grep', { pattern: '(' })).rejects.toThrow(Fault)
  await expect(call('grep', { pattern: '(?=a)b' })).rejects.toThrow(Fault)
  await expect(call('grep', { pattern: '((a{100}){100}){10}' })).rejects.toThrow(Fault)
})

test('[E2] a pattern that ruins other engines is searched in linear time, and can be stopped', async () => {
  writeFileSync(join(root, 'evil'), `${'a'.repeat(9000)}!\n`.repeat(20) + 'a'.repeat(20_000))
  const { text } = await call('grep', { pattern: '^(a+)+$' })
  expect(text).toContain('No line fits')
  expect(text).toContain('1 lines are longer than 10000 characters')
  writeFileSync(join(root, 'many'), 'some words to look at\n'.repeat(80_000))
  const stop = new AbortController()
  const searching = call('grep', { pattern: '(x|y|z)+[0-9]{50}q' }, stop.signal)
  setImmediate(() => stop.abort(new Error('enough')))
  await expect(searching).rejects.toThrow('enough')
})

test('[E2] a search that gives up says so, and what it found', async () => {
  for (let count = 0; count < 8; count++) writeFileSync(join(root, `f${count}`), 'needle\n')
  const search = async (most: number) =>
    String(
      await grepTool(new Workspace({ root }), { most }).run(
        { pattern: 'needle' },
        { agent: 'one', signal: new AbortController().signal },
      ),
    )
  const cut = await search(5)
  expect(cut.match(/: needle/g)).toHaveLength(5)
  expect(cut).toContain('[not everything was searched: there are more than 5 files and folders]')
  expect(await search(8)).not.toContain('not everything')
})

test('[E2] the more complicated a pattern, the shorter a line that is searched at once', async () => {
  writeFileSync(join(root, 'long'), `${'ab'.repeat(4500)}\n`)
  const { text } = await call('grep', { pattern: '[ab]*a[ab]{440}[cd]' })
  expect(text).toMatch(/1 lines are longer than 2\d{3} characters/)
  expect((await call('grep', { pattern: '[ab]+' })).text).toContain('long:1')
})

test('[E2] the terminal runs in the workspace, with both outputs, a status and no secrets', async () => {
  const ran = await call('terminal', { command: 'pwd; echo oops >&2; exit 3' })
  expect(ran).toEqual({ text: `${root}\noops\n[It ended with status 3.]`, isError: false })
  const env = await call('terminal', { command: 'env' })
  expect(env.text).toContain('LANG=C')
  expect(env.text).not.toMatch(/sk-hidden|OPENAI/)
  learnSecret('a-token-of-some-server', 'server:some')
  expect((await call('terminal', { command: 'echo a-token-of-some-server' })).text).not.toContain('a-token')
  const broken = await call('terminal', { command: 'if then "' })
  expect(broken.text).toMatch(/[Ss]yntax error|[Uu]nterminated|unexpected/)
  expect((await call('terminal', { command: 'cat' })).text).toBe('It ended with status 0.')
})

test('[E2] output of any length is bounded, its beginning and its end are kept', async () => {
  const { text } = await call('terminal', {
    command: 'echo begin; head -c 5000000 /dev/zero | tr "\\0" x; echo; echo end',
  })
  expect(text.length).toBeLessThan(70_000)
  expect(text).toMatch(/^begin\n/)
  expect(text).toMatch(/bytes left out\][\s\S]*\nend\n\[It ended with status 0\.\]$/)
})

test('[E2] on timeout and when it is stopped everything a command started ends', async () => {
  const spawner = 'sleep 600 & setsid sleep 601 & echo $! > one; sh -c "sleep 602" & echo $$ > two; wait'
  const late = await call('terminal', { command: spawner, timeout: 1 })
  expect(late).toMatchObject({ isError: true, text: expect.stringContaining('ended after 1 s') })
  const pids = ['one', 'two'].map((name) => Number(readFileSync(join(root, name), 'utf8')))
  for (const pid of pids) expect(isAlive(pid)).toBe(false)
  const stop = new AbortController()
  const running = call('terminal', { command: 'echo $$ > three; sleep 603' }, stop.signal)
  const over = expect(running).rejects.toThrow('enough')
  let pid = 0
  while (pid === 0) {
    await sleep(5)
    pid = Number(readMaybe(join(root, 'three')))
  }
  stop.abort(new Error('enough'))
  await over
  expect(isAlive(pid)).toBe(false)
})

test('what a command leaves running in the background ends with it', async () => {
  const { text } = await call('terminal', { command: 'sleep 604 & echo $!' })
  expect(isAlive(Number.parseInt(text, 10))).toBe(false)
})

test('[E2] what leaves the group and drops its mark is ended, too, when it was seen', async () => {
  const { text } = await call('terminal', {
    command: 'env -i setsid sleep 605 > /dev/null 2>&1 & echo $!; sleep 1',
  })
  expect(isAlive(Number.parseInt(text, 10))).toBe(false)
})

test('clipped output is whole as long as it fits, and nothing is cut before it is clean', () => {
  const clipped = new Clipped(4, 6)
  clipped.add(Buffer.from('abc'))
  clipped.add(Buffer.from('defgh'))
  expect(clipped.text()).toBe('abcdefgh')
  clipped.add(Buffer.from('ijklmnop'))
  expect(clipped.text()).toBe('abcd\n[about 8 bytes left out]\nmnop')
  for (let piece = 0; piece < 50; piece++) clipped.add(Buffer.from('qrstuv'))
  expect(clipped.text()).toBe('abcd\n[about 308 bytes left out]\nstuv')
  const clean = (text: string) => text.replaceAll('cdef', '•').replaceAll('rstu', '•')
  expect(clipped.text(clean)).toBe('ab•g\n[about 308 bytes left out]\nvq•v')
})

test('[C11] what is taken out of clipped output brings no part of a secret near', () => {
  const secret = 'S3cretValue-of-which-no-part-may-be-seen'
  const clipped = new Clipped(400, 200)
  for (let piece = 0; piece < 200; piece++) clipped.add(Buffer.from(`${secret} `))
  const text = clipped.text((it) => it.replaceAll(secret, '••••••'))
  expect(text.replaceAll(/[•\s]|\[about \d+ bytes left out\]/g, '')).toBe('')
})

function isAlive(pid: number): boolean {
  try {
    // A zombie answers signals, too.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

function readMaybe(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
