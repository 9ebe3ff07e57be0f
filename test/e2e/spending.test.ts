// Calls spend energy: what they took, exactly, whoever makes them and however many at a time.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { codeOf, faultOf, type Hub, ownServer, place, TOKEN, until, up } from './hub.ts'

const plain = serverCommand('plain')
const agent = (energy: object | 'unlimited') => ({ servers: ['*'], token: TOKEN, approval: 'never', energy })

async function opened(energy: object | 'unlimited', server: object = plain): Promise<Hub> {
  const hub = await place().open({ servers: { plain: server }, agents: { cto: agent(energy) } } as never)
  await hub.as('cto').ready()
  return hub
}

/** What is left and what all calls of an agent cost, from the ledger and the record. */
async function books(hub: Hub, name = 'cto'): Promise<{ level: number; spent: number; calls: number }> {
  await hub.flush()
  const level = (await hub.store.energy.account(name))?.level ?? Number.NaN
  const rows = await hub.calls.list({ agent: name, limit: 100_000 })
  const spent = rows.reduce((sum, { energy = 0 }) => sum + Math.round(energy * 1e6), 0)
  return { level: Math.round(level * 1e6), spent, calls: rows.length }
}

test('[D2][D7] a call spends its time and its price; a failed one, too; a refused one does not', async () => {
  const hub = await opened({ capacity: 100, recovery: 0 }, { ...plain, price: { fail: 3, 'e*': 1 } })
  const cto = hub.as('cto')
  await cto.call('plain/echo', { text: 'hi' })
  expect((await cto.call('plain/fail')).isError).toBe(true)
  await cto.call('plain/sleep', { ms: 300 })
  expect(await codeOf(cto.call('plain/nothing'))).toBe('TOOL_UNKNOWN')
  expect((await cto.call('plain/echo', { text: 1 })).isError).toBe(true)
  const { level, spent, calls } = await books(hub)
  expect(calls).toBe(5)
  expect(level + spent).toBe(100e6)
  const rows = await hub.calls.list({ agent: 'cto' })
  const cost = (tool: string) => rows.filter((row) => row.tool === tool).map(({ energy }) => energy ?? -1)
  expect(cost('fail')[0]).toBeGreaterThanOrEqual(3)
  expect(cost('echo').sort()[1]).toBeGreaterThanOrEqual(1)
  // Arguments that do not fit were sent to nobody.
  expect(cost('echo').sort()[0]).toBe(-1)
  expect(cost('sleep')[0]).toBeGreaterThanOrEqual(0.6)
  const learned = cto.tools('plain').find(({ name }) => name === 'sleep')?.estimate
  expect(learned).toBeGreaterThanOrEqual(0.6)
})

test('[D7] a thousand calls at a time spend exactly what they took', async () => {
  const hub = await opened({ capacity: 1_000_000, recovery: 0 }, { ...plain, price: { '*': 1 } })
  const cto = hub.as('cto')
  await Promise.all(Array.from({ length: 1000 }, () => cto.call('plain/echo', { text: 'x' })))
  const { level, spent, calls } = await books(hub)
  expect([calls, level + spent]).toEqual([1000, 1_000_000e6])
  expect(spent).toBeGreaterThan(1000e6)
})

test('[D7] who has too little is told how much, and when there is enough; nothing is sent', async () => {
  const hub = await opened({ capacity: 10, recovery: '2/min' }, { ...plain, price: { count: 4 } })
  const cto = hub.as('cto')
  const states: string[] = []
  hub.on((event) => {
    if (event.type === 'energy') states.push(event.to)
  })
  expect((await cto.call('plain/count')).text).toBe('1')
  expect((await cto.call('plain/count')).text).toBe('2')
  const fault = await faultOf(cto.call('plain/count'))
  expect(fault.code).toBe('OUT_OF_ENERGY')
  expect(fault.message).toMatch(
    /cto is out of energy: 1\.\d+ of 10 left, this call needs about \d.*enough at \d\d:\d\d/,
  )
  // Another tool, which costs less, may still be called.
  await cto.call('plain/echo', { text: 'x' })
  expect((await hub.as().call('plain/count')).text).toBe('3')
  await hub.flush()
  expect((await hub.calls.list({ agent: 'cto', outcome: 'denied' }))[0]).toMatchObject({
    code: 'OUT_OF_ENERGY',
  })
  expect(states).toContain('empty')
})

test('[D7] an unlimited agent is never refused, and what it took is told all the same', async () => {
  const hub = await opened('unlimited', { ...plain, price: { '*': 1000 } })
  for (let index = 0; index < 5; index++) await hub.as('cto').call('plain/echo', { text: 'x' })
  await hub.flush()
  const [usage] = await hub.calls.usage({ by: 'agent' })
  expect(usage?.energy).toBeGreaterThanOrEqual(5000)
})

test('[D2] what was never sent costs nothing, whatever its price', async () => {
  const dear = { '*': 7 }
  const hub = await place().open({
    servers: { plain: { ...plain, price: dear }, broken: { command: 'false', price: dear, start: 'lazy' } },
    agents: { cto: agent({ capacity: 100, recovery: 0 }) },
  } as never)
  await hub.as('cto').ready()
  expect(await codeOf(hub.as('cto').call('broken/anything'))).not.toBe('OK')
  const gone = AbortSignal.abort()
  expect(await codeOf(hub.as('cto').call('plain/echo', { text: 'x' }, { signal: gone }))).toBe(
    'CALL_CANCELLED',
  )
  const { level, spent, calls } = await books(hub)
  expect([calls, spent, level]).toEqual([2, 0, 100e6])
  const rows = await hub.calls.list({ agent: 'cto' })
  expect(rows.map(({ outcome }) => outcome)).toEqual(['cancelled', 'error'])
})

test('[D7] the same failing call again and again is stopped and said; other arguments are not', async () => {
  const home = place()
  const own = ownServer(
    home.sandbox,
    '{ read: ({ path }) => { if (path === "x") throw new Error("no file 17"); return path } }',
  )
  const hub = await home.open({ servers: { own }, agents: { cto: agent('unlimited') } } as never)
  await hub.as('cto').ready()
  const read = (path: string) => hub.as('cto').call('own/read', { path })
  for (let index = 0; index < 5; index++) expect((await read('x')).isError).toBe(true)
  const fault = await faultOf(read('x'))
  expect([fault.code, fault.message]).toEqual([
    'LOOP_STOPPED',
    'cto has made this call 5 times and it failed each time the same way: no file 17',
  ])
  expect((await read('y')).text).toBe('"y"')
  // It works for the agent now, so it may try again.
  expect((await read('x')).isError).toBe(true)
})

test('[D7] two clients with a thousand calls each through one gateway spend exactly what the record says', async () => {
  const { sandbox } = place()
  const config = {
    servers: { plain: { ...plain, price: { '*': 0.25 } } },
    agents: { ada: agent({ capacity: 100_000, recovery: 0 }) },
  }
  const gateway = await up(sandbox, config)
  await until(async () => (await gateway.ask('plain', 'tools/list')).result?.tools.length > 0)
  const client = sandbox.write('client.mjs', CLIENT)
  const run = async () => {
    const child = spawn(process.execPath, [client, `${gateway.url}/mcp/plain`, TOKEN, '1000'], {
      stdio: 'inherit',
    })
    expect((await once(child, 'exit'))[0]).toBe(0)
  }
  await Promise.all([run(), run()])
  const { agents } = (await sandbox.run(['energy', '--json'])).json
  await gateway.end('SIGTERM')
  const { rows } = (await sandbox.run(['usage', '--by', 'agent', '--json', '--config', 'team.json'])).json
  expect(rows[0]).toMatchObject({ key: 'ada', calls: 2000, errors: 0 })
  expect(rows[0].energy).toBeGreaterThan(500)
  const after = (await sandbox.run(['energy', '--json', '--config', 'team.json'])).json.agents
  expect(after[0].level).toBe(agents[0].level)
  expect(100_000 - after[0].level).toBeCloseTo(rows[0].energy, 5)
})

test('[D7] the command line says 8 when an agent is out of energy', async () => {
  const { sandbox } = place()
  const config = {
    servers: { plain: { ...plain, price: { '*': 5 } } },
    agents: { cto: { servers: ['*'], approval: 'never', energy: { capacity: 6, recovery: '1/min' } } },
  }
  const from = ['--config', sandbox.write('team.json', JSON.stringify(config)), '--trust']
  const call = () => sandbox.run(['call', 'plain/echo', 'text=hi', '--agent', 'cto', ...from])
  expect((await call()).code).toBe(0)
  const refused = await call()
  expect(refused.code).toBe(8)
  expect(refused.stderr).toMatch(/cto is out of energy.*enough at/)
  expect((await sandbox.run(['energy', 'refill', 'cto', ...from])).code).toBe(0)
  expect((await call()).code).toBe(0)
})

/** Sixteen calls at a time, as often as it is told. */
const CLIENT = `
const [url, token, count] = process.argv.slice(2)
let next = 0
await Promise.all(Array.from({ length: 16 }, async () => {
  while (next < Number(count)) {
    next += 1
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: 'Bearer ' + token },
      body: JSON.stringify({ jsonrpc: '2.0', id: next, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } }),
    })
    const { result } = await response.json()
    if (result?.content[0].text !== 'x') throw new Error(JSON.stringify(result))
  }
}))
`
