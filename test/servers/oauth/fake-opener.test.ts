// The stand-in for a browser: it notes what it gets, byte for byte, and visits when told to.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { type Opener, type OpenerOptions, startOpener } from './fake-opener.ts'
import { startHostile } from './hostile.ts'
import { listen } from './listener.ts'

const run = promisify(execFile)

test('notes the arguments of each call as they came', async () => {
  const opener = await start()
  const odd = ['http://a.example/?q=$(id)&x=`id`', '-oProxyCommand=x', 'two\nlines', '']
  await run('xdg-open', odd, { env: { PATH: opener.path } })
  await run('open', ['http://b.example/'], { env: { PATH: opener.folder } })
  expect(await opener.opened()).toEqual([
    { program: 'xdg-open', args: odd },
    { program: 'open', args: ['http://b.example/'] },
  ])
})

test('ends with the code it is told to', async () => {
  const opener = await start({ exitCode: 3 })
  await expect(run('xdg-open', ['x'], { env: { PATH: opener.path } })).rejects.toMatchObject({ code: 3 })
  expect(await opener.opened()).toHaveLength(1)
})

test('goes on to the page, through to the redirect of the client', async () => {
  const hostile = await startHostile()
  onTestFinished(hostile.close)
  const client = await listen(() => (request, response) => response.end(`got ${request.url}`))
  onTestFinished(client.close)
  const opener = await start({ visit: true })
  const visit = opener.visit()
  const url = `${hostile.issuer}/authorize?state=s&redirect_uri=${encodeURIComponent(`${client.origin}/back`)}`
  await run('xdg-open', [url], { env: { PATH: opener.folder } })
  const page = await visit
  expect(page.text).toMatch(/^got \/back\?code=code-.*&state=s$/)
})

test('leaves nothing when it is closed', async () => {
  const opener = await startOpener({ visit: true })
  const visit = opener.visit(0)
  const refused = expect(visit).rejects.toThrow('closed before it was called')
  await opener.close()
  await refused
  expect(existsSync(opener.folder)).toBe(false)
})

// --- internal ---

async function start(options: OpenerOptions = {}): Promise<Opener> {
  const opener = await startOpener(options)
  onTestFinished(opener.close)
  return opener
}
