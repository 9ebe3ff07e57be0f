// Requests of a server that are no calls, made by a program: under the same rules, approvals and record.

import { expect, test } from 'vitest'
import { serverCommand } from '../servers/start.ts'
import { codeOf, faultOf, ownServer, place } from './hub.ts'

const BEFORE = `globalThis.methods = { 'acme/count': ({ n, _meta }) => ({ n: n + 1, meta: Object.keys(_meta ?? {}) }) }`
const agents = {
  free: { servers: ['*'], approval: 'never' as const },
  asked: { servers: ['own'] },
  denied: { servers: ['own'], approval: 'never' as const, deny: ['own/#acme/*'] },
  absent: { servers: ['plain'] },
}

async function started() {
  const { sandbox, open } = place()
  const own = ownServer(sandbox, `{ echo: () => 'x' }`, BEFORE)
  return await open({ servers: { own, plain: serverCommand('plain') }, agents })
}

test('[C7][B7] any request of a server can be made, and is recorded as server/#method', async () => {
  const hub = await started()
  expect(await hub.as().request('own', 'acme/count', { n: 1 })).toMatchObject({ n: 2 })
  expect(await hub.as('free').client('own').request('acme/count', { n: 2 })).toMatchObject({ n: 3 })
  const read = await hub.as('free').request('plain', 'resources/read', { uri: 'test://text' })
  expect(read).toEqual(await hub.as('free').read('plain', 'test://text'))
  await hub.flush()
  const calls = await hub.calls.list({ server: 'own', limit: 9 })
  expect(calls.map(({ agent, tool, outcome }) => [agent, tool, outcome])).toEqual([
    ['free', '#acme/count', 'ok'],
    ['', '#acme/count', 'ok'],
  ])
})

test('[C7][D11] rules and approvals hold for it', async () => {
  const hub = await started()
  expect(await codeOf(hub.as('denied').request('own', 'acme/count', { n: 1 }))).toBe('NO_ACCESS')
  expect(await codeOf(hub.as('absent').request('own', 'acme/count', { n: 1 }))).toBe('NO_ACCESS')
  expect(await codeOf(hub.as('asked').request('own', 'acme/count', { n: 1 }))).toBe('APPROVAL_PENDING')
  const [question] = await hub.approvals.list('pending')
  expect(question).toMatchObject({ agent: 'asked', server: 'own', tool: '#acme/count' })
  await hub.approvals.answer(question?.id ?? '', { decision: 'allow' }, 'test')
  expect(await hub.as('asked').request('own', 'acme/count', { n: 1 })).toMatchObject({ n: 2 })
  expect(await codeOf(hub.as('asked').request('own', 'acme/count', { n: 1 }))).toBe('APPROVAL_PENDING')
})

test('[C7][D11] what has a way of its own is refused with that way, and call says how requests are made', async () => {
  const hub = await started()
  for (const method of [
    'tools/call',
    'tools/list',
    'initialize',
    'server/discover',
    'subscriptions/listen',
    'resources/subscribe',
    'logging/setLevel',
    'tasks/get',
  ]) {
    const fault = await faultOf(hub.as().request('own', method, { name: 'echo' }))
    expect([method, fault.code]).toEqual([method, 'NOT_SUPPORTED'])
    expect(fault.hint).toBeTruthy()
  }
  for (const params of [[], 'x', null, { _meta: {} }] as never[])
    expect(await codeOf(hub.as().request('own', 'acme/count', params))).toBe('USAGE')
  expect(await codeOf(hub.as().request('own', '', {}))).toBe('USAGE')
  expect(await codeOf(hub.as().request('own', 'acme/count', {}, { timeout: 0 }))).toBe('USAGE')
  const fault = await faultOf(hub.as().call('own/#acme/count', { n: 1 }))
  expect(fault).toMatchObject({
    code: 'TOOL_UNKNOWN',
    message: 'own has no tool "#acme/count"',
    hint: expect.stringContaining('request("own", "acme/count", params)'),
  })
})
