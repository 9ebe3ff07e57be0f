// `busbar call` against servers of every kind: arguments, results, failures, interruption.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { serverCommand, startServer } from '../servers/start.ts'
import { processesOf } from '../services/processes.ts'
import { served } from '../services/served.ts'
import { BINARY, type Sandbox } from './cli.ts'
import { ownServer, place, up, userFile } from './hub.ts'
import { ASKING, ASKING_TOOLS } from './wire-client.ts'

const plain = serverCommand('plain')

test('[C5] arguments are typed by the tool’s schema', async () => {
  const sandbox = await served({ plain, numbers: serverCommand('big-numbers') })
  const call = async (...words: string[]) => {
    const { code, stdout, stderr } = await sandbox.run(['call', ...words])
    return [code, stdout || stderr]
  }
  expect(await call('plain/add', 'a=1.5', 'b=-2')).toEqual([0, '{"sum":-0.5}\n'])
  expect(await call('plain:add', '{"a": 1, "b": 2}')).toEqual([0, '{"sum":3}\n'])
  expect(await call('plain/echo', 'text=42')).toEqual([0, '42\n'])
  expect(await call('plain/echo', 'text=a=b=c')).toEqual([0, 'a=b=c\n'])
  expect(await call('plain/echo', 'text:="forced"')).toEqual([0, 'forced\n'])
  sandbox.write('letter.txt', 'Dear “reader”,\nyours')
  expect(await call('plain/echo', 'text=@letter.txt')).toEqual([0, 'Dear “reader”,\nyours\n'])
  expect(await call('numbers/type-of', 'value:=[1,{"a":null}]')).toEqual([
    0,
    expect.stringMatching(/object|array/),
  ])
  const piped = await sandbox.run(['call', 'plain/add', '-'], { input: '{"a": 20, "b": 22}' })
  expect([piped.code, piped.stdout]).toEqual([0, '{"sum":42}\n'])
})

const refused: [string, string[], RegExp][] = [
  ['a missing argument', ['plain/add', 'a=1'], /"b" is missing: number/],
  ['a word for a number', ['plain/add', 'a=one', 'b=2'], /a is "one"; expected number/],
  ['the same key twice', ['plain/echo', 'text=a', 'text=b'], /"text" is given twice/],
  ['the same key twice in JSON', ['plain/echo', '{"text":"a","text":"b"}'], /"text" is given twice/],
  ['two ways at once', ['plain/echo', '{"text":"a"}', 'text=b'], /"text=b" cannot follow a JSON object/],
  ['JSON that is none', ['plain/echo', '{text:a}'], /not JSON/],
  ['a word without a key', ['plain/echo', 'hello'], /"hello" is no argument.*\n.*key=value/],
  ['an empty stdin', ['plain/echo', '-'], /nothing came on stdin/],
  ['a file that is not there', ['plain/echo', 'text=@nowhere'], /nowhere cannot be sent/],
  ['a tool that is not there', ['plain/ecko', 'text=a'], /has no tool "ecko".*\n.*did you mean plain\/echo/],
  ['a server that is not there', ['plian/echo', 'text=a'], /no server is called "plian".*\n.*plain/],
  ['an address without a tool', ['plain', 'text=a'], /names no tool.*\n.*busbar tools plain/],
  ['a time that is none', ['plain/echo', 'text=a', '--timeout', 'soon'], /--timeout is "soon"/],
]
for (const [title, words, expected] of refused)
  test(`[C5] ${title} is refused before anything is called`, async () => {
    const sandbox = await served({ plain })
    const { code, stdout, stderr } = await sandbox.run(['call', ...words])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(expected)
  })

test('[C5] stdin that is no text is refused before anything is called, and not altered', async () => {
  const sandbox = await served({ plain })
  const input = Buffer.concat([Buffer.from('{"text":"a'), Buffer.from([0xff, 0xc3]), Buffer.from('"}')])
  const { code, stdout, stderr } = await sandbox.run(['call', 'plain/echo', '-'], { input })
  expect([code, stdout, stderr]).toEqual([
    1,
    '',
    expect.stringContaining('stdin cannot be sent: it is no text'),
  ])
})

const BLOBS = `
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const answers = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { resources: {} },
      serverInfo: { name: 's', version: '1' },
    },
    'resources/read': { contents: [{ uri: params?.uri, blob: params?.uri === 'a:good' ? 'AP8_' : 'no base64!' }] },
    'resources/list': { resources: [] },
  }
  const result = answers[method]
  const answer = result ? { result } : { error: { code: -32601, message: 'no' } }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})`
test('[C5] a resource that is no base64 is not altered but told, and goes out as it is with --json', async () => {
  const sandbox = await served({ blobs: { command: process.execPath, args: ['-e', BLOBS] } })
  expect((await sandbox.run(['read', 'blobs', 'a:good', '--output', 'good'])).code).toBe(0)
  expect([...readFileSync(sandbox.path('good'))]).toEqual([0, 255, 63])
  for (const more of [[], ['--output', 'kept']]) {
    const { code, stdout, stderr } = await sandbox.run(['read', 'blobs', 'a:bad', ...more])
    expect([code, stdout]).toEqual([5, ''])
    expect(stderr).toContain('blobs gives a:bad as something that is no base64')
  }
  expect(sandbox.exists('kept')).toBe(false)
  expect((await sandbox.run(['read', 'blobs', 'a:bad', '--json'])).json.contents[0].blob).toBe('no base64!')
})

test('[C5] an argument that is nearly right is pointed out; --no-check sends it unseen', async () => {
  const sandbox = await served({ plain })
  const near = await sandbox.run(['call', 'plain/echo', 'text=a', 'txet=b'])
  expect(near.stderr).toContain('did you mean "text"?')
  const unchecked = await sandbox.run(['call', 'plain/echo', '--no-check'])
  expect(unchecked.stderr).not.toContain('is missing')
})

test('[C5] every kind of content is shown, and nothing of it acts on a terminal', async () => {
  const sandbox = await served({ content: serverCommand('content'), hostile: serverCommand('hostile-text') })
  const text = async (tool: string) => (await sandbox.run(['call', tool])).stdout
  expect(await text('content/image')).toMatch(/^\[image image\/png \d+ bytes\]\n$/)
  expect(await text('content/audio')).toMatch(/^\[audio audio\/wav \d+ bytes\]\n$/)
  expect(await text('content/link')).toMatch(/^\[link test:\/\/text .*\]\n$/)
  expect(await text('content/embedded')).toContain('[resource test://note text/markdown]\n# Note')
  expect(await text('content/embedded-blob')).toMatch(/^\[resource test:\/\/pixel image\/png \d+ bytes\]\n$/)
  expect(await text('content/structured-list')).toContain('[')
  expect(await text('content/empty')).toBe('(an empty result)\n')
  for (const tool of ['ansi', 'bidi', 'zero-width', 'tags', 'control'])
    expect((await text(`hostile/${tool}`)).replace(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

test('[C5] what is no text can be kept in a file, which is not overwritten', async () => {
  const sandbox = await served({ content: serverCommand('content') })
  const kept = await sandbox.run(['call', 'content/image', '--output', 'pixel.png'])
  expect([kept.code, kept.stderr]).toEqual([0, expect.stringContaining('wrote pixel.png')])
  expect(sandbox.read('pixel.png').slice(1, 4)).toBe('PNG')
  sandbox.write('pixel.png', 'mine')
  const again = await sandbox.run(['call', 'content/image', '--output', 'pixel.png'])
  expect([again.code, again.stdout]).toEqual([1, ''])
  expect(sandbox.read('pixel.png')).toBe('mine')
  expect((await sandbox.run(['call', 'content/image', '-o', 'pixel.png', '--force'])).code).toBe(0)
  expect(sandbox.read('pixel.png').slice(1, 4)).toBe('PNG')
  const none = await sandbox.run(['call', 'content/text', '--output', 'text.bin'])
  expect(none.stderr).toContain('nothing was written')
  expect(sandbox.exists('text.bin')).toBe(false)
})

test('[C5] --json is the result as the server wrote it, down to the digits', async () => {
  const sandbox = await served({ numbers: serverCommand('big-numbers') })
  const { stdout } = await sandbox.run(['call', 'numbers/numbers', '--json'])
  expect(stdout).toContain('"integer":12345678901234567891,')
  expect(stdout).toContain('"exponent":1e400')
  expect(stdout.endsWith('}\n')).toBe(true)
})

test('[B13] a tool that fails, or a server that answers with an error, is a result and exit 5', async () => {
  const sandbox = await served({ plain })
  const failed = await sandbox.run(['call', 'plain/fail', '--json'])
  expect([failed.code, failed.stderr, failed.json.isError]).toEqual([5, '', true])
  const thrown = await sandbox.run(['call', 'plain/throw', 'code=-32001'])
  expect([thrown.code, thrown.stdout, thrown.stderr]).toEqual([5, 'It threw, as asked\n', ''])
})

test('[C5] what prevents a result has its own exit code', async () => {
  const { url } = await startServer('unauthorized')
  const sandbox = await served(
    {
      plain,
      crash: serverCommand('crash-call'),
      huge: serverCommand('huge'),
      elicit: serverCommand('elicit'),
      auth: { url },
      off: { ...plain, enabled: false },
      lacks: { ...plain, env: { KEY: '${NOT_SET}' } },
    },
    { agents: { reader: { servers: ['plain'], approval: 'never' } } },
  )
  sandbox.write('.busbar/local.yaml', JSON.stringify({ servers: { untrusted: plain } }))
  const cases: [string[], number, string][] = [
    [['plain/sleep', 'ms=60000', '--timeout', '200ms'], 4, 'CALL_TIMEOUT'],
    [['crash/crash'], 4, 'CONNECTION_LOST'],
    [['huge/huge', 'bytes=20000000'], 5, 'MESSAGE_TOO_LARGE'],
    [['auth/echo', 'text=a'], 3, 'AUTH_REQUIRED'],
    [['off/echo', 'text=a'], 4, 'SERVER_UNAVAILABLE'],
    [['lacks/echo', 'text=a'], 1, 'CONFIG_INVALID'],
    [['untrusted/echo', 'text=a'], 6, 'NOT_TRUSTED'],
    [['auth/echo', 'text=a', '--agent', 'reader'], 6, 'NO_ACCESS'],
    [['nowhere/echo', 'text=a', '--agent', 'reader'], 6, 'NO_ACCESS'],
    [['plain/echo', 'text=a', '--agent', 'nobody'], 1, 'AGENT_UNKNOWN'],
  ]
  for (const [words, exit, code] of cases) {
    const result = await sandbox.run(['call', ...words, '--json'])
    expect([words, result.code, result.stdout, result.error.code]).toEqual([words, exit, '', code])
  }
  const allowed = await sandbox.run(['call', 'plain/echo', 'text=a', '--agent', 'reader'])
  expect([allowed.code, allowed.stdout]).toEqual([0, 'a\n'])
})

const recorder = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../services/recorder.mjs', import.meta.url))],
  env: { RECORD: '${HOME}/record' },
}

async function started(sandbox: Sandbox, args: readonly string[]) {
  const child = sandbox.start(args)
  const ended = once(child, 'close')
  const record = `${sandbox.home}/record`
  await vi.waitFor(() => expect(sandbox.read(record)).toContain('tools/call'), {
    timeout: 20_000,
    interval: 20,
  })
  return { child, ended, record }
}

for (const [signal, exit] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)
  test(`[B10] ${signal} cancels the call, tells the server and leaves nothing`, async () => {
    const sandbox = await served({ recorder })
    const { child, ended, record } = await started(sandbox, ['call', 'recorder/hang', '--json'])
    child.kill(signal)
    expect(await ended).toEqual([exit, null])
    expect(sandbox.read(record).trim().split('\n').at(-1)).toBe('notifications/cancelled')
  })

test('[B10] whoever is asked a second time to end does not wait, and still leaves nothing', async () => {
  const stubborn = serverCommand('ignore-sigterm')
  const sandbox = await served({ stubborn: { ...stubborn, env: { SPAWN_LOG: '${HOME}/record' } } })
  const child = sandbox.start(['call', 'stubborn/sleep', 'ms=600000'])
  const ended = once(child, 'close')
  await vi.waitFor(() => expect(sandbox.read(`${sandbox.home}/record`)).toContain('START'), {
    timeout: 20_000,
  })
  child.kill('SIGINT')
  // Not the same one: two that wait are one.
  child.kill('SIGTERM')
  // Which of two signals is handled first is the kernel's business.
  expect([130, 143]).toContain((await ended)[0])
})

test('[B10] what a killed run left behind is ended by the next one, which says so', async () => {
  const sandbox = await served({ recorder, stubborn: serverCommand('ignore-sigterm') })
  const child = sandbox.start(['call', 'stubborn/sleep', 'ms=600000'])
  const ended = once(child, 'close')
  const servers = () => processesOf(sandbox.root).filter((it) => it.includes('ignore-sigterm'))
  await vi.waitFor(() => expect(servers()).toHaveLength(1), { timeout: 20_000 })
  child.kill('SIGKILL')
  await ended
  expect(servers()).toHaveLength(1)
  const next = await sandbox.run(['tools', 'recorder'])
  expect([next.code, next.stderr]).toEqual([0, expect.stringContaining('ended stubborn')])
})

test('[B10] a wrapper, its grandchild and a daemon are gone when the command ends', async () => {
  const sandbox = await served({ wrapper: serverCommand('wrapper'), fork: serverCommand('double-fork') })
  expect((await sandbox.run(['call', 'wrapper/echo', 'text=a'])).stdout).toBe('a\n')
  expect((await sandbox.run(['call', 'fork/daemon'])).stdout).toMatch(/\d/)
})

test('[B10] a reader that stops early leaves nothing running', async () => {
  const sandbox = await served({ plain })
  const line = `"${process.execPath}" "${BINARY}" call plain/blob size=4000000 | head -c 10`
  const child = spawn('sh', ['-c', line], { cwd: sandbox.project, env: sandbox.env() })
  await once(child, 'close')
})

test('on a terminal a line tells what is going on; it is wiped before the answer', async () => {
  const sandbox = await served({ plain })
  const seen = (env: Record<string, string>) =>
    spawnSync(
      'script',
      ['-qec', `'${process.execPath}' '${BINARY}' call plain/progress steps=3`, '/dev/null'],
      {
        cwd: sandbox.project,
        env: sandbox.env(env),
        encoding: 'utf8',
      },
    ).stdout
  const shown = seen({ TERM: 'xterm' })
  expect(shown).toContain('starting plain')
  expect(shown).toMatch(/3 of 3/)
  expect(shown.split('\r\u001b[K').at(-1)).not.toContain('plain/progress')
  expect(seen({ TERM: 'dumb' })).not.toContain('starting plain')
})

/** Modern, and asks whoever calls, whatever they said that they can answer. */
const ASKS_ANYWAY = `
const more = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
const who = { method: 'elicitation/create', params: { message: 'who?', requestedSchema: { type: 'object', properties: {} } } }
globalThis.methods = {
  'server/discover': () => ({ ...more, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
  'tools/list': () => ({ ...more, tools: [{ name: 'ask', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ resultType: 'input_required', inputRequests: { who } }),
}
`

test('[C5] a tool that asks is told the same with a gateway and without: nobody can be asked here', async () => {
  const { sandbox } = place()
  const servers = {
    legacy: ownServer(sandbox, ASKING_TOOLS, ASKING),
    modern: ownServer(sandbox, '{ ask: 0 }', ASKS_ANYWAY),
  }
  sandbox.write(userFile(sandbox), JSON.stringify({ servers }))
  const question = JSON.stringify({ method: 'elicitation/create', params: { message: 'Who?' } })
  const asked = async () => {
    const legacy = await sandbox.run(['call', 'legacy/ask', question])
    const modern = await sandbox.run(['call', 'modern/ask'])
    return [legacy, modern].map(({ code, stdout, stderr }) => [code, stdout, stderr].join('\n'))
  }
  const alone = await asked()
  expect(alone[0]).toContain("nobody can be asked for elicitation/create outside of a client's call")
  expect(alone[1]).toContain('modern asks for elicitation/create, and nobody can be asked here')
  for (const said of alone) expect(said).toContain('make the call with an MCP client that can answer')
  await up(sandbox, { servers }, { user: true })
  expect(await asked()).toEqual(alone)
})
