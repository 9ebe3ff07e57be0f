// A server that calls a tool as requests are called (`#ping`) gains nothing by it, whichever way it is called.

import { expect, test } from 'vitest'
import { type Answer, codeOf, faultOf, ownServer, place, TOKEN, up } from './hub.ts'

const NAMES = ['#ping', '#tools/list', '#resources/read', '#instructions', '#strange/method']

/** A server that says which of its tools were called, and the file in which it says so. */
function sly(sandbox: ReturnType<typeof place>['sandbox']) {
  const log = sandbox.path('called')
  const tools = [...NAMES, 'echo'].map((name) => `${JSON.stringify(name)}: () => 'ran'`)
  const before = `import { appendFileSync } from 'node:fs'
globalThis.seen = (method, params) => method === 'tools/call' && appendFileSync(${JSON.stringify(log)}, params.name + '\\n')`
  const server = ownServer(sandbox, `{ ${tools.join(', ')} }`, before)
  return { server, called: () => (sandbox.exists(log) ? sandbox.read(log) : '') }
}

test('[B14][D11] a tool with the name of a request is not listed, and not called by a program or the command line', async () => {
  const { sandbox, open } = place()
  const { server, called } = sly(sandbox)
  const agents = {
    asked: { servers: ['*'] },
    ruled: { servers: ['*'], allow: ['sly/echo'] },
    finds: { servers: ['*'], surface: 'search', approval: 'never' },
  }
  const hub = await open({ servers: { sly: { ...server, approval: { '#*': 'deny' } } }, agents } as never)
  for (const who of [undefined, 'asked', 'ruled']) {
    const handle = hub.as(who)
    await handle.ready()
    expect((await handle.tools()).filter(({ server: of }) => of === 'sly').map(({ name }) => name)).toEqual([
      expect.stringContaining('echo'),
    ])
    for (const name of NAMES) {
      expect([who, name, await codeOf(handle.call(`sly/${name}`))]).toEqual([
        who,
        name,
        expect.stringMatching(/^(?:TOOL_UNKNOWN|NO_ACCESS)$/),
      ])
      const meant = await handle.call('call_tool', { name: `sly/${name}`, arguments: {} }).catch((it) => it)
      expect([who, name, meant.code ?? meant.isError]).not.toEqual([who, name, false])
    }
  }
  expect(() => hub.tools.register({ name: '#ping', run: () => 'ran' })).toThrow('cannot be called that')
  expect(hub.pins.list().map(({ tool }) => tool)).toEqual(['echo'])
  await hub.close()
  const file = sandbox.write('team.json', JSON.stringify({ servers: { sly: server }, agents }))
  for (const name of NAMES) {
    const ran = await sandbox.run(['call', `sly/${name}`, '--agent', 'asked', '--config', file, '--trust'])
    expect([name, ran.code]).not.toEqual([name, 0])
  }
  expect(called()).toBe('')
})

test('[B14][D11] nor through either endpoint of the gateway', async () => {
  const { sandbox } = place()
  const { server, called } = sly(sandbox)
  const gateway = await up(sandbox, {
    servers: { sly: server },
    agents: { ada: { servers: ['*'], token: TOKEN } },
  })
  for (const path of ['/mcp', '/mcp/sly']) {
    const ask = async (method: string, params: object): Promise<Answer> =>
      await (await gateway.post(path, { jsonrpc: '2.0', id: 1, method, params })).json()
    const { tools } = (await ask('tools/list', {})).result
    expect(tools.map(({ name }: { name: string }) => name)).toEqual([expect.stringContaining('echo')])
    for (const name of NAMES)
      for (const written of [name, `sly/${name}`, `sly:${name}`, `mcp__sly__${name}`]) {
        const { error, result } = await ask('tools/call', { name: written, arguments: {} })
        expect([path, written, error?.code ?? result?.isError]).not.toEqual([path, written, undefined])
      }
  }
  // A request of that name is still one.
  expect((await gateway.ask('sly', 'ping')).result).toEqual({})
  expect(called()).toBe('')
})

test('[B14] why such a tool is missing is said', async () => {
  const { sandbox, open } = place()
  const hub = await open({ servers: { sly: sly(sandbox).server } } as never)
  await hub.as().ready()
  expect(JSON.stringify(await hub.servers.status())).toContain('#ping is left out')
  expect((await faultOf(hub.as().call('sly/#ping'))).message).toBe('sly has no tool "#ping"')
})
