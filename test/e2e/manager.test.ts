// The manager: servers by name, changed while others run on; and who sees which of them.

import { expect, test } from 'vitest'
import { serverCommand, spawnCount, startServer } from '../servers/start.ts'
import { processesOf } from '../services/processes.ts'
import {
  codeOf,
  createHub,
  faultOf,
  type HubEvent,
  hubWith,
  isAlive,
  pidOf,
  place,
  until,
  watchedStarts,
} from './hub.ts'

const plain = serverCommand('plain')

test('[B3][C7][D1] connectAll, connect, disconnect and reconnect by name', async () => {
  const home = place()
  const log = home.sandbox.path('starts')
  const one = { ...plain, env: { SPAWN_LOG: log } }
  const hub = await home.open(
    { servers: { one, two: one, lazy: { ...one, start: 'lazy' } } },
    { start: false },
  )
  expect(hub.servers.status().map(({ name, status }) => [name, status])).toEqual([
    ['one', 'pending'],
    ['two', 'pending'],
    ['lazy', 'pending'],
  ])
  expect(spawnCount(log)).toBe(0)
  await hub.servers.connectAll()
  expect(hub.servers.status().map(({ status }) => status)).toEqual(['connected', 'connected', 'pending'])
  expect(spawnCount(log)).toBe(2)
  const pid = await pidOf(hub, 'one')
  expect(await hub.servers.connect('one')).toMatchObject({ status: 'connected', pid })
  expect(await hub.servers.disconnect('one')).toMatchObject({ status: 'pending', pid: undefined })
  expect(isAlive(pid)).toBe(false)
  expect(await hub.servers.connect('one')).toMatchObject({ status: 'connected' })
  const again = await pidOf(hub, 'one')
  expect(await hub.servers.reconnect('one')).toMatchObject({ status: 'connected' })
  expect([isAlive(again), await pidOf(hub, 'one')]).not.toContain(again)
  expect((await hub.as().call('lazy/echo', { text: 'by the call' })).text).toBe('by the call')
  const fault = await faultOf(hub.servers.connect('onee'))
  expect(fault).toMatchObject({ code: 'SERVER_UNKNOWN', hint: 'did you mean one?' })
})

test('[C7][C10] all start together: each of them is up while the others still are starting', async () => {
  const slow = Array.from({ length: 6 }, (_, index) => [`s${index}`, serverCommand('slow', { delay: 500 })])
  const seen: number[] = []
  const hub = await place().open(
    { servers: Object.fromEntries(slow) },
    {
      onEvent: (event) => {
        if (event.type === 'server-status' && event.status.state === 'starting') seen.push(1)
        if (event.type === 'server-status' && event.status.state === 'connected') seen.push(-1)
      },
    },
  )
  await hub.as().ready()
  expect(seen).toEqual([...slow.map(() => 1), ...slow.map(() => -1)])
})

test('[B3] calls to a server that is starting wait for it, and one start serves them all', async () => {
  const home = place()
  const log = home.sandbox.path('starts')
  const slow = { ...serverCommand('slow', { delay: 300 }), env: { SPAWN_LOG: log } }
  const hub = await home.open({ servers: { slow } }, { start: false })
  const calls = Array.from({ length: 20 }, (_, index) => hub.as().call('slow/echo', { text: String(index) }))
  expect((await Promise.all(calls)).map(({ text }) => Number(text))).toEqual(calls.map((_, index) => index))
  expect(spawnCount(log)).toBe(1)
})

test('[B12][B8] toggle hides the tools and keeps the process; toggled on they are there at once', async () => {
  const events: HubEvent[] = []
  const hub = await hubWith({ one: plain, two: plain }, { onEvent: (event) => events.push(event) })
  const pid = await pidOf(hub, 'one')
  events.length = 0
  expect(await hub.servers.toggle('one', false)).toMatchObject({ status: 'disabled', tools: [], pid })
  expect(
    new Set(
      hub
        .as()
        .tools()
        .map(({ server }) => server),
    ),
  ).toEqual(new Set(['two']))
  expect(await codeOf(hub.as().call('one/echo', { text: 'x' }))).toBe('SERVER_UNAVAILABLE')
  expect(await codeOf(hub.as().read('one', 'test://text'))).toBe('SERVER_UNAVAILABLE')
  expect((await hub.as().resources()).map(({ server }) => server)).not.toContain('one')
  expect((await hub.as().prompts()).map(({ server }) => server)).not.toContain('one')
  expect(isAlive(pid)).toBe(true)
  const shown = hub.servers.toggle('one', true)
  expect(hub.as().tools('one')).toHaveLength(11)
  expect(await shown).toMatchObject({ status: 'connected' })
  expect(await pidOf(hub, 'one')).toBe(pid)
  expect(events.filter(({ type }) => type === 'tools-change')).toHaveLength(2)
})

test('[B3][B8] disable stops the process and takes the tools; enable starts it anew', async () => {
  const hub = await hubWith({ one: plain, off: { ...plain, enabled: false } })
  const pid = await pidOf(hub, 'one')
  expect(await hub.servers.disable('one')).toMatchObject({ status: 'disabled', tools: [] })
  expect([isAlive(pid), hub.as().tools('one')]).toEqual([false, []])
  expect(await codeOf(hub.as().call('one/echo', { text: 'x' }))).toBe('SERVER_UNAVAILABLE')
  expect(await codeOf(hub.servers.reconnect('one'))).toBe('SERVER_UNAVAILABLE')
  expect(await hub.servers.enable('one')).toMatchObject({ status: 'connected' })
  expect(await pidOf(hub, 'one')).not.toBe(pid)
  expect(hub.servers.get('off')).toMatchObject({ status: 'disabled', pid: undefined })
  expect(await hub.servers.enable('off')).toMatchObject({ status: 'connected' })
  expect((await hub.as().call('off/echo', { text: 'on' })).text).toBe('on')
})

test('[B4][C7] apply tells added, changed, removed, unchanged and errors; unchanged keep their process', async () => {
  const hub = await hubWith({ same: plain, other: plain, gone: plain })
  const pids = [await pidOf(hub, 'same'), await pidOf(hub, 'other'), await pidOf(hub, 'gone')]
  const applied = await hub.servers.apply({
    servers: {
      same: { ...plain },
      other: { ...plain, env: { NEW: '1' } },
      more: serverCommand('content'),
      bad: { command: 'no-such-program' },
    },
  })
  expect(applied).toEqual({
    added: ['more', 'bad'],
    changed: ['other'],
    removed: ['gone'],
    unchanged: ['same'],
    errors: { bad: expect.stringContaining('no-such-program') },
  })
  expect(pids.map(isAlive)).toEqual([true, false, false])
  expect(await pidOf(hub, 'same')).toBe(pids[0])
  expect(hub.as().tools('more')).toHaveLength(11)
  expect(await codeOf(hub.as().call('gone/echo', { text: 'x' }))).toBe('SERVER_UNKNOWN')
})

test('[B4] setServers gives added, removed and errors by name', async () => {
  const hub = await hubWith({ same: plain, gone: plain })
  const pid = await pidOf(hub, 'same')
  expect(
    await hub.servers.setServers({ same: plain, more: plain, bad: serverCommand('crash-loop') }),
  ).toEqual({
    added: ['more', 'bad'],
    removed: ['gone'],
    errors: { bad: expect.stringContaining('code 3') },
  })
  expect(await pidOf(hub, 'same')).toBe(pid)
  expect(hub.servers.status().map(({ name }) => name)).toEqual(['same', 'more', 'bad'])
})

test('[B4][C7] a call under way when its server changes or goes finishes; the new one starts after it', async () => {
  const home = place()
  const log = home.sandbox.path('starts')
  const hub = await home.open({ servers: { one: plain, two: plain } })
  await hub.as().ready()
  const calls = ['one', 'two'].map((name) => hub.as().call(`${name}/progress`, { steps: 1, delay: 600 }))
  await until(() => hub.servers.get('one').inFlight + hub.servers.get('two').inFlight === 2)
  const applied = hub.servers.apply({ servers: { one: { ...plain, env: { SPAWN_LOG: log } } } })
  const [one, two] = await Promise.all(calls)
  expect([one?.text, two?.text]).toEqual(['1 steps', '1 steps'])
  expect(await applied).toMatchObject({ changed: ['one'], removed: ['two'], errors: {} })
  expect(spawnCount(log)).toBe(1)
})

test('[B2][B5][D1] status tells all there is to tell, and no secret', async () => {
  const { url } = await startServer('header-echo')
  const secret = 'sk-proj-abcdefghij0123456789'
  const hub = await hubWith({
    local: { ...plain, env: { API_KEY: secret, PLAIN: 'hunter2-password' } },
    remote: { url, headers: { Authorization: `Bearer ${secret}`, 'X-Key': 'hunter2-password' } },
    keyed: { url, auth: { type: 'api_key', apiKey: secret } },
    bad: { command: 'no-such-program', args: ['--token', secret], env: { TOKEN: secret } },
  })
  const { local } = Object.fromEntries(hub.servers.status().map((status) => [status.name, status]))
  expect(local).toMatchObject({
    name: 'local',
    transport: 'stdio',
    status: 'connected',
    state: 'connected',
    scope: expect.any(String),
    source: expect.any(String),
    config: { command: plain.command },
    serverInfo: { name: 'plain', version: '1.0.0' },
    era: 'modern',
    protocolVersion: '2026-07-28',
    pid: expect.any(Number),
    lastPing: expect.stringMatching(/^\d{4}-.*Z$/),
    connectedSince: expect.stringMatching(/^\d{4}-.*Z$/),
    inFlight: 0,
    errors: [],
  })
  const tools = Object.fromEntries((local?.tools ?? []).map(({ name, annotations }) => [name, annotations]))
  expect(tools['echo']).toEqual({ readOnly: true, idempotent: true, openWorld: false })
  expect(tools['fail']).toEqual({ readOnly: false, destructive: true })
  expect(tools['log']).toEqual({})
  expect(hub.servers.get('local')).toEqual(local)
  const text = JSON.stringify(hub.servers.status())
  for (const word of [secret, 'hunter2-password']) expect(text).not.toContain(word)
  const faults = await Promise.all([faultOf(hub.as().call('bad/x'))])
  for (const { message, hint, details } of faults)
    expect(JSON.stringify([message, hint, details])).not.toContain(secret)
})

test('[C7][D13] events tell what happens; a listener that throws harms nobody; the stream ends with the hub', async () => {
  const warned: unknown[] = []
  const note = (warning: Error) => warned.push(warning.message)
  process.on('warning', note)
  const hub = await place().open(
    { servers: { one: plain } },
    {
      onEvent: () => {
        throw new Error('a listener of the test')
      },
    },
  )
  const told: string[] = []
  const off = hub.on((event) => told.push(event.type))
  const stream = (async () => {
    const types: string[] = []
    for await (const event of hub.events()) types.push(event.type)
    return types
  })()
  await hub.as().ready()
  expect(hub.servers.get('one').status).toBe('connected')
  expect(told).toContain('tools-change')
  off()
  const before = told.length
  await hub.close()
  expect(told).toHaveLength(before)
  expect((await stream).at(-1)).toBe('closed')
  await until(() => warned.includes('a listener of the test'))
  process.off('warning', note)
})

test('[C7] close may be called twice and at once; `await using` closes', async () => {
  const home = place()
  let pid = 0
  {
    await using hub = await createHub({
      config: { servers: { one: plain } },
      home: home.sandbox.home,
      cwd: home.sandbox.project,
      env: home.sandbox.env(),
    })
    pid = await pidOf(hub, 'one')
    expect(isAlive(pid)).toBe(true)
  }
  expect(isAlive(pid)).toBe(false)
  const hub = await home.open({ servers: { one: plain } })
  await hub.as().ready()
  await Promise.all([hub.close(), hub.close()])
  await hub.close()
  expect(processesOf(home.sandbox.root)).toEqual([])
  expect(await codeOf(hub.as().call('one/echo', { text: 'x' }))).toBe('CLOSED')
})

for (const title of ['at once', 'while its servers start', 'while setServers waits for one'])
  test(`[C7][B10] a hub that is closed ${title} does not wait until they have failed`, async () => {
    const home = place()
    const log = home.sandbox.path('starts')
    const hung = { ...serverCommand('hanging'), env: { SPAWN_LOG: log }, timeouts: { connect: '9s' } }
    const later = title.includes('setServers')
    const hub = await home.open({ servers: later ? {} : { hung } })
    if (later) void hub.servers.setServers({ hung }).catch(() => undefined)
    if (title !== 'at once') await until(() => spawnCount(log) > 0)
    let closed = false
    void hub.close().then(() => {
      closed = true
    })
    // Ending a process takes three seconds at most.
    await until(() => closed, 5_000)
    expect(processesOf(home.sandbox.root)).toEqual([])
  })

for (const action of ['disconnect', 'reconnect', 'disable', 'close'] as const)
  test(`[C7][B3] ${action} of a server that waits for its next try does not wait with it`, async () => {
    const hub = await hubWith({ loop: serverCommand('crash-loop'), gone: { command: 'no-such-program' } })
    let done = 0
    const act = (name: string) => (action === 'close' ? hub.close() : hub.servers[action](name))
    for (const name of ['loop', 'gone']) {
      if (action !== 'close') expect(hub.servers.get(name).state).toBe('waiting')
      void act(name).then(() => {
        done += 1
      })
    }
    await until(() => done === 2, 5_000)
  })

test('[B10][D12] a call that comes while its server is being stopped never makes two of it', async () => {
  const home = place()
  const { env, log, overlaps } = watchedStarts(home.sandbox)
  const hub = await home.open({ servers: { deaf: { ...serverCommand('ignore-sigterm'), env } } })
  await hub.as().ready()
  const stopped = hub.servers.disconnect('deaf')
  expect((await hub.as().call('deaf/echo', { text: 'again' })).text).toBe('again')
  await stopped
  expect([spawnCount(log), overlaps()]).toEqual([2, 0])
})

const TEAM = {
  defaults: { approval: 'never' as const },
  servers: { docs: plain, code: plain, spare: plain },
  agents: {
    writer: { servers: ['docs'], workers: { proof: { servers: ['docs'] } } },
    builder: { servers: ['docs', 'code'] },
    retired: { servers: ['spare'], enabled: false },
  },
}

test('[A6][B8] an agent sees and calls its own servers; a disabled agent’s start no process', async () => {
  const home = place()
  const logs = Object.fromEntries(['docs', 'code', 'spare'].map((name) => [name, home.sandbox.path(name)]))
  const servers = Object.fromEntries(
    Object.entries(logs).map(([name, log]) => [name, { ...plain, env: { SPAWN_LOG: log } }]),
  )
  const hub = await home.open({ ...TEAM, servers })
  await hub.as().ready()
  const writer = hub.as('writer')
  expect(writer.servers()).toEqual(['docs'])
  expect(hub.as('writer/proof').servers()).toEqual(['docs'])
  expect(new Set(writer.tools().map(({ server }) => server))).toEqual(new Set(['docs']))
  expect((await writer.call('docs/echo', { text: 'mine' })).text).toBe('mine')
  // The same words whether the server exists or not.
  const denied = await faultOf(writer.call('code/echo', { text: 'x' }))
  const absent = await faultOf(writer.call('none/echo', { text: 'x' }))
  expect([denied.code, absent.code]).toEqual(['NO_ACCESS', 'NO_ACCESS'])
  expect(denied.message.replace('code', 'none')).toBe(absent.message)
  const codes = await Promise.all(
    [
      writer.read('code', 'test://text'),
      writer.resources('code'),
      writer.prompts('code'),
      writer.getPrompt('code', 'greet', { name: 'x' }),
      writer.complete('code', {}),
    ].map((work: Promise<unknown>) => codeOf(work)),
  )
  expect(codes).toEqual(Array(5).fill('NO_ACCESS'))
  expect(() => writer.tools('code')).toThrow(expect.objectContaining({ code: 'NO_ACCESS' }))
  expect(() => writer.client('code')).toThrow(expect.objectContaining({ code: 'NO_ACCESS' }))
  expect((await writer.resources()).map(({ server }) => server)).toEqual(['docs', 'docs'])
  expect((await hub.as('builder').call('code/echo', { text: 'x' })).text).toBe('x')
  expect(() => hub.as('writr')).toThrow(
    expect.objectContaining({ code: 'AGENT_UNKNOWN', hint: 'did you mean writer?' }),
  )
  expect(hub.as('retired').servers()).toEqual([])
  expect(await codeOf(hub.as('retired').call('spare/echo', { text: 'x' }))).toBe('NO_ACCESS')
  expect(Object.values(logs).map(spawnCount)).toEqual([1, 1, 0])
})

test('[C11][C3] nothing of a file that nobody trusted is started', async () => {
  const home = place()
  const log = home.sandbox.path('starts')
  const file = home.sandbox.write(
    'busbar.yaml',
    JSON.stringify({ servers: { one: { ...plain, env: { SPAWN_LOG: log } } } }),
  )
  const hub = await home.open(file, { config: undefined })
  expect((await hub.as().ready()).ready).toEqual([])
  expect(await codeOf(hub.as().call('one/echo', { text: 'x' }))).toBe('NOT_TRUSTED')
  await hub.servers.connect('one')
  expect(spawnCount(log)).toBe(0)
  const trusting = await home.open(file, { config: undefined, trust: true })
  expect((await trusting.as().ready()).ready).toEqual(['one'])
})

test('[C1][C7] a client for one server, as the seed knew it', async () => {
  const hub = await place().open({ servers: { one: plain } }, { start: false })
  const client = hub.as().client('one')
  expect(client.isConnected()).toBe(false)
  await client.connect()
  expect([client.isConnected(), client.getServerInfo()?.name]).toEqual([true, 'plain'])
  expect((await client.listTools()).map(({ name }) => name)).toContain('echo')
  expect((await client.callTool('echo', { text: 'hi' })).text).toBe('hi')
  expect(await client.listResources()).toHaveLength(2)
  expect(await client.readResource('test://text')).toHaveProperty('contents')
  expect(await client.getPrompt('greet', { name: 'Ada' })).toHaveProperty('messages')
  expect(await codeOf(client.callTool('ecoh'))).toBe('TOOL_UNKNOWN')
})
