import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type Callback, openCallback } from './callback.ts'

const STATE = 'the-state-of-this-sign-in'

async function open(
  options: { patience?: number; port?: number; isFixed?: boolean; signal?: AbortSignal } = {},
) {
  const { patience = 60_000, port, isFixed = false, signal } = options
  const callback = await openCallback({ state: STATE, port, isFixed, patience, signal })
  onTestFinished(() => callback.close())
  return callback
}

/** As a browser asks, or somebody who pretends to be one: the status and the page. */
function ask(
  { redirect }: Pick<Callback, 'redirect'>,
  path: string,
  { method = 'GET', host }: { method?: string; host?: string } = {},
): Promise<{ status: number | undefined; text: string; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const headers = host === undefined ? {} : { host }
    const asked = request(new URL(path, redirect), { method, headers, agent: false }, async (response) => {
      let text = ''
      for await (const part of response) text += part
      resolve({ status: response.statusCode, text, headers: response.headers })
    })
    asked.on('error', reject)
    asked.end(method === 'POST' ? `code=c&state=${STATE}` : undefined)
  })
}

const RIGHT = `/callback?code=c&state=${STATE}&iss=i`

test('the browser comes back, once [C6]', async () => {
  const callback = await open()
  expect(callback.redirect).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
  const page = await ask(callback, RIGHT)
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Signed in.')])
  expect(await callback.answer).toEqual({
    code: 'c',
    iss: 'i',
    error: undefined,
    error_description: undefined,
  })
  expect(page.headers).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
  })
  const again = await ask(callback, `/callback?code=other&state=${STATE}`)
  expect(again.status).toBe(400)
  expect(await callback.answer).toMatchObject({ code: 'c' })
})

const NOBODY: [string, string, { method?: string; host?: string }?][] = [
  ['another state', '/callback?code=c&state=wrong'],
  ['a state of the same length', `/callback?code=c&state=${'x'.repeat(STATE.length)}`],
  ['no state', '/callback?code=c'],
  ['an empty state', '/callback?code=c&state='],
  ['neither code nor error', `/callback?state=${STATE}`],
  ['another path', `/?code=c&state=${STATE}`],
  ['a path below', `/callback/x?code=c&state=${STATE}`],
  ['a path with two slashes', `/.//callback?code=c&state=${STATE}`],
  ['a form', RIGHT, { method: 'POST' }],
  ['a question for the head', RIGHT, { method: 'HEAD' }],
  ['a question for what is allowed', RIGHT, { method: 'OPTIONS' }],
  ['a name that leads here', RIGHT, { host: 'evil.example' }],
  ['a name for this machine', RIGHT, { host: 'localhost' }],
  ['another port', RIGHT, { host: '127.0.0.1:1' }],
]
for (const [what, path, how] of NOBODY)
  test(`${what} is no answer, and the right one is taken afterwards [C6]`, async () => {
    const callback = await open()
    expect((await ask(callback, path, how)).status).toBe(400)
    expect((await ask(callback, RIGHT)).status).toBe(200)
    expect(await callback.answer).toMatchObject({ code: 'c' })
  })

test('what is no HTTP does not end it, nor does whoever says nothing [C6]', async () => {
  const callback = await open()
  const { port } = new URL(callback.redirect)
  const sockets = ['', '\0\0\0\0\r\n\r\n', 'GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n'].map((text) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
    socket.on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    return socket
  })
  // Two of them are answered or thrown out; the silent one stays.
  await Promise.all(
    sockets.slice(1).map((socket) => new Promise((gone) => socket.on('data', gone).on('close', gone))),
  )
  expect((await ask(callback, RIGHT)).status).toBe(200)
})

test('an error is an answer, and what it says is not put on the page [C6]', async () => {
  const callback = await open()
  const page = await ask(callback, `/callback?error=%3Cscript%3E&error_description=evil&state=${STATE}`)
  expect(page.text).toContain('This did not work')
  expect(page.text).not.toMatch(/<script>|evil/)
  expect(await callback.answer).toMatchObject({
    error: '<script>',
    error_description: 'evil',
    code: undefined,
  })
})

test('nobody can come from another machine, and after the end nobody at all [C6]', async () => {
  const callback = await open()
  const { port } = new URL(callback.redirect)
  const refused = (host: string) =>
    new Promise((resolve) => {
      const socket = connect(Number(port), host, () => resolve('taken'))
      socket.on('error', (error) => resolve('code' in error ? error.code : error.message))
      onTestFinished(() => void socket.destroy())
    })
  // Another address of this very machine; the door is at one only.
  expect(await refused('127.0.0.2')).toBe('ECONNREFUSED')
  expect(await refused('127.0.0.1')).toBe('taken')
  callback.close()
  expect(await refused('127.0.0.1')).toBe('ECONNREFUSED')
})

test('after its time it gives up with a word of what to do [C6]', async () => {
  const callback = await open({ patience: 1 })
  await expect(callback.answer).rejects.toMatchObject({
    code: 'SIGN_IN_FAILED',
    message: expect.stringContaining('nobody signed in'),
    hint: 'run it again when you are ready',
  })
  expect((await ask(callback, RIGHT)).status).toBe(400)
})

test('it is given up with the reason of whoever gives it up, before and after [C6]', async () => {
  const stop = new AbortController()
  const callback = await open({ signal: stop.signal })
  const reason = new Error('enough')
  stop.abort(reason)
  await expect(callback.answer).rejects.toBe(reason)
  expect((await ask(callback, RIGHT)).status).toBe(400)
  await expect((await open({ signal: stop.signal })).answer).rejects.toBe(reason)
})

const PASTED = [
  `http://127.0.0.1:1234/callback?code=c&state=${STATE}`,
  `  http://127.0.0.1:1234/callback?state=${STATE}&code=c#_=_ \r`,
  `code=c&state=${STATE}`,
  `?code=c&state=${STATE}`,
]
for (const text of PASTED)
  test(`${JSON.stringify(text)} can be pasted [C6]`, async () => {
    const callback = await open()
    callback.paste(text)
    expect(await callback.answer).toMatchObject({ code: 'c' })
  })

for (const text of ['', 'c', 'http://127.0.0.1/callback?code=c&state=wrong', `http://x/?state=${STATE}`])
  test(`${JSON.stringify(text)} is not taken, and says what is wanted [C6]`, async () => {
    const callback = await open()
    expect(() => callback.paste(text)).toThrow('that is not the address of this sign-in')
    callback.paste(RIGHT)
    expect(await callback.answer).toMatchObject({ code: 'c' })
  })

test('a port is tried first, and another is taken when it is not free; a fixed one has to be [C6]', async () => {
  const first = await open()
  const port = Number(new URL(first.redirect).port)
  expect((await open({ port })).redirect).not.toBe(first.redirect)
  await expect(open({ port, isFixed: true })).rejects.toMatchObject({
    message: `port ${port} of this machine is taken`,
    hint: 'free it, or change auth.redirectPort',
  })
  first.close()
  expect((await open({ port, isFixed: true })).redirect).toBe(first.redirect)
})
