// A server that repeats a secret it was given wherever it can: agents get what it says, and nobody else does.

import { expect, test } from 'vitest'
import { serverCommand, startServer } from '../servers/start.ts'
import type { Sandbox } from './cli.ts'
import { AGENTS, type Answer, type Gateway, ownServer, place, TOKEN, up, userFile } from './hub.ts'
import { owner, ownerToken, readEvents } from './owner.ts'
import { filesBelow } from './sign-in.ts'

const SECRET = 'S3CRET-abc def/+=%"\\&<x>'

const JSON_FORM = JSON.stringify(SECRET).slice(1, -1)
const FORMS = [
  // Also its beginning: whoever cuts a text off has not taken the secret out.
  'S3CRET',
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64'),
  Buffer.from(SECRET).toString('base64url'),
  Buffer.from(`user:${SECRET}`).toString('base64').slice(8, -4),
  Buffer.from(SECRET).toString('hex'),
  JSON_FORM,
]

function leaks(what: string | Buffer): string[] {
  return FORMS.filter((form) => what.includes(form))
}

function inFiles({ home }: Sandbox): string[] {
  return filesBelow(home).flatMap(({ path, bytes }) => leaks(bytes).map((leak) => `${path} ${leak}`))
}

const entry = (way = '') => ({
  ...serverCommand('telltale'),
  env: { TOLD: '${TOLD_SECRET}', TOLD_WAY: way },
})

/** Of the resource that cannot be read. */
const URI = `test://user:${encodeURIComponent(SECRET)}@host/${encodeURIComponent(SECRET)}`

const ENV = { TOLD_SECRET: SECRET }

const READS = [
  'status',
  'servers',
  'servers/check',
  'servers/check?server=tells',
  'tools',
  'tools?agent=ada',
  'tools?search=tell',
  'tools?format=openai',
  'tools?format=gemini',
  'resources',
  'resources/templates',
  'prompts',
  'calls',
  'usage',
  'energy',
  'approvals',
  'pins',
  'pins/diff?server=tells&tool=tell',
  'pins/diff?server=tells&tool=%23instructions',
  'agents',
  'access?agent=ada',
]

const COMMANDS = [
  ['list', '--check'],
  ['get', 'tells'],
  ['tools', 'tells'],
  ['tools', '--format', 'anthropic'],
  ['resources', 'tells'],
  ['prompts', 'tells'],
  ['read', 'tells', URI],
  ['pins', 'list'],
  ['pins', 'diff', 'tells/tell'],
  ['pins', 'diff', 'tells/#instructions'],
  ['usage'],
  ['doctor'],
  ['explain', 'ada', 'tells/tell'],
]

const BRIEFLY = COMMANDS.filter(([name]) => /^(?:list|tools|pins)$/.test(name ?? ''))

async function look(sandbox: Sandbox, env = {}, commands = COMMANDS): Promise<string[]> {
  const found: string[] = []
  for (const args of commands) {
    const both = await Promise.all([args, [...args, '--json']].map((words) => sandbox.run(words, { env })))
    for (const { stdout, stderr } of both)
      for (const leak of leaks(stdout + stderr)) found.push(`${args.join(' ')}: ${leak}`)
  }
  return found
}

function use(sandbox: Sandbox, way: string): void {
  sandbox.write(userFile(sandbox), JSON.stringify({ servers: { tells: entry(way) }, agents: AGENTS }))
}

async function asks(sandbox: Sandbox, gateway: Gateway): Promise<string[]> {
  const ask = owner(sandbox, gateway)
  const found: string[] = []
  for (const path of READS) {
    const { answer } = await ask(`GET /api/${path}`)
    for (const leak of leaks(JSON.stringify(answer))) found.push(`GET /api/${path}: ${leak}`)
  }
  const { answer } = await ask('POST /api/read', { server: 'tells', uri: URI })
  expect(answer.message).toContain('refused resources/read')
  for (const leak of leaks(JSON.stringify(answer))) found.push(`POST /api/read: ${leak}`)
  return found
}

test('[C11][B13] what a server repeats of its secret is on no screen, in no answer to the owner and in no file', async () => {
  const { sandbox } = place()
  const gateway = await up(
    sandbox,
    { servers: { tells: entry() }, agents: AGENTS, record: 'full' },
    { user: true, env: ENV },
  )
  const events = await readEvents(sandbox, gateway)
  const ask = owner(sandbox, gateway)
  // Whoever calls gets what the tool says.
  const told = await ask('POST /api/tools/call', { server: 'tells', tool: 'tell' })
  expect(JSON.stringify(told.answer)).toContain(JSON_FORM)
  for (const tool of ['tell-error', 'tell-throw', 'die', 'tell'])
    await ask('POST /api/tools/call', { server: 'tells', tool })
  expect(await asks(sandbox, gateway)).toEqual([])
  expect(await look(sandbox, ENV)).toEqual([])
  // And so does whoever lists tools by the protocol.
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
  }
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } })
  for (const path of ['/mcp', '/mcp/tells']) {
    const listed = await fetch(gateway.url + path, { method: 'POST', headers, body })
    expect(await listed.text()).toContain(JSON.stringify(encodeURIComponent(SECRET)).slice(1, -1))
  }
  expect(events.events.flatMap((event) => leaks(JSON.stringify(event)))).toEqual([])
  expect(leaks(gateway.stderr())).toEqual([])
  expect(inFiles(sandbox)).toEqual([])
})

test('[C11][B13] nor without a gateway', async () => {
  const { sandbox } = place()
  use(sandbox, '')
  expect(await look(sandbox, ENV)).toEqual([])
  // Another server by its definition, but of the same name: what changed is told, and what is masked is not.
  use(sandbox, 'change')
  expect(await look(sandbox, ENV, BRIEFLY)).toEqual([])
  const { stdout } = await sandbox.run(['pins', 'diff', 'tells/tell'], { env: ENV })
  expect(stdout).toContain('Tells changed: ••••••')
  expect(inFiles(sandbox)).toEqual([])
})

test('[C11] a tool that is called by the secret is left out, and that is said', async () => {
  const { sandbox } = place()
  use(sandbox, 'name')
  expect(await look(sandbox, ENV, BRIEFLY)).toEqual([])
  const { json } = await sandbox.run(['tools', 'tells', '--json'], { env: ENV })
  expect(json.tools.map(({ name }: Answer) => name)).toContain('tell')
  expect(json.warnings.join()).toContain('its name holds a secret')
  expect(inFiles(sandbox)).toEqual([])
})

test.each([
  ['die', 'it said: Error: xxx'],
  ['refuse', 'refused tools/list: xxx'],
])('[C11][B13] what is told when it fails has no secret in it: %s', async (way, told) => {
  const { sandbox } = place()
  use(sandbox, way)
  expect(await look(sandbox, ENV, BRIEFLY)).toEqual([])
  const { stdout } = await sandbox.run(['list', '--check'], { env: ENV })
  expect(stdout).toContain(told)
  expect(inFiles(sandbox)).toEqual([])
})

test('[C11] headers that a server repeats in a refusal are masked before it is cut', async () => {
  const { sandbox } = place()
  const { url } = await startServer('telltale', { env: { TOLD_WAY: 'status' } })
  const told = 'S3CRET-abc/+=%-of-a-header'
  const env = { TOLD_SECRET: told }
  const tells = { url, headers: { 'X-Told': '${TOLD_SECRET}' } }
  sandbox.write(userFile(sandbox), JSON.stringify({ servers: { tells } }))
  for (const more of [[], ['--json']]) {
    const { stdout, stderr } = await sandbox.run(['tools', 'tells', ...more], { env })
    expect(stderr).toContain('answered 500: xxx')
    const forms = ['S3CRET', Buffer.from(told).toString('base64')]
    expect(forms.filter((form) => (stdout + stderr).includes(form))).toEqual([])
  }
})

test('[C11][C4] what is remembered of it has no secret in it, and is given out to the letter', async () => {
  const { sandbox, open } = place()
  const config = { servers: { tells: entry() }, agents: { ada: { servers: [] } } } as never
  const env = sandbox.env(ENV)
  const first = await open(config, { env })
  await first.as().client('tells').connect()
  const tools = first.as().tools('tells')
  expect(JSON.stringify(tools)).toContain(JSON_FORM)
  expect(first.as().client('tells').getServerInfo()).toMatchObject({ version: SECRET })
  expect(leaks(JSON.stringify(first.servers.get('tells')))).toEqual([])
  await first.close()
  expect(inFiles(sandbox)).toEqual([])
  const second = await open(config, { env, start: false })
  expect(second.servers.get('tells').state).toBe('idle')
  expect(second.as().tools('tells')).toEqual(tools)
  await second.close()
  // With another one it is as good as forgotten.
  const third = await open(config, { env: sandbox.env({ TOLD_SECRET: 'S3CRET-another-one' }), start: false })
  expect(third.as().tools('tells')).toEqual([])
})

test("[C11] the owner's token that was made is masked inside other texts, too", async () => {
  const { sandbox } = place()
  const gateway = await up(
    sandbox,
    { servers: { plain: serverCommand('plain') }, agents: AGENTS, record: 'full' },
    { user: true },
  )
  const token = ownerToken(sandbox)
  const ask = owner(sandbox, gateway)
  const forms = [
    `http://h/x${token}y`,
    Buffer.from(`owner:${token}`).toString('base64'),
    JSON.stringify({ it: `z${token}` }),
  ]
  for (const text of forms)
    await ask('POST /api/tools/call', { server: 'plain', tool: 'echo', arguments: { text } })
  const { answer } = await ask('GET /api/calls')
  expect(JSON.stringify(answer)).toContain('••••••')
  const middle = Buffer.from(`owner:${token}`).toString('base64').slice(12, -4)
  expect([token, middle].filter((form) => JSON.stringify(answer).includes(form))).toEqual([])
})

test('[C11] a secret that was replaced is in no row of calls that were under way then, or a moment ago', async () => {
  const home = place()
  const former = 'former-Sesame-1177'
  const server = (token: string) => ({
    servers: { one: { ...ownServer(home.sandbox, TELLS), env: { API_TOKEN: token } } },
  })
  const hub = await home.open(server(former))
  await hub.as().call('one/tell')
  const slow = hub.as().call('one/tell', { after: 500 })
  expect((await hub.as().call('one/tell')).text).toContain(former)
  await hub.servers.apply(server('later-Sesame-2288'))
  expect((await slow).text).toContain(former)
  await hub.close()
  const found = filesBelow(home.sandbox.home).filter(({ bytes }) => bytes.includes(former))
  expect(found.map(({ path }) => path)).toEqual([])
})

const TELLS = `{
  tell: ({ after = 0 }) => new Promise((resolve) => setTimeout(resolve, after)).then(() => process.env.API_TOKEN),
}`
