// Who may call what: the list, the call and the explanation are one decision.

import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { type Answer, codeOf, faultOf, type HubServer, place, until, up } from './hub.ts'

const TOOLS = ['get_page', 'get_secret', 'save', 'delete_all']

/** A server in this process that does what it is told. */
function inProcess(): HubServer {
  const server = new Server({ name: 'small', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: TOOLS.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => ({
    content: [{ type: 'text', text: params.name }],
  }))
  return { type: 'sdk', instance: server as never }
}

const pattern = fc.constantFrom(
  'one/*',
  'one/get_*',
  '*/save',
  'two',
  '*',
  'two/delete_*',
  'three/get_secret',
  't*',
)
const entry = fc.record(
  {
    servers: fc.subarray(['one', 'two', 'three', '*']),
    allow: fc.array(pattern, { maxLength: 3 }),
    deny: fc.array(pattern, { maxLength: 3 }),
    enabled: fc.boolean(),
  },
  { requiredKeys: ['servers'] },
)

test('[A5][B8] what is listed can be called, and nothing else, whatever the configuration', async () => {
  const { open } = place()
  await fc.assert(
    fc.asyncProperty(
      entry,
      entry,
      fc.array(fc.constantFrom('get_*', 'save'), { maxLength: 1 }),
      async (a, w, exclude) => {
        const servers = Object.fromEntries(
          ['one', 'two', 'three'].map((name) => [name, { ...inProcess(), tools: { exclude } } as HubServer]),
        )
        const hub = await open(
          { servers, agents: { a: { ...a, workers: { w } }, b: {} }, defaults: { approval: 'never' } },
          { store: 'none' },
        )
        for (const name of Object.keys(servers)) await hub.servers.connect(name)
        for (const agent of ['a', 'a/w', 'b', undefined]) {
          const handle = hub.as(agent)
          const listed = new Set(handle.tools().map(({ address }) => address))
          for (const server of ['one', 'two', 'three', 'absent'])
            for (const tool of [...TOOLS, 'unheard_of']) {
              const address = `${server}/${tool}`
              const called = await handle.call(address).then(
                () => true,
                () => false,
              )
              expect(called, `${agent} ${address}`).toBe(listed.has(address))
            }
          expect(listed.size === 0).toBe(handle.whyEmpty() !== undefined)
        }
        await hub.close()
      },
    ),
    { numRuns: 25 },
  )
})

const TEAM = `version: 1
servers:
  github:
    command: ${JSON.stringify(serverCommand('plain').command)}
    args: ${JSON.stringify(serverCommand('plain').args)}
agents:
  intern:
    servers: [github]
    # nothing that cannot be undone
    deny:
      - github/delete_*
  cto:
    servers: ["*"]
    approval: never
    workers:
      reviewer: { servers: [github], allow: [github/echo] }
  gone: { enabled: false, servers: [github] }
  poor: {}
`

test('[A5] explain names the rule, its file and line, and the command that changes the answer', async () => {
  const { sandbox } = place()
  const file = sandbox.write('busbar.yaml', TEAM)
  const run = await sandbox.run(['explain', 'intern', 'github/delete_repo', '--json', '--trust'])
  expect(run.code).toBe(6)
  expect(run.json).toMatchObject({ verdict: 'deny', fix: `busbar agents grant intern 'github/delete_*'` })
  expect(run.json.steps.at(-1)).toEqual({
    rule: 'deny',
    outcome: 'deny',
    detail: 'intern is denied github/delete_*',
    file,
    line: 11,
  })
  const said = await sandbox.run(['explain', 'intern', 'github/delete_repo'])
  expect(said.stdout).toContain('busbar.yaml:11')
  // The command does what it says.
  expect((await sandbox.run(['agents', 'grant', 'intern', 'github/delete_*'])).code).toBe(0)
  const after = await sandbox.run(['explain', 'intern', 'github/delete_repo', '--json'])
  expect(after.json).toMatchObject({
    verdict: 'ask',
    risk: 'write',
    fix: 'busbar agents approval intern destructive',
  })
  expect((await sandbox.run(['agents', 'approval', 'intern', 'destructive'])).code).toBe(0)
  expect((await sandbox.run(['explain', 'intern', 'github/delete_repo', '--json'])).json.verdict).toBe(
    'allow',
  )
  expect(sandbox.read('busbar.yaml')).toContain('# nothing that cannot be undone')
})

test('[A5] each way to be refused has its own step and its own way out', async () => {
  const { sandbox } = place()
  sandbox.write('busbar.yaml', TEAM)
  await sandbox.run(['trust', '--trust'])
  const why = async (agent: string, address: string): Promise<Answer> =>
    (await sandbox.run(['explain', agent, address, '--json'])).json
  expect(await why('poor', 'github/echo')).toMatchObject({
    verdict: 'deny',
    fix: 'busbar agents grant poor github',
  })
  expect(await why('gone', 'github/echo')).toMatchObject({ fix: 'busbar agents enable gone' })
  expect(await why('cto/reviewer', 'github/add')).toMatchObject({
    fix: 'busbar agents grant cto/reviewer github/add',
  })
  expect(await why('cto', 'github/add')).toMatchObject({ verdict: 'allow' })
  for (const { agent, command } of [
    { agent: 'poor', command: ['agents', 'grant', 'poor', 'github'] },
    { agent: 'gone', command: ['agents', 'enable', 'gone'] },
    { agent: 'cto/reviewer', command: ['agents', 'grant', 'cto/reviewer', 'github/add'] },
  ]) {
    expect((await sandbox.run(command)).code).toBe(0)
    expect((await why(agent, 'github/add')).verdict).not.toBe('deny')
  }
  expect((await sandbox.run(['agents', 'revoke', 'cto/reviewer', 'github/add'])).code).toBe(0)
  expect((await why('cto/reviewer', 'github/add')).verdict).toBe('deny')
  const unknown = await sandbox.run(['explain', 'nobody', 'github', '--json'])
  expect(unknown.error.code).toBe('AGENT_UNKNOWN')
})

test('[A5] what is hidden from an agent is the same as what is not there, and nothing of it reaches the server', async () => {
  const { open } = place()
  const agents = { intern: { servers: ['plain'], deny: ['plain/f*'] }, other: { servers: [] } }
  const hub = await open({ servers: { plain: serverCommand('plain') }, agents })
  await hub.as().ready()
  const denied = await faultOf(hub.as('intern').call('plain/fail'))
  const absent = await faultOf(hub.as('intern').call('plain/flying'))
  expect(denied.code).toBe('NO_ACCESS')
  expect(absent.message.replace('flying', 'fail')).toBe(denied.message)
  const server = await faultOf(hub.as('other').call('plain/echo', { text: 'x' }))
  const none = await faultOf(hub.as('other').call('nothing/echo', { text: 'x' }))
  expect(server.message.replace('plain', 'nothing')).toBe(none.message)
  // A suggestion names only what may be seen.
  const typo = await faultOf(hub.as('intern').call('plain/ech'))
  expect(typo).toMatchObject({ code: 'TOOL_UNKNOWN', hint: 'did you mean plain/echo?' })
  expect(
    await codeOf(
      hub
        .as('intern')
        .read('plain', 'test://text')
        .then(() => hub.as('other').read('plain', 'x')),
    ),
  ).toBe('NO_ACCESS')
})

test('[A5][E6] the gateway lists and calls by the same decision, and says why a list is empty', async () => {
  const { sandbox } = place()
  const agents = {
    ada: { servers: ['plain'], token: 'agent-token-7f3a', allow: ['plain/echo'] },
    bob: { servers: ['plain'], token: 'agent-token-0b0b', allow: [] },
  }
  const gateway = await up(sandbox, { servers: { plain: serverCommand('plain') }, agents })
  const listed = await gateway.ask('plain', 'tools/list')
  expect(listed.result.tools.map((tool: Answer) => tool.name)).toEqual(['echo'])
  const called = await gateway.ask('plain', 'tools/call', { name: 'add', arguments: { a: 1, b: 2 } })
  expect(called.error.data.code).toBe('NO_ACCESS')
  const headers = { authorization: 'Bearer agent-token-0b0b' }
  const empty = await gateway.post('/mcp/plain', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers)
  expect(((await empty.json()) as Answer).result).toMatchObject({
    tools: [],
    _meta: { 'busbar/reason': expect.stringContaining('plain') },
  })
})

test('tools --agent says why there are none', async () => {
  const { sandbox } = place()
  sandbox.write('busbar.yaml', TEAM)
  for (const [agent, reason] of [
    ['poor', 'may use no server'],
    ['gone', 'may use no server'],
  ] as const) {
    const run = await sandbox.run(['tools', '--agent', agent, '--trust'])
    expect(run.stdout + run.stderr).toContain(reason)
  }
})

test('a token is shown once, opens what its agent may use, and can be revoked or expire', async () => {
  const { sandbox } = place()
  const agents = { ada: { servers: ['plain'] } }
  const gateway = await up(sandbox, { servers: { plain: serverCommand('plain') }, agents }, { user: true })
  const made = await sandbox.run(['agents', 'token', 'ada'])
  const token = made.stdout.trim()
  expect(token).toMatch(/^busbar_[\w-]{43}$/)
  const knocks = async (given: string) =>
    (
      await gateway.post(
        '/mcp/plain',
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { authorization: `Bearer ${given}` },
      )
    ).status
  expect(await knocks(token)).toBe(200)
  expect(await knocks(`${token}x`)).toBe(401)
  const listed = (await sandbox.run(['agents', 'token', 'ada', '--list', '--json'])).json
  expect(listed.tokens).toMatchObject([{ state: 'active' }])
  expect(JSON.stringify(listed)).not.toContain(token)
  const short = (await sandbox.run(['agents', 'token', 'ada', '--expires', '1ms', '--json'])).json
  await until(async () => (await knocks(short.token)) === 401)
  expect((await sandbox.run(['agents', 'token', 'ada', '--revoke', '--id', listed.tokens[0].id])).code).toBe(
    0,
  )
  expect(await knocks(token)).toBe(401)
  const nobody = await sandbox.run(['agents', 'token', 'nobody', '--json'])
  expect(nobody.error.code).toBe('AGENT_UNKNOWN')
  // It is good at the next start, too, and its digest is all that is kept.
  const kept = (await sandbox.run(['agents', 'token', 'ada'])).stdout.trim()
  await gateway.end('SIGTERM')
  const again = await up(sandbox, { servers: { plain: serverCommand('plain') }, agents }, { user: true })
  const answer = await again.post(
    '/mcp/plain',
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { authorization: `Bearer ${kept}` },
  )
  expect(answer.status).toBe(200)
})

test('[A10] an agent is told of its own servers that can start, the lead of everybody’s', async () => {
  const { sandbox } = place()
  sandbox.write(
    'busbar.yaml',
    `servers:
  docs: { command: x, category: knowledge, description: The handbook }
  secret: { command: x, env: { KEY: "\${NOT_SET_ANYWHERE}" } }
agents:
  ceo: { servers: [docs] }
  cto: { servers: [docs, secret], naming: s__t, workers: { reviewer: { servers: [docs] } } }
  poor: {}
`,
  )
  const cto = await sandbox.run(['prompt', 'cto', '--trust'])
  expect(cto.stdout).toBe(
    [
      '## Your MCP Tools (External Integrations)',
      '',
      'You have access to the following external tools via MCP servers.',
      'Use them by calling tools prefixed with `<server>__`.',
      '',
      '- **docs** (knowledge): The handbook',
      '',
    ].join('\n'),
  )
  const ceo = (await sandbox.run(['prompt', 'ceo', '--json'])).json
  expect(ceo.section).toContain('- **cto/reviewer**: docs')
  expect(ceo.section).toContain('`mcp__<server>__`')
  const poor = await sandbox.run(['prompt', 'poor'])
  expect(poor.stdout.trim()).toBe('')
  expect(poor.stderr).toContain('poor is told nothing')
})

test('[D14] a grant is in force at once and disturbs nothing that runs', async () => {
  const { sandbox } = place()
  const agents = {
    ada: { servers: ['plain'], token: 'agent-token-7f3a', allow: ['plain/pid'], approval: 'never' },
  }
  const gateway = await up(sandbox, { servers: { plain: serverCommand('plain') }, agents })
  const pid = async () =>
    (await gateway.ask('plain', 'tools/call', { name: 'pid', arguments: {} })).result.content[0].text
  const before = await pid()
  const run = await sandbox.run([
    'agents',
    'grant',
    'ada',
    'plain/echo',
    '--config',
    sandbox.path('team.json'),
  ])
  expect(run.code).toBe(0)
  const echo = () => gateway.ask('plain', 'tools/call', { name: 'echo', arguments: { text: 'hi' } })
  await until(async () => (await echo()).result !== undefined)
  expect(await pid()).toBe(before)
  expect(gateway.stderr()).not.toContain('not in force')
})
