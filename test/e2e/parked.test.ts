// A modern client of a legacy server that asks: the call waits, the client comes back, and nobody else can.

import { expect, test } from 'vitest'
import { AGENTS, type Answer, entry, type Gateway, ownServer, place, TOKEN, until, up } from './hub.ts'
import { ASKING, ASKING_TOOLS } from './wire-client.ts'

const PREFIX = 'io.modelcontextprotocol/'
const MODERN = '2026-07-28'
const OTHER = 'the-other-token'
const ACCEPT = { action: 'accept', content: { name: 'Ada' } }
const DEFAULT = { elicitation: { form: {} } }

/** One modern request, whole. */
async function ask(
  gateway: Gateway,
  more: object = {},
  { name = 'mcp__elicit__ask', token = TOKEN, capabilities = DEFAULT as object, given = {} as object } = {},
): Promise<{ status: number; body: Answer }> {
  const response = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': MODERN,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name,
        arguments: given,
        ...more,
        _meta: { [`${PREFIX}protocolVersion`]: MODERN, [`${PREFIX}clientCapabilities`]: capabilities },
      },
    }),
  })
  return { status: response.status, body: await response.json() }
}

async function started(agents: object = { ...AGENTS, bob: { ...AGENTS.ada, token: OTHER } }) {
  const { sandbox } = place()
  const servers = { elicit: await entry('stdio', 'elicit', { era: 'legacy' }) }
  return { sandbox, gateway: await up(sandbox, { servers, agents, approvals: { wait: 0 } }) }
}

/** The answers to all that was asked. */
const answers = ({ inputRequests }: Answer, answer: object = ACCEPT) =>
  Object.fromEntries(Object.keys(inputRequests).map((key) => [key, answer]))

test('[C1] a legacy server asks a modern client, which comes back with the answer, once', async () => {
  const { sandbox, gateway } = await started()
  const { body } = await ask(gateway)
  expect(body.result).toMatchObject({
    resultType: 'input_required',
    inputRequests: { q1: { method: 'elicitation/create', params: { message: 'Who are you?' } } },
    requestState: expect.any(String),
  })
  const { requestState } = body.result
  const again = { inputResponses: answers(body.result), requestState }
  const done = await ask(gateway, again)
  expect(done.body.result).toMatchObject({ resultType: 'complete' })
  expect(JSON.parse(done.body.result.content[0].text)).toEqual(ACCEPT)
  const replayed = await ask(gateway, again)
  expect(replayed).toMatchObject({
    status: 400,
    body: { error: { code: -32602, data: { code: 'REQUEST_STATE_INVALID' } } },
  })
  // To the record it was one call.
  const { json } = await sandbox.run([
    'usage',
    '--by',
    'tool',
    '--json',
    '--config',
    sandbox.path('team.json'),
  ])
  expect(json.rows).toMatchObject([{ key: 'elicit/ask', calls: 1, errors: 0 }])
})

test('[C11] a state that was forged, is somebody else’s, or belongs to another request is refused, and the right one still counts', async () => {
  const { gateway } = await started()
  const { body } = await ask(gateway, {}, { given: { note: 'one' } })
  const { requestState } = body.result
  const inputResponses = answers(body.result)
  const [head, signature] = requestState.split('.').slice(1)
  const claims = JSON.parse(Buffer.from(head, 'base64url').toString())
  const later = Buffer.from(JSON.stringify([...claims.slice(0, -1), claims.at(-1) + 60_000])).toString(
    'base64url',
  )
  for (const [why, state, options] of [
    ['forged', `busbar.${later}.${signature}`, {}],
    ['cut', `busbar.${head}.${signature.slice(1)}`, {}],
    ['empty', 'busbar.', {}],
    // A legacy server gives none of its own: with none of ours the call would be made as if nobody had been asked.
    ['none of ours', 'forged', {}],
    ['of another form', 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln', {}],
    ['nothing', '', {}],
    ['no text', 7, {}],
    ['ours behind a space', ` ${requestState}`, {}],
    ['somebody else’s', requestState, { token: OTHER }],
    ['for other arguments', requestState, { given: { note: 'two' } }],
    ['for another tool', requestState, { name: 'mcp__elicit__ask-url' }],
  ] as const) {
    const options_ = { given: { note: 'one' }, ...options }
    const { status, body: refused } = await ask(gateway, { inputResponses, requestState: state }, options_)
    expect([why, status, refused.error?.data?.code]).toEqual([why, 400, 'REQUEST_STATE_INVALID'])
  }
  const right = await ask(gateway, { inputResponses, requestState }, { given: { note: 'one' } })
  expect(JSON.parse(right.body.result.content[0].text)).toEqual(ACCEPT)
})

test('[C1] who comes back without the answer is asked once more', async () => {
  const { gateway } = await started()
  const first = (await ask(gateway)).body.result
  const second = (await ask(gateway, { inputResponses: {}, requestState: first.requestState })).body.result
  expect(second).toMatchObject({ resultType: 'input_required', inputRequests: first.inputRequests })
  const { requestState } = second
  const done = await ask(gateway, { inputResponses: answers(second), requestState })
  expect(JSON.parse(done.body.result.content[0].text)).toEqual(ACCEPT)
})

test('[C1] a client that cannot be asked is not, and a gateway that was started anew says what it does not know', async () => {
  const { sandbox, gateway } = await started()
  const silent = await ask(gateway, {}, { capabilities: {} })
  expect(silent.body.error ?? silent.body.result).toMatchObject({ message: expect.any(String) })
  const { requestState, ...asked } = (await ask(gateway)).body.result
  await gateway.end('SIGKILL')
  const next = await up(sandbox, JSON.parse(sandbox.read('team.json')))
  const lost = await ask(next, { inputResponses: answers(asked), requestState })
  expect(lost.body.result).toMatchObject({
    isError: true,
    _meta: { 'busbar/fault': { code: 'CONNECTION_LOST' } },
  })
})

/** A gateway before a server that asks whatever it is told to, with clients that have so many milliseconds. */
async function impatient(parked: number) {
  const { sandbox } = place()
  const servers = { own: ownServer(sandbox, ASKING_TOOLS, ASKING) }
  const gateway = await up(sandbox, { servers, agents: AGENTS, gateway: { limits: { parked } } })
  /** By somebody who cannot be asked, and so need not wait until the other is over. */
  const look = async (name: string, given: object = {}) => {
    const { body } = await ask(gateway, {}, { name: `mcp__own__${name}`, given, capabilities: {} })
    return JSON.parse(body.result.content[0].text)
  }
  return { gateway, look }
}

const QUESTION = {
  name: 'mcp__own__ask',
  given: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: { type: 'object' } } },
}

test('[C11] a call that nobody comes back for in time is cancelled, and who comes then is refused', async () => {
  const { gateway, look } = await impatient(100)
  const { body } = await ask(gateway, {}, QUESTION)
  await until(async () => (await look('heard', { method: 'notifications/cancelled' })).length === 1)
  expect(await look('answers')).toEqual([
    { error: { code: -32603, message: 'the client did not answer in time' } },
  ])
  const { requestState } = body.result
  const late = await ask(gateway, { inputResponses: answers(body.result), requestState }, QUESTION)
  expect(late).toMatchObject({
    status: 400,
    body: { error: { code: -32602, message: expect.stringContaining('requestState has expired') } },
  })
})

test('[C10][C11] what asks nothing, and who cannot be asked, goes on beside a call that waits for its client', async () => {
  const { gateway } = await started()
  const bob = { token: OTHER, name: 'mcp__elicit__echo', given: { text: 'hello' } }
  await ask(gateway, {}, bob)
  const { body } = await ask(gateway)
  expect(body.result.resultType).toBe('input_required')
  for (const who of [
    bob,
    { ...bob, capabilities: {} },
    { ...bob, name: 'mcp__elicit__add', capabilities: {}, given: { a: 1, b: 2 } },
  ]) {
    const beside = await ask(gateway, {}, who)
    expect(beside.body.result.content[0].text).toMatch(/hello|3/)
  }
  const { requestState } = body.result
  const done = await ask(gateway, { inputResponses: answers(body.result), requestState })
  expect(JSON.parse(done.body.result.content[0].text)).toEqual(ACCEPT)
})

test('[C10][C11] a call that others wait for gives way to them, and its client is told why', async () => {
  const { sandbox } = place()
  const elicit = { ...(await entry('stdio', 'elicit', { era: 'legacy' })), timeouts: { call: 2000 } }
  const agents = { ...AGENTS, bob: { ...AGENTS.ada, token: OTHER } }
  const gateway = await up(sandbox, { servers: { elicit }, agents })
  const { body } = await ask(gateway)
  const other = await ask(gateway, {}, { token: OTHER })
  expect(other.body.result.resultType).toBe('input_required')
  const { requestState } = body.result
  const late = await ask(gateway, { inputResponses: answers(body.result), requestState })
  expect(late).toMatchObject({
    status: 400,
    body: { error: { code: -32602, message: expect.stringContaining('others waited for its server') } },
  })
})

test('[D11] a person at the client is asked in its own dialogue, and the same call goes through once', async () => {
  const careful = { ...AGENTS.ada, approval: 'always', approver: 'client' }
  const { sandbox, gateway } = await started({
    ada: careful,
    bob: { ...careful, approver: 'console', token: OTHER },
  })
  const echo = { name: 'mcp__elicit__echo', given: { text: 'hello' } }
  const { body } = await ask(gateway, {}, echo)
  const [question] = Object.values(body.result.inputRequests) as Answer[]
  expect(question).toMatchObject({
    method: 'elicitation/create',
    params: { message: expect.stringMatching(/ada wants to call elicit\/echo[\s\S]*hello/) },
  })
  const { requestState } = body.result
  const allow = answers(body.result, { action: 'accept', content: { decision: 'allow' } })
  const done = await ask(gateway, { inputResponses: allow, requestState }, echo)
  expect(JSON.stringify(done.body.result.content)).toContain('hello')
  const list = async (...more: string[]) =>
    (await sandbox.run(['approve', 'list', ...more, '--json', '--config', sandbox.path('team.json')])).json
      .approvals
  expect(await list('--all')).toMatchObject([{ status: 'used', decidedBy: 'client' }])
  // The next one is asked about again; and this time the answer is no.
  const next = (await ask(gateway, {}, echo)).body.result
  const deny = answers(next, { action: 'accept', content: { decision: 'deny' } })
  const refused = await ask(gateway, { inputResponses: deny, requestState: next.requestState }, echo)
  expect(refused.body.result._meta['busbar/fault'].code).toBe('APPROVAL_DENIED')
})

test('[D11] the same call again has a dialogue of its own, and giving that up takes nothing from the first', async () => {
  const careful = { ...AGENTS.ada, approval: 'always', approver: 'client' }
  const { sandbox, gateway } = await started({ ada: careful })
  const echo = { name: 'mcp__elicit__echo', given: { text: 'hello' } }
  const first = (await ask(gateway, {}, echo)).body.result
  const second = (await ask(gateway, {}, echo)).body.result
  expect(second.resultType).toBe('input_required')
  // Who cannot be asked is told to wait, and does not wait for the dialogue of another.
  const silent = await ask(gateway, {}, { ...echo, capabilities: {} })
  expect(silent.body.result._meta['busbar/fault'].code).toBe('APPROVAL_PENDING')
  const closed = answers(second, { action: 'cancel' })
  const left = await ask(gateway, { inputResponses: closed, requestState: second.requestState }, echo)
  expect(left.body.result._meta['busbar/fault'].code).toBe('APPROVAL_PENDING')
  const allow = answers(first, { action: 'accept', content: { decision: 'allow' } })
  const done = await ask(gateway, { inputResponses: allow, requestState: first.requestState }, echo)
  expect(JSON.stringify(done.body.result.content)).toContain('hello')
  const { json } = await sandbox.run([
    'approve',
    'list',
    '--all',
    '--json',
    '--config',
    sandbox.path('team.json'),
  ])
  expect(json.approvals.map(({ status }: Answer) => status).sort()).toEqual(['pending', 'used'])
})
