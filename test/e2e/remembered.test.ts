// What people said about later calls holds for what they said it about, and for nothing that takes its name.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import type { Sandbox } from './cli.ts'
import { type Answer, faultOf, type Hub, ownServer, place } from './hub.ts'

const plain = serverCommand('plain')

/** Asks, and is allowed for good. */
async function allowed(hub: Hub, agent: string, address: string, remember: 'tool' | 'server'): Promise<void> {
  const fault = await faultOf(hub.as(agent).call(address))
  expect(fault.code).toBe('APPROVAL_PENDING')
  await hub.approvals.answer(String(fault.details?.['approval']), { decision: 'allow', remember }, 'test')
}

test('[D11] another program under the name of a server is asked about again, and the first one is not', async () => {
  const home = place()
  const [first, second] = [
    ownServer(home.sandbox, "{ go: () => 'done' }"),
    ownServer(home.sandbox, "{ go: () => 'done' }"),
  ]
  const hub = await home.open({ servers: { own: first }, agents: { cto: { servers: ['*'] } } } as never)
  const cto = hub.as('cto')
  await cto.ready()
  await allowed(hub, 'cto', 'own/go', 'server')
  expect((await cto.call('own/go', { n: 1 })).text).toBe('"done"')
  await hub.servers.setServers({ own: second } as never)
  await cto.ready()
  expect((await faultOf(cto.call('own/go', { n: 2 }))).code).toBe('APPROVAL_PENDING')
  await hub.servers.setServers({ own: first } as never)
  await cto.ready()
  expect((await cto.call('own/go', { n: 3 })).text).toBe('"done"')
})

async function rulesOf(sandbox: Sandbox): Promise<string[]> {
  const { rules } = (await sandbox.run(['approve', 'rules', '--json'])).json
  return rules.map(({ agent, server, decision }: Answer) => `${agent} ${server} ${decision}`)
}

test('[D11] rules go with their server and with their agent; what was denied stays with the server', async () => {
  const { sandbox } = place()
  const config = {
    servers: { plain, other: plain },
    agents: { cto: { servers: ['*'], workers: { junior: { servers: ['*'] } } }, cfo: { servers: ['*'] } },
  }
  sandbox.write('busbar.json', JSON.stringify(config))
  const answer = async (agent: string, server: string, decision: string, text: string) => {
    const asked = ['call', `${server}/echo`, JSON.stringify({ text }), '--agent', agent, '--trust', '--json']
    const { approval } = JSON.parse((await sandbox.run(asked)).stderr)
    await sandbox.run(['approve', decision, approval, '--remember', 'tool'])
  }
  await answer('cto', 'plain', 'allow', 'a')
  await answer('cto/junior', 'other', 'allow', 'b')
  await answer('cfo', 'other', 'allow', 'c')
  await answer('cfo', 'plain', 'deny', 'd')
  expect(await rulesOf(sandbox)).toHaveLength(4)
  await sandbox.run(['remove', 'plain'])
  expect(await rulesOf(sandbox)).toEqual(['cto/junior other allow', 'cfo other allow', 'cfo plain deny'])
  await sandbox.run(['agents', 'remove', 'cto'])
  expect(await rulesOf(sandbox)).toEqual(['cfo other allow', 'cfo plain deny'])
})
