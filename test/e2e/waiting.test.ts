// Energy is for what a server works: not for the time in which a person answers it, nor for what a call waits for before it
// is sent. What a call took for whoever made it is still how long it took.

import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Invocation } from '../../src/store/invocation.ts'
import { serverCommand } from '../servers/start.ts'
import { type Answer, entry, type Gateway, type Hub, ownServer, place, TOKEN, up } from './hub.ts'
import { ASKING, modern, WireClient } from './wire-client.ts'

const ADMIN = 'the-owner-token'
const OTHER = 'the-other-token'
const AGENT = { servers: ['*'], token: TOKEN, approval: 'never', energy: { capacity: 100, recovery: 0 } }
const AGENTS = { cto: AGENT, cfo: { ...AGENT, token: OTHER } }
const FORMS = { elicitation: { form: {} } }
const ACCEPT = { action: 'accept', content: { name: 'Ada' } } as const
/** Milliseconds that a person thinks: at 2 energy a second, far more than any server here works. */
const THINKS = 1500
/** More than a test server works on one call, and less than half of what thinking would cost. */
const LITTLE = 1.5

const person = {
  onElicitation: async () => {
    await pause(THINKS)
    return ACCEPT
  },
}

interface Books {
  readonly rows: readonly Invocation[]
  readonly level: number
}

async function booksOf(hub: Hub): Promise<Books> {
  await hub.flush()
  const level = (await hub.store.energy.account('cto'))?.level ?? Number.NaN
  return { rows: await hub.calls.list({ agent: 'cto' }), level }
}

async function gatewayBooks(gateway: Gateway, agent = 'cto'): Promise<Books> {
  const api = async (path: string): Promise<Answer> =>
    await (await fetch(gateway.url + path, { headers: { authorization: `Bearer ${ADMIN}` } })).json()
  const { calls: rows } = await api(`/api/calls?agent=${agent}`)
  const { agents } = await api(`/api/energy/${agent}`)
  return { rows, level: agents[0].level }
}

/** So many calls waited for a person, and cost next to nothing; what they cost is gone, and no more. */
function expectFree({ rows, level }: Books, calls: number): void {
  expect(rows.map(({ outcome }) => outcome)).toEqual(Array.from({ length: calls }, () => 'ok'))
  for (const { duration } of rows) expect(duration).toBeGreaterThan(THINKS - 100)
  for (const { energy } of rows) expect(energy).toBeLessThan(LITTLE)
  const spent = rows.reduce((sum, { energy = 0 }) => sum + Math.round(energy * 1e6), 0)
  expect(Math.round(level * 1e6) + spent).toBe(100e6)
}

for (const [wire, era] of [
  ['stdio', 'legacy'],
  ['stdio', 'modern'],
  ['http', 'legacy'],
  ['http', 'modern'],
] as const)
  test(`[D2][D11] a program's person answers a ${era} server over ${wire} at no cost`, async () => {
    const servers = { elicit: await entry(wire, 'elicit', { era }) }
    const hub = await place().open({ servers, agents: AGENTS } as never, person)
    const cto = hub.as('cto')
    await cto.ready()
    // The first call finds its way, the second one knows it.
    for (const _ of [1, 2]) expect(JSON.parse((await cto.call('elicit/ask')).text)).toMatchObject(ACCEPT)
    const books = await booksOf(hub)
    expectFree(books, 2)
    expect(cto.tools('elicit').find(({ name }) => name === 'ask')?.estimate).toBeLessThan(LITTLE)
  })

test('[D2][D11] what a server works before it asks, and after, is charged; two questions at once are one wait', async () => {
  const home = place()
  const tools = `{
    work: async (_given, say) => {
      await new Promise((done) => setTimeout(done, 400))
      await Promise.all([ask(say, 'elicitation/create', FORM), ask(say, 'elicitation/create', FORM)])
      await new Promise((done) => setTimeout(done, 400))
    },
  }`
  const form = `const FORM = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } }\n`
  const servers = { own: ownServer(home.sandbox, tools, ASKING + form) }
  const hub = await home.open({ servers, agents: AGENTS } as never, person)
  await hub.as('cto').ready()
  await hub.as('cto').call('own/work')
  const { rows } = await booksOf(hub)
  expect(rows[0]?.duration).toBeGreaterThan(THINKS + 700)
  expect(rows[0]?.energy).toBeGreaterThan(1.5)
  expect(rows[0]?.energy).toBeLessThan(1.6 + LITTLE)
})

for (const era of ['legacy', 'modern'] as const)
  test(`[D2][D11] the person at a client of the gateway answers a ${era} server at no cost`, async () => {
    const { sandbox } = place()
    const servers = { elicit: await entry('stdio', 'elicit', { era }) }
    const gateway = await up(sandbox, { servers, agents: AGENTS }, { env: { BUSBAR_ADMIN_TOKEN: ADMIN } })
    for (const [path, name] of [
      ['/mcp/elicit', 'ask'],
      ['/mcp', 'mcp__elicit__ask'],
    ] as const) {
      const client = await WireClient.open(gateway, path, { capabilities: FORMS })
      const events = await client.begin(name)
      const question = await events.find('elicitation/create')
      await pause(THINKS)
      await client.answer(question.id, ACCEPT)
      expect((await events.find(1)).result.content).toHaveLength(1)
    }
    expectFree(await gatewayBooks(gateway), 2)
  })

test('[D2][D11] a call that is parked until its modern client comes back costs nothing meanwhile', async () => {
  const { sandbox } = place()
  const servers = { elicit: await entry('stdio', 'elicit', { era: 'legacy' }) }
  const gateway = await up(sandbox, { servers, agents: AGENTS }, { env: { BUSBAR_ADMIN_TOKEN: ADMIN } })
  const ask = async (more: object = {}): Promise<Answer> => {
    const params = { name: 'ask', arguments: {}, ...more }
    const options = { name: 'ask', capabilities: FORMS }
    return (await (await modern(gateway, '/mcp/elicit', 'tools/call', params, options)).answer()).result
  }
  const { requestState } = await ask()
  await pause(THINKS)
  expect(await ask({ inputResponses: { q1: ACCEPT }, requestState })).toMatchObject({
    resultType: 'complete',
  })
  expectFree(await gatewayBooks(gateway), 1)
})

test('[D2][D11] a call that waits for its turn behind the question of another client costs nothing meanwhile', async () => {
  const { sandbox } = place()
  const servers = { elicit: await entry('stdio', 'elicit', { era: 'legacy' }) }
  const gateway = await up(sandbox, { servers, agents: AGENTS }, { env: { BUSBAR_ADMIN_TOKEN: ADMIN } })
  const first = await WireClient.open(gateway, '/mcp/elicit', { capabilities: FORMS })
  const second = await WireClient.open(gateway, '/mcp/elicit', { capabilities: FORMS, token: OTHER })
  const one = await first.begin('ask')
  const question = await one.find('elicitation/create')
  const other = second.begin('ask')
  await pause(THINKS)
  await first.answer(question.id, ACCEPT)
  const events = await other
  await second.answer((await events.find('elicitation/create')).id, ACCEPT)
  await events.find(1)
  expectFree(await gatewayBooks(gateway, 'cfo'), 1)
})

test('[D2][D11] a call that waits for a place costs what it took once it had one', async () => {
  const plain = { ...serverCommand('plain'), limits: { inFlight: 1 } }
  const hub = await place().open({ servers: { plain }, agents: AGENTS } as never)
  const cto = hub.as('cto')
  await cto.ready()
  for (const _ of [1, 2])
    await Promise.all([cto.call('plain/sleep', { ms: THINKS }), cto.call('plain/sleep', { ms: THINKS })])
  const { rows } = await booksOf(hub)
  expect(rows.filter(({ duration }) => duration > 2 * THINKS - 100)).toHaveLength(2)
  for (const { energy } of rows) {
    expect(energy).toBeGreaterThan((2 * THINKS) / 1000 - 0.1)
    expect(energy).toBeLessThan((2 * THINKS) / 1000 + LITTLE)
  }
})

test('[D2][D11] a call that starts its server costs nothing until that is up', async () => {
  const home = place()
  const slow = { ...serverCommand('slow', { era: 'legacy', delay: THINKS }), start: 'lazy' }
  const config = { servers: { slow }, agents: AGENTS } as never
  // So that its tools are known, and the next call need not ask for them first.
  const before = await home.open(config)
  await before.as().call('slow/echo', { text: 'one' })
  await before.close()
  const hub = await home.open(config)
  await hub.as('cto').call('slow/echo', { text: 'two' })
  expectFree(await booksOf(hub), 1)
})
