import { expect, test } from 'vitest'
import { openStreamable } from './streamable.ts'
import {
  event,
  greet,
  type Handler,
  json,
  MODERN,
  message,
  notification,
  open,
  result,
  serve,
  stream,
} from './test-rig.ts'

const LIMIT = 50_000

async function start(handler: Handler) {
  const rig = await serve(handler)
  return { rig, ...(await open(openStreamable({ url: rig.url, limit: LIMIT }))) }
}

/** Writes for as long as somebody reads. */
function forever(response: NodeJS.WritableStream, text: string): void {
  const next = (error?: Error | null) => {
    if (!error) setImmediate(() => response.write(text, next))
  }
  next()
}

test('a body without end is cut off at the limit', async () => {
  const { rig, transport, told } = await start((_hit, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    forever(response, ' '.repeat(10_000))
  })
  transport.send(message(1, 'tools/call'))
  expect((await told.failure(1)).code).toBe('MESSAGE_TOO_LARGE')
  await rig.until(() => rig.gone.length === 1)
})

test('a body that says it is too long is not even read', async () => {
  const { transport, told } = await start((_hit, response) =>
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '400000000' }).write('{'),
  )
  transport.send(message(1, 'tools/call'))
  expect((await told.failure(1)).code).toBe('MESSAGE_TOO_LARGE')
})

for (const [what, text] of [
  ['an event line', 'x'.repeat(10_000)],
  ['an event of many lines', `data: ${'x'.repeat(9_000)}\n`],
  ['an event of empty lines', 'data:\n'.repeat(2_000)],
  ['a comment', `${'x'.repeat(10_000)}`],
] as const)
  test(`${what} without end is cut off at the limit`, async () => {
    const { rig, transport, told } = await start((_hit, response) => {
      stream(response).write(what === 'a comment' ? ': ' : 'data: x')
      forever(response, text)
    })
    transport.agree(MODERN)
    transport.send(message(1, 'tools/call'))
    expect((await told.failure(1)).code).toBe('MESSAGE_TOO_LARGE')
    await rig.until(() => rig.gone.length === 1)
  })

test('an error page without end is cut off, and its status counts', async () => {
  const { rig, transport, told } = await start((_hit, response) => {
    response.writeHead(502)
    forever(response, 'x'.repeat(100_000))
  })
  transport.send(message(1, 'tools/call'))
  expect((await told.failure(1)).details).toMatchObject({ status: 502 })
  await rig.until(() => rig.gone.length === 1)
})

test('a message that is just within the limit passes, one byte more does not', async () => {
  const { transport, told } = await start((hit, response) => {
    const empty = JSON.stringify(result(hit.message.id, '')).length
    const room = LIMIT - empty + (hit.message.id === 1 ? 0 : 1)
    json(response, result(hit.message.id, 'x'.repeat(room)))
  })
  transport.send(message(1, 'tools/call'))
  await told.reply(1)
  transport.send(message(2, 'tools/call'))
  expect((await told.failure(2)).code).toBe('MESSAGE_TOO_LARGE')
})

test('a stream for everybody goes on after an event that is too large', async () => {
  const { transport, told } = await start((hit, response) => {
    if (hit.method === 'GET')
      stream(response).write(
        event(result(44, 'x'.repeat(2 * LIMIT))) + event({ jsonrpc: '2.0', method: 'notifications/x' }),
      )
    else if (hit.message.id === undefined) response.writeHead(202).end()
    else json(response, result(hit.message.id))
  })
  await greet(transport, told)
  await told.until(() => told.messages.some(({ value }) => value.method === 'notifications/x'))
  expect(told.oversize).toMatchObject([{ id: 44, stream: undefined }])
})

test('calls beyond the places wait their turn; long streams and answers to the server take none', async () => {
  const waiting: (() => void)[] = []
  let free = false
  const { rig, transport, told } = await start((hit, response) => {
    const answer = () => json(response, result(hit.message.id))
    if (hit.message.method === 'tools/call' && free) answer()
    else if (hit.message.method === 'tools/call') waiting.push(answer)
    else if (hit.message.method === 'subscriptions/listen') stream(response)
    else response.writeHead(202).end()
  })
  transport.agree(MODERN)
  for (let id = 1; id <= 80; id++) transport.send(message(id, 'tools/call'))
  for (let id = 101; id <= 110; id++) transport.send(message(id, 'subscriptions/listen'))
  transport.send(notification('notifications/x'))
  await rig.until(() => rig.hits.length === 64 + 10 + 1)
  // One that waits can be given up.
  transport.drop(80)
  const seen = () => rig.hits.filter((hit) => hit.message.method === 'tools/call').length
  expect(seen()).toBe(64)
  free = true
  for (const answer of waiting.splice(0)) answer()
  await told.until(() => told.messages.length === 79)
  expect(seen()).toBe(79)
})
