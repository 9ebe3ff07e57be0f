// A gateway that stops: what belongs to calls under way is taken, nothing new begins, and nobody is waited for who is not
// there.

import { once } from 'node:events'
import { expect, test } from 'vitest'
import { serverCommand, spawnCount } from '../servers/start.ts'
import { AGENTS, type Answer, type Gateway, ownServer, place, until, up } from './hub.ts'
import { lines } from './lines.ts'
import { ASKING, ASKING_TOOLS, modern, WireClient } from './wire-client.ts'

const ELICIT = {
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
}
const ACCEPT = { action: 'accept', content: {} }
const capabilities = { elicitation: { form: {} } }

/** A gateway with a server that writes down what it was told, and so can be looked at when it is gone. */
async function started() {
  const { sandbox } = place()
  const log = sandbox.path('told')
  const own = ownServer(
    sandbox,
    ASKING_TOOLS,
    `import { appendFileSync } from 'node:fs'
${ASKING}
const before = globalThis.seen
globalThis.seen = (method, params, line) => {
  appendFileSync(${JSON.stringify(log)}, (method ?? 'answer') + '\\n')
  before(method, params, line)
}`,
  )
  const other = ownServer(sandbox, ASKING_TOOLS, ASKING)
  const config = { servers: { own, other }, agents: AGENTS }
  const gateway = await up(sandbox, config)
  const told = (method: string) =>
    sandbox.exists(log)
      ? sandbox
          .read(log)
          .split('\n')
          .filter((one) => one === method).length
      : 0
  const calls = async () => {
    const from = ['--config', sandbox.path('team.json'), '--json']
    return (await sandbox.run(['usage', '--calls', ...from])).json.calls
  }
  return { sandbox, config, gateway, told, calls }
}

/** The first Ctrl-C; the milliseconds until it has ended, and its exit code. */
function interrupt({ child }: Gateway): { stopped: Promise<{ code: number; took: number }> } {
  const began = performance.now()
  const stopped = once(child, 'close').then(() => ({
    code: child.exitCode ?? -1,
    took: performance.now() - began,
  }))
  child.kill('SIGINT')
  return { stopped }
}

/** Waits until it begins nothing any more. */
async function refusing(gateway: Gateway): Promise<Response> {
  return await until(async () => {
    const asking = gateway.post('/mcp/own', { jsonrpc: '2.0', id: 5, method: 'tools/list' })
    // A connection that was idle may be closed at that moment.
    const answer = await asking.catch(() => undefined)
    return answer?.status === 503 ? answer : undefined
  })
}

const textOf = ({ result }: Answer) => result.content[0].text

for (const path of ['/mcp', '/mcp/own'])
  test(`[B10][C5] a question that was open at the first Ctrl-C is answered after it, and its call finishes (${path})`, async () => {
    const { gateway } = await started()
    const client = await WireClient.open(gateway, path, { capabilities })
    const call = await client.begin(path === '/mcp' ? 'mcp__own__ask' : 'ask', ELICIT, 7)
    const { id } = await call.find('elicitation/create')
    const { stopped } = interrupt(gateway)
    const refused = await refusing(gateway)
    expect([refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
      '5',
      { jsonrpc: '2.0', id: 5, error: { data: { code: 'CLOSED', retryAfter: 5 } } },
    ])
    expect((await client.get()).status).toBe(200)
    expect((await client.ask('ping')).result).toEqual({})
    expect(await client.answer(id, ACCEPT)).toBe(202)
    expect(JSON.parse(textOf(await call.find(7)))).toEqual({ result: ACCEPT })
    const { code, took } = await stopped
    expect(code).toBe(130)
    expect(took).toBeLessThan(4_500)
  })

test('[B10][C5] a question of a modern server that nobody answers ends with its server, and its caller is told', async () => {
  const { sandbox } = place()
  const gateway = await up(
    sandbox,
    { servers: { modern: serverCommand('elicit') }, agents: AGENTS },
    { user: true },
  )
  const client = await WireClient.open(gateway, '/mcp/modern', { capabilities })
  const first = await client.begin('ask', {}, 7)
  await first.find('elicitation/create')
  expect((await sandbox.run(['disable', 'modern'])).code).toBe(0)
  expect(await first.find(7)).toMatchObject({ result: { isError: true } })
  expect((await sandbox.run(['enable', 'modern'])).code).toBe(0)
  const second = await client.begin('ask', {}, 8)
  await second.find('elicitation/create')
  const { stopped } = interrupt(gateway)
  expect(await second.find(8)).toMatchObject({ result: { isError: true } })
  expect((await stopped).code).toBe(130)
})

for (const how of ['notifications/cancelled', 'DELETE'] as const)
  test(`[B10][C5] a call that its client gives up while the gateway stops ends, and the stop with it (${how})`, async () => {
    const { gateway, told, calls } = await started()
    const client = await WireClient.open(gateway, '/mcp/own', { capabilities })
    const call = await client.begin('ask', ELICIT, 7)
    await call.find('elicitation/create')
    const { stopped } = interrupt(gateway)
    await refusing(gateway)
    if (how === 'DELETE') expect(await client.delete()).toBe(204)
    else expect(await client.tell(how, { requestId: 7 })).toBe(202)
    expect((await stopped).took).toBeLessThan(4_500)
    expect(told('notifications/cancelled')).toBe(1)
    expect(await calls()).toMatchObject([{ tool: 'ask', outcome: 'cancelled' }])
  })

const asking = (gateway: Gateway, more: object = {}) =>
  modern(
    gateway,
    '/mcp/own',
    'tools/call',
    { name: 'ask', arguments: ELICIT, ...more },
    { name: 'ask', capabilities },
  )

test('[B10][C5] a call that waits for a client that is not there holds up no stop, and its server is told', async () => {
  const { gateway, told, calls } = await started()
  const { result } = await (await asking(gateway)).answer()
  expect(result.resultType).toBe('input_required')
  const { stopped } = interrupt(gateway)
  const { code, took } = await stopped
  expect(code).toBe(130)
  expect(took).toBeLessThan(4_500)
  expect(gateway.stderr()).not.toContain('under way')
  expect(told('notifications/cancelled')).toBe(1)
  expect(await calls()).toMatchObject([{ tool: 'ask', outcome: 'cancelled' }])
})

test('[B10][C5] a call that waits for a server which does not start is told that the gateway stops', async () => {
  const { sandbox } = place()
  const log = sandbox.path('starts')
  const hung = { ...serverCommand('hanging'), env: { SPAWN_LOG: log }, start: 'lazy' }
  const gateway = await up(sandbox, { servers: { hung }, agents: AGENTS })
  const call = gateway.ask('hung', 'resources/read', { uri: 'test://text' })
  await until(() => spawnCount(log) === 1)
  const { stopped } = interrupt(gateway)
  expect(JSON.stringify(await call)).toContain('Busbar is stopping, and hung with it')
  await stopped
})

test('[B10][C1] who comes back to a waiting call while others finish gets its answer', async () => {
  const { gateway } = await started()
  const client = await WireClient.open(gateway, '/mcp/other')
  const { result } = await (await asking(gateway)).answer()
  const other = client.ask('tools/call', { name: 'wait', arguments: { key: 'x' } })
  const heard = { name: 'heard', arguments: { method: 'tools/call' } }
  await until(async () => JSON.parse(textOf(await client.ask('tools/call', heard))).length > 1)
  const { stopped } = interrupt(gateway)
  await refusing(gateway)
  const inputResponses = { [Object.keys(result.inputRequests)[0] ?? '']: ACCEPT }
  const again = await asking(gateway, { inputResponses, requestState: result.requestState })
  expect(JSON.parse(textOf(await again.answer()))).toEqual({ result: ACCEPT })
  expect(await client.delete()).toBe(204)
  expect((await stopped).took).toBeLessThan(4_500)
  await other
})

test('[B1][B10] on a line a question is answered while the gateway stops, and what comes new waits for the next gateway', async () => {
  const { sandbox, config, gateway } = await started()
  const client = lines(sandbox, config)
  client.send(
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'lines', version: '1' } },
    },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
  )
  await client.find(({ id }) => id === 1)
  const call = (id: number, name: string, given: object = {}) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: `mcp__own__${name}`, arguments: given },
  })
  client.send(call(2, 'ask', ELICIT))
  const question = await client.find(({ method }) => method === 'elicitation/create')
  const { stopped } = interrupt(gateway)
  await refusing(gateway)
  client.send(call(3, 'pid'), { jsonrpc: '2.0', id: question.id, result: ACCEPT })
  const answer = await client.find(({ id, method }) => method === undefined && id !== undefined)
  expect([answer.id, JSON.parse(textOf(answer))]).toEqual([2, { result: ACCEPT }])
  await stopped
  await up(sandbox, config)
  expect(JSON.parse(textOf(await client.find(({ id }) => id === 3)))).toEqual([expect.any(Number)])
})

test('[B1][C5] a client on a line that says nothing more answers nothing, and is not waited for', async () => {
  const { sandbox } = place()
  const own = ownServer(sandbox, ASKING_TOOLS, ASKING)
  const client = lines(sandbox, { servers: { own }, agents: AGENTS })
  client.send(
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'lines', version: '1' } },
    },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'mcp__own__ask', arguments: ELICIT } },
  )
  await client.find(({ method }) => method === 'elicitation/create')
  const began = performance.now()
  client.child.stdin?.end()
  const answer = await client.find(({ id, method }) => id === 2 && method === undefined)
  expect(JSON.parse(textOf(answer))).toEqual({
    error: { code: -32603, message: 'the client has gone' },
  })
  expect(performance.now() - began).toBeLessThan(4_500)
})
