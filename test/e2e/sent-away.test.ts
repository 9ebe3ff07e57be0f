// Servers that are removed, and tokens that are revoked, while calls are under way: what may finish does, and who may not go
// on is told why.

import { expect, test } from 'vitest'
import { AGENTS, type Answer, type Gateway, ownServer, place, TOKEN, until, up } from './hub.ts'
import { INITIALIZE, INITIALIZED } from './lines.ts'
import { ASKING, ASKING_TOOLS, modern, WireClient } from './wire-client.ts'

const capabilities = { elicitation: { form: {} } }
const ELICIT = {
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
}
const ACCEPT = { action: 'accept', content: {} }

const textOf = ({ result }: Answer) => result.content[0].text

async function started() {
  const { sandbox } = place()
  const log = sandbox.path('told')
  const own = ownServer(
    sandbox,
    `{ ...${ASKING_TOOLS}, hang: () => new Promise(() => {}), slow: () => new Promise((done) => setTimeout(() => done('slow'), 1500)) }`,
    `import { appendFileSync } from 'node:fs'
${ASKING}
const before = globalThis.seen
globalThis.seen = (method, params, line) => {
  appendFileSync(${JSON.stringify(log)}, line + '\\n')
  before(method, params, line)
}`,
  )
  const gateway = await up(sandbox, { servers: { own }, agents: AGENTS }, { user: true })
  const told = (method: string): Answer[] =>
    sandbox.exists(log)
      ? sandbox
          .read(log)
          .split('\n')
          .filter((line) => line.includes(`"method":${JSON.stringify(method)}`))
      : []
  const outcomes = async (count: number) =>
    await until(async () => {
      const { calls } = (await sandbox.run(['usage', '--calls', '--json'])).json
      return calls.length >= count && calls.map(({ tool, outcome }: Answer) => `${tool} ${outcome}`)
    })
  return { sandbox, gateway, told, outcomes }
}

for (const [path, prefix] of [
  ['/mcp', 'mcp__own__'],
  ['/mcp/own', ''],
] as const)
  test(`[B4][C10] calls under way at a server that is removed finish, also when they ask, and new ones are refused (${path})`, async () => {
    const { sandbox, gateway, told } = await started()
    const client = await WireClient.open(gateway, path, { capabilities })
    const slow = client.ask('tools/call', { name: `${prefix}slow`, arguments: {} })
    await until(() => told('tools/call').length === 1)
    const asking = await client.begin(`${prefix}ask`, ELICIT, 7)
    const { id } = await asking.find('elicitation/create')
    expect((await sandbox.run(['remove', 'own'])).code).toBe(0)
    const refused = await client.ask('tools/call', { name: `${prefix}pid`, arguments: {} })
    expect(refused.error?.data.code ?? refused.result._meta['busbar/fault'].code).toMatch(/NO_ACCESS|UNKNOWN/)
    expect(await client.answer(id, ACCEPT)).toBe(202)
    expect(JSON.parse(textOf(await asking.find(7)))).toEqual({ result: ACCEPT })
    expect(JSON.parse(textOf(await slow))).toBe('slow')
    expect(told('notifications/cancelled')).toEqual([])
    // A session with one server ends with it.
    if (path !== '/mcp')
      await until(async () => (await client.post({ jsonrpc: '2.0', id: 9, method: 'ping' })).status === 404)
  })

for (const path of ['/mcp', '/mcp/own'])
  test(`[B4][C1] who comes back to a call at a server that was removed gets its answer (${path})`, async () => {
    const { sandbox, gateway } = await started()
    const name = path === '/mcp' ? 'mcp__own__ask' : 'ask'
    const ask = async (more: object = {}) => {
      const params = { name, arguments: ELICIT, ...more }
      return await (await modern(gateway, path, 'tools/call', params, { name, capabilities })).answer()
    }
    const { result } = await ask()
    expect((await sandbox.run(['remove', 'own'])).code).toBe(0)
    const inputResponses = { [Object.keys(result.inputRequests)[0] ?? '']: ACCEPT }
    const done = await ask({ inputResponses, requestState: result.requestState })
    expect(JSON.parse(textOf(done))).toEqual({ result: ACCEPT })
  })

interface Waiting {
  readonly status: number
  readonly error: Answer
}

/** How a client may wait for an answer. Resolves when it does, with what it gets in the end. */
const WAITING: Record<string, (gateway: Gateway, token: string) => Promise<{ end: Promise<Waiting> }>> = {
  'a legacy client without a session': async (gateway, token) => ({
    end: gateway.post('/mcp/own', HANG, { authorization: `Bearer ${token}` }).then(whole),
  }),
  'a legacy client with a session': async (gateway, token) => {
    const client = await WireClient.open(gateway, '/mcp/own', { token })
    return { end: client.post(HANG).then(whole) }
  },
  'a legacy client that reads a stream': async (gateway, token) => {
    const client = await WireClient.open(gateway, '/mcp/own', { token, capabilities })
    const call = await client.begin('ask', ELICIT, 7)
    await call.find('elicitation/create')
    return { end: call.find(7).then(({ error }) => ({ status: 200, error })) }
  },
  'a modern client': async (gateway, token) => ({
    end: modern(gateway, '/mcp/own', 'tools/call', HANG.params, { token, name: 'hang' }).then(
      async ({ status, answer }) => ({ status, error: (await answer()).error }),
    ),
  }),
}

async function whole(answer: Response): Promise<Waiting> {
  return { status: answer.status, error: ((await answer.json()) as Answer).error }
}

const HANG = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'hang', arguments: {} } }

const HINT =
  'see whether its agent is there and enabled: busbar agents list; or make another token: busbar agents token NAME'
const OVER = {
  code: 4000,
  message: `this token is not valid any more — ${HINT}`,
  data: { code: 'NO_ACCESS', hint: HINT },
}

for (const [who, wait] of Object.entries(WAITING))
  for (const how of ['--revoke', '--replace'])
    test(`[C11][C5] ${who} is told that its token is over, and its call is cancelled (${how})`, async () => {
      const { sandbox, gateway, told, outcomes } = await started()
      const { token } = (await sandbox.run(['agents', 'token', 'ada', '--json'])).json
      const { end } = await wait(gateway, token)
      await until(() => told('tools/call').length === 1)
      expect((await sandbox.run(['agents', 'token', 'ada', how])).code).toBe(0)
      const { status, error } = await end
      expect([status, error]).toEqual([who.includes('stream') ? 200 : 401, OVER])
      await until(() => told('notifications/cancelled').length === 1)
      expect(await outcomes(1)).toEqual([expect.stringMatching(/^(?:hang|ask) cancelled$/)])
    })

test('[C11][C5] an agent that is switched off is told so, and what waits for it is given up', async () => {
  const { sandbox, gateway, told, outcomes } = await started()
  const asked = await modern(
    gateway,
    '/mcp/own',
    'tools/call',
    { name: 'ask', arguments: ELICIT },
    { name: 'ask', capabilities },
  )
  expect((await asked.answer()).result.resultType).toBe('input_required')
  const call = gateway.post('/mcp', { ...HANG, params: { name: 'mcp__own__hang', arguments: {} } })
  await until(() => told('tools/call').length === 2)
  expect((await sandbox.run(['agents', 'disable', 'ada'])).code).toBe(0)
  const answer = await call
  expect([answer.status, answer.headers.get('www-authenticate'), await answer.json()]).toEqual([
    401,
    'Bearer realm="busbar"',
    { jsonrpc: '2.0', id: 7, error: OVER },
  ])
  await until(() => told('notifications/cancelled').length === 2)
  expect((await outcomes(2)).sort()).toEqual(['ask cancelled', 'hang cancelled'])
})

test('[C11][B1] a client on a line is told that its token is over', async () => {
  const { sandbox, told, outcomes } = await started()
  const { token } = (await sandbox.run(['agents', 'token', 'ada', '--json'])).json
  const child = sandbox.start(['serve', '--stdio'], { env: { BUSBAR_TOKEN: token } })
  let out = ''
  child.stdout?.on('data', (data) => (out += data))
  const messages = (): Answer[] =>
    out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  const params = { name: 'mcp__own__hang', arguments: {} }
  const hang = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params })
  for (const message of [
    INITIALIZE,
    INITIALIZED,
    hang(2),
    [hang(3), { ...hang(4), method: 'ping' }, hang(5)],
  ])
    child.stdin?.write(`${JSON.stringify(message)}\n`)
  await until(() => told('tools/call').length === 3)
  expect((await sandbox.run(['agents', 'token', 'ada', '--revoke'])).code).toBe(0)
  const answer = await until(() => messages().find(({ id }) => id === 2))
  expect(answer.error).toEqual(OVER)
  // Also each of those that came in one list, beside what was answered of it.
  const list = await until(() => messages().find((it) => Array.isArray(it)))
  expect(list).toEqual([
    { jsonrpc: '2.0', id: 4, result: {} },
    { jsonrpc: '2.0', id: 3, error: OVER },
    { jsonrpc: '2.0', id: 5, error: OVER },
  ])
  await until(() => child.exitCode !== null)
  await until(() => told('notifications/cancelled').length === 3)
  expect(await outcomes(3)).toEqual(['hang cancelled', 'hang cancelled', 'hang cancelled'])
})

test('[C11] who waits with another token of the agent goes on', async () => {
  const { sandbox, gateway, told } = await started()
  const { token } = (await sandbox.run(['agents', 'token', 'ada', '--json'])).json
  expect(token).not.toBe(TOKEN)
  const slow = gateway.ask('own', 'tools/call', { name: 'slow', arguments: {} })
  await until(() => told('tools/call').length === 1)
  expect((await sandbox.run(['agents', 'token', 'ada', '--revoke'])).code).toBe(0)
  expect(JSON.parse(textOf(await slow))).toBe('slow')
})
