// `busbar energy` and `/api/energy`: what agents have left and what they spent, through the gateway and without it.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Invocation } from '../../src/store/invocation.ts'
import type { Sandbox } from './cli.ts'
import { type Answer, type Hub, type HubEvent, place, until, up } from './hub.ts'

const ADMIN = 'the-owner-token'
const CONFIG = {
  servers: { shop: { command: 'nothing', enabled: false, price: { 'buy_*': 5 } } },
  agents: {
    cto: { energy: { capacity: 100, recovery: 0 }, workers: { reviewer: {} } },
    cfo: { energy: 'unlimited' },
  },
}
const HOUR = 60 * 60 * 1000

/** A call that is over, as the path of a call leaves it. */
function row(id: string, energy: number, more: Partial<Invocation> = {}): Invocation {
  return {
    id,
    agent: 'cto',
    server: 'shop',
    tool: 'look',
    surface: 'library',
    startedAt: Date.now(),
    duration: 500,
    outcome: 'ok',
    energy,
    requestBytes: 1,
    resultBytes: 1,
    ...more,
  }
}

/** Spends as an earlier run would have, in the home that the command line uses. */
async function spend(open: ReturnType<typeof place>['open'], sandbox: Sandbox): Promise<void> {
  const hub = await open(CONFIG, { start: false, home: homeOf(sandbox) })
  await hub.store.invocations.append([
    row('a', 1),
    row('b', 41, { agent: 'cto/reviewer', tool: 'buy_\u001b[31mred', duration: 20_000 }),
    row('c', 9, { agent: 'cfo' }),
    row('d', 6, { startedAt: Date.now() - 25 * HOUR }),
  ])
  await hub.close()
}

function homeOf({ home }: Sandbox): string {
  return join(home, 'busbar')
}

test('[D2][D7] busbar energy shows gauges, history and what tools take, with and without a gateway', async () => {
  const { open, sandbox } = place()
  await spend(open, sandbox)
  const env = { BUSBAR_HOME: homeOf(sandbox) }
  const file = sandbox.write('team.json', JSON.stringify(CONFIG))
  const run = (...args: string[]) => sandbox.run(['energy', ...args, '--config', file, '--trust'], { env })
  const all = await run()
  expect(all.stdout).toContain('▰▰▰▰▰▱▱▱▱▱  52 / 100  plenty     +0/min')
  expect(all.stdout).toContain('unlimited')
  const one = await run('cto')
  expect(one.stdout).toContain('shop/buy_\\u{1b}[31mred')
  expect(one.stdout).toContain('about 45')
  expect(one.stdout).not.toContain('\u001b')
  const cto = { agent: 'cto', level: 52, capacity: 100, recovery: 0, state: 'plenty', reserved: 0 }
  expect((await run('--json')).json).toEqual({ agents: [cto, { agent: 'cfo', state: 'unlimited' }] })
  const detail = {
    ...cto,
    tools: [
      {
        server: 'shop',
        tool: 'buy_\u001b[31mred',
        calls: 1,
        energy: 41,
        estimate: { energy: 45, confidence: 'low', calls: 1 },
      },
      {
        server: 'shop',
        tool: 'look',
        calls: 1,
        energy: 1,
        estimate: { energy: 1, confidence: 'low', calls: 3 },
      },
    ],
  }
  const asked = (await run('cto/reviewer', '--json')).json
  expect(asked).toMatchObject({ agents: [detail] })
  const spentIn = (answer: Answer) =>
    answer.agents[0].history.reduce((sum: number, { energy }: { energy: number }) => sum + energy, 0)
  expect(spentIn(asked)).toBe(42)

  expect((await run('refill', 'cto', '8', '--json')).json).toEqual({ agents: [{ ...cto, level: 60 }] })
  for (const [args, code] of [
    [['nobody'], 'AGENT_UNKNOWN'],
    [['refill'], 'USAGE'],
    [['refill', 'cfo'], 'USAGE'],
    [['refill', 'cto', 'much'], 'USAGE'],
    [['cto', 'more'], 'USAGE'],
  ] as const) {
    const refused = await run(...args, '--json')
    expect([refused.code, refused.error.code]).toEqual([1, code])
  }

  const gateway = await up(sandbox, CONFIG, { env: { ...env, BUSBAR_ADMIN_TOKEN: ADMIN } })
  expect((await run('--json')).json.agents[0]).toEqual({ ...cto, level: 60 })
  expect((await run('cto', '--json')).json).toMatchObject({ agents: [{ ...detail, level: 60 }] })
  expect((await run('refill', 'cto', '--json')).json).toEqual({ agents: [{ ...cto, level: 100 }] })
  const headers = { authorization: `Bearer ${ADMIN}` }
  const api = async (path: string, body?: string) => {
    const answer =
      body === undefined
        ? await fetch(gateway.url + path, { headers })
        : await gateway.post(path, body, headers)
    return [answer.status, await answer.json()]
  }
  expect(await api('/api/energy')).toEqual([200, { agents: [{ ...cto, level: 100 }, expect.anything()] }])
  expect(await api('/api/energy/cto')).toMatchObject([200, { agents: [{ agent: 'cto', level: 100 }] }])
  expect(await api('/api/energy/cto%2Freviewer')).toMatchObject([200, { agents: [{ agent: 'cto' }] }])
  expect(await api('/api/energy/nobody')).toMatchObject([404, { code: 'AGENT_UNKNOWN' }])
  expect(await api('/api/energy/cto/refill', '{"amount":5}')).toMatchObject([200, {}])
  for (const body of ['{"amount":"5"}', '{"amount":-5}', '[]'])
    expect(await api('/api/energy/cto/refill', body)).toMatchObject([400, { code: 'USAGE' }])
  // Agents do not fill themselves up.
  expect((await gateway.post('/api/energy/cto/refill', '', { authorization: 'Bearer none' })).status).toBe(
    401,
  )
})

test('[D7] a hub regulates what its configuration says, tells changes, and follows another', async () => {
  const { open } = place()
  const events: HubEvent[] = []
  const hub: Hub = await open(CONFIG, { start: false, onEvent: (event) => events.push(event) })
  const { energy } = hub
  if (energy === undefined) throw new Error('no regulator')
  energy.settle(await energy.reserve('cto/reviewer', 60), 60)
  expect(events.filter(({ type }) => type === 'energy')).toEqual([
    { type: 'energy', agent: 'cto', from: 'plenty', to: 'low', level: 40 },
  ])
  expect(energy.state('cfo')).toBeUndefined()
  await hub.servers.apply({ ...CONFIG, agents: { cto: { energy: { capacity: 200, recovery: 0 } } } })
  await until(() => energy.state('cto')?.capacity === 200)
  expect(energy.state('cto')).toMatchObject({ level: 40, state: 'low' })
  const free = await open(CONFIG, { start: false, store: 'none' })
  expect(free.energy).toBeUndefined()
})
