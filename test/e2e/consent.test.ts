// Modern servers ask in their answers. Where that is for the use of a model, a person agrees before the client reads it.

import { expect, test } from 'vitest'
import { serverCommand, spawnCount } from '../servers/start.ts'
import { AGENTS, type Answer, entry, hubWith, ownServer, place, up, watchedStarts } from './hub.ts'
import { modern } from './wire-client.ts'

const CAREFUL = { ada: { ...AGENTS.ada, approval: 'always' } }
const APPROVAL = { '*': 'allow', '#sampling/*': 'ask' }
const capabilities = { sampling: {}, elicitation: { form: {} } }

for (const wire of ['stdio', 'http'] as const)
  test(`[C13][D11] a modern server over ${wire} uses a model after a person agreed, and asks for the rest at once`, async () => {
    const { sandbox } = place()
    const elicit = { ...(await entry(wire, 'elicit', { era: 'modern' })), approval: APPROVAL }
    const config = { servers: { elicit }, agents: CAREFUL, approvals: { wait: 0 } }
    const gateway = await up(sandbox, config)
    const call = async (name: string, more: object = {}) => {
      const params = { name, arguments: {}, ...more }
      const asked = await modern(gateway, '/mcp/elicit', 'tools/call', params, { name, capabilities })
      return (await asked.answer()).result
    }
    expect((await call('ask')).inputRequests.who.method).toBe('elicitation/create')
    const pending = await call('sample')
    expect(pending).toMatchObject({ isError: true, _meta: { 'busbar/fault': { code: 'APPROVAL_PENDING' } } })
    expect(pending.inputRequests).toBeUndefined()
    await sandbox.run(['approve', 'allow', pending._meta['busbar/fault'].approval])
    const { inputRequests, requestState } = await call('sample')
    expect(inputRequests.answer.method).toBe('sampling/createMessage')
    const answer = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' }
    const done = await call('sample', { inputResponses: { answer }, requestState })
    expect(JSON.parse(done.content[0].text)).toEqual(answer)
    const { calls } = (await sandbox.run(['usage', '--calls', '--json'])).json
    const rows = calls.filter(({ tool }: Answer) => tool === '#sampling/createMessage')
    expect(rows.map(({ outcome }: Answer) => outcome)).toEqual(['ok', 'denied'])
    const again = await call('sample')
    await sandbox.run(['approve', 'deny', again._meta['busbar/fault'].approval])
    expect((await call('sample'))._meta['busbar/fault'].code).toBe('APPROVAL_DENIED')
  })

test('[D11] no way of writing the question hides it', async () => {
  const { sandbox } = place()
  const own = ownServer(
    sandbox,
    '{ sample: () => 0 }',
    String.raw`
globalThis.methods = {
  'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, resultType: 'complete', ttlMs: 0, cacheScope: 'private' }),
  'tools/call': () => new Promise(() => {}),
}
const params = '{"messages":[],"maxTokens":1}'
const WAYS = {
  slash: '{"resultType":"input_required","inputRequests":{"a":{"method":"sampling\\/createMessage","params":' + params + '}}}',
  type: '{"resultType":"input\\u005frequired","inputRequests":{"a":{"method":"sampling/createMessage","params":' + params + '}}}',
  key: '{"result\\u0054ype":"input_required","input\\u0052equests":{"a":{"m\\u0065thod":"sampling/create\\u004dessage","params":' + params + '}}}',
  spaces: '{ "resultType" : "input_required" , "inputRequests" : { "a" : { "method" : "sampling/createMessage" } } }',
}
globalThis.seen = (method, params, line) => {
  if (method !== 'tools/call') return
  process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.parse(line).id + ',"result":' + WAYS[params.arguments.way] + '}\n')
}`,
  )
  const servers = { own: { ...own, approval: APPROVAL } }
  const gateway = await up(sandbox, { servers, agents: CAREFUL, approvals: { wait: 0 } })
  for (const way of ['slash', 'type', 'key', 'spaces']) {
    const params = { name: 'sample', arguments: { way } }
    const asked = await modern(gateway, '/mcp/own', 'tools/call', params, { name: 'sample', capabilities })
    const { result } = await asked.answer()
    expect([way, result._meta?.['busbar/fault']?.code]).toEqual([way, 'APPROVAL_PENDING'])
  }
})

test('[C1][D12] a modern server that starts slowly is spoken to in its own era, with never two of it alive', async () => {
  const { sandbox } = place()
  const { env, log, overlaps } = watchedStarts(sandbox)
  const { command, args } = serverCommand('sdk2')
  const words = [command, ...args].map((word) => `'${word}'`).join(' ')
  const slow = { command: 'sh', args: ['-c', `sleep 1.5; exec ${words}`], env }
  const hub = await hubWith({ slow })
  const [status] = hub.servers.status()
  expect(status).toMatchObject({ era: 'modern', protocolVersion: '2026-07-28' })
  expect((await hub.as().call('slow/echo', { text: 'x' })).text).toBe('x')
  expect(overlaps()).toBe(0)
  expect(spawnCount(log)).toBeLessThanOrEqual(2)
})
