// `/api/*` and `/metrics` for the owner: who there is and what each may do, what servers have, what happens, what is counted.

import { expect, test } from 'vitest'
import type * as Library from '../../src/index.ts'
import { serverCommand } from '../servers/start.ts'
import type { Sandbox } from './cli.ts'
import { AGENTS, type Answer, askTool, type Gateway, place, TOKEN, until, up } from './hub.ts'
import { owner, ownerToken, readEvents } from './owner.ts'

const plain = serverCommand('plain')

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}

/** Who reads `/api/tools` knows what it gets; this compiles or it does not. */
type Listed = Library.ApiAnswer<'GET /api/tools'>

async function metrics(sandbox: Sandbox, { url }: Gateway): Promise<string> {
  const headers = { authorization: `Bearer ${ownerToken(sandbox)}` }
  const response = await fetch(`${url}/metrics`, { headers })
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  return await response.text()
}

test('[A5][E6] agents and what each may use are told, and never a token', async () => {
  const { sandbox } = place()
  const agents = {
    ada: {
      ...AGENTS.ada,
      model: 'some-model',
      energy: { capacity: 50, recovery: '5/min' },
      workers: { reviewer: { servers: ['plain'], deny: ['plain/fail'] } },
    },
    off: { enabled: false, servers: ['plain'] },
    shy: { servers: ['plain'], energy: 'unlimited', naming: 's_t', surface: 'search' },
  }
  const gateway = await up(sandbox, { servers: { plain, other: plain }, agents }, { user: true })
  const ask = owner(sandbox, gateway)
  const made = (await sandbox.run(['agents', 'token', 'shy', '--json'])).json.token
  const { answer } = await ask('GET /api/agents')
  expect(JSON.stringify(answer)).not.toContain(TOKEN)
  expect(JSON.stringify(answer)).not.toContain(made)
  expect(answer.agents).toEqual([
    {
      name: 'ada',
      enabled: true,
      model: 'some-model',
      servers: ['plain', 'other'],
      from: 'own',
      hasToken: true,
      approval: 'never',
      naming: 'mcp__s__t',
      surface: 'auto',
      energy: { agent: 'ada', state: 'plenty', level: 50, capacity: 50, recovery: 5, reserved: 0 },
      workers: [
        {
          name: 'ada/reviewer',
          enabled: true,
          model: null,
          servers: ['plain'],
          from: 'own',
          hasToken: false,
        },
      ],
    },
    expect.objectContaining({ name: 'off', enabled: false, servers: [], hasToken: false }),
    expect.objectContaining({
      name: 'shy',
      approval: 'always',
      hasToken: true,
      naming: 's_t',
      surface: 'search',
      energy: { agent: 'shy', state: 'unlimited' },
    }),
  ])
  await sandbox.run(['agents', 'token', 'shy', '--revoke'])
  expect((await ask('GET /api/agents')).answer.agents[2].hasToken).toBe(false)

  await ask('GET /api/servers/check?server=plain')
  const explained = await ask('GET /api/access?agent=shy&address=plain/echo')
  expect(explained.answer).toEqual((await sandbox.run(['explain', 'shy', 'plain/echo', '--json'])).json)
  expect(explained.answer).toMatchObject({ verdict: 'ask', agent: 'shy', address: 'plain/echo' })
  const may = (await ask('GET /api/access?agent=ada/reviewer')).answer
  expect(may.servers).toEqual(['plain'])
  const verdicts = new Map(may.tools.map((tool: Answer) => [tool.address, tool.verdict]))
  expect([verdicts.get('plain/echo'), verdicts.has('plain/fail'), verdicts.has('other/echo')]).toEqual([
    'allow',
    false,
    false,
  ])
  const none = (await ask('GET /api/access?agent=off')).answer
  expect(none).toMatchObject({ servers: [], tools: [], reason: expect.stringContaining('disabled') })
  for (const [path, status, code] of [
    ['/api/access', 400, 'USAGE'],
    ['/api/access?agent=nobody', 404, 'AGENT_UNKNOWN'],
    ['/api/access?agent=shy&address=plain/', 400, 'USAGE'],
    ['/api/nothing', 404, 'USAGE'],
    ['/api/approvals/nobodys', 404, 'APPROVAL_UNKNOWN'],
    ['/api/calls?limit=-1', 400, 'USAGE'],
    ['/api/calls?limit=0', 400, 'USAGE'],
    ['/api/calls?limit=1.5', 400, 'USAGE'],
  ] as const) {
    const refused = await ask(`GET ${path}`)
    expect([path, refused.status, refused.answer.code]).toEqual([path, status, code])
  }
})

test('[B7][B15][E6] resources, templates, prompts and their contents are listed and read as an agent may', async () => {
  const { sandbox } = place()
  const shy = { servers: ['plain'], deny: ['plain/#resources/read'] }
  const agents = { ...AGENTS, shy, none: { servers: ['bare'], approval: 'never' } }
  const servers = { plain, bare: serverCommand('content'), crash: serverCommand('crash-loop') }
  const gateway = await up(sandbox, { servers, agents }, { user: true })
  const ask = owner(sandbox, gateway)
  const listed: Listed = (await ask('GET /api/tools?agent=ada&wait=true&format=anthropic&search=echo')).answer
  expect(listed.tools[0]).toMatchObject({ address: 'plain/echo', fingerprint: expect.any(String) })
  expect(listed.projected?.tools).toContainEqual(expect.objectContaining({ name: 'mcp__plain__echo' }))
  const resources = (await ask('GET /api/resources?agent=ada&wait=true')).answer
  expect(resources.resources).toContainEqual(expect.objectContaining({ server: 'plain', uri: 'test://text' }))
  expect(resources.servers).toEqual([
    expect.objectContaining({ name: 'plain', state: 'up' }),
    expect.objectContaining({ name: 'bare', state: 'up' }),
    expect.objectContaining({
      name: 'crash',
      state: 'failed',
      fault: expect.objectContaining({ server: 'crash' }),
    }),
  ])
  const templates = (await ask('GET /api/resources/templates?server=plain')).answer
  expect(templates.resourceTemplates).toMatchObject([{ uriTemplate: 'test://city/{name}' }])
  const prompts = (await ask('GET /api/prompts?agent=ada')).answer
  expect(prompts.prompts).toContainEqual(expect.objectContaining({ server: 'plain', name: 'greet' }))
  const read = await ask('POST /api/read', { agent: 'ada', server: 'plain', uri: 'test://text' })
  expect(read.answer.contents[0].text).toBe('Grüße – “quoted” text')
  const prompt = await ask('POST /api/prompts/get', {
    server: 'plain',
    name: 'greet',
    arguments: { name: 'Ada' },
  })
  expect(JSON.stringify(prompt.answer.messages)).toContain('Ada')
  for (const [what, body, status, code] of [
    ['POST /api/read', { agent: 'none', server: 'plain', uri: 'test://text' }, 403, 'NO_ACCESS'],
    ['POST /api/read', { agent: 'shy', server: 'plain', uri: 'test://text' }, 403, 'NO_ACCESS'],
    ['POST /api/read', { server: 'plain' }, 400, 'USAGE'],
    ['POST /api/read', [], 400, 'USAGE'],
    ['POST /api/prompts/get', { server: 'plain', name: 'greet', arguments: { name: 1 } }, 400, 'USAGE'],
    ['POST /api/prompts/get', { agent: 'none', server: 'plain', name: 'greet' }, 403, 'NO_ACCESS'],
    ['GET /api/resources?agent=none&server=plain', undefined, 403, 'NO_ACCESS'],
    ['GET /api/prompts?server=nope', undefined, 404, 'SERVER_UNKNOWN'],
    ['GET /api/tools?format=unheard-of', undefined, 400, 'USAGE'],
    ['GET /api/tools?wait=perhaps', undefined, 400, 'USAGE'],
  ] as const) {
    const refused = await ask(what, body)
    expect([what, refused.status, refused.answer.code]).toEqual([what, status, code])
  }
  const rows = (await ask('GET /api/calls')).answer.calls
  expect(rows.map(({ agent, tool, outcome }: Answer) => `${agent} ${tool} ${outcome}`).toReversed()).toEqual([
    'ada #resources/read ok',
    ' #prompts/get ok',
    'none #resources/read denied',
    'shy #resources/read denied',
    'none #prompts/get denied',
  ])
})

test('[E6][D13] what happens is told as it happens, without secrets, and again to whoever was away', async () => {
  const { sandbox } = place()
  const secret = 'secret-of-the-server-1f9c'
  const servers = { plain: { ...plain, env: { API_KEY: secret } } }
  const agents = { ...AGENTS, shy: { servers: ['plain'], token: 'token-of-shy-55aa' } }
  const gateway = await up(sandbox, { servers, agents }, { user: true })
  const ask = owner(sandbox, gateway)
  const first = await readEvents(sandbox, gateway)
  expect(first.status).toBe(200)
  await askTool(gateway, 'plain', 'pid')
  const call = await first.find(({ event }) => event === 'call')
  expect(call.data).toEqual({
    id: expect.any(String),
    agent: 'ada',
    server: 'plain',
    tool: 'pid',
    outcome: 'ok',
    milliseconds: expect.any(Number),
    energy: expect.any(Number),
  })
  await ask('POST /api/tools/call', {
    agent: 'shy',
    server: 'plain',
    tool: 'echo',
    arguments: { text: 'a\n\nid: 9\n' },
  })
  const asked = await first.find(({ event }) => event === 'approval')
  expect(asked.data.approval).toMatchObject({ agent: 'shy', address: 'plain/echo', status: 'pending' })
  first.close()
  await ask('POST /api/servers/plain/restart')
  await askTool(gateway, 'plain', 'pid')

  // Whoever comes back gets all of it, in order, and then what is new.
  const second = await readEvents(sandbox, gateway, asked.id)
  await second.find(({ event, data }) => event === 'server-status' && data.status.status === 'connected')
  await second.find(({ event, data }) => event === 'call' && data.outcome === 'ok')
  await askTool(gateway, 'plain', 'env')
  await second.find(({ event, data }) => event === 'call' && data.tool === 'env')
  const [epoch, from] = asked.id.split('.')
  expect(second.events.map(({ id }) => id)).toEqual(
    second.events.map((_, index) => `${epoch}.${Number(from) + 1 + index}`),
  )
  expect(second.events.some(({ event }) => event === 'tools-change')).toBe(true)
  const text = JSON.stringify([...first.events, ...second.events])
  for (const hidden of [secret, TOKEN, 'token-of-shy-55aa', ownerToken(sandbox)])
    expect(text).not.toContain(hidden)

  // Whom it cannot tell what was missed is told so, first of all.
  for (const unknown of ['0badf00d.1', `${epoch}.999999`, `${epoch}.x`, 'nonsense', `${epoch}.-1`]) {
    const reset = await readEvents(sandbox, gateway, unknown)
    await until(() => reset.events.length > 0)
    expect([unknown, reset.events[0]?.event]).toEqual([unknown, 'reset'])
    expect(reset.lastId()).toBe(second.lastId())
    reset.close()
  }
  expect(await gateway.end('SIGTERM')).toBe(143)
  await second.ended
})

test('[E6] only the latest events are kept, and at most 32 listen; an agent may not', async () => {
  const { sandbox } = place()
  const agents = { ada: { ...AGENTS.ada, energy: 'unlimited' } }
  const gateway = await up(sandbox, { servers: { plain }, agents }, { user: true })
  for (const path of ['/api/events', '/metrics', '/api/agents']) {
    const refused = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${TOKEN}` } })
    expect([path, refused.status]).toEqual([path, 403])
    await refused.text()
  }
  const streams = await Promise.all(Array.from({ length: 32 }, () => readEvents(sandbox, gateway)))
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
  expect((await owner(sandbox, gateway)('GET /api/events')).status).toBe(429)
  const [first] = streams
  await askTool(gateway, 'plain', 'pid')
  const early = await first?.find(({ event }) => event === 'call')
  for (let round = 0; round < 11; round++)
    await Promise.all(Array.from({ length: 100 }, () => askTool(gateway, 'plain', 'pid')))
  await first?.find(({ id }) => Number(id.split('.')[1]) >= Number(early?.id.split('.')[1]) + 1100)
  for (const stream of streams.slice(1)) stream.close()
  const old = await until(async () => {
    const stream = await readEvents(sandbox, gateway, early?.id)
    return stream.status === 200 ? stream : undefined
  })
  await until(() => old.events.length > 0)
  expect(old.events.map(({ event }) => event)).toEqual(['reset'])
})

test('[D15] what is counted can be scraped, with the owner’s token', async () => {
  const { sandbox } = place()
  const servers = { plain, gone: { command: 'no-such-program' }, off: { ...plain, enabled: false } }
  const agents = {
    ada: { ...AGENTS.ada, energy: { capacity: 50, recovery: '5/min' } },
    shy: { servers: ['plain'], energy: 'unlimited' },
  }
  const gateway = await up(sandbox, { servers, agents }, { user: true })
  const ask = owner(sandbox, gateway)
  await askTool(gateway, 'plain', 'pid')
  await gateway.ask('plain', 'tools/call', { name: 'fail', arguments: {} })
  await gateway.ask('plain', 'initialize', INITIALIZE)
  await gateway.ask('made-up', 'tools/call', { name: 'x', arguments: {} })
  await ask('POST /api/tools/call', { agent: 'shy', server: 'plain', tool: 'echo', arguments: { text: 'x' } })
  await (await fetch(`${gateway.url}/metrics`)).text()
  await (await gateway.post('/mcp/plain', '{}', { origin: 'https://elsewhere.example' })).text()
  const text = await metrics(sandbox, gateway)
  const value = (name: string) => {
    const line = text.split('\n').find((it) => it.startsWith(`${name} `))
    return line === undefined ? undefined : Number(line.slice(name.length + 1))
  }
  for (const [name, wanted] of [
    ['busbar_server_up{server="plain"}', 1],
    ['busbar_server_up{server="gone"}', 0],
    ['busbar_server_status{server="plain",status="connected"}', 1],
    ['busbar_server_status{server="gone",status="failed"}', 1],
    ['busbar_server_status{server="off",status="disabled"}', 1],
    ['busbar_server_status{server="off",status="connected"}', 0],
    ['busbar_calls_total{server="plain",outcome="ok"}', 1],
    ['busbar_calls_total{server="plain",outcome="error"}', 1],
    ['busbar_calls_total{server="plain",outcome="denied"}', 1],
    ['busbar_calls_total{server="?",outcome="denied"}', 1],
    ['busbar_call_seconds_count{server="plain"}', 2],
    ['busbar_call_seconds_bucket{server="plain",le="+Inf"}', 2],
    ['busbar_approvals_waiting', 1],
    ['busbar_sessions', 1],
    ['busbar_refused_requests_total{reason="token"}', 1],
    ['busbar_refused_requests_total{reason="host"}', 1],
  ] as const)
    expect([name, value(name)]).toEqual([name, wanted])
  expect(text).toMatch(/^busbar_info\{version="[^"]+"\} 1$/m)
  expect(text).not.toContain('made-up')
  const level = value('busbar_energy_level{agent="ada"}') ?? 0
  expect([level > 0, level <= 50]).toEqual([true, true])
  expect(value('busbar_energy_level{agent="shy"}')).toBeUndefined()
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e7)
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0)
  const buckets = [...text.matchAll(/^busbar_call_seconds_bucket\{server="plain",le="[^"]+"\} (\d+)$/gm)]
  const counts = buckets.map(([, count]) => Number(count))
  expect(counts).toEqual(counts.toSorted((one, other) => one - other))
  // Every line is a comment or a sample, and every family is announced once.
  const lines = text.trimEnd().split('\n')
  const sample = /^[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? (\d[\d.e+-]*|\+Inf|NaN)$/
  expect(lines.filter((line) => !line.startsWith('# ') && !sample.test(line))).toEqual([])
  const types = lines.filter((line) => line.startsWith('# TYPE '))
  expect(new Set(types).size).toBe(types.length)
  expect(await metrics(sandbox, gateway)).toMatch(/^nodejs_eventloop_lag_seconds \d/m)
})
