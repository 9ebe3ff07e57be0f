// The relay between a client on lines and gateways that come and go: here they are small ones that say what they are told.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { gatewaySocket, type Places } from '../base/places.ts'
import { relayLines } from './serve-relay.ts'

const STOPPING = {
  code: 4000,
  message: 'the gateway is stopping',
  data: { code: 'CLOSED', retryAfter: 5, word: 'a-word' },
}

interface SmallGateway {
  /** The next line that it was sent. */
  next(): Promise<{ id?: number; method?: string }>
  say(message: object): void
  /** Ends it, as one that has stopped. */
  end(): Promise<void>
}

function stage() {
  const state = mkdtempSync(join(tmpdir(), 'busbar-relay-'))
  onTestFinished(() => rmSync(state, { recursive: true, force: true }))
  // Nothing else of the places is used.
  const places = { state } as Places
  const input = new PassThrough()
  const output = new PassThrough()
  const notes: string[] = []
  const answers = createInterface({ input: output })[Symbol.asyncIterator]()
  const relay = () =>
    relayLines({
      places,
      waiting: new Map(),
      token: 't',
      server: undefined,
      input,
      output,
      signal: new AbortController().signal,
      note: (text) => notes.push(text),
    })
  return {
    places,
    input,
    output,
    relay,
    ask: (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    answer: async () => JSON.parse((await answers.next()).value),
  }
}

async function gateway(places: Places): Promise<SmallGateway> {
  const lines: string[] = []
  let wake = () => {}
  let socket: Socket | undefined
  const server: Server = createServer()
  server.on('upgrade', (_request, taken: Socket) => {
    socket = taken
    taken.on('error', () => taken.destroy())
    const headers = ['connection: upgrade', 'upgrade: busbar-lines', `busbar-word: ${STOPPING.data.word}`]
    taken.write(['HTTP/1.1 101 Switching Protocols', ...headers, '', ''].join('\r\n'))
    createInterface({ input: taken }).on('line', (line) => {
      lines.push(line)
      wake()
    })
  })
  await new Promise<void>((resolve) => server.listen(gatewaySocket(places), resolve))
  const end = async () => {
    socket?.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  onTestFinished(end)
  return {
    next: async () => {
      while (lines.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      return JSON.parse(lines.shift() ?? '')
    },
    say: (message) => socket?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    end,
  }
}

const { word: _, ...WITHOUT_WORD } = STOPPING.data

for (const [what, error] of [
  [
    'speaks of something closed',
    { code: -32000, message: 'the account is closed', data: { code: 'CLOSED' } },
  ],
  ['says that it is the gateway, and stops', { ...STOPPING, data: WITHOUT_WORD }],
  ['says so with a word', { ...STOPPING, data: { ...STOPPING.data, word: 'another-word' } }],
] as const)
  test(`[B6] an error of a server that ${what} is an answer, and nothing is made again`, async () => {
    const { places, relay, ask, answer, input } = stage()
    const only = await gateway(places)
    const ended = relay()
    ask({ id: 1, method: 'tools/call' })
    await only.next()
    only.say({ id: 1, error })
    expect(await answer()).toEqual({ jsonrpc: '2.0', id: 1, error })
    input.end()
    await only.end()
    await ended
  })

test('[B10] what a gateway did not begin because it stops is made at the next one, unless it was cancelled', async () => {
  const { places, relay, ask, answer, input } = stage()
  const first = await gateway(places)
  const ended = relay()
  for (const id of [1, 2]) {
    ask({ id, method: 'tools/call' })
    await first.next()
    first.say({ id, error: STOPPING })
  }
  // Answered after the refusals, so that these have been read.
  ask({ id: 3, method: 'ping' })
  await first.next()
  first.say({ id: 3, result: {} })
  expect((await answer()).id).toBe(3)
  ask({ method: 'notifications/cancelled', params: { requestId: 1 } })
  await first.next()
  await first.end()
  const second = await gateway(places)
  expect(await second.next()).toMatchObject({ id: 2, method: 'tools/call' })
  second.say({ id: 2, result: {} })
  expect((await answer()).id).toBe(2)
  input.end()
  await second.end()
  await ended
})

test('[B10] a client that has ended its input is told that the gateway stops', async () => {
  const { places, relay, ask, answer, input } = stage()
  const only = await gateway(places)
  const ended = relay()
  ask({ id: 7, method: 'tools/call' })
  await only.next()
  input.end()
  await new Promise((resolve) => input.once('close', resolve))
  only.say({ id: 7, error: STOPPING })
  expect(await answer()).toMatchObject({ id: 7, error: STOPPING })
  await only.end()
  await ended
})
