// A person at `busbar approve watch`, on a real terminal: one key answers the question on the screen, and no other.

import { once } from 'node:events'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { BINARY, type Sandbox } from './cli.ts'
import { type Gateway, place, TOKEN, until, up } from './hub.ts'
import { type Terminal, terminal } from './terminal.ts'

const ENV = { TERM: 'xterm', SHELL: '/bin/sh', NO_COLOR: '1' }
const PROMPT = '[k]eep, [?] '

function home(): Sandbox {
  const { sandbox } = place()
  const config = { servers: { plain: serverCommand('plain') }, agents: { ada: { servers: ['*'] } } }
  sandbox.write('busbar.json', JSON.stringify(config))
  return sandbox
}

/** Makes a call that waits for a person; the id of its question. */
async function asks(sandbox: Sandbox, text: string): Promise<string> {
  const words = ['call', 'plain/echo', JSON.stringify({ text }), '--agent', 'ada', '--trust', '--json']
  const { code, stderr } = await sandbox.run(words)
  expect(code).toBe(7)
  return JSON.parse(stderr).approval ?? JSON.parse(stderr).details.approval
}

async function statusOf(sandbox: Sandbox, id: string): Promise<string> {
  const { stdout } = await sandbox.run(['approve', 'list', '--all', '--json'])
  return JSON.parse(stdout).approvals.find((it: { id: string }) => it.id === id)?.status
}

async function rules(sandbox: Sandbox): Promise<unknown[]> {
  return JSON.parse((await sandbox.run(['approve', 'rules', '--json'])).stdout).rules
}

function watch(sandbox: Sandbox): Terminal {
  return terminal(sandbox, `exec "${process.execPath}" "${BINARY}" approve watch`, ENV)
}

test('[D11] one key answers, and what is typed before a question is on the screen answers none', async () => {
  const sandbox = home()
  const first = await asks(sandbox, 'first')
  const watching = watch(sandbox)
  await watching.shows('Waiting for questions')
  // Before anything is asked, in all the ways it could be taken for an answer.
  watching.type('s')
  watching.type('a\r')
  await watching.shows('text = "first"')
  await watching.shows(PROMPT)
  expect(await statusOf(sandbox, first)).toBe('pending')
  const second = await asks(sandbox, 'second')
  // The second key comes while the second question is on its way to the screen.
  watching.type('a')
  await watching.shows('allowed')
  watching.type('s')
  await watching.shows('text = "second"')
  await watching.shows(PROMPT)
  expect(await statusOf(sandbox, first)).toBe('allowed')
  expect(await statusOf(sandbox, second)).toBe('pending')
  watching.type('d')
  await watching.shows('denied')
  expect(await statusOf(sandbox, second)).toBe('denied')
  expect(await rules(sandbox)).toEqual([])
  watching.type('\u0003')
  expect(await watching.ended).toBe(130)
})

test('[D11] a word that only begins like an answer, a paste and an arrow key ask again', async () => {
  const sandbox = home()
  const id = await asks(sandbox, 'hi')
  const watching = watch(sandbox)
  for (const typed of ['skip', 'stop\r', '\u001b[A', 'aaaa']) {
    await watching.shows(PROMPT)
    watching.type(typed)
    await watching.shows('a: allow this call once')
  }
  // Key by key, as fast as a person types.
  await watching.shows(PROMPT)
  for (const key of 'stay') {
    watching.type(key)
    await new Promise((resolve) => setTimeout(resolve, 120))
  }
  await watching.shows('a: allow this call once')
  await watching.shows(PROMPT)
  expect(await statusOf(sandbox, id)).toBe('pending')
  expect(await rules(sandbox)).toEqual([])
  watching.type('t')
  await watching.shows('allowed, and from now on for this tool')
  expect(await rules(sandbox)).toHaveLength(1)
})

test('[D11] a question that is answered elsewhere is told, and the next one shown; what is typed then answers that', async () => {
  const sandbox = home()
  const first = await asks(sandbox, 'first')
  const watching = watch(sandbox)
  await watching.shows('text = "first"')
  await watching.shows(PROMPT)
  const second = await asks(sandbox, 'second')
  await sandbox.run(['approve', 'deny', first])
  await watching.shows(/was denied elsewhere/)
  await watching.shows('text = "second"')
  await watching.shows(PROMPT)
  watching.type('a')
  await watching.shows('allowed')
  expect(await statusOf(sandbox, second)).toBe('allowed')
})

test('[D11] Ctrl-C in the middle of a question leaves it open, and the terminal as it was', async () => {
  const sandbox = home()
  const id = await asks(sandbox, 'hi')
  const line = `stty -g; "${process.execPath}" "${BINARY}" approve watch; echo "code $?"; stty -g; echo over`
  const shell = terminal(sandbox, `trap : INT; ${line}`, ENV)
  const before = await shell.shows(/[0-9a-f]+(?::[0-9a-f]+){5,}/)
  await shell.shows(PROMPT)
  shell.type('\u0003')
  await shell.shows('code 130')
  expect(await shell.shows(/[0-9a-f]+(?::[0-9a-f]+){5,}/)).toBe(before)
  await shell.shows('over')
  expect(await statusOf(sandbox, id)).toBe('pending')
})

test('[D11] Ctrl-C ends it at once also when questions were answered while a gateway runs, and leaves the terminal as it was', async () => {
  const sandbox = home()
  await up(sandbox, JSON.parse(sandbox.read('busbar.json')))
  const line = `stty -g; "${process.execPath}" "${BINARY}" approve watch; echo "code $?"; stty -g; echo over`
  const shell = terminal(sandbox, `trap : INT; ${line}`, ENV)
  const before = await shell.shows(/[0-9a-f]+(?::[0-9a-f]+){5,}/)
  await shell.shows('Waiting for questions')
  for (const key of ['d', 'a']) {
    const id = await asks(sandbox, key)
    await shell.shows(PROMPT)
    shell.type(key)
    await shell.shows(key === 'd' ? 'denied' : 'allowed')
    expect(await statusOf(sandbox, id)).toBe(key === 'd' ? 'denied' : 'allowed')
  }
  shell.type('\u0003')
  await shell.shows('code 130')
  expect(await shell.shows(/[0-9a-f]+(?::[0-9a-f]+){5,}/)).toBe(before)
  await shell.shows('over')
})

for (const way of ['with a gateway', 'without one'] as const)
  test(`[D11] a program is told a thousand questions at once, and Ctrl-C ends it in the middle of them, ${way}`, async () => {
    const { sandbox } = place()
    const config = {
      servers: { plain: serverCommand('plain') },
      agents: { ada: { servers: ['*'], token: TOKEN } },
    }
    const first = await up(sandbox, { ...config, approvals: { wait: 0 } }, { user: true })
    await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        first.ask('plain', 'tools/call', { name: 'echo', arguments: { text: `t${index}` } }),
      ),
    )
    if (way === 'without one') await first.end('SIGTERM')
    const child = sandbox.start(['approve', 'watch', '--json'])
    const ended = once(child, 'close')
    let out = ''
    child.stdout?.on('data', (data) => (out += data))
    await until(() => out.split('\n').length > 1000)
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
    const ids = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    expect(new Set(ids).size).toBe(1000)
  })

test('[D11] it waits for a gateway that goes away, and shows what the next one asks', async () => {
  const { sandbox } = place()
  const config = {
    servers: { plain: serverCommand('plain') },
    agents: { ada: { servers: ['*'], token: TOKEN } },
    approvals: { wait: 0 },
  }
  const ask = (gateway: Gateway, text: string) =>
    gateway.ask('plain', 'tools/call', { name: 'echo', arguments: { text } })
  const first = await up(sandbox, config, { user: true })
  await ask(first, 'before')
  const child = sandbox.start(['approve', 'watch', '--json'])
  const ended = once(child, 'close')
  let out = ''
  child.stdout?.on('data', (data) => (out += data))
  await until(() => out.includes('before'))
  await first.end('SIGTERM')
  const second = await up(sandbox, config, { user: true })
  await ask(second, 'after')
  await until(() => out.includes('after'))
  expect(out.trim().split('\n')).toHaveLength(2)
  child.kill('SIGINT')
  expect(await ended).toEqual([130, null])
})
