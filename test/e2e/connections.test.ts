// One server over time: how it is greeted, lost, watched and refreshed.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { serverCommand, spawnCount, startServer } from '../servers/start.ts'
import {
  asked,
  between,
  codeOf,
  entry,
  faultOf,
  type Hub,
  type HubEvent,
  hubWith,
  isAlive,
  ownServer,
  pidOf,
  place,
  until,
  watchedStarts,
} from './hub.ts'

const QUIRKS: [mode: string, variant: string | undefined, spawns: number][] = [
  ['silent-discover', undefined, 1],
  ['choke-discover', undefined, 1],
  ['null-id-discover', undefined, 1],
  ['null-id-discover', 'missing', 1],
  ['invalid-params-discover', undefined, 1],
  ['exit-discover', undefined, 2],
  ['wedge-discover', undefined, 2],
  ['wedge-discover', 'error', 2],
]
for (const [mode, variant, spawns] of QUIRKS)
  test(`[C2][C10] ${mode}${variant ? ` (${variant})` : ''}: connected with ${spawns} start, the next time with one`, async () => {
    const home = place()
    const { env, log, overlaps } = watchedStarts(home.sandbox)
    // Only one that falls silent takes all of that time.
    const timeouts = { connect: mode === 'wedge-discover' && variant === undefined ? '3s' : '30s' }
    const servers = { odd: { ...serverCommand(mode, variant ? { case: variant } : {}), env, timeouts } }
    const first = await home.open({ servers })
    await first.as().ready()
    expect(first.servers.get('odd')).toMatchObject({ status: 'connected', era: 'legacy' })
    expect((await first.as().call('odd/echo', { text: 'x' })).text).toBe('x')
    await first.close()
    expect([spawnCount(log), overlaps()]).toEqual([spawns, 0])
    const second = await home.open({ servers })
    await second.as().ready()
    expect((await second.as().call('odd/echo', { text: 'y' })).text).toBe('y')
    expect([spawnCount(log), overlaps()]).toEqual([spawns + 1, 0])
  })

test('[C4] what a server speaks is remembered: the next hub does not ask for it', async () => {
  const home = place()
  const { sandbox } = home
  const heard = sandbox.path('heard')
  const own = ownServer(
    sandbox,
    '{ hello: () => 1 }',
    `import { appendFileSync } from 'node:fs'
globalThis.seen = (method) => appendFileSync(${JSON.stringify(heard)}, method + '\\n')`,
  )
  for (const methods of [['server/discover', 'initialize'], ['initialize']]) {
    sandbox.write(heard, '')
    const hub = await home.open({ servers: { own } })
    await hub.as().ready()
    expect(hub.servers.get('own').status).toBe('connected')
    await hub.close()
    expect(sandbox.read(heard).split('\n').slice(0, methods.length)).toEqual(methods)
  }
})

for (const [what, before] of [
  ['a banner without a line end', 'Server ready... '],
  ['a byte order mark', '\ufeff'],
])
  test(`[C4][D13] ${what} before the first message costs no message, whatever is remembered`, async () => {
    const home = place()
    const own = ownServer(
      home.sandbox,
      '{ hello: () => 1 }',
      `process.stdout.write(${JSON.stringify(before)})`,
    )
    for (const round of ['first', 'second', 'third']) {
      const hub = await home.open({ servers: { own: { ...own, timeouts: { connect: 5_000 } } } })
      await hub.as().ready()
      expect([round, hub.servers.get('own').status]).toEqual([round, 'connected'])
      await hub.close()
    }
  })

test('[C4] a server that does not start with what is remembered of it is asked anew', async () => {
  const home = place()
  const own = ownServer(
    home.sandbox,
    '{ hello: () => 1 }',
    `let asked = false
globalThis.seen = (method) => { asked ||= method === 'server/discover' }
const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } }
globalThis.methods = { initialize: () => asked ? result : new Promise(() => undefined) }`,
  )
  const servers = { own: { ...own, timeouts: { connect: 1_000 } } }
  const seen: string[] = []
  for (let round = 0; round < 3; round++) {
    const hub = await home.open({ servers })
    await hub.as().ready()
    seen.push(hub.servers.get('own').status)
    await hub.close()
  }
  expect(seen).toEqual(['connected', 'failed', 'connected'])
})

test('[E7] tools are known before the server is up, and the first call starts it', async () => {
  const home = place()
  const log = home.sandbox.path('starts')
  const servers = { plain: { ...serverCommand('plain'), env: { SPAWN_LOG: log } } }
  const first = await home.open({ servers })
  await first.as().ready()
  const known = first.as().tools()
  await first.close()
  const second = await home.open({ servers }, { start: false })
  expect(second.as().tools()).toEqual(known)
  expect(second.servers.get('plain')).toMatchObject({
    status: 'pending',
    state: 'idle',
    serverInfo: { name: 'plain' },
  })
  expect(spawnCount(log)).toBe(1)
  expect((await second.as().call('plain/echo', { text: 'up' })).text).toBe('up')
  expect(spawnCount(log)).toBe(2)
})

test('[E7] a server whose command changed is not taken for the one that is remembered', async () => {
  const home = place()
  const first = await home.open({ servers: { one: serverCommand('plain') } })
  await first.as().ready()
  await first.close()
  const second = await home.open({ servers: { one: serverCommand('content') } }, { start: false })
  expect(second.as().tools()).toEqual([])
})

for (const era of ['legacy', 'modern'] as const)
  test(`[D13] ${era}: a crash ends the call with exit code and last words; the server comes back`, async () => {
    const hub = await hubWith({ crash: serverCommand('crash-call', { era }), other: serverCommand('plain') })
    const before = await pidOf(hub, 'crash')
    const slow = faultOf(hub.as().call('crash/sleep', { ms: 600_000 }))
    const fault = await faultOf(hub.as().call('crash/crash'))
    for (const { code, message, server } of [fault, await slow]) {
      expect([code, server]).toEqual(['CONNECTION_LOST', 'crash'])
      expect(message).toContain('code 7')
      expect(message).toContain('fatal: crashed on purpose')
    }
    expect((await hub.as().call('other/echo', { text: 'on' })).text).toBe('on')
    await until(() => hub.servers.get('crash').status === 'connected')
    expect(
      hub
        .as()
        .tools('crash')
        .map(({ name }) => name),
    ).toContain('crash')
    expect(await pidOf(hub, 'crash')).not.toBe(before)
    expect(hub.servers.get('crash').errors[0]?.message).toContain('code 7')
  })

test('[D13][C10] a crash loop is left alone after a few tries, with status, reason and stderr', async () => {
  const home = place()
  const { env, log, overlaps } = watchedStarts(home.sandbox)
  const hub = await home.open({ servers: { loop: { ...serverCommand('crash-loop'), env } } })
  const open = () => {
    const { status, retryAt } = hub.servers.get('loop')
    return status === 'failed' && Date.parse(retryAt ?? '') - Date.now() > 35_000
  }
  await until(open)
  expect(hub.servers.get('loop')).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('code 3'),
    stderr: expect.stringContaining('fatal: cannot start'),
    tools: [],
  })
  const spawns = spawnCount(log)
  expect(spawns).toBeLessThanOrEqual(10)
  for (let round = 0; round < 20; round++)
    expect(await codeOf(hub.as().call('loop/echo', { text: 'x' }))).toBe('CONNECTION_LOST')
  expect([spawnCount(log), overlaps()]).toEqual([spawns, 0])
})

test('[C10] a program that is not there is a clear fault', async () => {
  const hub = await hubWith({ gone: { command: 'no-such-program-anywhere' } })
  expect(hub.servers.get('gone')).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('no-such-program-anywhere'),
    hint: expect.any(String),
  })
  expect(await codeOf(hub.as().call('gone/x'))).toBe('SPAWN_FAILED')
})

test('[C10] a server that never answers has its time, then fails; its process is gone', async () => {
  const home = place()
  const log = home.sandbox.path('starts')
  const hanging = { ...serverCommand('hanging'), env: { SPAWN_LOG: log }, timeouts: { connect: 300 } }
  const hub = await home.open({ servers: { hanging } })
  const { failed } = await hub.as().ready()
  expect(failed).toEqual([{ server: 'hanging', error: expect.stringContaining('0.3 s') }])
  await hub.servers.disconnect('hanging')
  expect(await codeOf(hub.as().call('hanging/echo', {}))).toBe('CONNECT_TIMEOUT')
  expect(hub.servers.get('hanging').hint).toContain('era: legacy')
  await hub.servers.disable('hanging')
  for (const [, pid] of readFileSync(log, 'utf8').matchAll(/START (\d+)/g))
    expect(isAlive(Number(pid))).toBe(false)
})

test('[C10] one hung server holds up none of ten healthy ones', async () => {
  const healthy = Array.from({ length: 10 }, (_, index) => [`s${index}`, serverCommand('plain')] as const)
  const hub = await place().open({
    servers: {
      hung: { ...serverCommand('hanging'), timeouts: { connect: '60s' } },
      ...Object.fromEntries(healthy),
    },
  })
  const pending = hub
    .as()
    .call('hung/echo', { text: 'never' })
    .catch(({ code }) => code)
  const answers = await Promise.all(healthy.map(([name]) => hub.as().call(`${name}/echo`, { text: name })))
  expect(answers.map(({ text }) => text)).toEqual(healthy.map(([name]) => name))
  expect(hub.servers.get('hung').status).toBe('pending')
  const { ready, pending: waiting } = await hub.as().ready({ timeout: 1 })
  expect([ready.length, waiting]).toEqual([10, ['hung']])
  await hub.close()
  expect(await pending).toMatch(/^(?:SERVER_UNAVAILABLE|CALL_CANCELLED|CONNECTION_LOST)$/)
})

/** Waits until the hub knows the tool, or has forgotten it. */
async function untilTool(hub: Hub, name: string, known: boolean): Promise<void> {
  await until(
    () =>
      hub
        .as()
        .tools()
        .some((tool) => tool.name === name) === known,
  )
}

for (const wire of ['stdio', 'http', 'websocket'] as const)
  for (const era of ['legacy', 'modern'] as const)
    test(`[C4][B8] ${wire}, ${era}: changes of a server’s lists are followed`, async () => {
      const events: HubEvent[] = []
      const hub = await hubWith(
        { changing: await entry(wire, 'changing', { era }) },
        { onEvent: (event) => events.push(event) },
      )
      const change = (kind: string) => hub.as().call('changing/change', { kind })
      await change('add')
      await untilTool(hub, 'added-1', true)
      expect((await hub.as().call('changing/added-1')).text).toBe('added')
      await change('remove')
      await untilTool(hub, 'count', false)
      expect(await codeOf(hub.as().call('changing/count'))).toBe('TOOL_UNKNOWN')
      await change('description')
      // Another definition is not the tool that was accepted: it is gone until a person accepts it.
      await untilTool(hub, 'echo', false)
      const { pending } = hub.pins.diff('changing', 'echo')
      await hub.pins.accept('changing', 'echo', pending?.fingerprint ?? '', 'test')
      expect(
        hub
          .as()
          .tools()
          .some(({ description }) => description?.endsWith('version 3')),
      ).toBe(true)
      const lists = () => events.flatMap((event) => (event.type === 'list-change' ? [event.list] : []))
      await change('prompt')
      await until(() => lists().includes('prompts'))
      await change('resource')
      await until(() => lists().includes('resources'))
      expect(await hub.as().prompts('changing')).toHaveLength(2)
      expect(await hub.as().resources('changing')).toHaveLength(3)
    })

test('[C4] a storm of changes over stdio costs a handful of lists, and calls go on', async () => {
  const home = place()
  const own = ownServer(
    home.sandbox,
    `{
  storm: (_, say) => { for (let n = 0; n < 3000; n++) say({ method: 'notifications/tools/list_changed' }) },
  lists: () => lists,
}`,
    `let lists = 0
globalThis.seen = (method) => { if (method === 'tools/list') lists++ }`,
  )
  const hub = await home.open({ servers: { own } })
  await hub.as().ready()
  const before = await asked(hub, 'own/lists')
  await hub.as().call('own/storm')
  await until(async () => (await asked(hub, 'own/lists')) > before)
  await hub.as().call('own/storm')
  expect(await asked(hub, 'own/lists')).toBeLessThanOrEqual(before + 8)
})

test('[C4] a storm of changed resources and prompts is told a handful of times', async () => {
  const home = place()
  const own = ownServer(
    home.sandbox,
    `{
  storm: (_, say) => {
    for (let n = 0; n < 2000; n++)
      for (const list of ['resources', 'prompts']) say({ method: \`notifications/\${list}/list_changed\` })
  },
}`,
  )
  const told: HubEvent[] = []
  const hub = await home.open({ servers: { own } }, { onEvent: (event) => told.push(event) })
  await hub.as().ready()
  await hub.as().call('own/storm')
  const of = (list: string) => told.filter((event) => event.type === 'list-change' && event.list === list)
  // The first is told at once, and the last not sooner than it was said.
  await until(() => of('resources').length > 1 && of('prompts').length > 1)
  await hub.as().call('own/storm')
  expect(of('resources').length + of('prompts').length).toBeLessThan(20)
})

test('[C4] a storm of changes over http costs a handful of lists, and calls go on', async () => {
  const { url, requests } = await between((await startServer('storm', { era: 'modern' })).url)
  const hub = await hubWith({ storm: { url } })
  const lists = () => requests.filter(({ headers }) => headers['mcp-method'] === 'tools/list').length
  await hub.as().call('storm/storm')
  await until(() => lists() >= 3)
  expect((await hub.as().call('storm/echo', { text: 'calls go on' })).text).toBe('calls go on')
  const sent = Number((await hub.as().call('storm/calm')).text)
  expect(lists()).toBeLessThan(5 + sent / 50)
})

test('[C4] many pages are read to their end; endless ones are not', async () => {
  const hub = await hubWith({
    pages: serverCommand('pages'),
    endless: serverCommand('endless-pages'),
    same: serverCommand('endless-pages', { case: 'same' }),
  })
  expect(
    hub
      .as()
      .tools('pages')
      .map(({ name }) => name),
  ).toEqual(Array.from({ length: 250 }, (_, index) => `tool-${String(index).padStart(3, '0')}`))
  const { tools, errors } = hub.servers.get('endless')
  expect([tools.length, errors[0]?.message]).toEqual([1000, expect.stringContaining('does not end')])
  expect(hub.as().tools('same')).toHaveLength(11)
  expect(hub.servers.get('same').errors.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('the same page again'),
  )
})

test('[C4][C10] pages without end that come slowly fail the start in time, and hold up nobody', async () => {
  const slow = serverCommand('endless-pages', { case: 'slow', delay: 100 })
  const hub = await hubWith({
    slow: { ...slow, timeouts: { connect: 1_500 } },
    plain: serverCommand('plain'),
  })
  expect(hub.servers.get('slow')).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/did not come to the end of tools\/list within 1.5 s \(pages: \d+\)/),
    hint: 'give it longer: timeouts.connect of slow',
    tools: [],
  })
  expect(await codeOf(hub.as().call('slow/page-1'))).toBe('CONNECT_TIMEOUT')
  expect((await hub.as().call('plain/echo', { text: 'on' })).text).toBe('on')
})

test('[D13] a server that closes its output but lives on is ended and started anew', async () => {
  const home = place()
  const { env, log, overlaps } = watchedStarts(home.sandbox)
  const hub = await home.open({ servers: { mute: { ...serverCommand('close-stdout'), env } } })
  await hub.as().ready()
  expect(await codeOf(hub.as().call('mute/close'))).toBe('CONNECTION_LOST')
  await until(() => hub.servers.get('mute').status === 'connected')
  expect((await hub.as().call('mute/echo', { text: 'back' })).text).toBe('back')
  expect([spawnCount(log), overlaps()]).toEqual([2, 0])
})

test('[D13] a server that closes its input but lives on is noticed by the next call, ended and started anew', async () => {
  const home = place()
  const { env, log, overlaps } = watchedStarts(home.sandbox)
  const deaf = { ...serverCommand('close-stdin'), env, timeouts: { health: 0 } }
  const hub = await home.open({ servers: { deaf } })
  await hub.as().ready()
  expect((await hub.as().call('deaf/close')).text).toBe('closed')
  const calls = [1, 2, 3].map(() => faultOf(hub.as().call('deaf/echo', { text: 'x' })))
  for (const { code, message, server } of await Promise.all(calls)) {
    expect([code, server]).toEqual(['CONNECTION_LOST', 'deaf'])
    expect(message).toContain('closed its input')
  }
  await until(() => hub.servers.get('deaf').status === 'connected')
  expect((await hub.as().call('deaf/echo', { text: 'back' })).text).toBe('back')
  expect([spawnCount(log), overlaps()]).toEqual([2, 0])
})
