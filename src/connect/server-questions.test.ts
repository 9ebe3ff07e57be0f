import { expect, test } from 'vitest'
import { Stopwatch } from '../base/stopwatch.ts'
import { Channel } from './channel.ts'
import type { TransportEvents } from './transport.ts'

/** A server that answers nothing by itself, and what its work is timed by. */
async function far(streams: boolean) {
  let now = 0
  let events: TransportEvents | undefined
  const answering: (() => void)[] = []
  const channel = await Channel.open(
    { server: 'shop', scrub: (text) => text },
    (given) => {
      events = given
      const nothing = () => undefined
      const transport = { send: nothing, drop: nothing, agree: nothing, diagnosis: () => ({}) }
      return { ...transport, streams, close: async () => undefined }
    },
    {
      request: (_message, respond) => void answering.push(() => respond({ result: {} })),
      notification: () => undefined,
      oddity: () => undefined,
      closed: () => undefined,
    },
  )
  return {
    pass: (milliseconds: number) => {
      now += milliseconds
    },
    /** Makes a request, and times it. */
    ask(method: string, id: number): Stopwatch {
      const clock = new Stopwatch(() => now)
      clock.start()
      channel.request({ method }, id, clock).catch(() => undefined)
      return clock
    },
    say: (message: object, stream?: number) =>
      events?.message(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })), stream),
    /** Answers the oldest question. */
    async answer(): Promise<void> {
      answering.shift()?.()
      await undefined
      await undefined
    },
    close: () => channel.close(),
  }
}

const QUESTION = { method: 'elicitation/create', params: { message: 'Who?' } }

test('[D2] while a question is open the calls are not timed that it may belong to, and no others', async () => {
  const server = await far(false)
  const call = server.ask('tools/call', 1)
  const list = server.ask('tools/list', 2)
  server.pass(1)
  server.say({ id: 'q1', ...QUESTION })
  const later = server.ask('tools/call', 3)
  server.say({ id: 'q2', method: 'ping' })
  server.pass(10)
  expect([call, list, later].map(({ elapsed }) => elapsed)).toEqual([1, 11, 10])
  await server.answer()
  server.pass(100)
  expect([call, list, later].map(({ elapsed }) => elapsed)).toEqual([101, 111, 110])
  await server.close()
})

test('[D2] a question that the server takes back is not waited for', async () => {
  const server = await far(false)
  const call = server.ask('tools/call', 1)
  for (const id of ['q1', 'q2']) server.say({ id, ...QUESTION })
  server.pass(1)
  server.say({ method: 'notifications/cancelled', params: { requestId: 'q1' } })
  server.pass(10)
  expect(call.elapsed).toBe(0)
  server.say({ method: 'notifications/cancelled', params: { requestId: 'q2' } })
  server.pass(100)
  expect(call.elapsed).toBe(100)
  await server.close()
})

test('[D2] a question on the stream of a call concerns no other', async () => {
  const server = await far(true)
  const calls = [server.ask('tools/call', 1), server.ask('tools/call', 2)]
  server.say({ id: 'q1', ...QUESTION }, 2)
  server.pass(10)
  expect(calls.map(({ elapsed }) => elapsed)).toEqual([10, 0])
  await server.close()
})
