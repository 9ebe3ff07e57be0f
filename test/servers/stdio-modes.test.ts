// Each bad habit is really there, and does not get in the way of the rest.
import { expect, onTestFinished, test } from 'vitest'
import { startRaw } from './raw.ts'

function identityOf(answer: { result: { content: { text: string }[] } }): {
  pid: number
  ppid: number
  pgid?: number
} {
  return JSON.parse(answer.result.content[0]?.text ?? '')
}

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('slow answers the opening last', async () => {
  const server = startRaw('slow', { delay: 50 })
  expect((await server.answer(0)).result.serverInfo.name).toBe('slow')
})

test('hanging says nothing and ends with its input', async () => {
  const server = startRaw('hanging')
  server.endInput()
  expect(await server.exit).toEqual({ code: 0, signal: null })
  expect(server.text()).toBe('')
})

test('hang-call answers all but calls', async () => {
  const server = startRaw('hang-call')
  server.call('echo', { text: 'x' })
  server.send({ id: 'ping', method: 'ping' })
  await server.answer('ping')
  server.endInput()
  await server.exit
  expect(server.text()).not.toContain('"id":1')
})

test('crash-call exits with code 7 in the middle of the call', async () => {
  const server = startRaw('crash-call')
  await server.answer(server.call('echo', { text: 'x' }))
  server.call('crash')
  expect((await server.exit).code).toBe(7)
  await server.silent
  expect(server.text()).not.toContain('"id":2')
  expect(server.errors()).toContain('crashed on purpose')
})

test('crash-loop exits with code 3', async () => {
  const server = startRaw('crash-loop')
  expect((await server.exit).code).toBe(3)
})

test('verbatim writes what it is told, and no answer of its own', async () => {
  const server = startRaw('verbatim')
  await server.answer(0)
  server.call('write', { text: '{"id":"said","n":ID,"a":"FILL"}\nno line end', fill: 3, exit: true })
  expect(await server.answer('said')).toEqual({ id: 'said', n: 1, a: 'xxx' })
  expect((await server.exit).code).toBe(0)
  await server.silent
  expect(server.text()).toMatch(/\nno line end$/)
  expect(server.text()).not.toContain('"id":1,')
})

test('banner speaks between its noise', async () => {
  const server = startRaw('banner')
  await server.answer(server.call('echo', { text: 'x' }))
  expect(server.text()).toContain('\u001b[1;32m')
  expect(server.text()).toContain('"msg":"noise"')
})

test('partial arrives whole, but for its last line', async () => {
  const server = startRaw('partial')
  const answer = await server.answer(server.call('echo', { text: '東京 🚌' }))
  expect(answer.result.content[0].text).toBe('東京 🚌')
  server.call('partial-exit')
  await server.silent
  expect((await server.exit).code).toBe(0)
  expect(server.text().endsWith('\n')).toBe(false)
})

test('stderr-flood serves all the same', async () => {
  const server = startRaw('stderr-flood')
  await server.answer(server.call('echo', { text: 'x' }))
  server.endInput()
  expect((await server.exit).code).toBe(0)
  expect(server.errors()).toContain('noise')
})

test('ignore-sigterm outlives signals and the end of its input', async () => {
  const server = startRaw('ignore-sigterm')
  await server.answer(0)
  process.kill(server.pid, 'SIGTERM')
  process.kill(server.pid, 'SIGINT')
  await server.answer(server.call('echo', { text: 'still here' }))
  process.kill(server.pid, 'SIGKILL')
  expect((await server.exit).signal).toBe('SIGKILL')
})

for (const variant of ['node', 'sh']) {
  test(`wrapper through ${variant} leaves the server when it is ended`, async () => {
    const server = startRaw('wrapper', { case: variant })
    const { pid, pgid } = identityOf(await server.answer(server.call('pid')))
    expect(pid).not.toBe(server.pid)
    if (pgid !== undefined) expect(pgid).toBe(server.pid)
    process.kill(server.pid, 'SIGTERM')
    await server.exit
    expect(alive(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
    await server.silent
  })
}

test('double-fork leaves a daemon of its own group', async () => {
  const server = startRaw('double-fork', { lifetime: 30_000 })
  const { pid } = identityOf(await server.answer(server.call('daemon')))
  onTestFinished(() => void process.kill(pid, 'SIGKILL'))
  process.kill(-server.pid, 'SIGKILL')
  await server.exit
  process.kill(pid, 'SIGTERM')
  expect(alive(pid)).toBe(true)
})

test('the discover modes react to a probe as they say', async () => {
  const probe = { id: 'probe', method: 'server/discover', params: {} }
  const exiting = startRaw('exit-discover', { open: false })
  exiting.send(probe)
  expect((await exiting.exit).code).toBe(1)

  const wedged = startRaw('wedge-discover', { open: false, case: 'error' })
  wedged.send(probe)
  expect((await wedged.answer('probe')).error.message).toBe('In a failed state')
  wedged.send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } })
  expect((await wedged.answer(1)).error.message).toBe('In a failed state')

  const params = startRaw('invalid-params-discover', { open: false })
  params.send(probe)
  expect((await params.answer('probe')).error.code).toBe(-32602)

  const nobody = startRaw('null-id-discover', { open: false })
  nobody.send(probe)
  expect((await nobody.answer(null)).error.code).toBe(-32600)

  for (const mode of ['silent-discover', 'choke-discover']) {
    const server = startRaw(mode, { open: false })
    server.send(probe)
    server.send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } })
    expect((await server.answer(1)).result.serverInfo.name).toBe(mode)
  }
})

test('huge lines stay whole between other answers', async () => {
  const server = startRaw('huge')
  const [big, last, small] = [
    server.call('huge', { bytes: 5_000_000 }),
    server.call('huge', { bytes: 1_000_000, idLast: true }),
    server.call('echo', { text: 'small' }),
  ]
  expect((await server.answer(small)).result.content[0].text).toBe('small')
  expect(JSON.stringify((await server.answer(big)).result.content[0].text).length).toBeGreaterThan(4_000_000)
  expect((await server.answer(last)).result.content[0].type).toBe('text')
  expect(server.text()).toContain('{"result":{"content"')
})

test('an endless line ends with a signal', async () => {
  const server = startRaw('huge')
  await server.answer(server.call('echo', { text: 'x' }))
  server.call('endless')
  process.kill(server.pid, 'SIGTERM')
  expect((await server.exit).code).toBe(0)
})

test('deep and big-numbers write what a stringify could not', async () => {
  const deep = startRaw('deep')
  await deep.answer(deep.call('deep', { depth: 1000 }))
  expect(deep.text()).toContain('['.repeat(1000))
  const numbers = startRaw('big-numbers')
  await numbers.answer(numbers.call('numbers'))
  expect(numbers.text()).toContain('"integer":12345678901234567891,')
  expect(numbers.text()).toContain('"exponent":1e400,')
})

test('endless-pages never ends, in both ways', async () => {
  for (const variant of ['same', 'new']) {
    const server = startRaw('endless-pages', { case: variant })
    server.send({ id: 'a', method: 'tools/list' })
    server.send({ id: 'b', method: 'tools/list', params: { cursor: 'again' } })
    const [first, second] = [(await server.answer('a')).result, (await server.answer('b')).result]
    expect(first.nextCursor === second.nextCursor).toBe(variant === 'same')
  }
})

test('storm blows until it is calm', async () => {
  const server = startRaw('storm')
  await server.answer(server.call('storm'))
  await server.line((line) => line.method === 'notifications/tools/list_changed')
  expect(Number((await server.answer(server.call('calm'))).result.content[0].text)).toBeGreaterThan(0)
})

test('wrong-ids gets them wrong', async () => {
  const server = startRaw('wrong-ids')
  const duplicate = server.call('duplicate')
  await server.line((line) => line.id === duplicate && line.result.content[0].text === 'second')
  const unknown = server.call('unknown')
  await server.answer(987_654_321)
  await server.answer(unknown)
  await server.answer(String(server.call('string-id')))
  server.call('null-id')
  await server.answer(null)
  const late = server.call('late')
  server.send({ method: 'notifications/cancelled', params: { requestId: late } })
  await server.answer(late)
})

test('no-read lives on without reading', async () => {
  const server = startRaw('no-read', { case: 'call' })
  await server.answer(0)
  server.call('echo', { text: 'x' })
  server.send({ id: 'ping', method: 'ping' })
  server.endInput()
  process.kill(server.pid, 'SIGTERM')
  await server.exit
  expect(server.text()).not.toContain('"id":1')
})

test('close-stdout ends its output but not itself', async () => {
  const server = startRaw('close-stdout')
  server.call('close')
  await server.silent
  expect(alive(server.pid)).toBe(true)
  server.endInput()
  expect((await server.exit).code).toBe(0)
})

test('close-stdin ends its input but not itself', async () => {
  const server = startRaw('close-stdin')
  await server.answer(server.call('close'))
  server.endInput()
  expect(alive(server.pid)).toBe(true)
})

test('a cancelled sleep is not answered', async () => {
  const server = startRaw('plain')
  const asleep = server.call('sleep', { ms: 60_000 })
  server.send({ method: 'notifications/cancelled', params: { requestId: asleep } })
  await server.answer(server.call('echo', { text: 'x' }))
  server.endInput()
  await server.exit
  expect(server.text()).not.toContain(`"id":${asleep}`)
})

test('coalesced progress comes in one write with its result', async () => {
  const server = startRaw('plain')
  const params = { name: 'progress', arguments: { steps: 3, coalesce: true }, _meta: { progressToken: 'p' } }
  server.send({ id: 'together', method: 'tools/call', params })
  await server.answer('together')
  expect(server.text().split('notifications/progress')).toHaveLength(4)
})
