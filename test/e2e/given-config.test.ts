// A configuration that a program gives: its shapes, what is wrong with it, and what of it is applied all the same.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { type Answer, codeOf, faultOf, hubWith, isAlive, pidOf, place } from './hub.ts'

const plain = serverCommand('plain')

test('[B4] setServers on a hub that reads files keeps its agents, and apply goes back to the files', async () => {
  const home = place()
  const file = home.sandbox.write(
    'team.json',
    JSON.stringify({
      servers: { old: serverCommand('plain') },
      agents: { ada: { servers: ['*'], approval: 'never' } },
    }),
  )
  const hub = await home.open(file, { trust: true })
  await hub.as('ada').ready()
  expect(await hub.servers.setServers({ fresh: serverCommand('plain') })).toEqual({
    added: ['fresh'],
    removed: ['old'],
    errors: {},
  })
  expect((await hub.as('ada').call('fresh/echo', { text: 'x' })).text).toBe('x')
  await hub.servers.apply()
  expect(hub.as('ada').servers()).toEqual(['old'])
})

test('[B4] what is no map of servers is refused, and the servers stay', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  for (const wrong of [null, 5, [], undefined])
    expect(await codeOf(hub.servers.setServers(wrong as never))).toBe('USAGE')
  expect(hub.as().servers()).toEqual(['plain'])
})

test('[B4][A8] a configuration of the wrong shape is refused with the place, and changes nothing', async () => {
  const home = place()
  const hub = await home.open({ servers: { plain: serverCommand('plain') } })
  await hub.as().ready()
  const pid = await pidOf(hub, 'plain')
  for (const [wrong, text] of [
    [{ servers: 5 }, 'servers is 5; expected a map'],
    [{ mcpServers: 'npx x' }, 'mcpServers is "npx x"; expected a map'],
    [{ servers: [5] }, 'servers[0] is 5; expected a server'],
    [[], 'holds []; expected a map'],
    [null, 'holds null; expected a map'],
    [5, 'holds 5; expected a map'],
  ] as const) {
    for (const made of [() => hub.servers.apply(wrong as never), () => home.open(wrong as never)])
      expect(await faultOf(made())).toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(text),
      })
    expect(hub.as().servers()).toEqual(['plain'])
  }
  expect(await pidOf(hub, 'plain')).toBe(pid)
  const nothing = { servers: { x: { type: 'sdk', instance: null } } }
  expect((await faultOf(home.open(nothing as never))).message).toContain(
    'servers.x.instance is null; expected',
  )
})

test('[A8][B1] servers may be a list, and be called mcpServers, also with objects of the program', async () => {
  const instance = () => {
    const server = new McpServer({ name: 'own', version: '1' })
    server.registerTool('who', {}, () => ({ content: [{ type: 'text', text: 'me' }] }))
    return server as never
  }
  const named = { name: 'own', type: 'sdk' } as const
  const hub = await place().open({
    servers: [
      { ...named, instance: instance() },
      { name: 'plain', ...serverCommand('plain') },
    ],
  })
  expect((await hub.as().call('own/who')).text).toBe('me')
  expect((await hub.as().call('plain/echo', { text: 'x' })).text).toBe('x')
  await hub.servers.apply({ mcpServers: { other: { type: 'sdk', instance: instance() } } })
  expect((await hub.as().call('other/who')).text).toBe('me')
  // What replaces the servers replaces them under either name.
  await hub.servers.setServers({ plain: serverCommand('plain') })
  expect(hub.as().servers()).toEqual(['plain'])
})

test('[B4] a server that cannot be understood costs only itself, and setServers and apply say why by its name', async () => {
  const hub = await hubWith({ same: plain, other: plain })
  const pids = [await pidOf(hub, 'same'), await pidOf(hub, 'other')]
  const wrong = { command: 5 } as Answer
  const odd = { type: 'sdk', instance: null } as Answer
  const said = 'servers.other.command is 5; expected text'
  // Told each time, also when nothing has changed about it.
  for (const added of [['other', 'more', 'odd'], []].map((names) => names.toSorted())) {
    const result = await hub.servers.setServers({ same: plain, other: wrong, more: plain, odd })
    expect({ ...result, added: result.added.toSorted() }).toEqual({
      added,
      removed: [],
      errors: {
        other: `setServers: ${said}`,
        odd: expect.stringContaining('setServers: servers.odd.instance is null'),
      },
    })
  }
  expect(pids.map(isAlive)).toEqual([true, false])
  expect((await hub.as().call('more/echo', { text: 'x' })).text).toBe('x')
  // What was replaced does not run on in its stead.
  expect(hub.servers.get('other')).toMatchObject({ status: 'failed', error: `setServers: ${said}` })
  expect(await codeOf(hub.as().call('other/echo', { text: 'x' }))).toBe('CONFIG_INVALID')
  expect(await hub.servers.apply({ servers: { same: plain, other: wrong } })).toMatchObject({
    changed: ['other'],
    removed: ['more', 'odd'],
    unchanged: ['same'],
    errors: { other: `apply: ${said}` },
  })
  const agents = { cto: { servers: 'all' } }
  const fault = await faultOf(hub.servers.apply({ servers: {}, agents } as never))
  expect(fault).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/^apply: agents\.cto/),
  })
  expect(hub.servers.status().map(({ name }) => name)).toEqual(['same', 'other'])
  expect(await pidOf(hub, 'same')).toBe(pids[0])
})

const FAULTY = `servers:
  plain: ${JSON.stringify(plain)}
  broken: { command: node, timeouts: { call: soon } }
agents:
  ada: { servers: [plain], approval: never }
  bob: { servers: [plain], approval: sometimes }
  eve: { servers: [plian] }
`

test('[C7][A8] createHub says all that is wrong, with the place of each, and how to start with the rest', async () => {
  const home = place()
  const file = home.sandbox.write('team.yaml', FAULTY)
  const fault = await faultOf(home.open(file, { trust: true }))
  expect(fault.code).toBe('CONFIG_INVALID')
  expect(fault.message.split('\n')).toEqual([
    'the configuration has 3 errors:',
    expect.stringContaining(`- ${file}:3: servers.broken.timeouts.call is "soon"; expected a duration`),
    expect.stringContaining(`- ${file}:6: agents.bob.approval is "sometimes"; expected`),
    expect.stringContaining(
      `- ${file}:7: agents.eve.servers[0] is "plian", which is no known server; did you mean "plain"?`,
    ),
  ])
  expect(fault.hint).toContain('createHub({ tolerant: true })')
})

test('[C7][B10] a tolerant hub starts with what is sound, and tells the rest', async () => {
  const home = place()
  const file = home.sandbox.write('team.yaml', FAULTY.replace(/^.*bob:.*\n/m, ''))
  const told: string[] = []
  const hub = await home.open(file, {
    trust: true,
    tolerant: true,
    onEvent: (event) => event.type === 'trouble' && told.push(event.message),
  })
  expect((await hub.as('ada').call('plain/echo', { text: 'x' })).text).toBe('x')
  expect(told).toEqual([expect.stringContaining('"soon"'), expect.stringContaining('"plian"')])
  expect(hub.servers.get('broken')).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('soon'),
  })
  expect(hub.as('eve').servers()).toEqual([])
  // The same file once more is no worse than it was.
  expect(await hub.servers.apply()).toMatchObject({ unchanged: expect.arrayContaining(['plain']) })
  // What may limit somebody is not passed over.
  home.sandbox.write('team.yaml', FAULTY)
  expect((await faultOf(hub.servers.apply())).message).toContain('agents.bob.approval is "sometimes"')
  expect(await codeOf(home.open(file, { trust: true, tolerant: true }))).toBe('CONFIG_INVALID')
})
