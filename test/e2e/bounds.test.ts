// Deadlines, secrets and handlers at their edges.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, codeOf, faultOf, hubWith, ownServer, place, until, up } from './hub.ts'

test('[C5] --timeout covers starting the server', async () => {
  const { sandbox } = place()
  sandbox.write('busbar.json', JSON.stringify({ servers: { hung: serverCommand('hanging') } }))
  const run = await sandbox.run(['call', 'hung/echo', 'text=x', '--timeout', '300ms', '--json', '--trust'])
  expect(run.code).toBe(4)
  expect(run.error.code).toBe('CALL_TIMEOUT')
})

test('[C5] timeouts.total counts also where it is the shorter one', async () => {
  const timeouts = { call: '10m', total: '300ms' }
  const hub = await hubWith({ silent: { ...serverCommand('hang-call'), timeouts } })
  expect(await codeOf(hub.as().call('silent/echo', { text: 'x' }))).toBe('CALL_TIMEOUT')
})

test('[C5] a time-out that no timer can hold is no time-out at all', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  for (const timeout of [Number.POSITIVE_INFINITY, 1e12])
    expect((await hub.as().call('plain/sleep', { ms: 20 }, { timeout })).isError).toBe(false)
})

test('[C5] a time-out that cannot be waited is refused with its value, and nothing is sent', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  const me = hub.as()
  for (const [timeout, said] of [
    [0, '0'],
    [-1, '-1'],
    [Number.NaN, 'NaN'],
    ['30s', '"30s"'],
    [null, 'null'],
  ] as [never, string][])
    for (const work of [
      me.call('plain/echo', { text: 'x' }, { timeout }),
      me.client('plain').callTool('echo', { text: 'x' }, { timeout }),
      me.resources(undefined, { timeout }),
      me.read('plain', 'x://y', { timeout }),
    ])
      expect(await faultOf(work)).toMatchObject({
        code: 'USAGE',
        message: `timeout is ${said}; expected milliseconds, more than 0`,
      })
  await hub.flush()
  expect(await hub.calls.list({})).toEqual([])
})

test('[D11] a time to wait for a person that cannot be waited is refused with its value, and nobody is asked', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  for (const [approvalWait, said] of [
    [-1, '-1'],
    [Number.NaN, 'NaN'],
    ['30s', '"30s"'],
    [null, 'null'],
  ] as [never, string][])
    expect(await faultOf(hub.as().call('plain/echo', { text: 'x' }, { approvalWait }))).toMatchObject({
      code: 'USAGE',
      message: `approvalWait is ${said}; expected milliseconds, 0 or more`,
    })
  expect((await hub.as().call('plain/echo', { text: 'x' }, { approvalWait: 0 })).text).toBe('x')
  await hub.flush()
  expect(await hub.calls.list({})).toHaveLength(1)
})

test('[C5] a progress handler that rejects costs a warning, not the process', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
  const onProgress = async () => {
    throw new Error('a handler of the test')
  }
  expect((await hub.as().call('plain/progress', { steps: 1 }, { onProgress })).isError).toBe(false)
  expect((await warned).message).toContain('a handler of the test')
})

test('[B3] restart lets a call that is under way finish', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { plain: serverCommand('plain') }, agents: AGENTS })
  const call = gateway.ask('plain', 'tools/call', { name: 'sleep', arguments: { ms: 800 } })
  const token = sandbox.read(join(sandbox.home, '.local/state/busbar/admin-token')).trim()
  const headers = { authorization: `Bearer ${token}` }
  await until(async () => {
    const answer = await (await fetch(`${gateway.url}/api/servers`, { headers })).json()
    return (answer as { servers: { inFlight: number }[] }).servers[0]?.inFlight === 1
  })
  expect((await sandbox.run(['restart', 'plain', '--json'])).code).toBe(0)
  expect((await call).result.content[0].text).toContain('800')
})

test('[C11] what a server repeats of its secrets is masked, wherever they were written', async () => {
  const { sandbox } = place()
  const own = ownServer(
    sandbox,
    '[]',
    "console.error(process.argv.join(' '), process.env.PLAIN_WORD); process.exit(3)",
  )
  const config = {
    servers: {
      loud: {
        ...own,
        args: [...own.args, '--token=literal-in-an-argument'],
        env: { PLAIN_WORD: '${CANARY}' },
      },
    },
  }
  sandbox.write('busbar.json', JSON.stringify(config))
  const env = { CANARY: 'value-of-a-variable' }
  for (const words of [['list', '--check'], ['doctor'], ['doctor', '--json'], ['call', 'loud/x', '--json']]) {
    const { stdout, stderr } = await sandbox.run([...words, '--trust'], { env })
    expect(stdout + stderr).toContain('••••••')
    expect(stdout + stderr).not.toMatch(/literal-in-an-argument|value-of-a-variable/)
  }
})

test('[D14] an edit that nobody has trusted is told, with what to do', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { plain: serverCommand('plain') }, agents: AGENTS })
  sandbox.write(
    'team.json',
    JSON.stringify({
      servers: { plain: serverCommand('plain'), more: serverCommand('plain') },
      agents: AGENTS,
    }),
  )
  await until(() => /not in force: more; run: busbar trust/.test(gateway.stderr()))
})

test('[B6] arguments that JSON cannot say are refused before anything is sent', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  const round: Record<string, unknown> = {}
  round['self'] = round
  for (const args of [round, { big: 1n }])
    expect((await faultOf(hub.as().call('plain/echo', args))).code).toBe('USAGE')
})

test('[B1] a server object that never connects is given up when its time is over', async () => {
  const instance = { connect: () => new Promise<void>(() => undefined), close: async () => undefined }
  const hub = await hubWith({ own: { type: 'sdk', instance, timeouts: { connect: '200ms' } } })
  const fault = await faultOf(hub.as().call('own/echo', {}))
  expect(fault.code).toBe('CONNECT_TIMEOUT')
})

test('[B1][C10] a server object that neither connects nor closes holds nobody up', async () => {
  const never = () => new Promise<void>(() => undefined)
  const stuck = { type: 'sdk', instance: { connect: never, close: never } } as const
  const began = performance.now()
  const hub = await hubWith({ own: { ...stuck, timeouts: { connect: '200ms' } } })
  expect(hub.servers.get('own')).toMatchObject({ status: 'failed', fault: 'CONNECT_TIMEOUT' })
  await hub.close()
  expect(performance.now() - began).toBeLessThan(2_500)
})

test('[B1] a server object that refuses to connect says why', async () => {
  const connect = async () => {
    throw new Error('no more room')
  }
  const hub = await hubWith({ own: { type: 'sdk', instance: { connect, close: async () => undefined } } })
  expect((await faultOf(hub.as().call('own/echo', {}))).message).toContain('no more room')
})

test('[B3] after close, a call says that the hub was closed', async () => {
  const hub = await hubWith({ plain: serverCommand('plain') })
  await hub.close()
  expect(await codeOf(hub.as().call('plain/echo', { text: 'x' }))).toBe('CLOSED')
})

test('[C5] what was too long in all is told as that', async () => {
  const timeouts = { call: '10m', total: '300ms' }
  const hub = await hubWith({ silent: { ...serverCommand('hang-call'), timeouts } })
  expect((await faultOf(hub.as().call('silent/echo', { text: 'x' }))).hint).toContain('timeouts.total')
})

test('an address that this machine does not have is told as that', async () => {
  const { sandbox } = place()
  sandbox.write('busbar.json', JSON.stringify({ servers: {}, gateway: { allowedHosts: ['x.test'] } }))
  const run = await sandbox.run(['up', '--host', '192.0.2.7', '--port', '0', '--json', '--trust'])
  expect(run.code).toBe(4)
  expect(run.error).toMatchObject({ code: 'GATEWAY_BUSY', hint: expect.stringContaining('--host') })
})

test('[B9] a request with more members than anybody reads is refused at once', async () => {
  const { sandbox } = place()
  const gateway = await up(sandbox, { servers: { plain: serverCommand('plain') }, agents: AGENTS })
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, 1]))
  const answer = await gateway.ask('plain', 'tools/list', many)
  expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining('too many') })
})
