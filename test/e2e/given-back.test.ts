// An answer of a person is good for one execution: a call that is never sent does not use it up, and one that was sent does.

import { renameSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Answer, faultOf, type Hub, kill, ownServer, place, TOKEN, until, up } from './hub.ts'

async function allow(hub: Hub, work: Promise<unknown>): Promise<string> {
  const fault = await faultOf(work)
  expect(fault.code).toBe('APPROVAL_PENDING')
  const id = String(fault.details?.['approval'])
  await hub.approvals.answer(id, { decision: 'allow' }, 'test')
  return id
}

async function statusOf(hub: Hub, id: string): Promise<string> {
  return (await hub.approvals.get(id)).status
}

test('[D11][D7] a call for which there was no energy left when it was allowed can be made later with that answer', async () => {
  const home = place()
  const own = ownServer(home.sandbox, "{ buy: () => 'bought', spend: () => 'spent' }")
  const hub = await home.open({
    servers: { own: { ...own, price: { '*': 60 }, approval: { buy: 'ask', spend: 'allow' } } },
    agents: { cto: { servers: ['*'], energy: { capacity: 100, recovery: 0 } } },
  } as never)
  const cto = hub.as('cto')
  await cto.ready()
  const buying = faultOf(cto.call('own/buy', {}, { approvalWait: 60_000 }))
  const { id } = await until(async () => (await hub.approvals.list('pending'))[0])
  await cto.call('own/spend')
  await hub.approvals.answer(id, { decision: 'allow' }, 'test')
  expect((await buying).code).toBe('OUT_OF_ENERGY')
  expect(await statusOf(hub, id)).toBe('allowed')
  await hub.energy?.refill('cto')
  expect((await cto.call('own/buy')).text).toBe('"bought"')
  expect(await statusOf(hub, id)).toBe('used')
  await hub.energy?.refill('cto')
  expect((await faultOf(cto.call('own/buy'))).code).toBe('APPROVAL_PENDING')
})

test('[D11] nor does a server that cannot be started use it up; a call that was sent does, whatever became of it', async () => {
  const home = place()
  const own = ownServer(home.sandbox, "{ go: () => 'done', die: () => process.exit(1) }")
  const file = String(own.args[0])
  const hub = await home.open({ servers: { own }, agents: { cto: { servers: ['*'] } } } as never)
  const cto = hub.as('cto')
  await cto.ready()
  const going = await allow(hub, cto.call('own/go'))
  await hub.servers.disconnect('own')
  renameSync(file, `${file}.away`)
  await faultOf(cto.call('own/go'))
  expect(await statusOf(hub, going)).toBe('allowed')
  renameSync(`${file}.away`, file)
  await hub.servers.reconnect('own')
  expect((await cto.call('own/go')).text).toBe('"done"')
  expect(await statusOf(hub, going)).toBe('used')
  const dying = await allow(hub, cto.call('own/die'))
  await faultOf(cto.call('own/die'))
  expect(await statusOf(hub, dying)).toBe('used')
})

test('[D11] the same through the gateway, for calls and for other requests', async () => {
  const { sandbox } = place()
  const own = ownServer(
    sandbox,
    '{ pid: () => process.pid, go: () => 1 }',
    `globalThis.methods = { 'custom/go': () => ({ done: true }) }`,
  )
  const file = String(own.args[0])
  const gateway = await up(sandbox, {
    servers: { own: { ...own, approval: { pid: 'allow', go: 'ask', '#custom/go': 'ask' } } },
    agents: { ada: { servers: ['*'], token: TOKEN } },
    approvals: { wait: 0 },
  })
  const asks = async (method: string, params: object): Promise<Answer> =>
    await gateway.ask('own', method, params)
  const requests: [string, object][] = [
    ['tools/call', { name: 'go', arguments: {} }],
    ['custom/go', { x: 1 }],
  ]
  const ids: string[] = []
  for (const [method, params] of requests) {
    const { result, error } = await asks(method, params)
    const { approval } = result?._meta?.['busbar/fault'] ?? error.data
    ids.push(approval)
    await sandbox.run(['approve', 'allow', approval])
  }
  const statuses = async () => {
    const { approvals } = (await sandbox.run(['approve', 'list', '--all', '--json'])).json
    return ids.map((id) => approvals.find((it: Answer) => it.id === id)?.status)
  }
  const { result } = await asks('tools/call', { name: 'pid', arguments: {} })
  renameSync(file, `${file}.away`)
  kill(Number(result.content[0].text), 'SIGKILL')
  // What reaches a process that is about to die was sent: that it is gone must be known.
  await until(async () => (await asks('tools/call', { name: 'pid', arguments: {} })).result?.isError)
  for (const [method, params] of requests) {
    const failed = await asks(method, params)
    expect(failed.result?.isError ?? failed.error).toBeTruthy()
  }
  expect(await statuses()).toEqual(['allowed', 'allowed'])
  renameSync(`${file}.away`, file)
  await sandbox.run(['restart', 'own'])
  for (const [method, params] of requests) {
    const done = await asks(method, params)
    expect([method, done.error ?? done.result.isError]).toEqual([method, undefined])
  }
  expect(await statuses()).toEqual(['used', 'used'])
})
