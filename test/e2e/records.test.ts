// Every call ends in exactly one recorded outcome, nothing secret is in it, and a change of it is found.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, type Answer, codeOf, hubWith, ownServer, place, until, up } from './hub.ts'

type Database = { exec(sql: string): void; close(): void }
const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite') as {
  DatabaseSync: new (file: string) => Database
}

test('[D15][A11] each way a call can end is one row with its outcome', async () => {
  const { open } = place()
  const hub = await open({
    servers: {
      plain: serverCommand('plain'),
      silent: { ...serverCommand('hang-call'), timeouts: { call: '200ms' } },
      fragile: serverCommand('crash-call'),
    },
    agents: { intern: { servers: ['plain'], deny: ['plain/add'] } },
  })
  await hub.as().ready()
  await hub.as().call('plain/echo', { text: 'hello' }, { conversation: 'c1' })
  await hub.as().call('plain/fail', {})
  await codeOf(hub.as('intern').call('plain/add', { a: 1, b: 2 }))
  await codeOf(hub.as().call('silent/echo', { text: 'x' }))
  const stop = new AbortController()
  const cancelled = codeOf(hub.as().call('plain/sleep', { ms: 60_000 }, { signal: stop.signal }))
  await until(() => hub.servers.get('plain').inFlight === 1)
  stop.abort()
  expect(await cancelled).toBe('CALL_CANCELLED')
  await codeOf(hub.as().call('fragile/crash'))
  expect((await hub.as().call('plain/echo', { text: 5 })).isError).toBe(true)
  await hub.as().read('plain', 'test://text')
  await hub.flush()
  const rows = (await hub.calls.list({})).toReversed()
  expect(
    rows.map(({ server, tool, outcome, agent, code }) => [`${server}/${tool}`, outcome, agent, code ?? null]),
  ).toEqual([
    ['plain/echo', 'ok', '', null],
    ['plain/fail', 'error', '', 'TOOL_FAILED'],
    ['plain/add', 'denied', 'intern', 'NO_ACCESS'],
    ['silent/echo', 'timeout', '', 'CALL_TIMEOUT'],
    ['plain/sleep', 'cancelled', '', 'CALL_CANCELLED'],
    ['fragile/crash', 'unknown', '', 'CONNECTION_LOST'],
    ['plain/echo', 'error', '', 'ARGUMENTS_INVALID'],
    ['plain/#resources/read', 'ok', '', null],
  ])
  expect(rows[0]).toMatchObject({ conversation: 'c1', surface: 'library', arguments: '{"text":"hello"}' })
  expect(rows[0]?.result).toContain('hello')
  expect(rows[0]?.duration).toBeGreaterThan(0)
  expect(await hub.calls.verify()).toEqual({ ok: true, rows: rows.length })
  const usage = await hub.calls.usage({ by: 'tool' })
  expect(usage.find(({ key }) => key === 'plain/echo')).toMatchObject({ calls: 2, errors: 1 })
  const patterns = await hub.calls.patterns({ server: 'plain' })
  expect(patterns.find(({ tool }) => tool === 'fail')).toMatchObject({ count: 1 })
})

test('[D15] calls through the gateway are recorded with their agent, whichever door they take', async () => {
  const { sandbox } = place()
  const gateway = await up(
    sandbox,
    { servers: { plain: serverCommand('plain') }, agents: AGENTS },
    { user: true },
  )
  await gateway.ask('plain', 'tools/call', { name: 'echo', arguments: { text: 'over mcp' } })
  await gateway.ask('plain', 'tools/call', { name: 'echo', arguments: { text: 5 } })
  await gateway.ask('plain', 'tools/list')
  const told = await sandbox.run(['call', 'plain/echo', 'text=over the socket', '--agent', 'ada'])
  expect(told.stdout).toContain('over the socket')
  const { calls } = (await sandbox.run(['usage', '--calls', '--json'])).json
  expect(calls.map((row: Answer) => [row.agent, row.tool, row.surface, row.outcome])).toEqual([
    ['ada', 'echo', 'api', 'ok'],
    ['ada', 'echo', 'gateway', 'error'],
    ['ada', 'echo', 'gateway', 'ok'],
  ])
  const { rows } = (await sandbox.run(['usage', '--by', 'agent', '--since', '1h', '--json'])).json
  expect(rows).toMatchObject([{ key: 'ada', calls: 3, errors: 1 }])
  const { integrations } = (await sandbox.run(['integrations', 'status', '--json'])).json
  expect(integrations).toMatchObject([
    { server_name: 'plain', status: 'connected', use_count: 3, error_count: 1, added_at: expect.any(String) },
  ])
  await gateway.end('SIGTERM')
  // All of it is there without the gateway, too.
  const later = (await sandbox.run(['integrations', 'status', '--json'])).json
  expect(later.integrations).toMatchObject([
    { status: 'configured', use_count: 3, last_error: expect.any(String) },
  ])
  const errors = (await sandbox.run(['usage', '--errors', '--json'])).json
  expect(errors.patterns).toMatchObject([{ server: 'plain', tool: 'echo', count: 1 }])
})

test('[D15][A5] what the gateway refuses is recorded, also where the agent has no such server', async () => {
  const { sandbox } = place()
  const agents = { ada: { ...AGENTS.ada, servers: ['plain'] } }
  const servers = { plain: serverCommand('plain'), other: serverCommand('plain') }
  const gateway = await up(sandbox, { servers, agents }, { user: true })
  for (const server of ['other', 'absent']) {
    const refused = await gateway.ask(server, 'tools/call', { name: 'echo', arguments: { text: 'x' } })
    expect(refused.error.data.code).toBe('NO_ACCESS')
  }
  expect((await gateway.ask('other', 'initialize')).error.data.code).toBe('NO_ACCESS')
  const { calls } = (await sandbox.run(['usage', '--calls', '--json'])).json
  expect(calls.map((row: Answer) => [row.agent, row.server, row.outcome])).toEqual([
    ['ada', 'absent', 'denied'],
    ['ada', 'other', 'denied'],
  ])
})

test('[D16] a call that was under way when Busbar was killed is recorded as unknown at the next start', async () => {
  const { sandbox } = place()
  const gateway = await up(
    sandbox,
    { servers: { plain: serverCommand('plain') }, agents: AGENTS },
    { user: true },
  )
  await gateway.ask('plain', 'tools/call', { name: 'echo', arguments: { text: 'done' } })
  const lost = gateway
    .ask('plain', 'tools/call', { name: 'sleep', arguments: { ms: 60_000 } })
    .catch(() => undefined)
  const headers = { authorization: `Bearer ${sandbox.read(adminToken(sandbox.home)).trim()}` }
  await until(async () => {
    const answer = await (await fetch(`${gateway.url}/api/servers`, { headers })).json()
    return (answer as Answer).servers[0]?.inFlight === 1
  })
  await gateway.end('SIGKILL')
  await lost
  const { calls } = (await sandbox.run(['usage', '--calls', '--json'])).json
  expect(calls.map((row: Answer) => [row.tool, row.outcome, row.code ?? null])).toEqual([
    ['sleep', 'unknown', 'CRASHED'],
    ['echo', 'ok', null],
  ])
  expect((await sandbox.run(['usage', '--verify', '--json'])).json).toEqual({ ok: true, rows: 2 })
  // Reaps the server that the killed one left.
  await sandbox.run(['call', 'plain/echo', 'text=again'])
})

test('usage --verify finds a row that was changed, taken out or put in', async () => {
  const { sandbox } = place()
  sandbox.write('busbar.json', JSON.stringify({ servers: { plain: serverCommand('plain') } }))
  for (const text of ['one', 'two', 'three'])
    await sandbox.run(['call', 'plain/echo', `text=${text}`, '--trust'])
  expect((await sandbox.run(['usage', '--verify'])).stdout).toContain('whole: 3 calls')
  const file = join(sandbox.home, '.local/state/busbar/busbar.db')
  const tamper = (sql: string) => {
    const database = new DatabaseSync(file)
    database.exec(sql)
    database.close()
  }
  tamper('UPDATE invocations SET duration = duration + 1 WHERE seq = (SELECT min(seq) + 1 FROM invocations)')
  const changed = await sandbox.run(['usage', '--verify', '--json'])
  expect(changed.code).toBe(1)
  expect(changed.json).toMatchObject({ ok: false, rows: 1 })
  tamper('DELETE FROM invocations WHERE seq = (SELECT max(seq) FROM invocations)')
  expect((await sandbox.run(['usage', '--verify'])).code).toBe(1)
})

test('[C11] no secret is in any file of the state folder, in any answer, or in a command line of ours', async () => {
  const { sandbox } = place()
  const canary = 'cAnArY-9f27+/=§-7731-Zq'
  const forms = [
    canary,
    encodeURIComponent(canary),
    JSON.stringify(canary).slice(1, -1),
    Buffer.from(canary).toString('base64'),
    Buffer.from(`user:${canary}`).toString('base64'),
  ]
  const tools = `{
    leak: ({ text }) => [${forms.map((form) => JSON.stringify(form)).join(', ')}, text].join(' '),
    fail: ({ text }) => { throw new Error(process.env.MY_VALUE + ' ' + text) },
  }`
  const servers = { own: { ...ownServer(sandbox, tools), env: { MY_VALUE: '${CANARY}' } } }
  const env = { CANARY: canary }
  const gateway = await up(sandbox, { servers, agents: AGENTS, record: 'full' }, { user: true, env })
  for (const name of ['leak', 'fail'])
    for (const form of forms) await gateway.ask('own', 'tools/call', { name, arguments: { text: form } })
  const shown = [
    await sandbox.run(['usage', '--calls', '--json'], { env }),
    await sandbox.run(['usage', '--errors', '--json'], { env }),
    await sandbox.run(['integrations', 'status', '--json'], { env }),
    await sandbox.run(['list', '--json'], { env }),
  ]
  for (const { stdout, stderr } of shown)
    for (const form of forms) expect(stdout + stderr).not.toContain(form)
  expect(shown[0]?.json.calls.length).toBe(10)
  for (const line of commandLines()) for (const form of forms) expect(line).not.toContain(form)
  await gateway.end('SIGTERM')
  expect(gateway.stderr()).not.toContain(canary)
  for (const file of filesIn(join(sandbox.home, '.local/state/busbar'))) {
    const bytes = readFileSync(file)
    for (const form of forms) expect(bytes.includes(form), `${file} holds ${form}`).toBe(false)
  }
})

test('record says how much of a call is kept', async () => {
  for (const [record, kept] of [
    ['shape', false],
    ['preview', true],
    ['full', true],
  ] as const) {
    const { open } = place()
    const hub = await open({ record, servers: { plain: serverCommand('plain') } })
    await hub
      .as()
      .call('plain/echo', { text: 'a word of its own', token: 'x' })
      .catch(() => undefined)
    await hub.as().call('plain/echo', { text: 'a word of its own' })
    await hub.flush()
    const rows = await hub.calls.list({})
    expect(JSON.stringify(rows).includes('a word of its own')).toBe(kept)
  }
})

test('[A11] what another engine calls is counted from its messages', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  const use = (id: string, name: string) => ({
    type: 'assistant',
    message: {
      content: [
        { type: 'text', text: 'x' },
        { type: 'tool_use', id, name, input: {} },
      ],
    },
  })
  const result = (id: string, is_error: boolean) => ({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: id, is_error }] },
  })
  for (const message of [
    use('1', 'mcp__github__list_issues'),
    use('2', 'mcp__github__create_issue'),
    use('3', 'Read'),
    result('1', false),
    result('2', true),
    null,
    { content: 'text' },
  ])
    hub.observe(message, { agent: 'cto' })
  await hub.flush()
  const totals = await hub.calls.usage({ by: 'server' })
  expect(totals).toMatchObject([{ key: 'github', calls: 2, errors: 1 }])
})

function adminToken(home: string): string {
  return join(home, '.local/state/busbar/admin-token')
}

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesIn(path) : statSync(path).isFile() ? [path] : []
  })
}

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')]
      } catch {
        return []
      }
    })
}
