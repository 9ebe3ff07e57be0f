// One registry for native tools and those of servers: named, written for models, searched, and called alike.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { type Answer, codeOf, hubWith, place } from './hub.ts'

test('[E3] native tools are listed, decided on, checked, called and recorded like any other', async () => {
  const { open } = place()
  const hub = await open({
    servers: { plain: serverCommand('plain') },
    defaults: { approval: 'never' },
    agents: { a: { servers: ['plain'] }, b: { servers: ['plain'], deny: ['double'] } },
  })
  await hub.as().ready()
  const off = hub.tools.register({
    name: 'double',
    description: 'Doubles a number',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    run: ({ n }, { agent }) => ({ twice: Number(n) * 2, agent: agent ?? 'owner' }),
  })
  expect(
    hub
      .as('a')
      .tools()
      .find(({ address }) => address === 'double'),
  ).toMatchObject({ server: '' })
  expect((await hub.as('a').call('double', { n: 4 })).json().structuredContent).toEqual({
    twice: 8,
    agent: 'a',
  })
  expect(
    hub
      .as('b')
      .tools()
      .some(({ name }) => name === 'double'),
  ).toBe(false)
  expect(await codeOf(hub.as('b').call('double', { n: 4 }))).toBe('NO_ACCESS')
  expect(await hub.as('a').call('double', { n: 'four' })).toMatchObject({ isError: true })
  expect(() => hub.tools.register({ name: 'double', run: () => '' })).toThrow(/already/)
  expect(() => hub.tools.register({ name: 'no spaces', run: () => '' })).toThrow()
  hub.tools.register({
    name: 'broken',
    run: () => {
      throw new Error('it fell apart')
    },
  })
  expect(await hub.as('a').call('broken')).toMatchObject({ isError: true, text: 'it fell apart' })
  off()
  expect(await codeOf(hub.as('a').call('double', { n: 4 }))).toBe('TOOL_UNKNOWN')
  await hub.flush()
  const rows = await hub.calls.list({ tool: 'double' })
  expect(rows.map(({ outcome }) => outcome).toReversed()).toEqual(['ok', 'denied', 'error', 'error'])
})

test('[E3] a native tool is taken away by its name, and whoever listens is told', async () => {
  const hub = await hubWith({})
  const events: string[] = []
  hub.on((event) => void (event.type === 'tools-change' && events.push(event.server)))
  hub.tools.register({ name: 'hello', run: () => 'hi' })
  expect((await hub.as().call('hello')).text).toBe('hi')
  expect(hub.tools.unregister('hello')).toBe(true)
  expect(await codeOf(hub.as().call('hello'))).toBe('TOOL_UNKNOWN')
  expect(hub.tools.unregister('hello')).toBe(false)
  expect(events).toEqual(['', ''])
  hub.tools.register({ name: 'hello', run: () => 'hi again' })
  expect((await hub.as().call('hello')).text).toBe('hi again')
})

test('[D15] calls are told of when they have ended, to whoever listens', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  const calls: Answer[] = []
  const off = hub.onCall((call) => calls.push(call))
  await hub.as().call('plain/echo', { text: 'x' })
  await codeOf(hub.as().call('plain/no-such-tool'))
  off()
  await hub.as().call('plain/echo', { text: 'unheard' })
  expect(calls).toEqual([
    {
      id: expect.any(String),
      agent: '',
      server: 'plain',
      tool: 'echo',
      outcome: 'ok',
      milliseconds: expect.any(Number),
      energy: expect.any(Number),
    },
    expect.objectContaining({ tool: 'no-such-tool', outcome: 'error' }),
  ])
})

test('a native tool is stopped like any other call', async () => {
  const hub = await hubWith({})
  let aborted = false
  let started: () => void = () => undefined
  const running = new Promise<void>((resolve) => {
    started = resolve
  })
  hub.tools.register({
    name: 'wait',
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        started()
        signal.addEventListener('abort', () => {
          aborted = true
          reject(signal.reason)
        })
      }),
  })
  const stop = new AbortController()
  const call = hub.as().call('wait', {}, { signal: stop.signal })
  await running
  stop.abort()
  expect(await codeOf(call)).toBe('CALL_CANCELLED')
  expect(aborted).toBe(true)
  expect(await codeOf(hub.as().call('wait', {}, { timeout: 20 }))).toBe('CALL_TIMEOUT')
})

test('[B8][C8][E4] tools are called by the name their model knows, in every scheme, and are gone with their server', async () => {
  const schemes = {
    mcp__s__t: 'mcp__plain__echo',
    mcp_s_t: 'mcp_plain_echo',
    s__t: 'plain__echo',
    s_t: 'plain_echo',
  }
  const { open } = place()
  const agents = Object.fromEntries(
    Object.keys(schemes).map((naming) => [naming, { servers: ['plain'], naming }]),
  )
  const hub = await open({
    servers: { plain: serverCommand('plain') },
    agents,
    defaults: { approval: 'never' },
  } as never)
  await hub.as().ready()
  for (const [scheme, name] of Object.entries(schemes)) {
    const handle = hub.as(scheme)
    const tools = handle.tools({ format: 'anthropic' })
    expect(tools.map((tool) => tool['name'])).toContain(name)
    expect((await handle.call(name, { text: scheme })).text).toBe(scheme)
    expect((await handle.call('plain:echo', { text: scheme })).text).toBe(scheme)
  }
  await hub.servers.toggle('plain', false)
  expect(hub.as('s__t').tools({ format: 'openai' })).toEqual([])
  expect(await codeOf(hub.as('s__t').call('plain__echo', { text: 'x' }))).toBe('TOOL_UNKNOWN')
  await hub.servers.toggle('plain', true)
  expect((await hub.as('s__t').call('plain__echo', { text: 'x' })).text).toBe('x')
})

test('[C4] tools are written for each kind of model; what cannot be is left out with the reason', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  hub.tools.register({
    name: 'odd',
    inputSchema: { type: 'object', properties: { 'filter[id]': { type: 'string' } } },
    run: () => '',
  })
  for (const format of ['anthropic', 'openai', 'gemini', 'ai-sdk'] as const) {
    const { tools, leftOut } = hub.as().toolsFor({ format })
    // Two more are there for models alone: those that reach resources.
    expect(tools.length + leftOut.length).toBe(hub.as().tools().length + 2)
    expect(JSON.stringify(tools)).toContain('echo')
  }
  expect(hub.as().toolsFor({ format: 'anthropic' }).leftOut).toMatchObject([
    { address: 'odd', reason: expect.stringContaining('filter[id]') },
  ])
})

test('tools are found by words', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  expect(hub.as().search('add two numbers')[0]?.address).toBe('plain/add')
  expect(hub.as().search('zzzz qqqq')).toEqual([])
})

test('[B7] ListMcpResources and ReadMcpResource reach the resources of an agent’s own servers', async () => {
  const { open } = place()
  const hub = await open({
    servers: { plain: serverCommand('plain'), other: serverCommand('plain') },
    agents: { a: { servers: ['plain'] } },
  })
  await hub.as().ready()
  const handle = hub.as('a')
  const names = handle.tools({ format: 'anthropic' }).map((tool) => tool['name'])
  expect(names).toEqual(expect.arrayContaining(['ListMcpResources', 'ReadMcpResource']))
  const listed = (await handle.call('ListMcpResources')).json().structuredContent as Answer
  expect(new Set(listed.resources.map((it: Answer) => it.server))).toEqual(new Set(['plain']))
  const read = await handle.call('ReadMcpResource', { server: 'plain', uri: 'test://text' })
  expect(JSON.stringify(read.json())).toContain('quoted')
  const foreign = await handle.call('ReadMcpResource', { server: 'other', uri: 'test://text' })
  expect(foreign).toMatchObject({ isError: true, text: expect.stringContaining('has no server') })
})

test('arguments are checked before anything is sent: types, missing ones, and keys given twice', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  const wrong = await hub.as().call('plain/add', { a: 'one' })
  expect(wrong.json()).toMatchObject({
    isError: true,
    _meta: { 'busbar/fault': { code: 'ARGUMENTS_INVALID' } },
  })
  expect(wrong.text).toMatch(/missing: b/)
  expect(wrong.text).toMatch(/must be a number/)
  const { JsonText } = (await import(new URL('../../dist/index.js', import.meta.url).href)) as Answer
  const twice = await hub.as().call('plain/echo', new JsonText('{"text":"a","t\\u0065xt":"b"}'))
  expect(twice).toMatchObject({ isError: true, text: expect.stringContaining('text') })
  // Models write null for what they leave out; the server has the last word on that.
  expect((await hub.as().call('plain/echo', { text: 'x', more: null })).text).toBe('x')
})
