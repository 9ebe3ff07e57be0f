// Lists of prompts and resources while servers start, from the second start on: then tools are known and the rest is not.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { AGENTS, type Answer, type Gateway, place, until, up } from './hub.ts'
import { INITIALIZE, INITIALIZED, lines } from './lines.ts'
import { modern, WireClient } from './wire-client.ts'

const LISTS = ['prompts/list', 'resources/list', 'resources/templates/list']
const CHANGES = ['notifications/prompts/list_changed', 'notifications/resources/list_changed']

const configOf = (delay: number) => ({
  servers: { slow: serverCommand('slow', { delay }) },
  agents: AGENTS,
})

const countOf = ({ prompts, resources, resourceTemplates }: Answer): number =>
  (prompts ?? resources ?? resourceTemplates).length

async function known(gateway: Gateway): Promise<void> {
  const client = await WireClient.open(gateway)
  await until(async () => (await client.ask('tools/list')).result.tools.length > 0)
  await gateway.end('SIGTERM')
}

test('[B15][B7] a server that starts is in the lists of who comes while it does', async () => {
  const { sandbox } = place()
  await known(await up(sandbox, configOf(500)))
  const client = await WireClient.open(await up(sandbox, configOf(500)))
  const lists = await Promise.all(LISTS.map((method) => client.ask(method)))
  expect(lists.map(({ result }) => countOf(result))).toEqual([1, 2, 1])
  expect(JSON.stringify(lists)).not.toContain('left-out')
})

test('[B15][B7] whoever was given lists without it is told when it is there', async () => {
  const { sandbox } = place()
  await known(await up(sandbox, configOf(4_000)))
  const gateway = await up(sandbox, configOf(4_000))
  const client = await WireClient.open(gateway)
  expect(client.welcome.capabilities).toMatchObject({
    prompts: { listChanged: true },
    resources: { listChanged: true },
  })
  const stream = await client.listen()
  const notifications = { promptsListChanged: true, resourcesListChanged: true }
  const listening = await modern(gateway, '/mcp', 'subscriptions/listen', { notifications })
  const lists = await Promise.all(LISTS.map((method) => client.ask(method)))
  expect(lists.map(({ result }) => countOf(result))).toEqual([0, 0, 0])
  expect(lists[0]?.result._meta['busbar/left-out']).toMatchObject([{ server: 'slow' }])
  for (const change of CHANGES) await Promise.all([stream.find(change), listening.find(change)])
  const after = await Promise.all(LISTS.map((method) => client.ask(method)))
  expect(after.map(({ result }) => countOf(result))).toEqual([1, 2, 1])
  expect(CHANGES.map((change) => stream.of(change).length)).toEqual([1, 1])
})

test('[B15][B1] the same for a client that starts Busbar itself', async () => {
  const { sandbox } = place()
  await known(await up(sandbox, configOf(4_000)))
  const { send, find } = lines(sandbox, configOf(4_000))
  send(INITIALIZE, INITIALIZED, { jsonrpc: '2.0', id: 2, method: 'prompts/list' })
  expect(countOf((await find(({ id }) => id === 2)).result)).toBe(0)
  await find(({ method }) => method === 'notifications/prompts/list_changed')
  send({ jsonrpc: '2.0', id: 3, method: 'prompts/list' })
  expect(countOf((await find(({ id }) => id === 3)).result)).toBe(1)
})
