// `npm start` from a clone: the gateway on the bundled sample, as a person without any settings meets it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Sandbox } from './cli.ts'
import { type Answer, place, until } from './hub.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

function start(sandbox: Sandbox, words: readonly string[]) {
  const home = join(sandbox.root, 'start')
  const child = spawn(process.execPath, ['scripts/run.mjs', 'start', '--', '--home', home, ...words], {
    cwd: ROOT,
    env: sandbox.env(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (text += data))
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return {
    home,
    text: () => text,
    /** Where it listens. */
    ready: () =>
      until(() => {
        if (child.exitCode !== null) throw new Error(text)
        return /Busbar listens on (\S+)/.exec(text)?.[1]
      }),
    async interrupt(): Promise<number | null> {
      child.kill('SIGINT')
      await ended
      return child.exitCode
    },
  }
}

async function ask(
  url: string,
  token: string,
  server: string,
  method: string,
  params: object = {},
): Promise<Answer> {
  const answer = await fetch(`${url}/mcp${server === '' ? '' : `/${server}`}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return await answer.json()
}

test('[C12][D11] npm start: tokens once, calls of two agents, a question to a person, and nothing left behind', async () => {
  const { sandbox } = place()
  const first = start(sandbox, ['--port', '0'])
  const url = await first.ready()
  const tokenOf = (agent: string) =>
    new RegExp(`Token of ${agent}, shown this once: (\\S+)`).exec(first.text())?.[1] ?? ''
  const [writer, reader] = [tokenOf('writer'), tokenOf('reader')]
  expect([writer, reader]).toEqual([expect.stringMatching(/^busbar_/), expect.stringMatching(/^busbar_/)])
  expect(first.text()).toContain('Hello from a file that an agent has read through Busbar.')
  expect(first.text()).toContain('a person has to allow files/write_file first')
  expect(first.text()).toContain(
    `claude mcp add --transport http busbar ${url}/mcp --header "Authorization: Bearer ${reader}"`,
  )
  expect(first.text()).not.toContain('\u001b')
  // Nobody has `busbar` on their path yet.
  await until(() =>
    first.text().includes(`writer asks for files/write_file: ${first.home}/busbar approve list`),
  )

  // Both come in, to different things.
  const names = async (token: string, server: string) =>
    (await ask(url, token, server, 'tools/list')).result?.tools?.map(({ name }: Answer) => name)
  const all: string[] = await names(writer, 'files')
  const some: string[] = await names(reader, 'files')
  expect(all).toContain('write_file')
  expect(some).toContain('read_text_file')
  expect(some).not.toContain('write_file')
  expect(await names(writer, 'memory')).toContain('create_entities')
  expect(await names(reader, 'memory')).toBeUndefined()
  const everything = async (token: string) => JSON.stringify((await ask(url, token, '', 'tools/list')).result)
  expect(await everything(writer)).toContain('create_entities')
  expect(await everything(reader)).toContain('read_text_file')
  expect(await everything(reader)).not.toMatch(/create_entities|write_file/)
  const call = async (token: string, server: string, name: string, given: object) =>
    await ask(url, token, server, 'tools/call', { name, arguments: given })
  const echo = await call(writer, 'everything', 'echo', { message: 'hi' })
  expect(echo.result.content[0].text).toContain('hi')
  const path = join(first.home, 'files', 'hello.txt')
  const read = await call(reader, 'files', 'read_text_file', { path })
  expect(read.result.content[0].text).toContain('Hello from a file')
  expect(await call(reader, 'files', 'write_file', { path, content: '' })).toHaveProperty('error')

  // The question of the sample call waits; the printed command answers it, and the very same call goes through.
  const command = async (...words: string[]) => {
    const child = spawn(join(first.home, 'busbar'), words, { cwd: '/', env: sandbox.env() })
    let out = ''
    let said = ''
    child.stdout.on('data', (data) => (out += data))
    child.stderr.on('data', (data) => (said += data))
    const [code] = await once(child, 'close')
    return { code, out, said }
  }
  const { out } = await command('approve', 'list', '--json')
  const [waiting] = JSON.parse(out).approvals
  expect(waiting).toMatchObject({ agent: 'writer', server: 'files', tool: 'write_file', status: 'pending' })
  // What it says to do next can be pasted, too.
  const typed = `${first.home}/busbar`
  const again = ['call', 'files/write_file', `path=${join(first.home, 'files', 'note.txt')}`]
  const told = [
    (await command('approve', 'list')).said,
    (await command(...again, 'content=May I?', '--agent', 'writer')).said,
    (await command('explain', 'reader', 'files/write_file')).out,
  ]
  for (const text of told) expect(text.replaceAll(typed, '')).not.toMatch(/\bbusbar [a-z]/)
  expect(told).toEqual([
    expect.stringContaining(`answer: ${typed} approve allow `),
    expect.stringContaining(`${typed} approve allow `),
    expect.stringContaining(`${typed} agents grant reader `),
  ])
  expect(await command('approve', 'allow', waiting.id)).toMatchObject({ code: 0 })
  const note = join(first.home, 'files', 'note.txt')
  const written = await call(writer, 'files', 'write_file', { path: note, content: 'May I?' })
  expect(written.result.isError).toBeFalsy()
  expect(sandbox.read(note)).toBe('May I?')
  expect((await command('usage', '--by', 'tool')).out).toContain('files/write_file')
  // Its exit code is that of a call: denied.
  expect(await command('explain', 'reader', 'files/write_file')).toMatchObject({ code: 6 })

  expect(await first.interrupt()).toBe(0)
  const second = start(sandbox, ['--port', '0'])
  await second.ready()
  expect(second.text()).not.toContain('shown this once')
  expect(second.text()).not.toMatch(/busbar_\w{20}/)
  expect(second.text()).toContain(
    `writer has a token already. A new one: ${second.home}/busbar agents token writer`,
  )
  expect((await command('agents', 'token', 'writer')).out).toMatch(/^busbar_/)
  expect(await second.interrupt()).toBe(0)
})

test('npm start takes another port when the usual one is not free, and says so', async () => {
  const { sandbox } = place()
  // Whether by this or by somebody else, it is taken.
  const taken = createServer().on('error', () => undefined)
  taken.listen(4747, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await Promise.race([once(taken, 'listening'), once(taken, 'error')])
  const running = start(sandbox, [])
  const url = await running.ready()
  expect(new URL(url).port).not.toBe('4747')
  expect(running.text()).toContain('Port 4747 is taken by something else')
  expect(await running.interrupt()).toBe(0)
})
